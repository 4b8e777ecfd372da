"""A Word document in real styles: headings that make an outline, lists that count, tables whose header repeats."""

import io

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Cm, Pt

from bot.documents import palette
from bot.documents.archive import finished
from bot.documents.bidi import RIGHT_TO_LEFT, is_right_to_left
from bot.documents.blocks import (
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
from bot.documents.clean import clean_line
from bot.documents.columns import alignments, fitted, is_total, lengths
from bot.documents.docx_style import LEVELS, MONO, Numbering, colour, put_in_order, set_page, set_styles, shade
from bot.errors import DocumentError

LONG = 14_000  # characters, about six pages; beyond it a table of contents is of use
ROOM = 16.6  # centimetres between the margins
MOST_COLUMNS = 60  # Word itself stops at 63
ALIGNMENT = {"left": WD_ALIGN_PARAGRAPH.LEFT, "center": WD_ALIGN_PARAGRAPH.CENTER, "right": WD_ALIGN_PARAGRAPH.RIGHT}


def _switch(properties, name: str) -> None:
    properties.append(OxmlElement(name))


class _Writer:
    def __init__(self, title: str):
        self.document = Document()
        set_styles(self.document)
        set_page(self.document, title)
        self.numbering = Numbering(self.document)
        self.bookmarks = 0

    def fill(self, paragraph, runs: list[Run], bold: bool = False, ink: str | None = None) -> None:
        """Write *runs* into *paragraph*, links as links, right-to-left text as such."""
        if is_right_to_left(plain(runs)):
            _switch(paragraph._p.get_or_add_pPr(), "w:bidi")
        for run in runs:
            made = paragraph.add_run(run.text)
            made.bold, made.italic, made.font.strike = run.bold or bold or None, run.italic or None, run.strike or None
            if ink:
                made.font.color.rgb = colour(ink)
            if run.code:
                made.font.name, made.font.size = MONO, Pt(9.5)
                shade(made._r.get_or_add_rPr(), palette.CODE)
            if RIGHT_TO_LEFT.search(run.text):
                _switch(made._r.get_or_add_rPr(), "w:rtl")
            if run.link:
                made.font.color.rgb, made.font.underline = colour(palette.ACCENT), True
                self.link(paragraph, made, run.link)

    def link(self, paragraph, made, address: str) -> None:
        link = OxmlElement("w:hyperlink")
        link.set(qn("r:id"), self.document.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
        link.append(made._r)
        paragraph._p.append(link)

    def paragraph(self, runs: list[Run], style: str = "Normal", indent: float = 0):
        made = self.document.add_paragraph(style=style)
        if indent:
            made.paragraph_format.left_indent = Cm(indent)
        self.fill(made, runs)
        return made

    def heading(self, block: Heading) -> None:
        made = self.paragraph(block.runs, f"Heading {block.level}")
        if block.level <= 3:
            self.bookmarks += 1
            made._p.insert(1, parse_xml(f'<w:bookmarkStart {nsdecls("w")} w:id="{self.bookmarks}" w:name="_Toc{self.bookmarks}"/>'))
            made._p.append(parse_xml(f'<w:bookmarkEnd {nsdecls("w")} w:id="{self.bookmarks}"/>'))

    def contents(self, headings: list[Heading]) -> None:
        """A table of contents that Word can update; until then it lists the headings as links."""
        first = None
        for number, heading in enumerate(headings, 1):
            made = self.document.add_paragraph()
            made.paragraph_format.left_indent, made.paragraph_format.space_after = Cm(0.6 * (heading.level - 1)), Pt(2)
            link = OxmlElement("w:hyperlink")
            link.set(qn("w:anchor"), f"_Toc{number}")
            link.append(made.add_run(clean_line(plain(heading.runs)))._r)
            made._p.append(link)
            first = first if first is not None else made
        begin = [
            f'<w:fldChar {nsdecls("w")} w:fldCharType="begin"/>',
            f'<w:instrText {nsdecls("w")} xml:space="preserve">TOC \\o "1-3" \\h \\z \\u</w:instrText>',
            f'<w:fldChar {nsdecls("w")} w:fldCharType="separate"/>',
        ]
        at = 1 if first._p.pPr is not None else 0
        for offset, part in enumerate(begin):
            run = OxmlElement("w:r")
            run.append(parse_xml(part))
            first._p.insert(at + offset, run)
        made.add_run()._r.append(parse_xml(f'<w:fldChar {nsdecls("w")} w:fldCharType="end"/>'))
        self.document.add_page_break()

    def flow(self, blocks: list[Block], level: int = -1, style: str = "Normal") -> None:
        """Write *blocks*; *level* is how deep in lists they stand (-1: in none)."""
        indent = 0.635 * (min(level, LEVELS - 1) + 1)
        for block in blocks:
            match block:
                case Heading():
                    self.heading(block)
                case Paragraph(runs):
                    self.paragraph(runs, style, indent + (0.8 if style == "Quote" and indent else 0))
                case Listing():
                    self.listing(block, level + 1, style)
                case Quote(inner):
                    self.flow(inner, level, "Quote")
                case Code(text):
                    self.paragraph([Run(text)], "Code Block", indent)
                case Formula(text):
                    self.paragraph([Run(text)], "Formula", indent)
                case Table():
                    self.table(block)
                case Rule():
                    made = self.document.add_paragraph()
                    made._p.get_or_add_pPr().append(
                        parse_xml(
                            f'<w:pBdr {nsdecls("w")}><w:bottom w:val="single" w:sz="6" w:space="1" w:color="{palette.LINE}"/></w:pBdr>'
                        )
                    )

    def listing(self, block: Listing, level: int, style: str) -> None:
        depth = min(level, LEVELS - 1)
        number = self.numbering.bullets if block.start is None else self.numbering.numbered(block.start, depth)
        for item in block.items:
            runs, rest = item_parts(item)
            made = self.document.add_paragraph(style="List Paragraph")
            made.paragraph_format.space_after = Pt(2)
            if is_task(runs):
                made.paragraph_format.left_indent = Cm(0.635 * depth + 0.2)
            else:
                properties = made._p.get_or_add_pPr().get_or_add_numPr()
                properties.get_or_add_ilvl().val, properties.get_or_add_numId().val = depth, number
            self.fill(made, runs)
            self.flow(rest, level, style)

    def table(self, block: Table) -> None:
        columns = len(block.header)
        if columns > MOST_COLUMNS:
            raise DocumentError(
                f"a table has {columns} columns; a Word page holds at most {MOST_COLUMNS}: use generate_xlsx or fewer columns"
            )
        size = 11 if columns <= 4 else 10 if columns <= 5 else 9 if columns <= 7 else 8
        letter = size * 0.022  # centimetres; wide enough for the fonts phones put in Calibri's place
        least = [min(word, 25) * letter + 0.5 for _, word in lengths(block)]
        widths = fitted(
            [max(min(line, 60) * letter + 0.5, short) for (line, _), short in zip(lengths(block), least, strict=True)], ROOM - 0.2, least
        )
        table = self.document.add_table(0, columns, "Table Grid")
        table.autofit = False
        properties = table._tbl.tblPr
        properties.append(parse_xml(f'<w:tblInd {nsdecls("w")} w:w="108" w:type="dxa"/>'))  # else its text, not its edge, meets the margin
        properties.append(
            parse_xml(
                f"<w:tblBorders {nsdecls('w')}>"
                + "".join(
                    f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="{palette.LINE}"/>'
                    for side in ("top", "left", "bottom", "right", "insideH", "insideV")
                )
                + "</w:tblBorders>"
            )
        )
        for column, width in zip(table.columns, widths, strict=True):
            column.width = Cm(width)
        aligned = alignments(block)
        for number, row in enumerate([block.header, *block.rows]):
            made = table.add_row()
            total = number > 0 and number == len(block.rows) and is_total(plain(row[0]))
            for cell, runs, side, width in zip(made.cells, row, aligned, widths, strict=True):
                cell.width = Cm(width)
                paragraph = cell.paragraphs[0]
                paragraph.alignment, paragraph.paragraph_format.space_after = ALIGNMENT[side], Pt(2)
                self.fill(paragraph, runs, bold=not number or total, ink=None if number else "FFFFFF")
                for run in paragraph.runs:
                    run.font.size = Pt(size)
                if not number or total:
                    shade(cell._tc.get_or_add_tcPr(), palette.PALE if number else palette.ACCENT)
            if not number:
                _switch(made._tr.get_or_add_trPr(), "w:tblHeader")
        self.document.add_paragraph().paragraph_format.space_after = Pt(2)


def render_docx(title: str, content: str) -> bytes:
    """The Markdown *content* under *title* as a Word document. The same input gives the same bytes.

    Raises DocumentError when a table has more columns than Word can hold, the text is too long or the file too big.
    """
    title = clean_line(title) or "Document"
    blocks = parse(content, title)
    writer = _Writer(title)
    properties = writer.document.core_properties
    properties.title, properties.author, properties.comments, properties.last_modified_by = title[:250], "", "", ""
    writer.paragraph([Run(title)], "Title")
    headings = outline(blocks)
    if len(str(content)) > LONG and len(headings) > 3:
        writer.contents(headings)
    writer.flow(blocks)
    put_in_order(writer.document)
    target = io.BytesIO()
    writer.document.save(target)
    return finished(target.getvalue())
