"""What a model asks a slide to hold, read and checked."""

import re
from dataclasses import dataclass

from bot.documents.blocks import Run, inline, plain
from bot.documents.chart import Chart, read_chart
from bot.documents.clean import clean, clean_line
from bot.documents.pptx_fit import Bullet
from bot.errors import DocumentError

MOST_COLUMNS = 15
LONGEST_CELL = 1500  # characters; a slide is not the place for more
NUMBER = re.compile(r"[-+−]?[\d \u00a0\u202f]+([.,]\d+)?")


def items(value: object, place: str) -> list:
    if value is None or isinstance(value, list):
        return value or []
    raise DocumentError(f"{place} must be a list")


def read_bullet(text: object) -> Bullet:
    """Some models write the bullet sign themselves, with the level as indent."""
    line = clean(text).strip("\n")
    spaces = len(line) - len(line.lstrip(" \t"))
    return Bullet(min(spaces // 2, 3), re.sub(r"^\s*([-*•–]\s+)?", "", line))


def read_table(value: object, place: str) -> list[list[list[Run]]]:
    rows = items(value, f"{place}: table")
    if not all(isinstance(row, list) for row in rows):
        raise DocumentError(f"{place}: table must be a list of rows, each a list of cells, the first one the header")
    columns = max(map(len, rows), default=0)
    if columns > MOST_COLUMNS:
        raise DocumentError(
            f"{place}: the table has {columns} columns; a slide holds at most {MOST_COLUMNS}: use generate_xlsx or fewer columns"
        )
    cells = [[inline(cell) for cell in [*row, *[""] * (columns - len(row))]] for row in rows] if columns else []
    if any(len(plain(cell)) > LONGEST_CELL for row in cells for cell in row):
        raise DocumentError(f"{place}: a table cell is longer than {LONGEST_CELL} characters; use bullets or generate_docx for long text")
    return cells


def _value(cell: object, place: str) -> float | None:
    """A number for a chart; numbers written as text ("12 500") are read."""
    if cell is None or cell == "":
        return None
    if isinstance(cell, (int, float)) and not isinstance(cell, bool) and abs(cell) < 1e300:
        return cell
    if isinstance(cell, str) and NUMBER.fullmatch(cell.strip()):
        return float(re.sub(r"[ \u00a0\u202f]", "", cell).replace(",", ".").replace("−", "-"))
    raise DocumentError(f"{place}: the chart needs numbers in y, not {clean_line(cell)[:40]!r}")


@dataclass
class ChartData:
    look: Chart
    labels: list[str]
    series: list[tuple[str, list[float | None]]]


def read_chart_data(asked: object, place: str) -> ChartData | None:
    if not asked:
        return None
    data = asked if isinstance(asked, dict) else {}
    columns = [clean_line(c) for c in items(data.get("columns"), f"{place}: chart.columns")]
    look = read_chart(asked, columns, place)
    rows = items(data.get("rows"), f"{place}: chart.rows")
    if not rows or not all(isinstance(row, list) for row in rows):
        raise DocumentError(f"{place}: chart.rows must be a list of rows, each a list of cells in the order of chart.columns")
    rows = [[*row, *[None] * (len(columns) - len(row))] for row in rows]
    labels = [re.sub(r"^(?=[=+@-])", " ", clean_line(row[look.x])) for row in rows]  # its embedded sheet would read "=1" as a formula
    return ChartData(look, labels, [(columns[y], [_value(row[y], place) for row in rows]) for y in look.y])
