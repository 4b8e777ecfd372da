"""A web page in one file: no script, nothing fetched from anywhere, readable on a small phone and on paper."""

import re
from html import escape, unescape

import nh3

from bot.documents import palette
from bot.documents.blocks import (
    LONGEST,
    Block,
    Code,
    Formula,
    Heading,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Run,
    Table,
    is_task,
    item_parts,
    outline,
    parse,
    plain,
)
from bot.documents.clean import clean, clean_line
from bot.documents.columns import alignments, is_total
from bot.documents.maths import replace_maths
from bot.documents.size import checked_size
from bot.errors import DocumentError

LONG = 14_000  # characters; beyond it a table of contents is of use
IS_HTML = re.compile(
    r"\A\s*<(!doctype|html|head|body|h[1-6]|p|div|section|article|main|header|ul|ol|table|style|script)\b"
    r"|</(p|div|h[1-6]|ul|ol|table|section|article|body|html)\s*>",
    re.I,
)
TAGS = nh3.ALLOWED_TAGS - {"area", "map"}
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "ol": {"start", "type"},
    "*": {"dir", "lang"},
}
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,", re.I)
TAG = re.compile(r"(</?([a-zA-Z][a-zA-Z0-9]*)[^<>]*>)")
VERBATIM = {"pre", "code", "script", "style"}
MAY_STAY_OPEN = {
    "p",
    "li",
    "td",
    "th",
    "tr",
    "br",
    "hr",
    "img",
    "dt",
    "dd",
    "input",
    "meta",
    "link",
    "col",
    "wbr",
    "thead",
    "tbody",
    "tfoot",
}
DEEPEST = 300  # tags inside tags; sanitising takes time that grows with its square
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

STYLE = f"""
:root {{ color-scheme: light; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; padding: 1.25rem 1rem 3rem; max-width: 44rem; color: #{palette.INK}; background: #fff;
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; overflow-wrap: break-word; }}
h1, h2, h3, h4, h5, h6 {{ line-height: 1.25; margin: 1.6em 0 .5em; }}
h1, h2 {{ color: #{palette.ACCENT}; }}
h1:first-child {{ margin-top: 0; padding-bottom: .35em; border-bottom: 3px solid #{palette.ACCENT}; }}
a {{ color: #{palette.ACCENT}; }}
img {{ max-width: 100%; height: auto; }}
nav {{ background: #{palette.PALE}; border-radius: .5rem; padding: .75rem 1rem; }}
nav ul {{ list-style: none; margin: 0; padding: 0; }}
nav .l2 {{ padding-left: 1rem; }}
nav .l3 {{ padding-left: 2rem; }}
blockquote {{ margin: 1em 0; padding: .1em 1em; border-left: 4px solid #{palette.ACCENT}; color: #{palette.MUTED}; }}
pre {{ background: #{palette.CODE}; padding: .8rem; border-radius: .4rem; overflow-x: auto; line-height: 1.4; }}
code {{ background: #{palette.CODE}; padding: .1em .3em; border-radius: .25rem; font-size: .9em; }}
pre code {{ padding: 0; }}
.formula {{ text-align: center; font-size: 1.2em; white-space: pre-line; overflow-x: auto; }}
table {{ display: block; overflow-x: auto; border-collapse: collapse; margin: 1em 0; font-size: .95em; }}
th, td {{ border: 1px solid #{palette.LINE}; padding: .4em .6em; vertical-align: top; text-align: start; }}
th {{ background: #{palette.ACCENT}; color: #fff; }}
tr.total td {{ background: #{palette.PALE}; font-weight: 600; }}
.right {{ text-align: right; }}
td.right {{ white-space: nowrap; }}
.center {{ text-align: center; }}
li > p {{ margin: .2em 0; }}
li.task {{ list-style: none; margin-left: -1.2em; }}
hr {{ border: 0; border-top: 1px solid #{palette.LINE}; margin: 2em 0; }}
@media print {{
  body {{ max-width: none; font-size: 11pt; }}
  pre, blockquote, tr {{ break-inside: avoid; }}
  thead {{ display: table-header-group; }}
}}
""".strip()


def _runs(runs: list[Run]) -> str:
    made = []
    for run in runs:
        text = escape(run.text, quote=False).replace("\n", "<br>")
        for wanted, tag in ((run.code, "code"), (run.strike, "s"), (run.italic, "em"), (run.bold, "strong")):
            text = f"<{tag}>{text}</{tag}>" if wanted else text
        made.append(f'<a href="{escape(run.link)}" rel="noopener noreferrer">{text}</a>' if run.link else text)
    return "".join(made)


