"""Telephone numbers and channel addresses: what is the same person's, who can be answered, what a log may show."""

import unicodedata

import phonenumbers
import regex
from phonenumbers import NumberParseException, PhoneNumberFormat

USER_ID = regex.compile(r"(?P<country>[A-Z]{2})\.(?:ENT\.)?[A-Za-z0-9]{1,128}")  # WhatsApp's id of a person who hides the number
LONG_NUMBER = regex.compile(r"\+?[1-9]\d{7,14}")
RENUMBERED = (
    (regex.compile(r"\+229(\d{8})"), r"+22901\1"),  # Benin, 30 November 2024: 01 in front of the old eight digits
    (regex.compile(r"\+521(\d{10})"), r"+52\1"),  # Mexico: WhatsApp still writes the mobile 1 that was given up in 2019
    (regex.compile(r"\+54(?!9)(\d{10})"), r"+549\1"),  # Argentina: mobiles are written with and without 9; landlines have no WhatsApp
    (regex.compile(r"\+2410(\d{8})"), r"+241\1"),  # Gabon: the national 0 kept behind the country code
)
BRAZIL = regex.compile(r"\+55(\d{2})(\d{8})")  # a mobile as WhatsApp knows it, without the 9 behind the area code


def _cleaned(raw: str) -> str:
    """ASCII digits with a leading plus or none; blanks, bidi marks and the usual separators are dropped. The rest stays, to be refused."""
    text = "".join(c for c in unicodedata.normalize("NFKC", raw) if unicodedata.category(c) not in ("Cf", "Zs", "Cc"))
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    text = regex.sub(r"\(0\)|[\s().\-–—‐‑/]", "", text)
    return "+" + text[2:] if text.startswith("00") else text


def normalise(raw: str, region: str | None = None) -> str | None:
    """
    The number in E.164 form ("+2250701020304"), or None when it is not a valid number. *region* (ISO code) is where a number without
    country code is dialled. Old forms that can be converted without guessing are; Côte d'Ivoire's eight digits cannot.
    """
    text = _cleaned(raw)
    if not regex.fullmatch(r"\+?\d{3,20}", text):
        return None
    if region == "BJ" and regex.fullmatch(r"\d{8}", text):
        text = "+229" + text
    for old, new in RENUMBERED:
        text = old.sub(new, text) if old.fullmatch(text) else text
    if found := _valid(text, region):
        return found
    brazil = BRAZIL.fullmatch(text)
    return _valid(f"+55{brazil[1]}9{brazil[2]}", None) if brazil else None


def _valid(text: str, region: str | None) -> str | None:
    try:
        number = phonenumbers.parse(text, region)
    except NumberParseException:
        return None
    return phonenumbers.format_number(number, PhoneNumberFormat.E164) if phonenumbers.is_valid_number(number) else None


def _bare(address: str) -> str:
    return address.strip().removeprefix("whatsapp:").strip()


def channel_of(address: str) -> str:
    """ "whatsapp" or "sms"."""
    return "whatsapp" if address.strip().startswith("whatsapp:") else "sms"


def of_address(address: str) -> str | None:
    """The E.164 number behind a channel address ("whatsapp:+225…" or "+225…"); None for a WhatsApp user id, a name or a short code."""
    bare = _bare(address)
    return normalise(bare) if bare.startswith("+") else None


def can_be_answered(address: str) -> bool:
    """False for senders that are no person: names ("ORANGE") and short codes. A WhatsApp user id can be answered."""
    bare = _bare(address)
    return bool(LONG_NUMBER.fullmatch(bare) or (channel_of(address) == "whatsapp" and USER_ID.fullmatch(bare)))


def country(address: str) -> str | None:
    """The ISO code of the country an address belongs to, or None. An outdated form still tells its country."""
    bare = _bare(address)
    if user_id := USER_ID.fullmatch(bare):
        return user_id["country"]
    if not bare.startswith("+") or not LONG_NUMBER.fullmatch(bare):
        return None
    try:
        number = phonenumbers.parse(normalise(bare) or bare)
    except NumberParseException:
        return None
    code = phonenumbers.region_code_for_number(number) or phonenumbers.region_code_for_country_code(number.country_code)
    return None if code in ("ZZ", "001") else code


def mask(address: str) -> str:
    """An address as a log may show it: the channel, the country code or first letters, and the last two characters."""
    bare = _bare(address)
    prefix = "whatsapp:" if channel_of(address) == "whatsapp" else ""
    return f"{prefix}{bare[:4]}…{bare[-2:]}" if len(bare) >= 8 else f"{prefix}…"
