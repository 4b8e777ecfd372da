"""A task of the person, with a reminder when it is due."""

from bot.learners import tasks
from tools.context import Context

SCHEMA = {
    "name": "create_task",
    "description": "Note a task for the person; they are reminded when it is due. They see their tasks with TACHES and tick one off with "
    "FAIT and its number.",
    "parameters": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 300},
            "priority": {"type": "string", "enum": ["low", "normal", "high"]},
            "due_date": {
                "type": "string",
                "maxLength": 40,
                "description": "ISO, in the person's time zone: 2026-12-24 or 2026-12-24T17:30",
            },
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 10},
        },
        "required": ["title"],
        "additionalProperties": False,
    },
}


def create_task(
    context: Context, title: str, *, priority: str = "normal", due_date: str = "", tags: list[str] | None = None, key: str
) -> dict:
    """Raises ToolError for a date that is none or is past."""
    due = tasks.read_due(due_date, context.person) if due_date.strip() else None
    number = tasks.create(
        context.tx, key=f"task:{key}", owner=context.person.owner, title=title, priority=priority, due_at=due, tags=tags or []
    )
    return {"success": True, "task": number, "due": context.person.local(due).isoformat() if due else None}
