"""Markdown as blocks: the one parsed form that the pdf, docx and html makers share.

Tags are text here (``<b>`` is printed as written); formulas come out as Unicode; code stays as it is.
"""

import re
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.tasklists import tasklists_plugin

from bot.documents.clean import clean, clean_line
from bot.documents.maths import formula_at, to_unicode
from bot.errors import DocumentError

LONGEST = 2_000_000  # characters of one document; more is a mistake, and would keep a worker busy for minutes
WRAPPED = 50  # characters: wrapped lines are longer
DEEPEST = 100  # blocks inside blocks; markdown-it leaves out what stands deeper, so nothing may
TOO_DEEP = re.compile(r"^((?:[ \t>]|[-*+] |\d{1,9}[.)] ){40})(?:[ \t>]|[-*+] |\d{1,9}[.)] )+", re.M)
SAFE_LINK = re.compile(r"(https?://|mailto:|tel:)[^\s<>\"]+$", re.I)

BARE_ADDRESS = re.compile(r"(https?://[^\s<>\"]*[^\s<>\"'.,;:!?)\]}»])")


@dataclass(frozen=True)
class Run:
    """A piece of a line in one style. ``"\\n"`` inside *text* is a line break."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    strike: bool = False
    link: str | None = None


@dataclass(frozen=True)
class Heading:
    level: int  # 1 is the highest
    runs: list[Run]


@dataclass(frozen=True)
class Paragraph:
    runs: list[Run]


@dataclass(frozen=True)
class Listing:
    """A list; *start* is the first number, None for bullets."""

    start: int | None
    items: list[list["Block"]]


@dataclass(frozen=True)
class Table:
    """*rows* are as long as *header*; *aligns* are left, center, right or empty."""

    header: list[list[Run]]
    rows: list[list[list[Run]]] = field(default_factory=list)
    aligns: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Quote:
    blocks: list["Block"]


@dataclass(frozen=True)
class Formula:
    """A formula on a line of its own, already readable; several lines for an ``align``."""

    text: str


@dataclass(frozen=True)
class Rule:
    pass


Block = Heading | Paragraph | Listing | Table | Code | Quote | Formula | Rule


def plain(runs: list[Run]) -> str:
    return "".join(run.text for run in runs)


def _inline_formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\" or not (found := formula_at(state.src, state.pos)):
        return False
    end, latex, display = found
    if not silent:
        state.push("formula", "", 0).content, state.tokens[-1].hidden = latex, display
    state.pos = end
    return True


def _block_formula(state: StateBlock, start: int, last: int, silent: bool) -> bool:
    """``$$…$$``, ``\\[…\\]`` or ``\\begin{align}…\\end{align}`` that begins a line and has lines of its own."""
    at = state.bMarks[start] + state.tShift[start]
    if state.is_code_block(start) or not state.src.startswith(("$$", "\\[", "\\begin{"), at):
        return False
    found = formula_at(state.src, at)
    if not found or not found[2]:
        return False
    end, latex, _ = found
    line = start
    while line < last and state.eMarks[line] < end:
        line += 1
    if line >= last or state.src[end : state.eMarks[line]].strip(" .,;"):
        return False
    if not silent:
        state.push("formula", "", 0).content = latex
        state.line = line + 1
    return True


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable(["table", "strikethrough"]).use(tasklists_plugin)
    parser.inline.ruler.before("escape", "formula", _inline_formula)
    parser.block.ruler.before("fence", "formula", _block_formula, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser


def _runs(tokens: list[Token]) -> list[Run]:
    runs: list[Run] = []
    style = Run("")
    for token in tokens:
        match token.type:
            case "strong_open" | "strong_close":
                style = replace(style, bold=token.nesting > 0)
            case "em_open" | "em_close":
                style = replace(style, italic=token.nesting > 0)
            case "s_open" | "s_close":
                style = replace(style, strike=token.nesting > 0)
            case "link_open":
                href = str(token.attrGet("href") or "")
                style = replace(style, link=href if SAFE_LINK.match(href) else None)
            case "link_close":
                style = replace(style, link=None)
            case "code_inline":
                runs.append(replace(style, text=token.content, code=True))
            case "formula":
                runs.append(replace(style, text=to_unicode(token.content)))
            case "image":  # files hold no pictures from elsewhere: its description and where it is
                runs.append(replace(style, text=token.content or str(token.attrGet("src"))))
            case "hardbreak":
                runs.append(replace(style, text="\n"))
            case "softbreak":  # few writers wrap their lines: a short line, or one that ends a sentence, was ended on purpose
                line = plain(runs).rsplit("\n", 1)[-1].rstrip()
                runs.append(replace(style, text="\n" if len(line) < WRAPPED or line.endswith(tuple(".:;!?…")) else " "))
            case "html_inline":  # only the tasklists plugin makes these
                runs.append(replace(style, text="☑" if "checked=" in token.content else "☐"))
            case _:
                runs.append(replace(style, text=token.content))
    return _joined(runs)


def _linked(run: Run) -> list[Run]:
    """Addresses written out in the text can be tapped as well."""
    if run.link or run.code or "://" not in run.text:
        return [run]
    return [replace(run, text=part, link=part if SAFE_LINK.match(part) else None) for part in BARE_ADDRESS.split(run.text)]


def _joined(runs: list[Run]) -> list[Run]:
    merged: list[Run] = []
    for run in chain.from_iterable(map(_linked, runs)):
        if merged and replace(merged[-1], text="") == replace(run, text=""):
            merged[-1] = replace(run, text=merged[-1].text + run.text)
        elif run.text:
            merged.append(run)
    return merged


def _cell(runs: list[Run]) -> list[Run]:
    """Markdown has no line break inside a table cell, so writers use ``<br>`` there."""
    return [run if run.code else replace(run, text=re.sub(r" ?<br ?/?> ?", "\n", run.text, flags=re.I)) for run in runs]


def _blocks(tokens: list[Token]) -> list[Block]:
    """Blocks from markdown-it's flat list of tokens, on a stack of open containers."""
    top: list[Block] = []
    stack: list[list] = [top]
    for at, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                if runs := _runs(tokens[at + 1].children or []):
                    stack[-1].append(Heading(int(token.tag[1]), runs))
            case "paragraph_open":
                runs = _runs(tokens[at + 1].children or [])
                if runs:
                    stack[-1].append(Paragraph(runs))
            case "bullet_list_open" | "ordered_list_open":
                items: list[list[Block]] = []
                start = int(token.attrGet("start") or 1) if token.type[0] == "o" else None
                stack[-1].append(Listing(start, items))
                stack.append(items)
            case "list_item_open":
                stack[-1].append([])
                stack.append(stack[-1][-1])
            case "blockquote_open":
                quote = Quote([])
                stack[-1].append(quote)
                stack.append(quote.blocks)
            case "bullet_list_close" | "ordered_list_close" | "list_item_close" | "blockquote_close":
                stack.pop()
            case "table_open":
                stack[-1].append(Table([]))
            case "tr_open":
                if stack[-1][-1].header:
                    stack[-1][-1].rows.append([])
            case "th_open" | "td_open":
                table, runs = stack[-1][-1], _cell(_runs(tokens[at + 1].children or []))
                (table.header if token.type == "th_open" else table.rows[-1]).append(runs)
                if token.type == "th_open":
                    table.aligns.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
            case "fence" | "code_block":
                stack[-1].append(Code(token.content.rstrip("\n")))
            case "formula":
                stack[-1].append(Formula(to_unicode(token.content)))
            case "hr":
                stack[-1].append(Rule())
    return top


