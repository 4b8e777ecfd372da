"""The lines of the Markdown that models write, read for a chat. What no chat can show (rules, wrappers, delimiter rows) is gone here."""

from dataclasses import dataclass

import regex

from bot.channels.inline import code_span
from bot.documents.maths import formula_at


@dataclass(frozen=True)
class Paragraph:
    """*prefix* is what stands before the text: indentation, a list mark, a quotation mark."""

    prefix: str
    text: str


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Fence:
    text: str


@dataclass(frozen=True)
class Table:
    """Cells are Markdown; every row has as many as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Blank:
    """An empty line, or a rule between two parts, which a chat shows as one."""


Block = Paragraph | Heading | Fence | Table | Blank
OPENING = regex.compile(r"(\s*)(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*$")
LANGUAGE = regex.compile(r"[\w+#.-]{0,20}(?:[ \t]*\{.*\}|[ \t]+\w+=\S+)*$")  # behind the opening of a block; anything else there is code
HEADING = regex.compile(r"\s{0,3}(?:#{1,6}(?:[ \t]+|$)|#{2,6}(?=[\p{L}*]))(.*?)(?:[ \t]+#+)?[ \t]*$")
RULE = regex.compile(r"\s{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$")
UNDERLINE = regex.compile(r"\s{0,3}={3,}[ \t]*$")
DELIMITERS = regex.compile(r"\s*(?:\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?|\|\s*:?-+:?\s*\|)\s*$")
DEFINITION = regex.compile(r"\s{0,3}\[([^\[\]^\n][^\[\]\n]*)\]:\s*<?(\S+?)>?(?:\s+[\"'(].*[\"')])?\s*$")
ITEM = regex.compile(r"(\s*(?:>\s?)*)([-*+•]|\d{1,3}[.)])([ \t]+)(?=\S)")
QUOTE = regex.compile(r"\s*(?:>[ \t]?)+(?=\S|$)")
SPANNING = (("```", "```"), ("$$", "$$"), ("\\[", "\\]"), ("\\begin{", "\\end{"))
WORD = regex.compile(r"\p{L}{2}")


def blocks(markdown: str, wrapped: bool = False) -> tuple[list[Block], dict[str, str]]:
    """The lines of *markdown* as blocks, and the addresses of its reference links. *wrapped*: it came out of a wrapper already."""
    lines = markdown.split("\n")
    references = {}
    out, at = [], 0
    while at < len(lines):
        line = lines[at]
        if opened := OPENING.match(line):
            found, at = _fence(lines, at, opened, wrapped)
            out += found
            continue
        if "|" in line and at + 1 < len(lines) and "|" in lines[at + 1] and DELIMITERS.match(lines[at + 1]):
            found, at = _table(lines, at)
            out.append(found)
            continue
        at += 1
        if not line.strip():
            out.append(Blank())
        elif (defined := DEFINITION.match(line)) and (f"][{defined[1]}]" in markdown or f"[{defined[1]}][]" in markdown):
            references[defined[1].casefold()] = defined[2]
        elif heading := HEADING.match(line):
            out.append(Heading(heading[1]) if heading[1] else Blank())
        elif UNDERLINE.match(line) and out and isinstance(out[-1], Paragraph) and WORD.search(out[-1].text):
            out[-1] = Heading(out[-1].prefix.lstrip() + out[-1].text)
        elif RULE.match(line) and not (out and isinstance(out[-1], Paragraph) and not WORD.search(out[-1].text)):
            out.append(Blank())  # under figures it is the line of a sum
        else:
            prefix, text = _item(line)
            while end := _unfinished(lines, at, text) or _goes_on(lines, at):
                text, at = "\n".join([text, *lines[at:end]]), end
            out.append(Paragraph(prefix, text.rstrip()))
    return out, references


def _item(line: str) -> tuple[str, str]:
    """The line's mark and its text. A + or * before a figure is arithmetic."""
    if item := ITEM.match(line):
        mark = item[2]
        if mark not in "*+" or WORD.search(line, item.end()):
            return item[1] + ("-" if mark in "*+•" else mark) + " ", line[item.end() :]
    quote = QUOTE.match(line)
    if quote and not regex.match(r"=|[\d\s.,+*/()=-]+$", line[quote.end() :] or "x"):
        return quote[0], line[quote.end() :]
    indent = len(line) - len(line.lstrip())
    return line[:indent], line[indent:]


