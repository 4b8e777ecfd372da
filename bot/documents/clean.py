"""Text as a document may hold it: no control character, no half surrogate, no code point that XML forbids."""

import re
import unicodedata

# JSON turns a model's "\frac", "\beta", "\times" and "\right" into form feed, backspace, tab or return plus the rest of the word.
LOST_BACKSLASH = re.compile(r"\x0c(?=rac|orall)|\x08(?=eta|egin\{|inom|ar\{|oxed)|\t(?=imes|ext\{|heta|frac|ilde\{)|\r(?=ight|ho\b|angle)")
LETTER_OF = {"\x0c": "f", "\x08": "b", "\t": "t", "\r": "r"}
ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff\U000e0000-\U000e0fff]")


def clean(value: object) -> str:
    """The printable text of *value* (None is empty): NFC, lines ended by ``\\n``, tabs kept, nothing a file format refuses."""
    text = "" if value is None else str(value)
    text = LOST_BACKSLASH.sub(lambda m: "\\" + LETTER_OF[m[0]], text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = FORBIDDEN.sub("", ANSI_COLOUR.sub("", text))
    return unicodedata.normalize("NFC", "".join(c for c in text if ord(c) & 0xFFFE != 0xFFFE))


def clean_line(value: object) -> str:
    """The same on one line, without space at its ends: titles, names, headings."""
    return " ".join(clean(value).split())
