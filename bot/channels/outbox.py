"""
Messages on their way out. A row is written in the transaction of the event it carries, and then moves forward only.

    held -> waiting -> sending -> accepted -> sent -> delivered -> read        and, from any state before delivered, failed

`held`: until the person writes again (WhatsApp's 24 hours are over).
`sending` is written before the provider is called: a row found in it may or may not have gone out.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from bot.channels import segments
from bot.db import addresses, insert_once, now, outbox

ORDER = ("held", "waiting", "sending", "accepted", "sent", "delivered", "read")
SHORT = timedelta(seconds=30)  # a message that is put off for longer does not hold up those behind it
OPEN = ORDER[:3]  # not handed over yet
BEFORE = {state: ORDER[:n] for n, state in enumerate(ORDER)} | {"failed": ORDER[:5]}


def put(tx: sa.Connection, address: str, key: str, messages: Sequence[tuple[str, str | None]], conversation: str | None = None) -> None:
    """Queue (body, media address) messages; *key* names what they carry, and a key is queued once."""
    for n, (body, media_url) in enumerate(messages):
        put_row(tx, key=f"{key}:{n}", address=address, body=body, media_url=media_url, conversation_id=conversation)


def put_row(tx: sa.Connection, *, key: str, address: str, body: str, **more) -> None:
    """Queue one message, once for each *key*."""
    count = 1 if address.startswith("whatsapp:") else segments.segments(body)
    insert_once(
        tx,
        outbox,
        **{
            "token": secrets.token_urlsafe(12),
            "key": key[:120],
            "address": address,
            "body": body,
            "segments": count,
            "state": "waiting",
            "attempts": 0,
            "due_at": now(),
            "created_at": now(),
            **more,
        },
    )


def release(tx: sa.Connection, address: str) -> None:
    """The person has written, so they can be reached: what was held or put off until later may go."""
    put_off = (outbox.c.state == "waiting") & (outbox.c.due_at > now() + SHORT)
    here = (outbox.c.address == address) & ((outbox.c.state == "held") | put_off)
    tx.execute(outbox.update().where(here).values(state="waiting", due_at=now()))


def head(connection: sa.Connection, address: str) -> sa.Row | None:
    """The oldest message to *address* that has not been handed over; those behind it wait, unless it is put off for long."""
    here = (outbox.c.address == address) & outbox.c.state.in_(("waiting", "sending")) & (outbox.c.due_at <= now() + SHORT)
    return connection.execute(sa.select(outbox).where(here).order_by(outbox.c.id).limit(1)).one_or_none()


def due(connection: sa.Connection, before: datetime, limit: int = 500) -> list[str]:
    """Addresses whose messages should have left before *before*."""
    return list(
        connection.scalars(
            sa.select(outbox.c.address)
            .where(outbox.c.state.in_(("waiting", "sending")), outbox.c.due_at < before)
            .group_by(outbox.c.address)
            .limit(limit)
        )
    )


def moved(tx: sa.Connection, where: sa.ColumnElement, state: str, sid: str | None = None, code: int | None = None) -> int:
    """Move a message forward to *state*; the first error code is kept, also when it comes late. Returns how many rows changed."""
    values: dict = {"state": state}
    if sid:
        values["provider_sid"] = sa.func.coalesce(outbox.c.provider_sid, sid)
    if code:
        values["error_code"] = sa.func.coalesce(outbox.c.error_code, code)
    changed = tx.execute(outbox.update().where(where, outbox.c.state.in_(BEFORE[state])).values(**values)).rowcount
    if code and state == "failed" and not changed:
        late = outbox.update().where(where, outbox.c.state == "failed", outbox.c.error_code.is_(None)).values(error_code=code)
        changed = tx.execute(late).rowcount
    return changed


def opt_out(tx: sa.Connection, address: str) -> None:
    """Nothing more is sent to *address*, and what waits for it is dropped."""
    tx.execute(addresses.update().where(addresses.c.address == address).values(opted_out=True))
    moved(tx, (outbox.c.address == address) & outbox.c.state.in_(OPEN), "failed", code=21610)
