"""The text of a file, a piece at a time."""

from bot.errors import ToolError
from bot.learners import library
from tools.context import Context

SCHEMA = {
    "name": "read_user_file",
    "description": "Read the text of one of the person's files (PDF, Word, Excel, PowerPoint, text, CSV, Markdown, HTML), 8,000 characters "
    "at a time.",
    "parameters": {
        "type": "object",
        "properties": {
            "file_id": {"type": "string", "minLength": 1, "maxLength": 40},
            "offset": {"type": "integer", "minimum": 0, "description": "Where to begin, in characters: next_offset of the piece before"},
        },
        "required": ["file_id"],
        "additionalProperties": False,
    },
}
PIECE = 8000


def read_user_file(context: Context, file_id: str, *, offset: int = 0) -> dict:
    """Raises ToolError when there is no such file, it cannot be read, or offset lies behind its end."""
    row, text = library.read(context.services, context.tx, context.person.owner, file_id)
    if offset and offset >= len(text):
        raise ToolError(f"The file has {len(text)} characters; offset {offset} lies behind its end.")
    end = offset + PIECE
    return {
        "file_id": row.id,
        "filename": row.filename,
        "content": text[offset:end],
        "offset": offset,
        "next_offset": end if end < len(text) else None,
        "total_characters": len(text),
    }
