"""A PDF that is pleasant on a phone and on paper: A4, shipped fonts, page numbers, a table of contents when it is long."""

import io
import textwrap
from threading import Lock

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_CENTER, TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    CondPageBreak,
    Frame,
    HRFlowable,
    Indenter,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    XPreformatted,
)
from reportlab.platypus.tableofcontents import TableOfContents

from bot.documents import palette, typeface
from bot.documents.blocks import Block, Code, Formula, Heading, Listing, Quote, Rule, Run, Table, is_task, item_parts, outline, parse
from bot.documents.blocks import Paragraph as Text
from bot.documents.clean import clean_line
from bot.documents.pdf_table import pdf_table
from bot.documents.size import checked_size

MARGIN = 54.0  # points
FOOT = 30.0
LONG = 6  # pages; beyond it a table of contents is of use
INDENT = 16.0
DEEPEST_INDENT = 8
ONE_AT_A_TIME = Lock()  # reportlab's font objects keep their place while they are read
BULLETS = "•–◦"

BODY = ParagraphStyle(
    "body",
    fontName=typeface.REGULAR,
    fontSize=10,
    leading=15,
    spaceAfter=6,
    textColor=HexColor(f"#{palette.INK}"),
    allowWidows=0,
    allowOrphans=0,
)
TITLE = BODY.clone("title", fontName=typeface.BOLD, fontSize=20, leading=26, textColor=HexColor(f"#{palette.ACCENT}"), spaceAfter=4)
AUTHOR = BODY.clone("author", fontSize=9.5, textColor=HexColor(f"#{palette.MUTED}"), spaceAfter=4)
HEADINGS = [
    BODY.clone(
        f"h{level}",
        fontName=typeface.BOLD,
        fontSize=size,
        leading=size * 1.35,
        spaceBefore=before,
        spaceAfter=5,
        textColor=HexColor(f"#{colour}"),
    )
    for level, size, before, colour in [
        (1, 16, 14, palette.ACCENT),
        (2, 13.5, 12, palette.ACCENT),
        (3, 11.5, 9, palette.INK),
        (4, 10.5, 7, palette.INK),
        (5, 10, 6, palette.INK),
        (6, 10, 6, palette.MUTED),
    ]
]
FORMULA = BODY.clone("formula", fontSize=12, leading=18, alignment=TA_CENTER, spaceBefore=4, spaceAfter=10)
CODE = BODY.clone(
    "code",
    fontName=typeface.MONO,
    fontSize=8.5,
    leading=12,
    backColor=HexColor(f"#{palette.CODE}"),
    borderPadding=6,
    spaceBefore=8,
    spaceAfter=14,
    leftIndent=6,
    rightIndent=6,
)
QUOTE = BODY.clone("quote", textColor=HexColor(f"#{palette.MUTED}"))
CONTENTS = [
    BODY.clone(
        f"toc{level}",
        leftIndent=level * INDENT,
        fontName=typeface.BOLD if not level else typeface.REGULAR,
        spaceAfter=2,
        spaceBefore=4 if not level else 0,
    )
    for level in range(3)
]


class _Barred(Paragraph):
    """A quoted paragraph with a bar at its left."""

    def draw(self):
        self.canv.saveState()
        self.canv.setFillColor(HexColor(f"#{palette.ACCENT}"))
        self.canv.rect(self.style.leftIndent - 10, -self.style.spaceAfter / 2, 2.5, self.height + self.style.spaceAfter, stroke=0, fill=1)
        self.canv.restoreState()
        super().draw()


class _Numbered(Canvas):
    """Knows only at the end how many pages there are; every foot shows the form that is drawn then."""

    def save(self):
        self.beginForm("pages")
        self.setFont(typeface.REGULAR, 8)
        self.setFillColor(HexColor(f"#{palette.MUTED}"))
        self.drawString(0, 0, f"/ {self.getPageNumber() - 1}")
        self.endForm()
        super().save()


