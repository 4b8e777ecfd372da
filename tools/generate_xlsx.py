"""A spreadsheet: sheets of columns and rows, formulas that compute, a chart where one is asked for."""

from tools import making
from tools.context import Context

CELL = {
    "anyOf": [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "null"},
        {
            "type": "object",
            "properties": {"formula": {"type": "string", "description": "e.g. =SUM(B2:B9)"}},
            "required": ["formula"],
            "additionalProperties": False,
        },
    ]
}
SCHEMA = {
    "name": "generate_xlsx",
    "description": "Make an Excel workbook. Column names stand in row 1, so the first row of data is row 2. Write numbers as numbers, "
    "dates as YYYY-MM-DD, totals as formulas. It is sent with your answer.",
    "parameters": {
        "type": "object",
        "properties": {
            "title": making.TITLE,
            "sheets": {
                "type": "array",
                "minItems": 1,
                "maxItems": 50,
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "maxLength": 200},
                        "columns": {"type": "array", "items": {"type": "string"}},
                        "rows": {
                            "type": "array",
                            "items": {"type": "array", "items": CELL},
                            "description": 'A cell is text, a number, true/false, null or {"formula": "=SUM(B2:B9)"}',
                        },
                        "chart": {
                            "type": "object",
                            "properties": {
                                **making.CHART,
                            },
                            "required": ["type", "x", "y"],
                            "additionalProperties": False,
                        },
                    },
                    "required": ["name", "columns", "rows"],
                    "additionalProperties": False,
                },
            },
            "filename": making.FILENAME,
        },
        "required": ["title", "sheets"],
        "additionalProperties": False,
    },
}


def generate_xlsx(context: Context, title: str, sheets: list[dict], *, filename: str = "", key: str) -> dict:
    """Raises DocumentError for sheets that cannot be written."""
    from bot.documents import xlsx  # a heavy library behind it

    data = xlsx.render_xlsx(title, sheets)
    return making.keep(context, data, extension="xlsx", title=title, filename=filename, text=_text(title, sheets), key=key)


def _text(title: str, sheets: list[dict]) -> str:
    lines = [f"# {title}"]
    for sheet in sheets:
        lines += ["", f"## {sheet['name']}", " | ".join(sheet["columns"])]
        lines += [" | ".join(_cell(c) for c in row) for row in sheet["rows"]]
    return "\n".join(lines)


def _cell(cell) -> str:
    return "" if cell is None else str(cell["formula"] if isinstance(cell, dict) else cell)