def _unfinished(lines: list[str], at: int, text: str) -> int | None:
    """Behind which line the code or the formula ends that *text* left open, whatever its lines look like; None when it left none."""
    for opening, closing in SPANNING:
        if text.count(opening) % 2 if opening == closing else text.count(opening) > text.count(closing):
            return next((n + 1 for n in range(at, min(len(lines), at + 60)) if closing in lines[n]), None)
    return None


def _goes_on(lines: list[str], at: int) -> int | None:
    """The next line when the one at *at* belongs to the paragraph before it."""
    if at >= len(lines) or not lines[at].strip():
        return None
    line = lines[at]
    begins = any(mark.match(line) for mark in (ITEM, QUOTE, OPENING, HEADING, RULE, UNDERLINE, DEFINITION))
    table = "|" in line and at + 1 < len(lines) and DELIMITERS.match(lines[at + 1])
    return None if begins or table else at + 1


def _fence(lines: list[str], at: int, opened, wrapped: bool) -> tuple[list[Block], int]:
    """A code block; one that is Markdown itself is the answer in a wrapper, and is read as such. A missing end is the end of the text."""
    indent, ticks, info = opened[1], opened[2], opened[3]
    wrapper = not wrapped and info.lower().split()[:1] in (["markdown"], ["md"])
    inside, depth, at = [] if LANGUAGE.match(info) else [info], 0, at + 1
    while at < len(lines):
        mark = OPENING.match(lines[at])
        at += 1
        if mark and mark[2][0] == ticks[0] and (len(mark[2]) >= len(ticks) or depth):
            if wrapper and mark[3]:
                depth += 1
            elif not mark[3]:
                if not depth:
                    break
                depth -= 1
        inside.append(lines[at - 1].removeprefix(indent))
    if wrapper:
        return blocks("\n".join(inside), wrapped=True)[0], at
    return [Fence("\n".join(inside).strip("\n") or info)], at


def _table(lines: list[str], at: int) -> tuple[Table, int]:
    header = _cells(lines[at], 0)
    width = max(len(header), len(_cells(lines[at + 1], 0)))
    rows, at = [], at + 2
    while at < len(lines) and "|" in lines[at]:
        rows.append(_cells(lines[at], width))
        at += 1
    width = max([width, *map(len, rows)])
    return Table(_padded(header, width), tuple(_padded(row, width) for row in rows)), at


def _padded(cells: list[str], width: int) -> tuple[str, ...]:
    return tuple(cells + [""] * (width - len(cells)))


def _cells(line: str, width: int) -> list[str]:
    """Split at the bars; those inside a formula or code do not count when there are too many for *width* columns."""
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    cells, current, at = [], "", 0
    careful = width and len(regex.split(r"(?<!\\)\|", line)) > width
    while at < len(line):
        end = at + 1
        if line.startswith("\\|", at):
            current, at = current + "|", at + 2
            continue
        if careful and line[at] in "$\\" and (formula := formula_at(line, at)):
            end = formula[0]
        elif careful and line[at] == "`":
            end = max(code_span(line, at)[1], end)
        if line[at] == "|":
            cells, current = [*cells, current.strip()], ""
        else:
            current += line[at:end]
        at = end
    return [*cells, current.strip()]


def is_grid(header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a table is figures in four or more narrow columns, such as a multiplication table: those are read by place, not by label."""
    cells = [cell for row in (header, *rows) for cell in row]
    narrow = sum(max((len(row[n]) for row in (header, *rows)), default=0) + 1 for n in range(len(header))) <= 32
    return len(header) >= 4 and bool(rows) and narrow and not any(WORD.search(cell) for cell in cells)