class _Document(BaseDocTemplate):
    def __init__(self, target: io.BytesIO, title: str, author: str, size: tuple[float, float]):
        super().__init__(
            target,
            pagesize=size,
            title=title,
            author=author,
            creator="Palabre",
            producer="Palabre",
            subject="",
            invariant=1,
            leftMargin=MARGIN,
            rightMargin=MARGIN,
            topMargin=MARGIN,
            bottomMargin=MARGIN,
        )
        frame = Frame(MARGIN, MARGIN, size[0] - 2 * MARGIN, size[1] - 2 * MARGIN, 0, 0, 0, 0)
        self.addPageTemplates(PageTemplate("page", [frame], onPageEnd=self._foot))
        self.foot = typeface.one_line(title, 8, size[0] - 2 * MARGIN - 70)

    def _foot(self, canvas: Canvas, document: BaseDocTemplate) -> None:
        right = self.pagesize[0] - MARGIN
        canvas.saveState()
        canvas.setFont(typeface.REGULAR, 8)
        canvas.setFillColor(HexColor(f"#{palette.MUTED}"))
        canvas.setStrokeColor(HexColor(f"#{palette.LINE}"))
        canvas.line(MARGIN, FOOT + 12, right, FOOT + 12)
        canvas.drawString(MARGIN, FOOT, self.foot)
        canvas.drawRightString(right - 18, FOOT, f"{canvas.getPageNumber()} ")
        canvas.translate(right - 18, FOOT)
        canvas.doForm("pages")
        canvas.restoreState()

    def afterFlowable(self, flowable) -> None:
        if key := getattr(flowable, "bookmark", None):
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(flowable.plain, key, flowable.depth, closed=flowable.depth > 0)
            self.notify("TOCEntry", (flowable.depth, flowable.markup, self.page, key))


