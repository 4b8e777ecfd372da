"""One formula of LaTeX to one readable piece of Unicode text: (a+b)/c, x², √(x+1), uₙ₊₁, x ≤ 3.

The grammar is read here; the names of some thousand symbols come from pylatexenc.
"""

import re
import unicodedata
from functools import cache

from pylatexenc.latex2text import get_default_latex_context_db

from bot.documents.latex_words import (
    ACCENTS,
    BIG,
    DOUBLE,
    DROPPED,
    FENCES,
    FUNCTIONS,
    PLAIN_GROUP,
    SCRIPTS,
    SPACES,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    SYMBOLS,
    TEXT_GROUP,
    UNPADDED,
    WITH_ONE_LOST,
)

TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\(?s:.)|\s+|(?s:.)")
DEEPEST = 40  # groups inside groups; a formula beyond it is shown without its braces
JOIN, TAIL, PAD = "\x01", "\x02", "\x03"  # a space when letters would touch (before, after); a space always


@cache
def _names():
    return get_default_latex_context_db()


@cache
def symbol(name: str) -> str:
    """The sign a command such as ``alpha`` or ``leq`` stands for; the bare name when nobody knows it."""
    known = getattr(_names().get_macro_spec(name), "simplify_repl", None)
    return SYMBOLS.get(name) or (known.strip() if isinstance(known, str) and "%" not in known and known.strip() else name)


def _tight(text: str) -> str:
    return re.sub(rf"[\s{PAD}]+", "", text).replace(JOIN, "").replace(TAIL, "")


def _finish(text: str) -> str:
    """Put the spaces that were only promised, and no others."""
    text = re.sub(rf"(^|[(\[{{=<>≤≥,;×÷·{PAD}→⇒]\s*){PAD}([±∓−+-]){PAD}\s*", r"\1\2", text)
    text = re.sub(rf"(?<=[\w)\]′°{re.escape(SCRIPTS)}])\s*{JOIN}", " ", text)
    text = re.sub(rf"{TAIL}\s*(?=[\w√∛∜∫∑{JOIN}])", " ", text)
    text = re.sub(rf"[ \t{PAD}]+", " ", text.replace(JOIN, "").replace(TAIL, ""))
    text = re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\u00a0", text)
    text = re.sub(r" +(?=[)\],])|(?<=[(\[]) +", "", text)
    return re.sub(r" *\n *", "\n", text).strip()


def _is_one(text: str) -> bool:
    """Whether a fraction bar, a root or a power may stand beside *text* without brackets."""
    return bool(ONE.fullmatch(text))


ONE = re.compile(rf"((\d+([.,]\d+)?|[^\W\d_][\u0300-\u036f\u20d7]*)[{re.escape(SCRIPTS)}]*|\w*\([^()]*\)|[√∛∜](\d+|\w))?")


def _bracketed(text: str) -> str:
    return text if _is_one(text) else f"({text})"


def _scripted(text: str, table: dict[str, str], mark: str) -> str:
    text = _tight(text)
    if all(c in table for c in text):
        return "".join(table[c] for c in text)
    return mark + (text if re.fullmatch(r"[\w.,°']+", text) else f"({text})")


