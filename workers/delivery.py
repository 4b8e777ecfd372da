"""
Send what waits in the outbox, oldest first, one message after another for each address.

Before Twilio is called the row is marked `sending`. A row that is found in that state may have gone out: Twilio's own list is
asked before it is sent again, MOST_TRIES times in all, with longer and longer pauses.
"""

import logging
from datetime import timedelta

import redis
import sqlalchemy as sa

from bot.channels import numbers, outbox, reactions, twilio
from bot.db import addresses, now, reading, writing
from bot.db import outbox as table
from bot.errors import SendError, Unavailable
from bot.services import Services
from workers.lease import run_alone
from workers.process import services as process_services

FAREWELL = ":farewell:"  # the one message that may still go to somebody who has just opted out
MOST_TRIES = 6
PAUSES = (6, 20, 60, 180, 600)  # seconds after the first, second… refusal that may pass
LOOK_UP_AFTER = 3  # seconds before Twilio's list is asked about a message of which nothing was heard; three times as many each time
logger = logging.getLogger(__name__)


def deliver(address: str) -> None:
    """The RQ job."""
    deliver_now(process_services(), address)


def deliver_now(services: Services, address: str) -> None:
    """Send what is due to *address* unless another worker is at it. Never raises: what is left is found by the clock."""
    try:
        run_alone(services.redis, f"send:{address}", lambda: _send_all(services, address))
    except (redis.RedisError, Unavailable) as problem:
        logger.warning("delivery put off: %s", type(problem).__name__)


def _send_all(services: Services, address: str) -> None:
    while True:
        with reading(services.db) as connection:
            row = outbox.head(connection, address)
        if row is None or row.due_at > now() or not _send_one(services, row):
            return


def _send_one(services: Services, row: sa.Row) -> bool:
    """True when the next message may follow."""
    with reading(services.db) as connection:
        to = connection.execute(sa.select(addresses).where(addresses.c.address == row.address)).one_or_none()
    if to is not None and (to.opted_out and FAREWELL not in row.key or to.closed):
        return _closed(services, row, 21610 if to.opted_out else None)
    if row.state == "sending" and row.tried_at:
        return _look_up(services, row)
    if row.address.startswith("whatsapp:") and row.content_sid is None and not reactions.open_window(to):
        return _hold(services, row)
    return _post(services, row)


def _hold(services: Services, row: sa.Row) -> bool:
    """Outside the 24 hours free text would be refused: keep it until the person writes, and say by template that it waits."""
    with writing(services.db) as tx:
        tx.execute(table.update().where(table.c.id == row.id, table.c.state == "waiting").values(state="held"))
        reactions.invite(tx, services.settings, row.address)
    return True


def _post(services: Services, row: sa.Row) -> bool:
    with writing(services.db) as tx:
        taken = tx.execute(
            table.update()
            .where(table.c.id == row.id, table.c.state.in_(("waiting", "sending")))
            .values(state="sending", attempts=table.c.attempts + 1, tried_at=now())
        ).rowcount
    if not taken:
        return True
    try:
        sid = twilio.send(services, row)
    except SendError as failure:
        return _failed(services, row, failure)
    with writing(services.db) as tx:
        outbox.moved(tx, table.c.id == row.id, "accepted", sid)
        tx.execute(table.update().where(table.c.id == row.id, table.c.provider_sid.is_(None)).values(provider_sid=sid))
    return True


def _look_up(services: Services, row: sa.Row) -> bool:
    """Ask Twilio whether an earlier try went out after all."""
    with reading(services.db) as connection:
        known = set(
            connection.scalars(sa.select(table.c.provider_sid).where(table.c.address == row.address, table.c.provider_sid.is_not(None)))
        )
    try:
        sid = twilio.find(services, row.address, row.body, row.tried_at, known)
    except SendError as failure:
        _again_in(services, row, failure.retry_after or PAUSES[0], "sending")
        return False
    if sid:
        with writing(services.db) as tx:
            outbox.moved(tx, table.c.id == row.id, "accepted", sid)
        return True
    if row.attempts >= MOST_TRIES:
        return _closed(services, row, None)
    return _post(services, row)


def _failed(services: Services, row: sa.Row, failure: SendError) -> bool:
    logger.warning("message %s to %s: %s", row.id, numbers.mask(row.address), failure)
    if failure.retryable and row.attempts + 1 < MOST_TRIES:
        _again_in(services, row, failure.retry_after or PAUSES[min(row.attempts, len(PAUSES) - 1)], "waiting")
        return False
    if failure.ambiguous:
        _again_in(services, row, LOOK_UP_AFTER * 3**row.attempts, "sending")
        return False
    with writing(services.db) as tx:
        outbox.moved(tx, table.c.id == row.id, "failed", code=failure.code)
        reactions.react(tx, services.settings, row, failure.code)
    return True


def _again_in(services: Services, row: sa.Row, seconds: float, state: str) -> None:
    with writing(services.db) as tx:
        tx.execute(
            table.update()
            .where(table.c.id == row.id, table.c.state == "sending")
            .values(state=state, due_at=now() + timedelta(seconds=seconds))
        )


def _closed(services: Services, row: sa.Row, code: int | None) -> bool:
    with writing(services.db) as tx:
        outbox.moved(tx, table.c.id == row.id, "failed", code=code)
    return True
