"""The person's files, newest first."""

from bot.db import now, reading
from bot.learners import files
from tools.context import Context

SCHEMA = {
    "name": "list_user_files",
    "description": "List the person's files, newest first: those they sent and those made for them.",
    "parameters": {
        "type": "object",
        "properties": {
            "origin": {"type": "string", "enum": ["uploaded", "generated"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "20 unless said"},
        },
        "required": [],
        "additionalProperties": False,
    },
}


def list_user_files(context: Context, *, origin: str | None = None, limit: int = 20) -> dict:
    with reading(context.services.db) as connection:
        found = files.newest(connection, context.person.owner, origin, limit)
    return {
        "files": [
            {
                "file_id": row.id,
                "filename": row.filename,
                "origin": row.origin,
                "type": row.media_type,
                "bytes": row.size,
                "created_at": context.person.local(row.created_at).isoformat(timespec="minutes"),
                "url": files.url(context.settings, row) if row.expires_at > now() else None,
            }
            for row in found
        ]
    }
