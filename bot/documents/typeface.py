"""The fonts that are shipped with Palabre (DejaVu, see fonts/LICENSE.txt) and how a run of text is set in them."""

import re
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path

from reportlab import rl_config
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from bot.documents import palette
from bot.documents.bidi import RIGHT_TO_LEFT, is_right_to_left, joined_letters, visual_order
from bot.documents.blocks import Run
from bot.documents.signs import drawable

REGULAR, BOLD, OBLIQUE, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSans-Oblique", "DejaVuSansMono"
NO_BREAK = "\u00a0"
HIGH_ACCENT = re.compile("(?<=[A-ZÀ-ÞẸỌŊƐƆ])[\u0300-\u0304\u0306-\u030c\u20d7]")  # drawn for small letters, it would cross a capital


@cache
def faces() -> dict[str, frozenset[int]]:
    """Registers the fonts with reportlab, once in a process; the code points each of them draws.
    Beyond U+FFFF reportlab writes a table of characters that readers cannot read."""
    rl_config.useA85 = 0  # fonts as binary: a fifth smaller
    for name in (REGULAR, BOLD, OBLIQUE, MONO):
        pdfmetrics.registerFont(TTFont(name, str(Path(__file__).parent / "fonts" / f"{name}.ttf"), asciiReadable=False))
    pdfmetrics.registerFontFamily(REGULAR, REGULAR, BOLD, OBLIQUE, BOLD)
    return {name: frozenset(c for c in pdfmetrics.getFont(name).face.charToGlyph if c < 0x10000) for name in (REGULAR, BOLD, OBLIQUE, MONO)}


def width(text: str, size: float, face: str = REGULAR) -> float:
    """Width in points of one line."""
    faces()
    return pdfmetrics.stringWidth(text, face, size)


def spaced(text: str) -> str:
    """French spacing that no line end can tear apart: before : ; ! ? » %, after «, inside 12 500."""
    text = text.replace("\u202f", NO_BREAK)
    text = re.sub(r"(?<=\S) (?=[:;!?»%€])|(?<=«) |(?<=\d) (?=\d{3}(?!\d))|(?<=\d) (?=F ?CFA\b)", NO_BREAK, text)
    return re.sub(r"(?<=\dF) (?=CFA\b)", NO_BREAK, text)


def one_line(text: str, size: float, room: float) -> str:
    """*text* ready to be drawn on one line of *room* points, cut with an ellipsis where it is too long."""
    text = " ".join(drawable(text, _has).split())
    if RIGHT_TO_LEFT.search(text):
        words = ((word, None) for word in joined_letters(text).split())
        text = " ".join(word for word, _ in visual_order(words, is_right_to_left(text)))
    while text and width(text, size) > room:
        text = text[:-2].rstrip() + "…"
    return text


def _face(run: Run, bold: bool) -> str:
    return MONO if run.code else BOLD if run.bold or bold else OBLIQUE if run.italic else REGULAR


def _has(char: str) -> bool:
    return ord(char) in faces()[REGULAR] or char == "\n"


def _drawn(run: Run) -> Run:
    text = drawable(run.text.replace("\t", " "), _has)
    return Run(text if run.code else spaced(text), run.bold, run.italic, run.code, run.strike, run.link)


def _marked(run: Run, size: float, bold: bool) -> str:
    """reportlab's markup of one run; a letter its face lacks is set in the regular one, which has the most."""
    face = _face(run, bold)
    parts = []
    for inside, chars in groupby(run.text, lambda c: ord(c) in faces()[face] or c == "\n"):
        text = escape("".join(chars), quote=False).replace("\n", "<br/>")
        text = HIGH_ACCENT.sub(lambda m: f'<super rise="{size * 0.2:.1f}" size="{size}">{m[0]}</super>', text)
        name = face if inside else REGULAR
        parts.append(text if name == (BOLD if bold else REGULAR) else f'<font name="{name}">{text}</font>')
    text = "".join(parts)
    if run.strike:
        text = f"<strike>{text}</strike>"
    if run.link:
        text = f'<a href="{escape(run.link)}" color="#{palette.ACCENT}">{text}</a>'
    return text


def markup(runs: list[Run], style: ParagraphStyle, room: float, bold: bool = False) -> tuple[str, bool]:
    """The runs in reportlab's markup, everything in them escaped, and whether they run from right to left.

    Lines with right-to-left words are broken here, at *room* points, because their words are reordered line by line."""
    runs = [_drawn(run) for run in runs]
    text = "".join(run.text for run in runs)
    if not RIGHT_TO_LEFT.search(text):
        return "".join(_marked(run, style.fontSize, bold) for run in runs), False
    turned = is_right_to_left(text)
    lines = []
    for line in _lines(runs, style, room, bold):
        words = visual_order(((word.text, word) for word in line), turned)
        lines.append(" ".join(_marked(Run(t, w.bold, w.italic, w.code, w.strike, w.link), style.fontSize, bold) for t, w in words))
    return "<br/>".join(lines), turned


def _lines(runs: list[Run], style: ParagraphStyle, room: float, bold: bool) -> list[list[Run]]:
    lines: list[list[Run]] = [[]]
    used = 0.0
    for run in runs:
        for paragraph, part in enumerate(joined_letters(run.text).split("\n")):
            if paragraph:
                lines.append([])
                used = 0.0
            for word in part.split():
                wide = width(word + " ", style.fontSize, BOLD if run.bold or bold else REGULAR)
                if lines[-1] and used + wide > room:
                    lines.append([])
                    used = 0.0
                lines[-1].append(Run(word, run.bold, run.italic, run.code, run.strike, run.link))
                used += wide
    return lines
