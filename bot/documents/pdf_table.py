"""Tables of a PDF: columns as wide as they need, numbers to the right, rows that break over pages."""

from dataclasses import replace

from reportlab.lib.colors import HexColor, white
from reportlab.lib.enums import TA_CENTER, TA_LEFT, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import LongTable, Paragraph, Spacer

from bot.documents import palette, typeface
from bot.documents.blocks import Run, Table, plain
from bot.documents.columns import alignments, fitted, is_total, words
from bot.errors import DocumentError

MOST_COLUMNS = 30
LONG_CELL = 600  # characters: a row with more is cut into pieces that fit on a page
ALIGNMENTS = {"left": TA_LEFT, "center": TA_CENTER, "right": TA_RIGHT}


def _widths(table: Table, room: float, size: float, padding: float) -> list[float]:
    wanted, least = [], []
    for column in range(len(table.header)):
        texts = [plain(table.header[column]), *(plain(row[column]) for row in table.rows)]
        longest = max((line for text in texts for line in text.split("\n")), key=len, default="")[:200]
        word = max((word for text in texts for word in words(text)), key=len, default="")[:25]
        least.append(typeface.width(word, size, typeface.BOLD) * 1.05 + 2 * padding + 2)
        wanted.append(max(typeface.width(longest, size, typeface.BOLD) + 2 * padding + 2, least[-1]))
    return fitted(wanted, room, least)


def _pieces(cells: list[Paragraph], widths: list[float], height: float) -> list[list]:
    """One row as several, each at most *height* points high."""
    rows: list[list] = []
    while any(cells):
        row, rest = [], []
        for cell, wide in zip(cells, widths, strict=True):
            parts = [""] if not cell else [cell] if cell.wrap(wide, height)[1] <= height else cell.split(wide, height) or [cell]
            row.append(parts[0])
            rest.append(parts[1] if len(parts) > 1 else "")
        rows.append(row)
        cells = rest
    return rows


def pdf_table(table: Table, room: float, page_height: float, base: ParagraphStyle) -> list:
    """The flowables of *table* in *room* points of width. Raises DocumentError when it has too many columns to be read on paper."""
    columns = len(table.header)
    if columns > MOST_COLUMNS:
        raise DocumentError(f"a table has {columns} columns; a page holds at most {MOST_COLUMNS}: use generate_xlsx or fewer columns")
    size = 9.0 if columns <= 7 else 7.5 if columns <= 12 else 6.0 if columns <= 18 else 4.5
    padding = 5.0 if columns <= 7 else 3.0 if columns <= 12 else 1.5
    widths = _widths(table, room, size, padding)
    styles = [
        base.clone(f"cell{a}", fontSize=size, leading=size * 1.35, alignment=a, spaceBefore=0, spaceAfter=0, leftIndent=0)
        for a in map(ALIGNMENTS.get, alignments(table))
    ]

    def cell(runs: list[Run], column: int, head: bool = False) -> Paragraph:
        style, inner = styles[column], widths[column] - 2 * padding
        text, turned = typeface.markup(runs, style, inner, bold=head)
        if head or turned:
            style = style.clone(
                "head",
                alignment=TA_RIGHT if turned else style.alignment,
                **({"fontName": typeface.BOLD, "textColor": white} if head else {}),
            )
        return Paragraph(text, style)

    data: list[list] = [[cell(runs, c, head=True) for c, runs in enumerate(table.header)]]
    continued = []
    for number, row in enumerate(table.rows):
        total = number == len(table.rows) - 1 and is_total(plain(row[0]))
        cells = [cell([replace(run, bold=run.bold or total) for run in runs], c) for c, runs in enumerate(row)]
        if max(len(plain(runs)) for runs in row) > LONG_CELL:
            pieces = _pieces(cells, [w - 2 * padding for w in widths], page_height / 8)
            continued += range(len(data), len(data) + len(pieces) - 1)
            data += pieces
        else:
            data.append(cells)
    line = HexColor(f"#{palette.LINE}")
    look = [
        ("BACKGROUND", (0, 0), (-1, 0), HexColor(f"#{palette.ACCENT}")),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, -1), 0.5, line),
        ("BOX", (0, 0), (-1, -1), 0.5, line),
        ("LEFTPADDING", (0, 0), (-1, -1), padding),
        ("RIGHTPADDING", (0, 0), (-1, -1), padding),
        ("TOPPADDING", (0, 0), (-1, -1), padding * 0.7),
        ("BOTTOMPADDING", (0, 0), (-1, -1), padding * 0.9),
    ]
    for row in continued:
        look += [
            ("LINEBELOW", (0, row), (-1, row), 0.5, white),
            ("BOTTOMPADDING", (0, row), (-1, row), 0),
            ("TOPPADDING", (0, row + 1), (-1, row + 1), 0),
        ]
    if table.rows and total:
        look += [("BACKGROUND", (0, -1), (-1, -1), HexColor(f"#{palette.PALE}"))]
    return [Spacer(0, 4), LongTable(data, widths, repeatRows=1, style=look, hAlign="LEFT"), Spacer(0, 8)]
