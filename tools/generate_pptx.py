"""Slides: bullets, a table, a chart, notes for the speaker."""

from tools import making
from tools.context import Context

VALUE = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}
SCHEMA = {
    "name": "generate_pptx",
    "description": "Make a PowerPoint presentation: a title slide, then one slide for each item. It is sent with your answer.",
    "parameters": {
        "type": "object",
        "properties": {
            "title": making.TITLE,
            "slides": {
                "type": "array",
                "minItems": 1,
                "maxItems": 300,
                "items": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string", "maxLength": 300},
                        "bullets": {"type": "array", "items": {"type": "string"}, "description": "Three to six short lines"},
                        "table": {
                            "type": "array",
                            "items": {"type": "array", "items": VALUE},
                            "description": "Rows of cells; the first row is the header",
                        },
                        "chart": {
                            "type": "object",
                            "properties": {
                                **making.CHART,
                                "columns": {"type": "array", "items": {"type": "string"}},
                                "rows": {"type": "array", "items": {"type": "array", "items": VALUE}},
                            },
                            "required": ["type", "x", "y", "columns", "rows"],
                            "additionalProperties": False,
                        },
                        "notes": {"type": "string", "maxLength": 20000, "description": "For the speaker"},
                    },
                    "required": ["title"],
                    "additionalProperties": False,
                },
            },
            "subtitle": {"type": "string", "maxLength": 300},
            "filename": making.FILENAME,
        },
        "required": ["title", "slides"],
        "additionalProperties": False,
    },
}


def generate_pptx(context: Context, title: str, slides: list[dict], *, subtitle: str = "", filename: str = "", key: str) -> dict:
    """Raises DocumentError for slides that cannot be drawn."""
    from bot.documents import pptx  # a heavy library behind it

    data = pptx.render_pptx(title, slides, subtitle=subtitle)
    return making.keep(context, data, extension="pptx", title=title, filename=filename, text=_text(title, subtitle, slides), key=key)


def _text(title: str, subtitle: str, slides: list[dict]) -> str:
    lines = [f"# {title}", subtitle]
    for slide in slides:
        lines += ["", f"## {slide['title']}", *(f"- {b}" for b in slide.get("bullets", []))]
        chart = slide.get("chart") or {"columns": [], "rows": []}
        for row in [*slide.get("table", []), chart["columns"], *chart["rows"]]:
            lines.append(" | ".join("" if c is None else str(c) for c in row))
        lines.append(slide.get("notes", ""))
    return "\n".join(lines)
