"""The results of spreadsheet formulas.

A file keeps the last result beside each formula. Excel and LibreOffice work it out again, but the viewers of phones show what is
stored, so the common functions are worked out here; for the others nothing is stored.
"""

import re
from collections.abc import Callable, Iterator
from statistics import fmean

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"]|"")*")|(?P<sheet>(?:'(?:[^']|'')+'|[^\W\d][\w.]*)!)|(?P<call>[^\W\d][\w.]*)\s*(?=\()
    |(?P<cell>\$?[A-Za-z]{1,3}\$?\d{1,7})(?![\w.(])|(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|(?P<name>[^\W\d][\w.]*)
    |(?P<sign><>|<=|>=|[-+*/^&=<>():,;%{}#!?@]))""",
    re.X,
)
CRITERION = re.compile(r"(<=|>=|<>|<|>|=)?(.*)", re.S)
BUDGET = 500_000  # cells looked at for one workbook; running totals over long sheets would take for ever
DEEPEST = 30  # formulas that need each other, or brackets in brackets

Value = float | str | bool | None
Address = tuple[str, int, int]  # sheet, row, column, counted from 0


class _NotWorkedOut(Exception):
    """A function or a form that is left to the spreadsheet program."""


FAILURES = (_NotWorkedOut, ZeroDivisionError, OverflowError, ValueError, TypeError, RecursionError)


def _tokens(formula: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(formula):
        match = TOKEN.match(formula, at)
        if not match:
            if not formula[at:].strip():
                break
            raise _NotWorkedOut(formula[at : at + 10])
        found.append((match.lastgroup or "", match[match.lastgroup or 0].strip()))
        at = match.end()
    return found


def column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


class Sheets:
    """Works out formulas. *look* gives what stands in a cell: a value, or a formula (with its ``=``) in a tuple of one.
    *names* are the sheets' names as formulas may write them, in small letters, with the names *look* knows."""

    def __init__(self, look: Callable[[Address], Value | tuple[str]], names: dict[str, str]):
        self.look, self.names = look, names
        self.known: dict[Address, Value] = {}
        self.failed: set[Address] = set()
        self.open: set[Address] = set()
        self.left = BUDGET

    def result(self, address: Address) -> Value:
        """The value of the cell at *address*, or None when it is empty or cannot be worked out here."""
        try:
            return self._cell(address)
        except FAILURES:
            return None

    def _cell(self, address: Address) -> Value:
        self.left -= 1
        if address in self.known:
            return self.known[address]
        if address in self.failed:
            raise _NotWorkedOut
        if self.left < 0 or address in self.open or len(self.open) > DEEPEST:
            raise _NotWorkedOut
        held = self.look(address)
        if not isinstance(held, tuple):
            return held
        self.open.add(address)
        self.left -= 20
        try:
            self.known[address] = _Reader(self, address[0], _tokens(held[0][1:])).whole()
        except FAILURES:
            self.failed.add(address)
            raise
        finally:
            self.open.discard(address)
        return self.known[address]

    def cells(self, sheet: str, start: tuple[int, int], end: tuple[int, int]) -> Iterator[Value]:
        for row in range(min(start[0], end[0]), max(start[0], end[0]) + 1):
            for column in range(min(start[1], end[1]), max(start[1], end[1]) + 1):
                yield self._cell((sheet, row, column))


def _number(value: object) -> float:
    if value is None:
        return 0
    if isinstance(value, (int, float)):
        return value
    raise _NotWorkedOut


def _numbers(arguments: list) -> list[float]:
    """As SUM reads them: of a range only its numbers, of a single value what it is worth."""
    found: list[float] = []
    for argument in arguments:
        values = argument if isinstance(argument, list) else [_number(argument)]
        found += [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    return found


def _meets(criterion: object) -> Callable[[Value], bool]:
    sign, wanted = CRITERION.match(criterion).groups() if isinstance(criterion, str) else ("=", criterion)
    try:
        wanted = float(wanted)
    except ValueError:
        if "*" in wanted or "?" in wanted:
            raise _NotWorkedOut from None
    return lambda value: value is not None and isinstance(value, str) == isinstance(wanted, str) and _compared(sign or "=", value, wanted)


def _compared(sign: str, a, b) -> bool:
    if isinstance(a, str) != isinstance(b, str):
        a, b = (a if a is not None else ("" if isinstance(b, str) else 0)), (b if b is not None else ("" if isinstance(a, str) else 0))
        if isinstance(a, str) != isinstance(b, str):
            return sign == "<>"
    a, b = (a.casefold(), b.casefold()) if isinstance(a, str) else (_number(a), _number(b))
    return {"=": a == b, "<>": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[sign]


def _rounded(value: object, digits: object = 0) -> float:
    scale = 10 ** int(_number(digits))
    number = _number(value) * scale
    return (int(abs(number) + 0.5 + 1e-9) * (1 if number >= 0 else -1)) / scale


def _conditional(tested: list, criterion: object, values: list | None = None) -> list[float]:
    meets = _meets(criterion)
    return _numbers([[v for t, v in zip(tested, values or tested, strict=False) if meets(t)]])


FUNCTIONS: dict[str, Callable] = {
    "SUM": lambda *a: sum(_numbers(list(a))),
    "AVERAGE": lambda *a: fmean(_numbers(list(a))),
    "MIN": lambda *a: min(_numbers(list(a)), default=0),
    "MAX": lambda *a: max(_numbers(list(a)), default=0),
    "COUNT": lambda *a: len(_numbers(list(a))),
    "COUNTA": lambda *a: sum(v is not None for x in a for v in (x if isinstance(x, list) else [x])),
    "ROUND": _rounded,
    "ABS": lambda v: abs(_number(v)),
    "INT": lambda v: _number(v) // 1,
    "SQRT": lambda v: _number(v) ** 0.5,
    "POWER": lambda a, b: _number(a) ** _number(b),
    "AND": lambda *a: all(map(_number, a)),
    "OR": lambda *a: any(map(_number, a)),
    "NOT": lambda v: not _number(v),
    "SUMIF": lambda *a: sum(_conditional(*a)),
    "AVERAGEIF": lambda *a: fmean(_conditional(*a)),
    "COUNTIF": lambda tested, criterion: sum(map(_meets(criterion), tested)),
}


class _Reader:
    """One formula, by descent: comparison, joining, sums, products, powers, signs, percents, values."""

    def __init__(self, sheets: Sheets, sheet: str, tokens: list[tuple[str, str]]):
        self.sheets, self.sheet, self.tokens, self.at, self.depth = sheets, sheet, tokens, 0, 0

    def next(self, *signs: str) -> str:
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind == "sign" and text in signs:
            self.at += 1
            return text
        return ""

    def whole(self) -> Value:
        value = self.comparison()
        if self.at < len(self.tokens) or isinstance(value, list):
            raise _NotWorkedOut
        return value

    def comparison(self):
        self.depth += 1
        if self.depth > DEEPEST:
            raise _NotWorkedOut
        value = self.joining()
        while sign := self.next("=", "<>", "<", ">", "<=", ">="):
            value = _compared(sign, value, self.joining())
        self.depth -= 1
        return value

    def joining(self):
        value = self.sums()
        while self.next("&"):
            other = self.sums()
            value = "".join(f"{v:g}" if isinstance(v, float) else "" if v is None else str(v) for v in (value, other))
        return value

    def sums(self):
        value = self.products()
        while sign := self.next("+", "-"):
            other = _number(self.products())
            value = _number(value) + other if sign == "+" else _number(value) - other
        return value

    def products(self):
        value = self.powers()
        while sign := self.next("*", "/"):
            other = _number(self.powers())
            value = _number(value) * other if sign == "*" else _number(value) / other
        return value

    def powers(self):
        value = self.signed()
        while self.next("^"):
            value = _number(value) ** _number(self.signed())
            if isinstance(value, complex):
                raise _NotWorkedOut
        return value

    def signed(self):
        turned = 1
        signs = 0
        while sign := self.next("-", "+"):
            turned, signs = -turned if sign == "-" else turned, signs + 1
        value = self.value()
        while self.next("%"):
            value = _number(value) / 100
        return turned * _number(value) if signs else value

    def value(self):
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        self.at += 1
        match kind:
            case "number":
                return float(text) if "." in text or "e" in text.lower() else int(text)
            case "text":
                return text[1:-1].replace('""', '"')
            case "name" if text.upper() in ("TRUE", "FALSE"):
                return text.upper() == "TRUE"
            case "sheet":
                given = text[:-1].strip("'").replace("''", "'")
                if given.casefold() not in self.sheets.names:
                    raise _NotWorkedOut
                return self.reference(self.sheets.names[given.casefold()])
            case "cell":
                self.at -= 1
                return self.reference(self.sheet)
            case "call":
                return self.call(text.upper())
            case "sign" if text == "(":
                value = self.comparison()
                if not self.next(")"):
                    raise _NotWorkedOut
                return value
        raise _NotWorkedOut

    def corner(self) -> tuple[int, int]:
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind != "cell":
            raise _NotWorkedOut
        self.at += 1
        letters, digits = re.match(r"\$?([A-Za-z]+)\$?(\d+)", text).groups()
        return int(digits) - 1, column_number(letters)

    def reference(self, sheet: str):
        start = self.corner()
        if self.next(":"):
            return list(self.sheets.cells(sheet, start, self.corner()))
        return self.sheets._cell((sheet, *start))

    def call(self, name: str):
        self.next("(")
        arguments = []
        while not self.next(")"):
            arguments.append(self.comparison())
            if not self.next(",") and not (self.at < len(self.tokens) and self.tokens[self.at] == ("sign", ")")):
                raise _NotWorkedOut
        if name == "IF" and 2 <= len(arguments) <= 3:
            return arguments[1] if _number(arguments[0]) else (arguments[2] if len(arguments) == 3 else False)
        if name not in FUNCTIONS:
            raise _NotWorkedOut
        return FUNCTIONS[name](*arguments)
