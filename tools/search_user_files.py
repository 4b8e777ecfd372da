"""Passages in the person's files, by meaning and by word."""

from bot.learners import library
from tools.context import Context

SCHEMA = {
    "name": "search_user_files",
    "description": "Search the person's files by meaning and by word. Gives the passages found, with their file and place.",
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 400},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "5 unless said"},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}


def search_user_files(context: Context, query: str, *, limit: int = 5) -> dict:
    return library.search(context.services, context.tx, context.person.owner, query, limit)
