"""The look of a presentation: 16:9, three layouts, theme colours and fonts, so that its reader can restyle it at once."""

import re

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.enum.text import MSO_ANCHOR
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Emu, Inches, Pt

from bot.documents import palette

WIDTH, HEIGHT = Inches(13.333), Inches(7.5)
LEFT, ROOM = Inches(0.75), Inches(11.83)
TOP, BODY_HEIGHT = Inches(1.6), Inches(5.0)
FOOT = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE)
TITLE_SLIDE, TITLE_AND_BODY, TITLE_ONLY = 0, 1, 2


def colour(value: str) -> RGBColor:
    return RGBColor.from_string(value)


def _theme(master) -> None:
    """The palette as the theme's colours: charts, tables and bullets follow it."""
    part = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    xml = part.blob.decode()
    shades = {"dk2": palette.ACCENT, "lt2": palette.PALE} | {f"accent{n}": shade for n, shade in enumerate(palette.SERIES[:6], 1)}
    for name, shade in shades.items():
        xml = re.sub(rf'(<a:{name}>)<a:srgbClr val="\w+"/>', rf'\1<a:srgbClr val="{shade}"/>', xml)
    part._blob = xml.encode()


def _place(shape, left, top, width, height) -> None:
    shape.left, shape.top, shape.width, shape.height = Emu(left), Emu(top), Emu(width), Emu(height)


def _text(shape, size: float, ink: str, bold: bool = False, anchor: MSO_ANCHOR = MSO_ANCHOR.TOP) -> None:
    """The look of a layout's placeholder, for its first level: to the left, without a bullet."""
    frame = shape.text_frame
    frame.vertical_anchor, frame.word_wrap = anchor, True
    shape._element.txBody.replace(
        shape._element.txBody.find("{http://schemas.openxmlformats.org/drawingml/2006/main}lstStyle"),
        parse_xml(
            f'<a:lstStyle {nsdecls("a")}><a:lvl1pPr marL="0" indent="0" algn="l"><a:buNone/><a:defRPr sz="{int(size * 100)}" '
            f'b="{int(bold)}"><a:solidFill><a:srgbClr val="{ink}"/></a:solidFill></a:defRPr></a:lvl1pPr></a:lstStyle>'
        ),
    )


def _foot(master, title: str) -> None:
    """A line under the title, the presentation's title and the slide number at the foot of every slide but the first."""
    tree = master.shapes._spTree
    for placeholder in list(master.placeholders):
        if placeholder.placeholder_format.type in FOOT:  # drawn below instead
            tree.remove(placeholder._element)
    number = '<a:fld id="{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}" type="slidenum"><a:rPr lang="fr-FR" sz="1000"/><a:t>1</a:t></a:fld>'
    label = '<a:r><a:rPr lang="fr-FR" sz="1000"/><a:t/></a:r>'
    for at, (left, width, side, inside) in enumerate([(LEFT, Inches(9), "l", label), (LEFT + ROOM - Inches(1), Inches(1), "r", number)]):
        shape = parse_xml(
            f'<p:sp {nsdecls("p", "a")}><p:nvSpPr><p:cNvPr id="{90 + at}" name="Foot {at}"/><p:cNvSpPr txBox="1"/>'
            f'<p:nvPr userDrawn="1"/></p:nvSpPr>'
            f'<p:spPr><a:xfrm><a:off x="{left}" y="{Inches(6.95)}"/><a:ext cx="{width}" cy="{Inches(0.3)}"/></a:xfrm>'
            f'<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/></p:spPr><p:txBody><a:bodyPr lIns="0" rIns="0" wrap="square"/>'
            f'<a:lstStyle><a:lvl1pPr algn="{side}"><a:defRPr sz="1000"><a:solidFill><a:srgbClr val="{palette.MUTED}"/></a:solidFill>'
            f'</a:defRPr></a:lvl1pPr></a:lstStyle><a:p><a:pPr algn="{side}"/>{inside}</a:p></p:txBody></p:sp>'
        )
        for text in shape.iter("{http://schemas.openxmlformats.org/drawingml/2006/main}t"):
            text.text = text.text or title[:90]
        tree.append(shape)
    tree.append(
        parse_xml(
            f'<p:sp {nsdecls("p", "a")}><p:nvSpPr><p:cNvPr id="93" name="Line"/><p:cNvSpPr/><p:nvPr userDrawn="1"/></p:nvSpPr><p:spPr>'
            f'<a:xfrm><a:off x="{LEFT}" y="{Inches(1.38)}"/><a:ext cx="{Inches(0.9)}" cy="{Inches(0.06)}"/></a:xfrm>'
            '<a:prstGeom prst="rect">'
            f'<a:avLst/></a:prstGeom><a:solidFill><a:schemeClr val="accent1"/></a:solidFill><a:ln><a:noFill/></a:ln></p:spPr></p:sp>'
        )
    )


def new_presentation(title: str):
    """An empty presentation whose layouts are TITLE_SLIDE, TITLE_AND_BODY and TITLE_ONLY."""
    made = Presentation()
    made.slide_width, made.slide_height = WIDTH, HEIGHT
    master = made.slide_masters[0]
    _theme(master)
    keep = [master.slide_layouts[n] for n in (0, 1, 5)]
    for layout in list(master.slide_layouts):
        if layout not in keep:
            master.slide_layouts.remove(layout)
    _foot(master, title)
    for holder in (master, *keep[1:]):
        for placeholder in list(holder.placeholders):
            if placeholder.placeholder_format.type in FOOT:
                placeholder._element.getparent().remove(placeholder._element)
            elif placeholder.placeholder_format.idx == 0:
                _place(placeholder, LEFT, Inches(0.45), ROOM, Inches(0.9))
                if holder is not master:
                    _text(placeholder, 28, palette.ACCENT, bold=True, anchor=MSO_ANCHOR.BOTTOM)
            else:
                _place(placeholder, LEFT, TOP, ROOM, BODY_HEIGHT)
    first = keep[0]
    first._element.set("showMasterSp", "0")
    first.background.fill.solid()
    first.background.fill.fore_color.rgb = colour(palette.ACCENT)
    for placeholder in list(first.placeholders):
        kind = placeholder.placeholder_format
        if kind.type in FOOT:
            placeholder._element.getparent().remove(placeholder._element)
        elif kind.idx == 0:
            _place(placeholder, Inches(1), Inches(2), WIDTH - Inches(2), Inches(2.2))
            _text(placeholder, 44, "FFFFFF", bold=True, anchor=MSO_ANCHOR.BOTTOM)
        else:
            _place(placeholder, Inches(1), Inches(4.4), WIDTH - Inches(2), Inches(1.4))
            _text(placeholder, 22, palette.PALE)
    return made


def title_size(text: str, largest: int) -> Pt:
    """Long titles are set smaller instead of running over their place."""
    return Pt(largest if len(text) <= 55 else largest * 0.75 if len(text) <= 110 else largest * 0.55)
