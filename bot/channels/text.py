"""Cutting a dressed text into messages: where a reader would, never inside a grapheme, an address or a mark."""

from bisect import bisect_right
from collections.abc import Callable, Iterator

import regex

from bot.texts import say

FENCE = "```"
LONGEST_MARK = 300  # characters; a longer run between two marks is no emphasis any more and may be cut
GRAPHEME = regex.compile(r"\X")
CONTROLS = regex.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u2060\ufeff]")
ADDRESS = regex.compile(r"(?:https?://|www\.)\S+")
FORMULA = regex.compile(r"(?<!\S)\S{1,40}(?: [=+\-−×÷*/<>≤≥≠≈→] \S{1,40}){1,20}")
MARKED = regex.compile(
    r"```|`[^`\n]{1,300}`"
    r"|(?<![\w*])\*(?=\S)[^*\n]{1,300}(?<=\S)\*(?![\w*])|(?<![\w_])_(?=\S)[^_\n]{1,300}(?<=\S)_(?![\w_])"
    r"|(?<![\w~])~(?=\S)[^~\n]{1,300}(?<=\S)~(?![\w~])"
)
# Where to cut, from best to worst; a match begins at the cut. A word stays with the sign of calculation or the punctuation beside it.
SENTENCE = regex.compile(r"(?<=(?:[^\W\d]{2}|\d{3}|[)\]»”\"'%*_`])[.!?…]+[)\]»”\"*_]*|[\u00a0\u202f ][!?]+)[ \t\n]+")
WORD = regex.compile(r"(?<![=+\-−×÷*/<>≤≥≠≈^→(\[«:]|[=<>≤≥]\u00a0|\d)[ \t\n]+(?![=+\-−×÷*/<>≤≥≠≈^→)\]»?!:;%])|(?<=\d)[ \t\n]+(?=[\p{L}(])")
CUTS = (regex.compile(r"\n[ \t]*\n\s*"), regex.compile(r"\n"), SENTENCE, WORD, regex.compile(r"[ \t\n]+"))
CODE_CUTS = (CUTS[0], CUTS[1], CUTS[4])


def readable(text: str) -> str:
    """LF line ends and no control characters or half characters: nothing a provider or a telephone stumbles over."""
    text = regex.sub(r"\r\n?|[\u2028\u2029]", "\n", text)
    return regex.sub(r"[\ud800-\udfff]", "\ufffd", CONTROLS.sub("", text))


def joined(blocks: list[str]) -> str:
    """Shown blocks as one text: no blanks at line ends, at most one empty line in a row."""
    lines = "\n".join(block.rstrip() for block in blocks)
    return regex.sub(r"\n{3,}", "\n\n", regex.sub(r"[ \t]+(?=\n)", "", lines)).strip("\n").rstrip()


def address(label: str, url: str) -> str:
    """A link as its text and its address; only one of them when they say the same, or when the address leads nowhere from a telephone."""
    shown = regex.sub(r"^(?:mailto|tel):", "", url).replace("&amp;", "&")
    if not shown or regex.match(r"#|(?:data|javascript|sandbox|attachment):", url):
        return label
    same = regex.sub(r"^https?://(?:www\.)?|/$", "", shown)
    return shown if not label or regex.sub(r"^https?://(?:www\.)?|/$", "", label.strip("*_~")) == same else f"{label} ({shown})"