def item_parts(item: list[Block]) -> tuple[list[Run], list[Block]]:
    """What stands beside the bullet or number of a list item, and what follows below."""
    match item:
        case [Paragraph(runs), *rest]:
            return runs, rest
        case [Formula(text), *rest]:
            return [Run(text)], rest
    return [], item


def is_task(runs: list[Run]) -> bool:
    """Whether a list item begins with a box to tick, which is then its bullet."""
    return bool(runs) and runs[0].text[:1] in ("☐", "☑")


def inline(text: object) -> list[Run]:
    """The runs of one line of Markdown: a bullet, a cell."""
    tokens = _parser().parseInline(clean(text).strip("\n"))
    return _cell(_runs(tokens[0].children or [])) if tokens else []


def parse(content: object, title: str = "") -> list[Block]:
    """The blocks of the Markdown *content*, cleaned. A first heading that only repeats *title* is left out.
    Raises DocumentError when the text is too long to be set."""
    text = clean(content)
    if len(text) > LONGEST:
        raise DocumentError(f"content is too long ({len(text)} characters, at most {LONGEST}): split it into several documents")
    blocks = _blocks(_parser().parse(TOO_DEEP.sub(r"\1", text)))
    match blocks:
        case [Heading(level=1, runs=runs), *rest] if clean_line(plain(runs)).casefold() == clean_line(title).casefold():
            return rest
    return blocks


def outline(blocks: list[Block]) -> list[Heading]:
    """The headings a table of contents shows."""
    return [b for b in blocks if isinstance(b, Heading) and b.level <= 3]
