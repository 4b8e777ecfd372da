"""An e-mail to the person's own address, and to no other."""

from bot.db import count_today, reading, writing
from bot.errors import ToolError
from bot.learners import mail
from tools.context import Context

SCHEMA = {
    "name": "send_email_to_user",
    "description": "Send an e-mail to the person's own verified address, when they ask for it. Files go along by file_id.",
    "parameters": {
        "type": "object",
        "properties": {
            "subject": {"type": "string", "minLength": 1, "maxLength": 300},
            "body": {"type": "string", "minLength": 1, "maxLength": 100000, "description": "Markdown"},
            "attachment_file_ids": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 10,
                "description": "Files of the person, by file_id",
            },
        },
        "required": ["subject", "body"],
        "additionalProperties": False,
    },
}
MAILS_PER_DAY = 10


def send_email_to_user(context: Context, subject: str, body: str, *, attachment_file_ids: list[str] | None = None) -> dict:
    """Raises ToolError when there is no verified address, a file is missing, the day's limit is reached or the mail server refuses."""
    learner, person = context.person.learner, context.person
    if learner is None or not learner.email:
        raise ToolError(
            "This person has no e-mail address on file, so nothing was sent. They can set one on their profile page "
            f"({context.settings.public_url}/me) after CONNEXION; offer a WhatsApp message or a file here instead."
        )
    if not learner.email_verified:
        raise ToolError(
            "The person's e-mail address is not verified yet, so nothing was sent. They can confirm it on their profile page "
            f"({context.settings.public_url}/me); offer a WhatsApp message or a file here instead."
        )
    with reading(context.services.db) as connection:
        attachments = mail.attachments(context.settings, connection, person.owner, attachment_file_ids or [])
    with writing(context.services.db) as tx:  # counted before it leaves: a crash must not give a mail for free
        if count_today(tx, person.owner, "mail", person.today()) > MAILS_PER_DAY:
            raise ToolError(f"Today's {MAILS_PER_DAY} e-mails to this person are used up; nothing was sent. Try again tomorrow.")
    mail.send(context.settings, learner.email, subject, body, attachments)
    return {"success": True, "to": learner.email, "attachments": [a.filename for a in attachments]}
