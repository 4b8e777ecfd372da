"""Messages that a person asked to be sent to their own telephone, apart from the answer of the turn."""

import sqlalchemy as sa

from bot.channels import numbers, outbox, reactions, sms, whatsapp
from bot.channels.segments import segments, units
from bot.config import Settings
from bot.db import addresses, count_today
from bot.db import outbox as queued
from bot.errors import ToolError
from bot.learners import files
from bot.learners.accounts import Person

SMS_PER_DAY, WHATSAPP_PER_DAY = 5, 20
SMS_SEGMENTS = 3


def by_sms(tx, person: Person, text: str, *, key: str, conversation: str) -> None:
    """Queue an SMS to the person's own number, once for each *key*. Raises ToolError."""
    number = person.learner.phone if person.learner else numbers.of_address(person.address)
    if not number:
        raise ToolError("WhatsApp hides this person's telephone number, so no SMS can be sent. Answer here instead.")
    body = sms.dress(text)
    if not body.strip():
        raise ToolError("The message is empty; nothing was sent.")
    if segments(body) > SMS_SEGMENTS:
        raise ToolError(f"The text would cost {segments(body)} SMS, at most {SMS_SEGMENTS} may be sent: shorten it. Nothing was sent.")
    _queue(tx, person, number, [(body, None)], key, conversation, "sms", SMS_PER_DAY)


def by_whatsapp(settings: Settings, tx, person: Person, text: str, file_ids: list[str], *, key: str, conversation: str) -> int:
    """Queue a text, then one message for each file, once for each *key*; returns how many messages. Raises ToolError."""
    to = _whatsapp_address(tx, person)
    wanted = list(dict.fromkeys(file_ids))
    rows = files.owned(tx, person.owner, wanted)
    if missing := set(wanted) - {r.id for r in rows}:
        raise ToolError(f"The person has no file {', '.join(sorted(missing))}. Take file_id from list_user_files. Nothing was sent.")
    for row in rows:
        files.renew(settings, tx, row)
    media = [r for r in rows if files.is_attachable(r)]
    links = [f"{r.filename}: {files.url(settings, r)}" for r in rows if r not in media]
    body = "\n".join([whatsapp.dress(text), *links]).strip()
    if not body:
        raise ToolError("The message is empty; nothing was sent.")
    if units(body) > whatsapp.SIZE:
        raise ToolError(f"The text is too long for one message ({whatsapp.SIZE} characters with the links): shorten it. Nothing was sent.")
    messages = [(body, None), *(("", files.url(settings, r)) for r in media)]
    _queue(tx, person, to, messages, key, conversation, "whatsapp", WHATSAPP_PER_DAY)
    return len(messages)


def _whatsapp_address(tx, person: Person) -> str:
    """Where the person reads WhatsApp, if we may write there now."""
    if person.channel == "whatsapp":
        mine = addresses.c.address == person.address
    else:
        phone = person.learner.phone if person.learner else numbers.of_address(person.address)
        mine = (addresses.c.phone == phone) & (addresses.c.channel == "whatsapp")
    row = tx.execute(
        sa.select(addresses).where(mine).order_by(addresses.c.heard_at.is_(None), addresses.c.heard_at.desc()).limit(1)
    ).one_or_none()
    if not reactions.open_window(row):
        raise ToolError(
            "WhatsApp allows messages only within 24 hours after the person wrote there, and they have not. Nothing was sent. "
            "Ask them to write a message on WhatsApp first, or answer here."
        )
    return row.address


def _queue(tx, person: Person, to: str, messages: list[tuple[str, str | None]], key: str, conversation: str, what: str, limit: int) -> None:
    if tx.scalar(sa.select(queued.c.id).where(queued.c.key == f"tool:{key}:0")):
        return
    if tx.scalar(sa.select(addresses.c.opted_out).where(addresses.c.address == to)):
        raise ToolError("This person sent STOP there and gets no messages until they send START. Nothing was sent.")
    if count_today(tx, person.owner, what, person.today(), add=len(messages)) > limit:
        raise ToolError(f"Today's {limit} messages to this person are used up; nothing was sent. Answer here instead.")
    outbox.put(tx, to, f"tool:{key}", messages, conversation)
