"""Names of generated files: short, plain ASCII, harmless on every system and in every address."""

import re
import unicodedata

STEM_LENGTH = 20
LETTERS = str.maketrans(
    {
        "œ": "oe",
        "Œ": "OE",
        "æ": "ae",
        "Æ": "AE",
        "ß": "ss",
        "ɛ": "e",
        "Ɛ": "E",
        "ɔ": "o",
        "Ɔ": "O",
        "ŋ": "n",
        "Ŋ": "N",
        "ɓ": "b",
        "ɗ": "d",
        "ɲ": "n",
        "ƴ": "y",
        "ø": "o",
        "Ø": "O",
        "đ": "d",
        "ł": "l",
    }
)
KNOWN_EXTENSION = re.compile(
    r"\.(pdf|xlsx?|xlsm|docx?|docm|pptx?|html?|md|txt|csv|odt|ods|odp|rtf|"
    r"js|exe|bat|cmd|com|sh|php|py|svg|zip|xml|json)$",
    re.I,
)
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file: reserved whatever the extension
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.I)


def _stem(wanted: str, extension: str) -> str:
    text = str(wanted or "").replace("\\", "/").replace("\0", "")
    text = unicodedata.normalize("NFKD", text.translate(LETTERS)).encode("ascii", "ignore").decode()
    text = text.rstrip("/. ").rsplit("/", 1)[-1].strip()
    own = re.compile(rf"\.{re.escape(extension)}$", re.I)
    while text != (shorter := own.sub("", KNOWN_EXTENSION.sub("", text))):
        text = shorter
    text = re.sub(r"[^A-Za-z0-9._-]+", "-", text)
    text = re.sub(r"\.{2,}", ".", re.sub(r"-{2,}", "-", text)).strip("-._")
    text = text[:STEM_LENGTH].rstrip("-._")
    return re.sub(RESERVED, r"\1_", text, count=1) if RESERVED.match(text) else text


def safe_filename(wanted: str, extension: str, *, fallback: str) -> str:
    """``<stem>.<extension>`` from whatever was *wanted* (a title, a path, nothing): ASCII ``[A-Za-z0-9._-]``, the stem 1 to 20 characters,
    never a device name, never hidden, never outside its folder. Where nothing is left, *fallback* is the stem."""
    extension = extension.lstrip(".").lower()
    return f"{_stem(wanted, extension) or _stem(fallback, extension) or 'document'}.{extension}"
