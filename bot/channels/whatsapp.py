"""A Markdown answer as WhatsApp shows it: ``*bold*``, ``_italic_``, ``~strike~``, code as it is; no headings, tables or links there."""

import regex

from bot.channels import text as texts
from bot.channels.emphasis import Code, Inline, Link
from bot.channels.inline import inline
from bot.channels.markdown import Blank, Fence, Heading, Paragraph, Table, blocks, is_grid
from bot.channels.segments import units

SIZE = 1600  # UTF-16 units of one message (Twilio 21617)
PER_PAGE = 3  # messages sent at once
SIGNS = {"bold": "*", "italic": "_", "strike": "~"}


def dress(markdown: str) -> str:
    """The answer with WhatsApp's own marks. A text without marks comes back as it is."""
    source = texts.readable(markdown)
    found, references = blocks(source)
    return texts.joined([_block(block, references) for block in found]) or source.strip()


def pages(markdown: str, language: str = "fr") -> tuple[tuple[str, ...], ...]:
    """The answer as pages of at most three messages of 1,600 units; what is not on the first page waits for SUITE."""
    return texts.pages(dress(markdown), language, PER_PAGE, SIZE, units)


def _block(block, references: dict[str, str]) -> str:
    match block:
        case Blank():
            return ""
        case Paragraph(prefix, text):
            return prefix + _shown(inline(text, references))
        case Heading(text):
            return _wrapped("*", _shown(inline(text, references), ("bold",)))
        case Fence(text):
            return f"```\n{_without_fence(text)}\n```" if text.strip() else ""
        case Table(header, rows):
            return _table(header, rows, references)


def _shown(nodes: tuple[Inline, ...], around: tuple[str, ...] = ()) -> str:
    """*around* names the marks that are open already: WhatsApp knows no bold inside bold."""
    out = ""
    for node in nodes:
        if isinstance(node, str):
            out += regex.sub("`{2,}", "`", node)  # three would open a block
        elif isinstance(node, Code):
            out += _code(node.text)
        elif isinstance(node, Link):
            out += texts.address(_shown(node.children, around), node.url)
        else:
            content = _shown(node.children, (*around, node.kind))
            plain = node.inside or node.kind in around or node.kind not in SIGNS
            out += content if plain else _wrapped(SIGNS[node.kind], content)
    return out


def _code(text: str) -> str:
    short = "\n" not in text and "`" not in text and len(text) <= texts.LONGEST_MARK
    return f"`{text}`" if short else f"```{_without_fence(text)}```"


def _without_fence(text: str) -> str:
    """Three backticks inside a block would end it."""
    return text.replace("```", "'''")


def _wrapped(sign: str, content: str) -> str:
    """Marks end with their line on WhatsApp, and want no blank on their inner side."""
    lines = []
    for line in content.split("\n"):
        inner = line.strip()
        if not inner or "```" in inner or len(inner) > texts.LONGEST_MARK:
            lines.append(line)
        else:
            lines.append(regex.sub(r"\S(?:.*\S)?", lambda m: sign + m[0] + sign, line, count=1))
    return "\n".join(lines)


def _table(header: tuple[str, ...], rows: tuple[tuple[str, ...], ...], references: dict[str, str]) -> str:
    """A grid of figures in columns; any other table as "label: value" lines, one group for each row."""

    def cell(text: str, around: tuple[str, ...] = ()) -> str:
        return _shown(inline(text, references), around).replace("\n", "; ").strip()

    if is_grid(header, rows):
        return "```\n" + texts.aligned([[cell(c) for c in row] for row in (header, *rows)]) + "\n```"
    labels = [cell(c, ("bold",)).rstrip(" :") for c in header]
    if not rows:
        return "\n".join(_wrapped("*", label) for label in labels)
    groups = []
    for row in rows:
        lines = []
        for label, value in zip(labels, row, strict=True):
            if label:
                lines.append(f"{_wrapped('*', label + ':')} {cell(value) or '–'}")
            elif value:
                lines.append(_wrapped("*", cell(value, ("bold",))))
        groups.append("\n".join(lines))
    return "\n\n".join(groups)
