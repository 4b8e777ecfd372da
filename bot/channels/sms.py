"""A Markdown answer as a feature phone shows it: plain text in as few segments as it takes."""

import unicodedata

from bot.channels import text as texts
from bot.channels.emphasis import Code, Inline, Link
from bot.channels.inline import inline
from bot.channels.markdown import WORD, Blank, Fence, Heading, Paragraph, Table, blocks, is_grid
from bot.channels.segments import segments
from bot.channels.transliteration import cheapest


def dress(markdown: str) -> str:
    """The answer without marks, NFC, and with plain letters for those outside GSM-7 when that saves a segment."""
    return cheapest(_plain(markdown))


def pages(markdown: str, language: str = "fr", segments_per_page: int = 3) -> tuple[tuple[str, ...], ...]:
    """The answer as pages of one message of at most *segments_per_page* segments; what is not on the first page waits for SUITE."""
    found = texts.pages(_plain(markdown), language, 1, segments_per_page, lambda text: segments(cheapest(text)))
    return tuple(tuple(map(cheapest, page)) for page in found)


def _plain(markdown: str) -> str:
    source = texts.readable(unicodedata.normalize("NFC", markdown))
    found, references = blocks(source)
    shown = texts.joined([_block(block, references) for block in found]) or source.strip()
    return unicodedata.normalize("NFC", shown)


def _block(block, references: dict[str, str]) -> str:
    match block:
        case Blank():
            return ""
        case Paragraph(prefix, text):
            return _prefix(prefix, text) + _shown(inline(text, references))
        case Heading(text):
            return _shown(inline(text, references))
        case Fence(text):
            return text
        case Table(header, rows):
            return _table(header, rows, references)


def _prefix(prefix: str, text: str) -> str:
    """List marks with one blank for each level. Indented figures keep their place: they may be a sum in columns."""
    prefix = prefix.replace(">", "").replace("\t", "    ")
    level = (len(prefix) - len(prefix.lstrip())) // 2
    return (" " * min(level, 3) if prefix.strip() else "") + prefix.lstrip() if WORD.search(text) else prefix


def _shown(nodes: tuple[Inline, ...]) -> str:
    out = ""
    for node in nodes:
        if isinstance(node, str):
            out += node
        elif isinstance(node, Code):
            out += node.text
        elif isinstance(node, Link):
            out += texts.address(_shown(node.children), node.url)
        else:
            out += _shown(node.children)
    return out


def _table(header: tuple[str, ...], rows: tuple[tuple[str, ...], ...], references: dict[str, str]) -> str:
    """A grid of figures as it is; any other table with one line of "label: value" for each row."""

    def cell(text: str) -> str:
        return _shown(inline(text, references)).replace("\n", ", ").strip()

    shown = [[cell(c) for c in row] for row in (header, *rows)]
    if is_grid(header, rows):
        return "\n".join(" ".join(c or "-" for c in row) for row in shown)
    labels = [c.rstrip(" :") for c in shown[0]]
    if not rows:
        return "; ".join(labels)
    lines = [[f"{label}: {value or '-'}" if label else value for label, value in zip(labels, row, strict=True)] for row in shown[1:]]
    return "\n".join("; ".join(filter(None, line)) for line in lines)