class _Writer:
    def __init__(self):
        self.headings = 0

    def flow(self, blocks: list[Block], tight: bool = False) -> str:
        """*tight*: one paragraph alone stands without a <p>, as in short list items."""
        return "\n".join(self.block(block, tight) for block in blocks)

    def block(self, block: Block, tight: bool = False) -> str:
        match block:
            case Heading(level, runs):
                if level > 3:
                    return f'<h{level} dir="auto">{_runs(runs)}</h{level}>'
                self.headings += 1
                return f'<h{level} id="s{self.headings}" dir="auto">{_runs(runs)}</h{level}>'
            case Paragraph(runs):
                return _runs(runs) if tight else f'<p dir="auto">{_runs(runs)}</p>'
            case Listing(start, items):
                tag, first = ("ul", "") if start is None else ("ol", f' start="{start}"' if start != 1 else "")
                tight = all(sum(isinstance(block, Paragraph) for block in item) < 2 for item in items)
                return f"<{tag}{first}>\n" + "\n".join(self.item(item, tight) for item in items) + f"\n</{tag}>"
            case Quote(inner):
                return f"<blockquote>\n{self.flow(inner)}\n</blockquote>"
            case Code(text):
                return f"<pre><code>{escape(text, quote=False)}</code></pre>"
            case Formula(text):
                return f'<p class="formula">{escape(text, quote=False)}</p>'
            case Table():
                return self.table(block)
            case Rule():
                return "<hr>"

    def item(self, item: list[Block], tight: bool) -> str:
        return f'<li dir="auto"{" class=task" if is_task(item_parts(item)[0]) else ""}>{self.flow(item, tight)}</li>'

    def table(self, table: Table) -> str:
        sides = ["" if side == "left" else f' class="{side}"' for side in alignments(table)]
        lines = []
        for at, row in enumerate([table.header, *table.rows]):
            tag = "td" if at else "th"
            total = at and at == len(table.rows) and is_total(plain(row[0]))
            cells = "".join(f'<{tag}{side} dir="auto">{_runs(runs)}</{tag}>' for runs, side in zip(row, sides, strict=True))
            lines.append(f"<tr{' class=total' if total else ''}>{cells}</tr>")
        return f"<table>\n<thead>\n{lines[0]}\n</thead>\n<tbody>\n" + "\n".join(lines[1:]) + "\n</tbody>\n</table>"


def _contents(headings: list[Heading]) -> str:
    lines = (f'<li class="l{h.level}"><a href="#s{at}">{escape(plain(h.runs), quote=False)}</a></li>' for at, h in enumerate(headings, 1))
    return "<nav>\n<ul>\n" + "\n".join(lines) + "\n</ul>\n</nav>\n"


def _from_markdown(title: str, text: str) -> str:
    blocks = parse(text, title)
    headings = outline(blocks)
    contents = _contents(headings) if len(text) > LONG and len(headings) > 3 else ""
    return f'<h1 dir="auto">{escape(title, quote=False)}</h1>\n{contents}{_Writer().flow(blocks)}'


def _attribute(element: str, attribute: str, value: str) -> str | None:
    """Pictures only from within the page, links only to elsewhere."""
    if (element, attribute) == ("img", "src"):
        return value if PICTURE.match(value) else None
    return None if attribute == "href" and value.strip().lower().startswith("data:") else value


def _with_formulas(text: str) -> str:
    """Formulas of raw HTML as Unicode, except in code. Raises DocumentError when its tags stand too deep in each other."""
    pieces = TAG.split(text)  # text, tag, its name, text, tag, its name, …
    verbatim = depth = 0
    for at in range(0, len(pieces), 3):
        if not verbatim and ("$" in pieces[at] or "\\" in pieces[at]):
            pieces[at] = escape(replace_maths(unescape(pieces[at])))
        if at + 2 < len(pieces) and (name := pieces[at + 2].lower()) not in MAY_STAY_OPEN:
            step = -1 if pieces[at + 1][1] == "/" else 0 if pieces[at + 1].endswith("/>") else 1
            depth = max(depth + step, 0)
            verbatim = max(verbatim + step, 0) if name in VERBATIM else verbatim
            if depth > DEEPEST:
                raise DocumentError(f"the HTML has more than {DEEPEST} tags inside each other: close them, or write Markdown")
    return "".join(pieces[at] for at in range(len(pieces)) if at % 3 < 2)


def _from_html(title: str, text: str) -> str:
    if len(text) > LONGEST:
        raise DocumentError(f"content is too long ({len(text)} characters, at most {LONGEST}): split it into several documents")
    text = _with_formulas(text)
    # sanitising comes last: nothing may be changed in what it has made safe
    safe = nh3.clean(
        text,
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto", "tel", "data"},
        clean_content_tags={"script", "style", "title"},
    ).strip()
    return safe if "<h1" in safe else f'<h1 dir="auto">{escape(title, quote=False)}</h1>\n{safe}'


def render_html(title: str, content: str) -> bytes:
    """*content*, Markdown or HTML, as a page that stands alone: sanitised (no script, style, form, frame, event or outside picture),
    with a policy that lets nothing be fetched. Tags inside Markdown are printed as written. The same input gives the same bytes.

    Raises DocumentError when the text is too long or the file too big.
    """
    title, text = clean_line(title) or "Document", clean(content)
    body = (_from_html if IS_HTML.search(text) else _from_markdown)(title, text)
    return checked_size(
        f'<!DOCTYPE html>\n<html lang="fr">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title, quote=False)}</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n".encode()
    )
