"""An e-mail to somebody else: a draft that the person reads, changes and sends."""

from bot.learners import drafts
from tools.context import Context

SCHEMA = {
    "name": "draft_email",
    "description": "Write a draft of an e-mail to somebody else. You cannot send it: the person sends it by answering ENVOYER and its "
    "number, or on the page of drafts. Show them the text in your answer.",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "minLength": 3, "maxLength": 254, "description": "One e-mail address"},
            "subject": {"type": "string", "minLength": 1, "maxLength": 300},
            "body": {"type": "string", "minLength": 1, "maxLength": 100000, "description": "Markdown"},
            "attachment_file_ids": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 10,
                "description": "Files of the person, by file_id",
            },
        },
        "required": ["to", "subject", "body"],
        "additionalProperties": False,
    },
}


def draft_email(context: Context, to: str, subject: str, body: str, *, attachment_file_ids: list[str] | None = None, key: str) -> dict:
    """Raises ToolError for an address or a file that is not one."""
    number = drafts.create(
        context.tx, key=f"draft:{key}", owner=context.person.owner, to=to, subject=subject, body=body, file_ids=attachment_file_ids or []
    )
    return {
        "success": True,
        "draft": number,
        "page": f"{context.settings.public_url}/me/drafts",
        "next": f"Nothing was sent. Tell the person: to send it, answer ENVOYER {number}; to change it, open the page of drafts.",
    }