def aligned(rows: list[list[str]]) -> str:
    """Cells in columns, for a monospaced block."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join(" ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def split(text: str, size: int, measure: Callable[[str], int]) -> list[str]:
    """
    *text* in parts of at most *size* each, as *measure* counts them (a longer text never measures less).

    Cuts at a paragraph, a line, a sentence, a word; a grapheme or an address is cut only if it is longer than *size* by itself.
    A code block that is cut is closed and opened again. Only white space is lost, no part is empty.
    """
    return list(_parts(text.strip(), size, measure))


def _parts(text: str, size: int, measure: Callable[[str], int]) -> Iterator[str]:
    ends = [m.end() for m in GRAPHEME.finditer(text)]
    whole = sorted(m.span() for kept in (ADDRESS, FORMULA, MARKED) for m in kept.finditer(text))
    start, is_open = 0, False
    while start < len(text):

        def part(end: int, start: int = start, is_open: bool = is_open) -> str:
            piece = text[start:end].rstrip()
            closed = is_open == bool(piece.count(FENCE) % 2)
            return (FENCE + "\n" if is_open else "") + piece + ("" if closed else "\n" + FENCE)

        def fits(end: int, part=part) -> bool:
            return measure(part(end)) <= size

        if limit := _furthest(ends, start, fits):
            cut = limit if limit == len(text) else _cut(text, start, limit, whole, is_open)
        else:  # not even one grapheme: code points then, and one in any case
            cut = _furthest(list(range(start + 1, ends[bisect_right(ends, start)] + 1)), start, fits) or start + 1
        piece = text[start:cut]
        inside = is_open != bool(piece.count(FENCE) % 2)
        if inside and piece.rstrip().endswith(FENCE) and piece.rstrip() != FENCE:
            cut = start + len(piece.rstrip()) - len(FENCE)  # the block begins in the next part, rather than end this one empty
            inside = False
        made = part(cut)
        if made.replace(FENCE, "").strip():
            yield made
        start = cut
        if inside and (closing := regex.compile(r"\s*```").match(text, start)):
            start, inside = closing.end(), False  # the block was closed with this part
        start = regex.compile(r"[ \t]*\n+|[ \t]*" if inside else r"\s*").match(text, start).end()
        is_open = inside


def _furthest(ends: list[int], start: int, fits: Callable[[int], bool]) -> int | None:
    """The last grapheme end behind *start* up to which it fits, or None when the first grapheme does not."""
    low = bisect_right(ends, start)
    step, high = 64, low
    while high < len(ends) and fits(ends[high]):
        low, high, step = high, high + step, step * 2
    high = min(high, len(ends))
    if high == len(ends) and fits(ends[-1]):
        return ends[-1]
    while low < high:  # the first grapheme that does not fit
        middle = (low + high) // 2
        if fits(ends[middle]):
            low = middle + 1
        else:
            high = middle
    low -= 1
    while low >= 0 and ends[low] > start and not fits(ends[low]):
        low -= 1
    return ends[low] if low >= 0 and ends[low] > start else None


def _cut(text: str, start: int, limit: int, whole: list[tuple[int, int]], is_open: bool) -> int:
    """The best place to cut between *start* and *limit*: in the second half if there is one, else anywhere, else at the last grapheme."""
    at = bisect_right(whole, (limit, limit))
    guarded = [span for span in whole[max(0, at - 200) : at] if span[1] > start]
    inside = is_open ^ bool(text.count(FENCE, start, limit) % 2)
    cuts = CODE_CUTS if inside else CUTS
    for earliest in (start + (limit - start) // 2, start + 1):
        for pattern in cuts:
            places = [m.start() for m in pattern.finditer(text, max(start, earliest - 40), limit + 1) if earliest <= m.start() <= limit]
            for place in reversed(places):
                if text[start:place].strip() and not any(a < place < b for a, b in guarded):
                    return place
    for a, b in guarded:
        if start < a < limit < b:
            return a
    return limit


def pages(text: str, language: str, per_page: int, size: int, measure: Callable[[str], int]) -> tuple[tuple[str, ...], ...]:
    """
    *text*, dressed already, as pages of *per_page* messages of at most *size*. One message stays as it is; several are marked (1/3), and
    the last message of every page but the last says how to get the rest. No text, no page.
    """
    if not text:
        return ()
    if measure(text) <= size:
        return ((text,),)
    more = "\n" + say(language, "channel.more")
    digits = 1
    while True:
        widest = "9" * digits
        parts = split(text, size, lambda part, widest=widest: measure(_marked(part, widest, widest) + more))
        if len(str(len(parts))) <= digits:
            break
        digits += 1
    messages = [_marked(part, n, len(parts)) for n, part in enumerate(parts, 1)]
    groups = [messages[n : n + per_page] for n in range(0, len(messages), per_page)]
    return tuple((*group[:-1], group[-1] + more) if group is not groups[-1] else tuple(group) for group in groups)


def _marked(part: str, n: int | str, count: int | str) -> str:
    """A mark at the beginning of a line would spoil a list, a quotation or a code block, so it stands above those."""
    return f"({n}/{count})" + ("\n" if regex.match(r"[-*>`#]|\d+[.)] |[^\n]{0,60}\n", part) else " ") + part
