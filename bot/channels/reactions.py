"""
What a provider's error code means for us: one table, used for answers of the API and for status callbacks alike.

    opt_out      the person does not want our messages: nothing more goes there
    unreachable  this address cannot be reached on this channel: nothing more goes there until somebody writes from it
    no_whatsapp  not on WhatsApp: the same, and the text goes once by SMS
    window       outside WhatsApp's 24 hours: kept until the person writes, a template says that an answer is waiting
    media        the file was refused: the text goes once more with the link in it
    later        it may pass: once more after some time
    alert        ours to put right: the operator is told
    drop         nothing can or need be done
"""

import logging
from datetime import timedelta

import sqlalchemy as sa

from bot.channels import numbers, outbox, sms
from bot.config import Settings
from bot.db import addresses, now
from bot.db import outbox as table

logger = logging.getLogger(__name__)

CODES = {
    "opt_out": (21610, 63014, 30004),
    "unreachable": (21211, 21612, 21614, 30005, 30006, 60205),
    "no_whatsapp": (63003, 63024),
    "window": (63016,),
    "media": (11200, 12300, 21620, 63019, 63034),
    "later": (429, 20429, 30001, 30003, 30008, 63012, 63017, 63018, 63038),
    "alert": (
        401,
        20003,
        20404,
        21408,
        21603,
        21606,
        21617,
        21655,
        21656,
        30002,
        30007,
        30018,
        30032,
        30034,
        63005,
        63007,
        63013,
        63015,
        63021,
        60410,
    ),
    "drop": (21602, 63032, 63049),
}
KINDS = {code: kind for kind, codes in CODES.items() for code in codes}
PAUSES = {63018: timedelta(minutes=1), 30003: timedelta(hours=3), 30008: timedelta(minutes=30)}  # before "later"; else:
PAUSE = timedelta(minutes=5)
CURES = {  # what an operator does about it
    20003: "check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN",
    401: "check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN",
    20404: "check TWILIO_ACCOUNT_SID",
    21408: "allow this country in Twilio's geographic permissions",
    21603: "check the sender's number",
    21606: "check TWILIO_SMS_FROM",
    63007: "check TWILIO_WHATSAPP_FROM",
    21655: "check TWILIO_WHATSAPP_TEMPLATE_SID",
    21656: "the template's variables are not right",
    30002: "the Twilio account is suspended",
    30007: "the carrier filters this sender or text",
    30018: "register the sender's name in this country",
    63015: "join the WhatsApp sandbox first",
    63005: "WhatsApp refused the content",
    63013: "the content breaks WhatsApp's policy",
    63021: "WhatsApp refused the content",
    21617: "a message was too long: report this as a bug",
}
WINDOW = timedelta(hours=24)


def kind_of(code: int | None) -> str | None:
    return KINDS.get(code)


def react(tx: sa.Connection, settings: Settings, row: sa.Row, code: int | None) -> None:
    """Do what *code* asks for; *row* is the message of the outbox that failed with it. Repeated, it changes nothing more."""
    match kind_of(code):
        case "opt_out":
            outbox.opt_out(tx, row.address)
        case "unreachable":
            _close(tx, row.address, "unreachable")
        case "no_whatsapp":
            _close(tx, row.address, "no_whatsapp")
            if row.conversation_id and (phone := numbers.of_address(row.address)):
                _once_more(
                    tx,
                    row,
                    "sms",
                    address=phone,
                    body=sms.dress(row.body + (f"\n{row.media_url}" if row.media_url else "")),
                    media_url=None,
                )
        case "window":
            tx.execute(addresses.update().where(addresses.c.address == row.address).values(heard_at=None))
            if row.content_sid is None:
                _once_more(tx, row, "window", state="held")
                invite(tx, settings, row.address)
        case "media" if row.media_url:
            _once_more(tx, row, "link", body=f"{row.body}\n{row.media_url}".strip(), media_url=None)
        case "later":
            _once_more(tx, row, "later", due_at=now() + PAUSES.get(code, PAUSE))
        case "alert":
            logger.error("Twilio refuses messages with %s: %s", code, CURES.get(code, "see Twilio's page on this code"))
        case None if code:
            logger.error("a message failed with a code that is not known here: %s", code)


def _close(tx: sa.Connection, address: str, why: str) -> None:
    tx.execute(addresses.update().where(addresses.c.address == address).values(closed=why))
    outbox.moved(tx, (table.c.address == address) & table.c.state.in_(outbox.OPEN), "failed")


def _once_more(tx: sa.Connection, row: sa.Row, suffix: str, **changes) -> None:
    """Queue the message again with *changes*, once for each kind of reason, and never a third time."""
    if row.key.rsplit(":", 1)[-1] not in ("sms", "window", "link", "later"):
        outbox.put_row(
            tx,
            key=f"{row.key}:{suffix}",
            **{"address": row.address, "body": row.body, "media_url": row.media_url, "conversation_id": row.conversation_id, **changes},
        )


def open_window(row: sa.Row | None) -> bool:
    """Whether WhatsApp lets us write freely to an address (a row of `addresses`): 24 h from the person's last message."""
    return row is not None and row.heard_at is not None and now() - row.heard_at < WINDOW


def invite(tx: sa.Connection, settings: Settings, address: str) -> None:
    """Tell the person by template that an answer is waiting, once a day; without a template it waits in silence."""
    if settings.twilio_whatsapp_template_sid:
        outbox.put_row(
            tx, key=f"invite:{address}:{now():%Y-%m-%d}", address=address, body="", content_sid=settings.twilio_whatsapp_template_sid
        )
