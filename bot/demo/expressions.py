"""
Sums as people type them ("3/4 + 1/6", "(2 + 3) x 4,5"), read into a tree and worked out exactly, one operation at a time.

A tree is a number (Fraction), or a tuple: (operator, left, right) with one of + - * / ^, ("(", inside), or the text "x", the unknown.
"""

import re
from fractions import Fraction

TOKEN = re.compile(r"\s*(?:(\d+/\d+)(?![\d.,/]*[\d/])|(\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)|(\*\*|[-+*/^()x²³]))")
SIGNS = str.maketrans(
    {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", ":": "/", "∗": "*", "[": "(", "]": ")", "X": "x", "\u00a0": " ", "\u202f": " "}
)
LONGEST, LARGEST = 120, 10**15  # characters of a sum; size of a number on the way
WRITTEN = {"*": "×", "/": "÷", "+": "+", "-": "-"}
ORDER = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}

Tree = Fraction | str | tuple


class NotASum(ValueError):
    """The text is not a sum that can be worked out here."""


def parse(text: str) -> Tree:
    """Raises NotASum."""
    text = text.translate(SIGNS).strip()
    if len(text) > LONGEST:
        raise NotASum("too long")
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise NotASum(f"not understood: {text[at : at + 10]}")
        fraction, plain, sign = found.groups()
        if fraction:
            top, bottom = map(int, fraction.split("/"))
            tokens.append(Fraction(top, bottom) if bottom else ("/", Fraction(top), Fraction(0)))
        elif plain:
            tokens.append(Fraction(plain.replace(" ", "").replace(",", ".")))
        else:
            tokens.append("^" if sign == "**" else sign)
        at = found.end()
    # "x" between two numbers is a multiplication, anywhere else the unknown
    for n, token in enumerate(tokens):
        if token == "x" and 0 < n < len(tokens) - 1 and _ends_value(tokens[n - 1]) and _starts_value(tokens[n + 1]):
            tokens[n] = "*"
    tree, rest = _sum(tokens, 0)
    if rest != len(tokens):
        raise NotASum("something is left over")
    return tree


def _ends_value(token) -> bool:
    return isinstance(token, Fraction) or token == ")"


def _starts_value(token) -> bool:
    return isinstance(token, Fraction) or token == "("


def _sum(tokens: list, at: int) -> tuple[Tree, int]:
    tree, at = _product(tokens, at)
    while at < len(tokens) and tokens[at] in ("+", "-"):
        right, following = _product(tokens, at + 1)
        tree, at = (tokens[at], tree, right), following
    return tree, at


def _product(tokens: list, at: int) -> tuple[Tree, int]:
    tree, at = _power(tokens, at)
    while at < len(tokens):
        if tokens[at] in ("*", "/"):
            right, following = _power(tokens, at + 1)
            tree, at = (tokens[at], tree, right), following
        elif tokens[at] in ("x", "("):  # 3x, 2(x + 1)
            right, at = _power(tokens, at)
            tree = ("*", tree, right)
        else:
            break
    return tree, at


def _power(tokens: list, at: int) -> tuple[Tree, int]:
    tree, at = _value(tokens, at)
    if at < len(tokens) and tokens[at] in ("²", "³"):
        return ("^", tree, Fraction(2 if tokens[at] == "²" else 3)), at + 1
    if at < len(tokens) and tokens[at] == "^":
        right, at = _value(tokens, at + 1)
        return ("^", tree, right), at
    return tree, at


def _value(tokens: list, at: int) -> tuple[Tree, int]:
    if at >= len(tokens):
        raise NotASum("unfinished")
    token = tokens[at]
    if isinstance(token, Fraction) or token == "x" or isinstance(token, tuple):
        return token, at + 1
    if token == "-":
        inside, at = _value(tokens, at + 1)
        return (-inside if isinstance(inside, Fraction) else ("*", Fraction(-1), inside)), at
    if token == "(":
        inside, at = _sum(tokens, at + 1)
        if at >= len(tokens) or tokens[at] != ")":
            raise NotASum("a bracket is open")
        return ("(", inside), at + 1
    raise NotASum("a value is missing")


