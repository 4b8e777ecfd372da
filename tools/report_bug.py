"""Tell the team that something does not work."""

from bot.learners import reports
from tools.context import Context

SCHEMA = {
    "name": "report_bug",
    "description": "Report a fault of this service to its team, when the person meets one. Leave out names and other personal data.",
    "parameters": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 200},
            "description": {
                "type": "string",
                "minLength": 1,
                "maxLength": 5000,
                "description": "What was tried, what happened, what was expected",
            },
            "severity": {"type": "string", "enum": ["low", "normal", "high"]},
        },
        "required": ["title", "description"],
        "additionalProperties": False,
    },
}


def report_bug(context: Context, title: str, description: str, *, severity: str = "normal") -> dict:
    """The person is given the reference."""
    reference = reports.send(context.services, context.tx, context.person, context.conversation, title, description, severity)
    return {"success": True, "reference": reference, "next": f"Give the person the reference {reference}."}
