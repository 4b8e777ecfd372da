"""French or English, the sentences of the demo model in both, and how numbers are written in each."""

import re
import tomllib
import unicodedata
from fractions import Fraction
from functools import cache
from pathlib import Path

WORDS = Path(__file__).parent / "words.toml"  # which language a text is in is told by its small words


def plain(text: str) -> str:
    """Lower case without accents, with simple apostrophes: the form in which words are compared."""
    decomposed = unicodedata.normalize("NFKD", text.lower().replace("œ", "oe").replace("’", "'"))
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", plain(text))


@cache
def small_words() -> dict[str, frozenset[str]]:
    return {language: frozenset(line.split()) for language, line in tomllib.loads(WORDS.read_text(encoding="utf-8")).items()}


def language_of(texts: list[str]) -> str:
    """The language of the newest text that shows one; French when none does."""
    known = small_words()
    for text in reversed(texts):
        found = words(text)
        english, french = sum(w in known["en"] for w in found), sum(w in known["fr"] for w in found)
        if english != french:
            return "en" if english > french else "fr"
    return "fr"


@cache
def phrases() -> dict[str, dict[str, str]]:
    return tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))


def say(language: str, name: str, /, **values: object) -> str:
    return phrases()[name][language].format(**values)


def number(value: Fraction | int, language: str) -> str:
    """A number as a school book writes it: a whole number, a short decimal, or a fraction."""
    value = Fraction(value)
    if value.denominator == 1:
        return grouped(value.numerator, language)
    return f"{value.numerator}/{value.denominator}"


def decimal(value: Fraction, language: str) -> str:
    """A number in decimals, exact when four of them are enough, else rounded (see `is_short`)."""
    scaled = round(abs(value) * 10000)
    whole, rest = divmod(scaled, 10000)
    tail = f"{rest:04}".rstrip("0")
    point = "," if language == "fr" else "."
    return ("-" if value < 0 and scaled else "") + grouped(whole, language) + (point + tail if tail else "")


def is_short(value: Fraction) -> bool:
    """Whether four decimals write the number exactly."""
    return (value * 10000).denominator == 1


def grouped(value: int, language: str) -> str:
    """12000 -> "12 000" or "12,000"; a plain space, because a no-break space would double the price of an SMS."""
    text = f"{abs(value):,}"
    if language == "fr":
        text = text.replace(",", " ") if abs(value) >= 10000 else str(abs(value))
    return ("-" if value < 0 else "") + text
