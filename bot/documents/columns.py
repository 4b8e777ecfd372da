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


def words(text: str) -> list[str]:
    """The pieces of *text* that no line may break: words, and numbers with their thousands."""
    return re.split(r"[ \t\n]+", re.sub(r"(?<=\d) (?=\d{3}(?!\d))", "\u00a0", text[:5000]))


def fitted(wanted: list[float], room: float, least: list[float]) -> list[float]:
    """The width of each column in *room*: what it *wanted* when all fit; otherwise each gets the *least* its longest word needs and
    the long ones share the rest, more for a longer one, but not in proportion."""
    total = sum(wanted)
    if total <= room:
        grown = room / total if total > 0.6 * room else 1
        return [w * grown for w in wanted]
    if sum(least) >= room:  # words will be cut
        return [w * room / sum(least) for w in least]
    widths, left, open_ = list(least), room - sum(least), set(range(len(wanted)))
    while narrow := [c for c in open_ if wanted[c] - widths[c] <= left / len(open_)]:
        for column in narrow:
            left -= wanted[column] - widths[column]
            widths[column] = wanted[column]
        open_ -= set(narrow)
    weight = sum((wanted[c] - widths[c]) ** 0.5 for c in open_)
    for column in open_:
        widths[column] += left * (wanted[column] - widths[column]) ** 0.5 / weight
    return widths


def lengths(table: Table) -> list[tuple[int, int]]:
    """(longest line, longest word) of each column, in characters."""
    found = []
    for column in range(len(table.header)):
        texts = [plain(table.header[column]), *(plain(row[column])[:5000] for row in table.rows)]
        found.append(
            (
                max((len(line) for text in texts for line in text.split("\n")), default=0),
                max((len(word) for text in texts for word in words(text)), default=0),
            )
        )
    return found
