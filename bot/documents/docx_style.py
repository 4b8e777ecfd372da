"""The look of a Word document: real styles, so that its reader can restyle, number and outline it."""

from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_TAB_ALIGNMENT
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Cm, Pt, RGBColor

from bot.documents import palette

FONT, MONO = "Calibri", "Consolas"
LEVELS = 9  # Word's lists have no more
BULLETS = "•–◦"
HEADINGS = [(17, palette.ACCENT), (14, palette.ACCENT), (12, palette.INK), (11, palette.INK), (11, palette.INK), (11, palette.MUTED)]

# Word calls a file damaged when these stand in another order (ECMA-376 part 1, 17.3 and 17.4)
ORDER = {
    "pPr": "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers pBdr shd tabs "
    "suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct autoSpaceDE autoSpaceDN bidi adjustRightInd "
    "snapToGrid spacing ind contextualSpacing mirrorIndents suppressOverlap jc textDirection textAlignment "
    "textboxTightWrap outlineLvl divId cnfStyle rPr sectPr pPrChange",
    "rPr": "rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof snapToGrid vanish "
    "webHidden color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em lang "
    "eastAsianLayout specVanish oMath",
    "tcPr": "cnfStyle tcW gridSpan hMerge vMerge tcBorders shd noWrap tcMar textDirection tcFitText vAlign hideMark",
    "tblPr": "tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize tblW jc tblCellSpacing tblInd "
    "tblBorders shd tblLayout tblCellMar tblLook",
}


def put_in_order(document: Document) -> None:
    """Sort the properties of every paragraph, run, cell and table as the standard has them."""
    for root in (document.element, document.styles.element):
        for name, order in ORDER.items():
            rank = {qn(f"w:{child}"): at for at, child in enumerate(order.split())}
            for properties in root.iter(qn(f"w:{name}")):
                properties[:] = sorted(properties, key=lambda child, rank=rank: rank.get(child.tag, len(rank)))


def colour(value: str) -> RGBColor:
    return RGBColor.from_string(value)


def _font(style, size: float, ink: str, bold: bool = False, name: str = FONT) -> None:
    style.font.name, style.font.size, style.font.bold, style.font.italic = name, Pt(size), bold, False
    style.font.color.rgb = colour(ink)
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for attribute in list(fonts.attrib):  # the template's headings name theme fonts, which win over names
        if attribute.endswith("Theme"):
            del fonts.attrib[attribute]
    for script in ("w:ascii", "w:hAnsi", "w:cs", "w:eastAsia"):
        fonts.set(qn(script), name)


def _spacing(style, before: float, after: float, line: float = 1.15) -> None:
    style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(before), Pt(after)
    style.paragraph_format.line_spacing = line


def shade(properties, fill: str) -> None:
    properties.append(parse_xml(f'<w:shd {nsdecls("w")} w:val="clear" w:color="auto" w:fill="{fill}"/>'))


def _border(style, side: str, size: int, space: int, ink: str) -> None:
    style.element.get_or_add_pPr().append(
        parse_xml(f'<w:pBdr {nsdecls("w")}><w:{side} w:val="single" w:sz="{size}" w:space="{space}" w:color="{ink}"/></w:pBdr>')
    )


def set_styles(document: Document) -> None:
    styles = document.styles
    _font(styles["Normal"], 11, palette.INK)
    _spacing(styles["Normal"], 0, 6)
    title = styles["Title"]
    for old in title.element.pPr.findall(qn("w:pBdr")):
        title.element.pPr.remove(old)
    _font(title, 24, palette.ACCENT, bold=True)
    _spacing(title, 0, 12, 1.0)
    _border(title, "bottom", 12, 4, palette.ACCENT)
    for level, (size, ink) in enumerate(HEADINGS, 1):
        style = styles[f"Heading {level}"]
        _font(style, size, ink, bold=True)
        _spacing(style, 14 - level, 4, 1.0)
        style.paragraph_format.keep_with_next = True
    quote = styles["Quote"]
    _font(quote, 11, palette.MUTED)
    _border(quote, "left", 18, 8, palette.ACCENT)
    quote.paragraph_format.left_indent = Cm(0.8)
    for name, font, size in (("Code Block", MONO, 9), ("Formula", FONT, 13)):
        style = styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = styles["Normal"]
        _font(style, size, palette.INK, name=font)
        _spacing(style, 4, 8, 1.0)
    shade(styles["Code Block"].element.get_or_add_pPr(), palette.CODE)
    styles["Formula"].paragraph_format.alignment = WD_ALIGN_PARAGRAPH.CENTER
    _font(styles["Footer"], 8.5, palette.MUTED)
    styles["Footer"].paragraph_format.tab_stops.clear_all()


def set_page(document: Document, title: str) -> None:
    """A4, and at the foot of every page the title and "page / pages"."""
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.2)
    section.top_margin = section.bottom_margin = Cm(2)
    foot = section.footer.paragraphs[0]
    foot.paragraph_format.tab_stops.add_tab_stop(Cm(16.6), WD_TAB_ALIGNMENT.RIGHT)
    foot.add_run((title if len(title) <= 80 else title[:79] + "…") + "\t")
    add_field(foot, "PAGE", "1")
    foot.add_run(" / ")
    add_field(foot, "NUMPAGES", "1")


def add_field(paragraph, instruction: str, shown: str) -> None:
    """A field that Word works out; *shown* stands there until it has."""
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), instruction)
    run = paragraph.add_run(shown)
    field.append(run._r)
    paragraph._p.append(field)


class Numbering:
    """The lists of one document: bullets share one definition, every numbered list counts for itself."""

    def __init__(self, document: Document):
        self.part = document.part.numbering_part.element
        for old in list(self.part):
            self.part.remove(old)
        self._abstract(0, lambda level: ("bullet", BULLETS[min(level, 2)]))
        self._abstract(1, lambda level: ("decimal", f"%{level + 1}."))
        self.count = 0
        self.bullets = self._instance(0)

    def _abstract(self, number: int, form) -> None:
        levels = "".join(
            f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
            f'<w:lvlText w:val="{text}"/><w:lvlJc w:val="left"/>'
            f'<w:pPr><w:ind w:left="{360 * (level + 1)}" w:hanging="360"/></w:pPr>'
            f'<w:rPr><w:color w:val="{palette.ACCENT}"/></w:rPr></w:lvl>'
            for level in range(LEVELS)
            for kind, text in [form(level)]
        )
        self.part.append(
            parse_xml(
                f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{number}">'
                f'<w:multiLevelType w:val="hybridMultilevel"/>{levels}</w:abstractNum>'
            )
        )

    def _instance(self, abstract: int, override: str = "") -> int:
        self.count += 1
        self.part.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="{self.count}"><w:abstractNumId w:val="{abstract}"/>{override}</w:num>'))
        return self.count

    def numbered(self, start: int, level: int) -> int:
        """A new numbered list that begins at *start*."""
        return self._instance(1, f'<w:lvlOverride w:ilvl="{level}"><w:startOverride w:val="{start}"/></w:lvlOverride>')