class _Story:
    """Flowables from blocks. A story is used up by building it, so it is made anew for every build."""

    def __init__(self, width: float, height: float):
        self.width, self.height, self.headings, self.depth = width, height, 0, -1

    def paragraph(self, runs: list[Run], style: ParagraphStyle, kind: type[Paragraph] = Paragraph, bullet: str | None = None) -> Paragraph:
        text, turned = typeface.markup(runs, style, self.width - style.leftIndent, bold=style.fontName == typeface.BOLD)
        if turned and style.alignment != TA_CENTER:
            style = style.clone(style.name, alignment=TA_RIGHT)
        return kind(text, style, bulletText=bullet)

    def heading(self, block: Heading, style: ParagraphStyle) -> list:
        made = self.paragraph(block.runs, style)
        text = clean_line("".join(run.text for run in block.runs))
        if block.level <= 3 and text:
            self.headings += 1
            self.depth = min(block.level - 1, self.depth + 1)  # an outline may not skip a level
            made.bookmark, made.plain, made.depth = f"h{self.headings}", text, self.depth
            made.markup, _ = typeface.markup(block.runs, BODY, self.width)
        return [CondPageBreak(style.leading + 60), made]

    def flow(self, blocks: list[Block], indent: float = 0, nested: int = 0, quoted: bool = False) -> list:
        made: list = []
        body = (QUOTE if quoted else BODY).clone("text", leftIndent=indent)
        for block in blocks:
            match block:
                case Heading():
                    made += self.heading(block, HEADINGS[block.level - 1].clone("heading", leftIndent=indent))
                case Text(runs):
                    made.append(self.paragraph(runs, body, _Barred if quoted else Paragraph))
                case Listing():
                    made += self.listing(block, indent, nested, quoted)
                    made.append(Spacer(0, 4 if not nested else 0))
                case Quote(inner):
                    made += [Spacer(0, 4), *self.flow(inner, indent + INDENT, nested, quoted=True), Spacer(0, 6)]
                case Table():
                    table = pdf_table(block, self.width - indent, self.height, BODY)
                    made += [Indenter(indent), *table, Indenter(-indent)]
                case Code(text):
                    made.append(self.code(text, indent))
                case Formula(text):
                    made.append(self.paragraph([Run(text)], FORMULA.clone("formula", leftIndent=indent)))
                case Rule():
                    made.append(HRFlowable(width="100%", color=HexColor(f"#{palette.LINE}"), thickness=0.8, spaceBefore=6, spaceAfter=10))
        return made

    def listing(self, block: Listing, indent: float, nested: int, quoted: bool) -> list:
        made: list = []
        last = (block.start or 0) + len(block.items)
        hang = INDENT if block.start is None else max(INDENT + 4, typeface.width(f"{last}. ", BODY.fontSize) + 4)
        inner = indent + hang if nested < DEEPEST_INDENT else indent
        for number, item in enumerate(block.items, block.start or 0):
            bullet = BULLETS[min(nested, len(BULLETS) - 1)] if block.start is None else f"{number}."
            style = BODY.clone(
                "item",
                leftIndent=inner,
                bulletIndent=indent + 2,
                spaceAfter=3,
                bulletFontName=typeface.REGULAR,
                bulletFontSize=BODY.fontSize,
                bulletColor=HexColor(f"#{palette.ACCENT}"),
            )
            runs, rest = item_parts(item)
            # an empty paragraph would not draw its bullet
            made.append(self.paragraph(runs or [Run(typeface.NO_BREAK)], style, bullet="" if is_task(runs) else bullet))
            made += self.flow(rest, inner, nested + 1, quoted)
        return made

    def code(self, text: str, indent: float) -> XPreformatted:
        style = CODE.clone("code", leftIndent=indent + 6)
        columns = max(20, int((self.width - indent - 12) / typeface.width("m", CODE.fontSize, typeface.MONO)))
        lines = [
            part
            for line in text.expandtabs(4).split("\n")
            for part in (textwrap.wrap(line, columns, drop_whitespace=False, replace_whitespace=False, break_on_hyphens=False) or [""])
        ]
        return XPreformatted(typeface.markup([Run("\n".join(lines), code=True)], style, 1e9)[0].replace("<br/>", "\n"), style)


def _built(title: str, author: str, blocks: list[Block], size: tuple[float, float], contents: bool) -> tuple[bytes, int]:
    target = io.BytesIO()
    document = _Document(target, title, author, size)
    story = _Story(size[0] - 2 * MARGIN, size[1] - 2 * MARGIN)
    flowables: list = [story.paragraph([Run(title)], TITLE)]
    if author:
        flowables.append(story.paragraph([Run(author)], AUTHOR))
    flowables.append(HRFlowable(width="100%", color=HexColor(f"#{palette.ACCENT}"), thickness=1.5, spaceBefore=2, spaceAfter=12))
    if contents:
        flowables += [TableOfContents(levelStyles=CONTENTS, dotsMinLevel=0), PageBreak()]
    flowables += story.flow(blocks)
    if contents:
        document.multiBuild(flowables, canvasmaker=_Numbered)
    else:
        document.build(flowables, canvasmaker=_Numbered)
    return target.getvalue(), document.page


def render_pdf(title: str, content: str, *, author: str = "", landscape: bool = False) -> bytes:
    """The Markdown *content* under *title* as a PDF. The same input gives the same bytes.

    Raises DocumentError when a table is too wide for paper, the text too long or the file too big.
    """
    title, author = clean_line(title) or "Document", clean_line(author)
    blocks = parse(content, title)
    size = (A4[1], A4[0]) if landscape else A4
    with ONE_AT_A_TIME:
        typeface.faces()
        made, pages = _built(title, author, blocks, size, contents=False)
        if pages > LONG and len(outline(blocks)) > 3:
            made, _ = _built(title, author, blocks, size, contents=True)
    return checked_size(made)
