"""Table columns: which way they stand and how the width is shared, the same in every kind of document."""
import re

from bot.documents.blocks import Table, plain

NUMBER = re.compile(r"[-+−]?\d[\d\s.,\u00a0\u202f]*(%|F ?CFA|€|\$|XOF|XAF)?", re.I)


def is_number(text: str) -> bool:
    return bool(NUMBER.fullmatch(text.strip()))


def is_total(first: str) -> bool:
    """Whether a row whose *first* cell says this adds up the others."""
    return first.strip().casefold().startswith(("total", "totaux", "sous-total", "subtotal"))


def alignments(table: Table) -> list[str]:
    """left, center or right for each column: what the writer asked for; otherwise numbers stand to the right."""
    found = []
    for column, asked in enumerate(table.aligns):
        texts = [t for row in table.rows if (t := plain(row[column]).strip()) and not is_total(t)]
        found.append(asked or ("right" if texts and all(map(is_number, texts)) else "left"))
    return found


def fitted(wanted: list[float], room: float) -> list[float]:
    """The width of each column in *room*: what it *wanted* when all fit; otherwise the narrow ones get theirs and the wide ones
    share the rest, a long one more, but not in proportion."""
    total = sum(wanted)
    if total <= room:
        grown = room / total if total > 0.6 * room else 1
        return [w * grown for w in wanted]
    widths, left, open_ = [0.0] * len(wanted), room, set(range(len(wanted)))
    while narrow := [c for c in open_ if wanted[c] <= left / len(open_)]:
        for column in narrow:
            widths[column] = wanted[column]
            left -= wanted[column]
        open_ -= set(narrow)
    weight = sum(wanted[c] ** 0.5 for c in open_)
    for column in open_:
        widths[column] = left * wanted[column] ** 0.5 / weight
    return widths


def lengths(table: Table) -> list[tuple[int, int]]:
    """(longest line, longest word) of each column, in characters."""
    found = []
    for column in range(len(table.header)):
        texts = [plain(table.header[column]), *(plain(row[column])[:5000] for row in table.rows)]
        found.append((max((len(line) for text in texts for line in text.split("\n")), default=0),
                      max((len(word) for text in texts for word in text.split()), default=0)))
    return found
