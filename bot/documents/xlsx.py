"""An Excel workbook an accountant would keep: header frozen, widths fitted, numbers as numbers, totals that compute."""

import io
import re

import xlsxwriter
from xlsxwriter.utility import xl_rowcol_to_cell

from bot.documents import palette
from bot.documents.archive import finished
from bot.documents.bidi import is_right_to_left
from bot.documents.cells import BLANK, Cell, number_format, read_cell
from bot.documents.chart import Chart, read_chart
from bot.documents.clean import clean_line
from bot.documents.columns import is_total
from bot.documents.results import Sheets
from bot.errors import DocumentError

MOST_CELLS = 1_000_000
MOST_COLUMNS = 500
MOST_SHEETS = 100
BIG = 100_000  # cells; from here on rows are written out one by one instead of being kept
NARROWEST, WIDEST = 9, 60  # characters
DATE, TIME = "dd/mm/yyyy", "dd/mm/yyyy hh:mm"


class _Sheet:
    """One sheet as asked for, read and checked: name, columns, cells, chart."""

    def __init__(self, asked: object, number: int):
        place = f"sheet {number}"
        if not isinstance(asked, dict):
            raise DocumentError(f"{place} must be an object {{name, columns, rows}}")
        columns, rows = asked.get("columns") or [], asked.get("rows") or []
        if not isinstance(columns, list) or not isinstance(rows, list):
            raise DocumentError(f"{place}: columns and rows must be lists")
        self.given = clean_line(asked.get("name"))
        self.columns = [clean_line(c) for c in columns]
        self.rows: list[list[Cell]] = []
        for at, row in enumerate(rows, 2):
            if not isinstance(row, list):
                raise DocumentError(f"{place}, row {at}: a row must be a list of cells in the order of columns")
            self.rows.append([read_cell(v, f"{place}, cell {xl_rowcol_to_cell(at - 1, c)}") for c, v in enumerate(row)])
        self.columns += [""] * (max(map(len, self.rows), default=0) - len(self.columns))
        if len(self.columns) > MOST_COLUMNS:
            raise DocumentError(f"{place} has {len(self.columns)} columns, at most {MOST_COLUMNS}")
        self.chart: Chart | None = read_chart(asked["chart"], self.columns, place) if asked.get("chart") else None
        self.title = ""

    @property
    def has_total(self) -> bool:
        row = self.rows[-1] if self.rows else []
        return bool(row) and row[0].kind == "text" and is_total(str(row[0].value))


def _allowed(name: str) -> str:
    """*name* by Excel's rules: no ``: \\ / ? * [ ]``, no apostrophe at an end, 31 UTF-16 units."""
    name = " ".join(re.sub(r"[:\\/?*\[\]]", " ", name).split()).strip("' ")
    return name.encode("utf-16-le")[:62].decode("utf-16-le", "ignore").strip("' ")


def _titles(sheets: list[_Sheet], title: str) -> None:
    """Names that differ in more than case; a sheet without one gets the workbook's."""
    taken: set[str] = {"history"}  # Excel keeps that one for itself
    for sheet in sheets:
        base = sheet.title = _allowed(sheet.given) or _allowed(title) or "1"
        count = 1
        while sheet.title.casefold() in taken:
            count += 1
            sheet.title = f"{_allowed(base[:24])} ({count})"
        taken.add(sheet.title.casefold())


