"""What an SMS costs: its alphabet and how many segments a carrier bills, counted as Twilio's segment calculator does."""

from collections.abc import Iterator

import regex

BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)  # 3GPP TS 23.038, default alphabet
EXTENDED = frozenset("\f^{}\\[~]|€")  # sent as an escape and a character: two septets that a segment never separates
GSM = BASIC | EXTENDED

ONE = {"GSM-7": 160, "UCS-2": 70}  # septets, or UTF-16 units, of a text that fits in one segment
MANY = {"GSM-7": 153, "UCS-2": 67}  # of each segment of a longer one, which carries a header


def encoding(text: str) -> str:
    """ "GSM-7" when every character is in the default alphabet or its extension, otherwise "UCS-2"."""
    return "GSM-7" if GSM.issuperset(text) else "UCS-2"


def units(text: str) -> int:
    """The length in UTF-16 code units, which is how Twilio and WhatsApp count characters."""
    return len(text) + sum(c > "\uffff" for c in text)


def _sizes(text: str, room: int) -> Iterator[int]:
    """The sizes of what a segment of *room* units never separates, in order."""
    if GSM.issuperset(text):
        yield from (1 + (c in EXTENDED) for c in text)
        return
    for grapheme in regex.findall(r"\r\n|\X", text):
        if grapheme != "\r\n" and (size := units(grapheme)) <= room:
            yield size
        else:  # a line end is two characters; a grapheme that no segment can hold is cut between its code points
            yield from map(units, grapheme)


def segments(text: str) -> int:
    """How many SMS segments *text* is billed as; the empty text counts as one, as any message does."""
    alphabet = encoding(text)
    room = MANY[alphabet]
    if alphabet == "GSM-7" and EXTENDED.isdisjoint(text):
        return 1 if len(text) <= ONE[alphabet] else -(-len(text) // room)
    sizes = list(_sizes(text, room))
    if sum(sizes) <= ONE[alphabet]:
        return 1
    count, free = 1, room
    for size in sizes:
        if size > free:
            count, free = count + 1, room
        free -= size
    return count


def fits(text: str, n: int) -> bool:
    """Whether *text* costs at most *n* segments."""
    return segments(text) <= n
