"""An SMS to the person's own number."""

from bot.learners import messages
from tools.context import Context

SCHEMA = {
    "name": "send_sms_to_user",
    "description": "Send an SMS to the person's own number. It costs money: only for an urgent reminder they asked for, in one or two "
    "short sentences.",
    "parameters": {
        "type": "object",
        "properties": {"message": {"type": "string", "minLength": 1, "maxLength": 450, "description": "Plain text"}},
        "required": ["message"],
        "additionalProperties": False,
    },
}


def send_sms_to_user(context: Context, message: str, *, key: str) -> dict:
    """Raises ToolError when no number is known, the person opted out, the text is too long or the day's limit is reached."""
    messages.by_sms(context.tx, context.person, message, key=key, conversation=context.conversation)
    return {"success": True, "status": "on its way"}
