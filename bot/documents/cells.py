"""What stands in a spreadsheet cell: a model's JSON value read as number, amount, date, text or formula."""

import math
import re
from dataclasses import dataclass
from datetime import date, datetime

from bot.documents.clean import clean
from bot.documents.formulas import stored_form
from bot.documents.maths import replace_maths
from bot.errors import DocumentError

LONGEST = 32_767  # characters, Excel's own limit
EXACT = 10**15  # from here on Excel loses digits; such "numbers" are identifiers
ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
AMOUNT = re.compile(r"([-−]?)(\d{1,3}(?:[ .\u00a0\u202f]\d{3})+|\d+)(?:,(\d{1,2}))?\s?(F ?CFA|XOF|XAF)", re.I)
# columns whose numbers are names: no thousands there
CODES = re.compile(
    r"\b(ann[ée]es?|ans?|years?|exercices?|n°|no|num[ée]ros?|comptes?|codes?|id|matricules?|"
    r"t[ée]l([ée]phone)?s?|r[ée]f([ée]rence)?s?)(\b|$)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """*kind*: blank, bool, number, date, time, text or formula; *unit* is the currency of an amount that was written as text."""

    kind: str
    value: object = None
    unit: str = ""


BLANK = Cell("blank")


def read_cell(value: object, place: str) -> Cell:
    """The cell for *value*. What JSON allows but a sheet cannot hold (NaN, a list) becomes text.
    Raises DocumentError, naming *place*, for a formula that is none or a text too long for a cell."""
    match value:
        case None:
            return BLANK
        case bool():
            return Cell("bool", value)
        case int() | float():
            if math.isfinite(value) and abs(value) < EXACT:
                return Cell("number", value)
            return Cell("text", str(value))
        case {"formula": str() as formula}:
            return Cell("formula", stored_form(clean(formula), place))
    text = clean(value).strip("\n")
    if len(text) > LONGEST:
        raise DocumentError(f"{place}: the text has {len(text)} characters, a cell holds at most {LONGEST}: split it over several cells")
    if found := ISO_DATE.fullmatch(text):
        return _date(found) or Cell("text", text)
    if found := AMOUNT.fullmatch(text):
        sign, whole, cents, unit = found.groups()
        number = float(f"{re.sub(r'[^0-9]', '', whole)}.{cents}") if cents else int(re.sub(r"[^0-9]", "", whole))
        if number < EXACT:
            return Cell("number", -number if sign else number, " ".join(unit.upper().split()))
    if "$" in text or "\\" in text:
        text = replace_maths(text)
    if text.startswith("**") and text.endswith("**") and len(text) > 4:
        text = text[2:-2]
    return Cell("text", text) if text else BLANK


def _date(found: re.Match) -> Cell | None:
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    if year < 1901:  # Excel's calendar is wrong about February 1900
        return None
    try:
        if found[4] is None:
            return Cell("date", date(year, month, day))
        return Cell("time", datetime(year, month, day, hour, minute, second))
    except ValueError:
        return None


def decimals(value: object) -> int:
    """How many decimals *value* needs to be shown, four at most."""
    text = f"{value:.4f}".rstrip("0") if isinstance(value, float) else ""
    return len(text.partition(".")[2])


def number_format(header: str, values: list, unit: str = "") -> str:
    """One format for all the numbers of a column: thousands apart, as many decimals as the longest needs."""
    places = max(map(decimals, values), default=0)
    years = values and all(isinstance(v, int) and 1900 <= v <= 2100 for v in values)
    if CODES.search(header) or (years and not unit):
        return "0" + ("." + "0" * places if places else "")
    if unit:
        places, unit = max(places, 2) if places else 0, f'" {unit}"'
    return "#,##0" + ("." + "0" * places if places else "") + unit