class _Book:
    def __init__(self, title: str, sheets: list[_Sheet]):
        big = sum(len(s.rows) * len(s.columns) for s in sheets) > BIG
        self.target = io.BytesIO()
        self.book = xlsxwriter.Workbook(
            self.target, {"in_memory": not big, "constant_memory": big, "use_future_functions": True, "default_date_format": DATE}
        )
        self.book.set_properties({"title": title[:250], "author": ""})
        self.title, self.sheets, self.formats = title, {s.title: s for s in sheets}, {}
        self.results = Sheets(self.look, {n.casefold(): s.title for s in sheets for n in (s.title, s.given)})

    def look(self, address):
        sheet, row, column = address
        rows = self.sheets[sheet].rows
        if row == 0:
            names = self.sheets[sheet].columns
            return names[column] if column < len(names) else None
        cell = rows[row - 1][column] if row <= len(rows) and column < len(rows[row - 1]) else BLANK
        if cell.kind in ("date", "time"):
            raise ValueError("dates are left to the spreadsheet program")
        return (cell.value,) if cell.kind == "formula" else cell.value

    def format(self, **look):
        key = tuple(sorted(look.items()))
        if key not in self.formats:
            self.formats[key] = self.book.add_format(
                {"font_name": "Calibri", "font_size": 11, "valign": "top", "border": 1, "border_color": f"#{palette.LINE}"} | look
            )
        return self.formats[key]

    def write(self, sheet: _Sheet) -> None:
        page = self.book.add_worksheet(sheet.title)
        formulas = {
            (r, c): self.results.result((sheet.title, r, c))
            for r, row in enumerate(sheet.rows, 1)
            for c, cell in enumerate(row)
            if cell.kind == "formula"
        }
        shapes = self.column_formats(sheet, formulas)
        self.set_page(page, sheet)
        head = {"bold": True, "font_color": "#FFFFFF", "bg_color": f"#{palette.ACCENT}", "text_wrap": True, "valign": "vcenter"}
        widths = [min(max(len(name) + 2, NARROWEST), 24) for name in sheet.columns]
        page.set_row(0, 20 * max((len(name) // 24 + 1 for name in sheet.columns), default=1))
        for c, name in enumerate(sheet.columns):
            numbers = any(c < len(row) and row[c].kind in ("number", "formula") for row in sheet.rows)
            look = self.format(**head, align="right" if numbers else "left")
            if name:
                page.write_string(0, c, name, look)
            else:
                page.write_blank(0, c, None, look)
        for r, row in enumerate(sheet.rows, 1):
            if (lines := max((_lines(cell) for cell in row), default=1)) > 1:
                page.set_row(r, min(15 * lines + 2, 409))  # Excel's highest; other programs do not fit it themselves
            total = {"bold": True, "bg_color": f"#{palette.PALE}", "top": 2} if r == len(sheet.rows) and sheet.has_total else {}
            for c, cell in enumerate(row):
                wide = self.put(page, r, c, cell, shapes[c], total, formulas.get((r, c)))
                widths[c] = max(widths[c], min(wide + 2, WIDEST))
            for c in range(len(row), len(sheet.columns)):
                page.write_blank(r, c, None, self.format(**total))
        for c, wide in enumerate(widths):
            page.set_column(c, c, wide)
        if sum(widths) > 95:
            page.set_landscape()
        if sheet.chart:
            self.draw(page, sheet, sheet.chart)

    def column_formats(self, sheet: _Sheet, formulas: dict) -> list[str]:
        values: list[list] = [[] for _ in sheet.columns]
        units: list[set] = [set() for _ in sheet.columns]
        for r, row in enumerate(sheet.rows, 1):
            for c, cell in enumerate(row):
                value = formulas.get((r, c)) if cell.kind == "formula" else cell.value if cell.kind == "number" else None
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    # a quotient may have any number of decimals: two will do
                    values[c].append(round(float(value), 2) if cell.kind == "formula" else value)
                if cell.unit:
                    units[c].add(cell.unit)
        return [
            number_format(name, found, unit.pop() if len(unit) == 1 else "")
            for name, found, unit in zip(sheet.columns, values, units, strict=True)
        ]

    def put(self, page, r: int, c: int, cell: Cell, shape: str, look: dict, result: object) -> int:
        """Write one cell; how many characters wide it is shown."""
        match cell.kind:
            case "number":
                page.write_number(r, c, cell.value, self.format(num_format=shape, **look))
                return _shown(cell.value, shape)
            case "formula":
                page.write_formula(r, c, cell.value, self.format(num_format=shape, **look), "" if result is None else result)
                return _shown(result, shape) if isinstance(result, (int, float)) else len(result) if isinstance(result, str) else 12
            case "date":
                page.write_datetime(r, c, cell.value, self.format(num_format=DATE, align="left", **look))
                return 10
            case "time":
                page.write_datetime(r, c, cell.value, self.format(num_format=TIME, align="left", **look))
                return 16
            case "bool":
                page.write_boolean(r, c, cell.value, self.format(align="center", **look))
                return 6
            case "text":
                long = len(cell.value) > WIDEST or "\n" in cell.value
                page.write_string(r, c, cell.value, self.format(**({"text_wrap": True} if long else {}), **look))
                return max(map(len, cell.value.split("\n")))
        page.write_blank(r, c, None, self.format(**look))
        return 0

    def set_page(self, page, sheet: _Sheet) -> None:
        page.freeze_panes(1, 0)
        page.repeat_rows(0)
        page.set_paper(9)  # A4
        page.fit_to_pages(1, 0)
        page.set_margins(0.5, 0.5, 0.6, 0.7)
        page.set_footer("&L&8" + self.title[:80].replace("&", "&&") + "&R&8&P / &N")
        if is_right_to_left(" ".join(sheet.columns)):
            page.right_to_left()

    def draw(self, page, sheet: _Sheet, asked: Chart) -> None:
        chart = self.book.add_chart({"type": {"bar": "column"}.get(asked.type, asked.type)})
        last = max(len(sheet.rows) - sheet.has_total, 1)
        shown = (self.results.result((sheet.title, r, c)) for r in range(1, last + 1) for c in asked.y)
        large = any(isinstance(value, (int, float)) and abs(value) >= 1000 for value in shown)
        for at, column in enumerate(asked.y):
            shade = f"#{palette.SERIES[at % len(palette.SERIES)]}"
            match asked.type:
                case "bar":
                    look = {"fill": {"color": shade}, "gap": 80}
                case "line":
                    look = {"line": {"color": shade, "width": 2.25}, "marker": {"type": "circle", "size": 5, "fill": {"color": shade}}}
                case _:
                    look = {"points": [{"fill": {"color": f"#{s}"}} for s in palette.SERIES], "data_labels": {"percentage": True}}
            chart.add_series(
                {
                    "name": [sheet.title, 0, column],
                    "categories": [sheet.title, 1, asked.x, last, asked.x],
                    "values": [sheet.title, 1, column, last, column],
                    **look,
                }
            )
        chart.set_title({"name": asked.title, "name_font": {"size": 13}} if asked.title else {"none": True})
        chart.set_legend({"position": "bottom"} if asked.type == "pie" or len(asked.y) > 1 else {"none": True})
        if asked.type != "pie":
            chart.set_x_axis({"name": sheet.columns[asked.x]})
            chart.set_y_axis(
                {
                    "name": sheet.columns[asked.y[0]] if len(asked.y) == 1 else "",
                    "num_format": "#,##0" if large else "General",
                    "major_gridlines": {"visible": True, "line": {"color": f"#{palette.LINE}"}},
                }
            )
        chart.set_size({"width": 640, "height": 360})
        below = len(sheet.rows) <= 60  # where a phone shows it and a page prints it
        page.insert_chart(*((len(sheet.rows) + 2, 0) if below else (1, len(sheet.columns) + 1)), chart)


def _lines(cell: Cell) -> int:
    """How many lines the text of *cell* takes in the widest column."""
    if cell.kind != "text" or (len(cell.value) <= WIDEST and "\n" not in cell.value):
        return 1
    return sum(len(line) // (WIDEST - 4) + 1 for line in cell.value.split("\n"))


def _shown(value: float, shape: str) -> int:
    places = len(shape.split('"')[0].partition(".")[2])
    return len(f"{value:,.{places}f}") + len(shape.partition('"')[2])


def render_xlsx(title: str, sheets: list[dict]) -> bytes:
    """The *sheets* ({name, columns, rows, chart?}) as a workbook; column names stand in row 1. The same input gives the same bytes.

    A cell is text, number, bool, null or {"formula": "=SUM(B2:B9)"}. ISO dates become dates, "12 500 FCFA" an amount; other text
    stays text whatever it begins with. Raises DocumentError, with the place, for what a sheet cannot hold.
    """
    title = clean_line(title) or "Document"
    if not isinstance(sheets, list) or not sheets:
        raise DocumentError("sheets is empty: give at least one sheet {name, columns, rows}")
    if len(sheets) > MOST_SHEETS:
        raise DocumentError(f"{len(sheets)} sheets are too many, at most {MOST_SHEETS}")
    rows = [row for s in sheets if isinstance(s, dict) for row in s.get("rows") or [] if isinstance(row, list)]
    asked = sum(map(len, rows))
    if asked > MOST_CELLS:
        raise DocumentError(f"{asked} cells are too many, at most {MOST_CELLS}: make several workbooks or sum up")
    read = [_Sheet(sheet, number) for number, sheet in enumerate(sheets, 1)]
    _titles(read, title)
    book = _Book(title, read)
    for sheet in read:
        book.write(sheet)
    book.book.close()
    return finished(book.target.getvalue())
