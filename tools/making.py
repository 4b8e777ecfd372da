"""What the tools that make documents share: pieces of their schemas, and the last step: keep the file, hand it over with the answer."""

from bot.documents import names
from bot.documents.clean import clean
from bot.learners import files
from tools.context import Context

TITLE = {"type": "string", "minLength": 1, "maxLength": 200}
FILENAME = {"type": "string", "maxLength": 120, "description": "A short name without extension"}
CHART = {  # the properties of a chart, in a workbook and on a slide
    "type": {"type": "string", "enum": ["bar", "line", "pie"]},
    "title": {"type": "string", "maxLength": 200},
    "x": {"type": "string", "description": "The column of the labels"},
    "y": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "The columns of the values"},
}
LONGEST_TEXT = 400_000  # characters of a generated file that can be read again and searched


def parameters(content: str = "Markdown", **more: dict) -> dict:
    """The parameters of a document that is written from one text; *content* says in which form."""
    return {
        "type": "object",
        "properties": {
            "title": TITLE,
            "content": {"type": "string", "minLength": 1, "maxLength": 200000, "description": content},
            **more,
            "filename": FILENAME,
        },
        "required": ["title", "content"],
        "additionalProperties": False,
    }


def keep(context: Context, data: bytes, *, extension: str, title: str, filename: str, text: str, key: str) -> dict:
    """
    Write *data* into the person's library once for each *key*; *text* is what read_user_file and search find in it.

    Returns {"file_id", "filename", "url"}.
    """
    name = names.safe_filename(filename or title, extension, fallback=extension)
    row = files.save(
        context.settings,
        context.tx,
        key=key,
        owner=context.person.owner,
        origin="generated",
        filename=name,
        data=data,
        text=clean(text)[:LONGEST_TEXT],
    )
    context.made.append(row.id)
    return {"file_id": row.id, "filename": row.filename, "url": files.url(context.settings, row)}