class _Reader:
    """Walks over the tokens of one formula. What it returns still holds JOIN, TAIL and PAD."""

    def __init__(self, latex: str):
        self.tokens, self.at, self.depth = TOKEN.findall(latex), 0, 0

    def _next(self) -> int:
        """Where the next token that is not space stands (or the end)."""
        at = self.at
        while at < len(self.tokens) and self.tokens[at].isspace():
            at += 1
        return at

    def peek(self) -> str:
        at = self._next()
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self) -> str:
        token, self.at = self.peek(), self._next() + 1
        return token

    def flat_rest(self) -> str:
        rest, self.at = self.tokens[self.at :], len(self.tokens)
        return "".join(t.lstrip("\\") for t in rest if t not in "{}^_&")

    def raw_group(self) -> str:
        """What stands between the next braces, as written."""
        if self.take() != "{":
            return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""
        start, open_ = self.at, 1
        while self.at < len(self.tokens) and open_:
            open_ += {"{": 1, "}": -1}.get(self.tokens[self.at], 0)
            self.at += 1
        return "".join(self.tokens[start : self.at - (not open_)])

    def group(self, digits: bool = False) -> str:
        """One argument: a braced group or one sign (with *digits*, a whole number: x^12 is meant as x^{12})."""
        token = self.peek()
        if self.depth > DEEPEST:
            return self.flat_rest()
        self.depth += 1
        if token == "{":
            self.take()
            found = self.sequence({"}"})
            self.at += 1
        elif digits and token.isdigit():
            found = self.take()
            while self.at < len(self.tokens) and self.tokens[self.at].isdigit():
                found += self.take()
        else:
            found = self.item(self.take()) if token not in ("", "}", "&") else ""
        self.depth -= 1
        return found

    def option(self) -> str:
        if self.peek() != "[":
            return ""
        self.take()
        found = self.sequence({"]"})
        self.at += 1
        return found

    def sequence(self, stop: set[str]) -> str:
        if self.depth > DEEPEST:
            return self.flat_rest()
        self.depth += 1
        parts: list[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at] not in stop:
            token = self.tokens[self.at]
            if token == "\\end" or (token == "}" and "}" not in stop and stop):
                break
            self.at += 1
            if token.isspace():
                parts.append(" ")
            elif token in "^_":
                while parts and parts[-1] == " ":
                    parts.pop()
                self.script(token, parts)
            elif token == "{":
                self.at -= 1
                inside = self.group()
                parts.append(f"({inside})" if self.peek() == "^" and not _is_one(_finish(inside)) else inside)
            elif token != "}":
                parts.append(self.item(token))
        self.depth -= 1
        return "".join(parts)

    def script(self, token: str, parts: list[str]) -> None:
        """A power or an index, or the bounds of a sum, an integral or a limit."""
        base = _tight(parts[-1]) if parts else ""
        found = {token: self.group(digits=True)}
        if self.peek() in ("^", "_") and self.peek() != token:
            other = self.take()
            found[other] = self.group(digits=True)
        low, high = found.get("_"), found.get("^")
        if base in BIG:
            parts[-1] = JOIN + base
            small = [_scripted(v, t, "") for v, t in ((low, SUBSCRIPTS), (high, SUPERSCRIPTS)) if v is not None]
            if base.isalpha() or any(not set(s) <= set(SCRIPTS) for s in small):
                small = ["(" + " → ".join(_tight(v) for v in (low, high) if v) + ")"]
            parts.append("".join(small) + PAD)
            return
        tail = TAIL if parts and parts[-1].endswith(TAIL) else ""
        if tail:
            parts[-1] = parts[-1].removesuffix(TAIL)
        if low is not None:
            parts.append(_scripted(low, SUBSCRIPTS, "_"))
        if high is not None:
            parts.append(_scripted(high, SUPERSCRIPTS, "^"))
        parts.append(tail)

    def item(self, token: str) -> str:
        if token == "{":
            self.at -= 1
            return self.group()
        if not token.startswith("\\") or len(token) == 1:
            return {"~": " ", "'": "′", "&": " ", "$": "", "%": "%"}.get(token, token)
        name = token[1:].rstrip("*") or "*"
        match name:
            case "frac" | "dfrac" | "tfrac" | "cfrac" | "nicefrac" | "sfrac":
                return self.fraction()
            case "binom" | "dbinom" | "tbinom":
                return f"C({_tight(self.group())}, {_tight(self.group())})"
            case "sqrt":
                return self.root()
            case "begin":
                return self.environment()
            case "\\" | "newline" | "cr":
                return "\n"
            case "pmod":
                return f" (mod {_finish(self.group())})"
            case "tag":
                return f"{PAD}({self.raw_group()})"
            case "mathbb" | "mathds":
                return "".join(DOUBLE.get(c, c) for c in self.raw_group())
            case "ce":
                return _chemistry(self.raw_group())
            case "not":
                return PAD + unicodedata.normalize("NFC", _tight(self.group()) + "\u0338") + PAD
            case "overset" | "stackrel" | "underset":
                self.group()
                return self.group()
            case "end":
                self.raw_group()
                return ""
        if name in ACCENTS:
            return _accented(_tight(self.group()), ACCENTS[name])
        if name in TEXT_GROUP:
            return re.sub(r"\\(.)", r"\1", self.raw_group().replace("$", ""))
        if name in PLAIN_GROUP:
            inside = self.group()
            return JOIN + inside + TAIL if name == "operatorname" else inside
        if name in DROPPED:
            if name in ("left", "right", "middle") and self.peek() == ".":
                self.take()
            return ""
        if name in WITH_ONE_LOST:
            self.raw_group()
            return ""
        if name in SPACES:
            return " "
        if len(name) == 1 and not name.isalpha():
            return {"|": "‖"}.get(name, name)
        found = symbol(name)
        if found in FUNCTIONS or (found == name and len(name) > 1):
            return JOIN + found + TAIL
        padded = found == "·" or name == "mid" or (found not in UNPADDED and unicodedata.category(found[0]) in ("Sm", "So"))
        if not padded and (self.peek()[:1].isalnum() or self.peek() == "("):
            self.at = self._next()  # TeX swallows the space after a command
        return PAD + found + PAD if padded else found

    def fraction(self) -> str:
        above, below = _finish(self.group()), _finish(self.group())
        if re.search(r"[-+−=/±<>≤≥ ·×÷∑∫]", above) and not _is_one(above):
            above = f"({above})"
        text, following = f"{above}/{_bracketed(below)}", self.peek()
        if not above and not below:
            return ""
        touches = following in ("^", "(", "{") or following.isalnum() or re.match(r"\\(d?frac|sqrt|vec|alpha|beta|pi|left)", following)
        return JOIN + (f"({text})" if touches else text)

    def root(self) -> str:
        index, inside = _tight(self.option()), _finish(self.group())
        sign = {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(index) or _scripted(index, SUPERSCRIPTS, "") + "√"
        text = sign + _bracketed(inside)
        return f"({text})" if self.peek() == "^" else text

    def environment(self) -> str:
        name = self.raw_group().rstrip("*")
        if name in ("array", "tabular") and self.peek() == "{":
            self.raw_group()
        self.depth += 1
        rows: list[list[str]] = [[]]
        while self.at < len(self.tokens) and self.depth <= DEEPEST:
            rows[-1].append(self.sequence({"&", "\\\\"}))
            if self.at >= len(self.tokens) or self.tokens[self.at] == "\\end":
                break
            if self.tokens[self.at] == "\\\\":
                rows.append([])
            self.at += 1
        self.depth -= 1
        if self.peek() == "\\end":
            self.take()
            self.raw_group()
        lines = [[_finish(cell) for cell in row] for row in rows]
        lines = [line for line in lines if any(line)]
        if name in FENCES:
            return FENCES[name][0] + " ; ".join("  ".join(line) for line in lines).replace("  ", " ") + FENCES[name][1]
        if name in ("cases", "dcases", "rcases"):
            return "{ " + " ; ".join(", ".join(cell.rstrip(",") for cell in line if cell) for line in lines)
        return "\n".join(re.sub(r" ([=<>≤≥≈≠→⇒⇔]) ?", r" \1 ", " ".join(line)) for line in lines)


def _accented(text: str, accent: str) -> str:
    if accent in ("\u0305", "\u0332"):
        return "".join(c + accent for c in text)
    middle = len(text) // 2 if accent == "\u0302" and len(text) == 3 else len(text) - 1
    return unicodedata.normalize("NFC", text[: middle + 1] + accent + text[middle + 1 :]) if text else ""


def _chemistry(text: str) -> str:
    text = re.sub(r"\^\{?([0-9]*[+-])\}?", lambda m: "".join(SUPERSCRIPTS[c] for c in m[1]), text.replace("<=>", "⇌").replace("->", "→"))
    return re.sub(r"(?<=[A-Za-z)\]])_?\{?(\d+)\}?", lambda m: "".join(SUBSCRIPTS[c] for c in m[1]), text)


def to_unicode(latex: str) -> str:
    """The formula *latex* (without its dollar signs) as text. Never raises: what it does not know it shows by its bare name.
    Rows of an ``align`` are separated by newlines, everything else is one line."""
    latex = re.sub(rf"[{JOIN}{TAIL}{PAD}]", "", latex)
    return _finish(_Reader(re.sub(r"(?<!\\)%.*", "", latex)).sequence(set()))
