"""A WhatsApp message to the person's own number, apart from the answer."""

from bot.learners import messages
from tools.context import Context

SCHEMA = {
    "name": "send_whatsapp_to_user",
    "description": "Send a separate WhatsApp message, with files, to the person's own number. Your answer reaches them anyway, so do not "
    "answer with this: use it when they write by SMS and want something on WhatsApp, or want files sent again.",
    "parameters": {
        "type": "object",
        "properties": {
            "message": {"type": "string", "minLength": 1, "maxLength": 1500, "description": "Markdown"},
            "file_ids": {"type": "array", "items": {"type": "string"}, "maxItems": 10, "description": "Files of the person, by file_id"},
        },
        "required": ["message"],
        "additionalProperties": False,
    },
}


def send_whatsapp_to_user(context: Context, message: str, *, file_ids: list[str] | None = None, key: str) -> dict:
    """Raises ToolError outside WhatsApp's 24 hours, for a file that is not the person's, and at the day's limit."""
    sent = messages.by_whatsapp(
        context.settings, context.tx, context.person, message, file_ids or [], key=key, conversation=context.conversation
    )
    return {"success": True, "status": "on its way", "messages": sent}