def apply(operator: str, left: Fraction, right: Fraction) -> Fraction:
    """One operation. Raises ZeroDivisionError, or NotASum when the result would be out of hand."""
    if operator == "^":
        if right.denominator != 1 or not 0 <= right <= 12 or abs(left) > 10**6:
            raise NotASum("power out of range")
        result = left ** int(right)
    else:
        result = {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__, "/": Fraction.__truediv__}[operator](left, right)
    if abs(result.numerator) > LARGEST or result.denominator > LARGEST:
        raise NotASum("too large")
    return result


def reduce_once(tree: Tree) -> Tree:
    """Work out the operation that comes first: inside brackets, then powers, then × and ÷, then + and -, from the left."""
    found = []

    def look(node: Tree, depth: int, path: tuple) -> None:
        if isinstance(node, tuple) and node[0] == "(":
            look(node[1], depth + 1, (*path, 1))
        elif isinstance(node, tuple):
            if isinstance(node[1], Fraction) and isinstance(node[2], Fraction):
                found.append((-depth, -ORDER[node[0]], path, node))
            look(node[1], depth, (*path, 1))
            look(node[2], depth, (*path, 2))

    look(tree, 0, ())
    path, node = min(found, key=lambda f: f[:3])[2:]
    return _bare(_replace(tree, path, apply(*node)))


def _replace(tree: Tree, path: tuple, value: Fraction) -> Tree:
    if not path:
        return value
    parts = list(tree)
    parts[path[0]] = _replace(parts[path[0]], path[1:], value)
    return tuple(parts)


def _bare(tree: Tree) -> Tree:
    """Take away brackets that hold a single number."""
    if not isinstance(tree, tuple):
        return tree
    if tree[0] == "(":
        inside = _bare(tree[1])
        return inside if isinstance(inside, Fraction) else ("(", inside)
    return (tree[0], _bare(tree[1]), _bare(tree[2]))


def steps(tree: Tree) -> list[Tree]:
    """The tree, then the tree after each operation, down to a number. Raises NotASum and ZeroDivisionError."""
    found = [_bare(tree)]
    while not isinstance(found[-1], Fraction):
        if contains_unknown(found[-1]):
            raise NotASum("holds an unknown")
        found.append(reduce_once(found[-1]))
    return found


def contains_unknown(tree: Tree) -> bool:
    return tree == "x" or (isinstance(tree, tuple) and any(contains_unknown(part) for part in tree[1:]))


def written(tree: Tree, show) -> str:
    """The tree as text; *show* writes a number."""
    if isinstance(tree, Fraction):
        return show(tree)
    if isinstance(tree, str):
        return tree
    if tree[0] == "(":
        return f"({written(tree[1], show)})"
    operator, left, right = tree[0], written(tree[1], show), written(tree[2], show)
    if operator == "*" and isinstance(tree[1], Fraction) and (tree[2] == "x" or (isinstance(tree[2], tuple) and tree[2][0] == "(")):
        return f"{'' if left == '1' else '-' if left == '-1' else left}{right}" if contains_unknown(tree[2]) else f"{left} × {right}"
    if operator == "^":
        return f"({left})^{right}" if "/" in left else f"{left}^{right}"
    if isinstance(tree[2], Fraction) and tree[2] < 0:
        right = f"({right})"
    return f"{left} {WRITTEN[operator]} {right}"


def linear(tree: Tree) -> tuple[Fraction, Fraction]:
    """(a, b) when the tree is a × x + b. Raises NotASum when it is of a higher degree, ZeroDivisionError."""
    if isinstance(tree, Fraction):
        return Fraction(0), tree
    if tree == "x":
        return Fraction(1), Fraction(0)
    if tree[0] == "(":
        return linear(tree[1])
    (a, b), (c, d) = linear(tree[1]), linear(tree[2])
    match tree[0]:
        case "+":
            return a + c, b + d
        case "-":
            return a - c, b - d
        case "*" if not (a and c):
            return a * d + c * b, b * d
        case "/" if not c:
            return a / d, b / d
        case "^" if not a and not c:
            return Fraction(0), apply("^", b, d)
    raise NotASum("not of the first degree")
