"""Keep a fact about the person for later conversations."""

from bot.learners import memories
from tools.context import Context

SCHEMA = {
    "name": "save_memory",
    "description": "Remember a lasting fact about the person (class, goals, difficulties, tastes, job) for later conversations, in one "
    "short sentence. Never passwords, codes, health or money matters.",
    "parameters": {
        "type": "object",
        "properties": {
            "fact": {"type": "string", "minLength": 1, "maxLength": 500},
            "category": {"type": "string", "maxLength": 60, "description": "One word, e.g. school, goal, preference, family, work"},
        },
        "required": ["fact"],
        "additionalProperties": False,
    },
}


def save_memory(context: Context, fact: str, *, category: str = "", key: str) -> dict:
    """*key* is not needed: the same fact is kept once whichever call brings it. Raises ToolError for an empty one."""
    new = memories.save(context.tx, context.person.owner, fact, category)
    return {"success": True, "new": new}
