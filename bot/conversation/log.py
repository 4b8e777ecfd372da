"""
The append-only event log: the only place where a conversation is kept.

`append` is all or nothing. It takes the conversation's row lock, so sequence numbers are dense and commit in order on
PostgreSQL too; on SQLite the writing transaction is that lock. An event that is already known (same kind and id) makes the
whole append a no-op: a webhook was retried, or another worker was here first.
"""

import math
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from bot.conversation.events import Event, Forked, HumanInput, Logged, load, payload
from bot.db import conversations, events, now

FOREVER = 2**31 - 1

# Statements of every step, made once: building them anew would cost more than running them.
READ = (
    sa.select(events)
    .where(events.c.conversation_id == sa.bindparam("owner"), events.c.seq > sa.bindparam("low"), events.c.seq <= sa.bindparam("high"))
    .order_by(events.c.seq)
    .limit(sa.bindparam("most"))
)
LOCK = (
    sa.select(conversations.c.last_seq, conversations.c.turn, conversations.c.awake_since)
    .where(conversations.c.id == sa.bindparam("id"))
    .with_for_update()
)
KNOWN = sa.select(events.c.seq).where(
    events.c.conversation_id == sa.bindparam("owner"), events.c.kind == sa.bindparam("of_kind"), events.c.id == sa.bindparam("with_id")
)
ADVANCE = (
    conversations.update()
    .where(conversations.c.id == sa.bindparam("of"))
    .values(last_seq=sa.bindparam("last"), turn=sa.bindparam("in_turn"), awake_since=sa.bindparam("since"))
)
SLEEP = (
    conversations.update()
    .where(conversations.c.id == sa.bindparam("of"), conversations.c.last_seq == sa.bindparam("seen"))
    .values(awake_since=None)
)
WRITE = events.insert()


def read(connection: sa.Connection, conversation: str, after: int = 0, upto: int | None = None, limit: int | None = None) -> list[Logged]:
    """Events with after < seq <= upto, in order; a fork's shared prefix is read from where it was forked."""
    found: list[Logged] = []
    for owner, first, last in _stretches(connection, conversation):
        high = min(x for x in (last, upto, FOREVER) if x is not None)
        found += _own(connection, owner, max(first, after), high, FOREVER if limit is None else limit - len(found))
        if limit is not None and len(found) >= limit:
            break
    return found


def news(connection: sa.Connection, conversation: str, after: int) -> list[Logged]:
    """What was logged since seq *after*, for a reader that has the shared prefix of a fork already."""
    return _own(connection, conversation, after, FOREVER, FOREVER)


def _own(connection: sa.Connection, owner: str, low: int, high: int, limit: int) -> list[Logged]:
    rows = connection.execute(READ, {"owner": owner, "low": low, "high": high, "most": limit})
    return [Logged(r.seq, r.at, r.caused_by, r.correlation_id, load(r.kind, r.id, r.payload)) for r in rows]


def _stretches(connection: sa.Connection, conversation: str) -> list[tuple[str, int, int | None]]:
    """(owner, after, upto) of the stored pieces that make up a conversation, oldest first."""
    pieces, upto = [], None
    while True:
        parent, fork_at = connection.execute(
            sa.select(conversations.c.parent_id, conversations.c.fork_at).where(conversations.c.id == conversation)
        ).one()
        pieces.append((conversation, fork_at or 0, upto))
        if parent is None:
            return pieces[::-1]
        conversation, upto = parent, fork_at if upto is None else min(fork_at, upto)


def arguments_of(connection: sa.Connection, conversation: str, call: str) -> dict:
    """The arguments of the call with this id."""
    for owner, first, last in _stretches(connection, conversation):
        query = sa.select(events.c.payload).where(
            events.c.conversation_id == owner, events.c.kind == "ToolCall", events.c.id == call, events.c.seq > first
        )
        if found := connection.scalar(query if last is None else query.where(events.c.seq <= last)):
            return found["arguments"]
    raise KeyError(call)


def append(
    tx: sa.Connection, conversation: str, new: Sequence[Event], caused_by: int | None = None, correlation: str | None = None
) -> bool:
    """
    Add all *new* events, or none if one of them is already known; True if they were added.

    The first is caused by *caused_by*, those that follow by the first. Without *correlation* the turn under way is
    taken; a HumanInput that finds no turn under way begins one.
    """
    row = tx.execute(LOCK, {"id": conversation}).one()
    if _any_known(tx, conversation, new):
        return False
    moment, turn = now(), row.turn
    if isinstance(new[0], HumanInput) and row.awake_since is None:
        turn = new[0].id
    first = row.last_seq + 1
    tx.execute(
        WRITE,
        [
            {
                "conversation_id": conversation,
                "seq": seq,
                "kind": type(event).__name__,
                "id": event.id,
                "at": moment,
                "caused_by": caused_by if seq == first else first,
                "correlation_id": correlation or turn,
                "payload": _storable(payload(event)),
            }
            for seq, event in enumerate(new, first)
        ],
    )
    tx.execute(ADVANCE, {"of": conversation, "last": row.last_seq + len(new), "in_turn": turn, "since": row.awake_since or moment})
    return True


def _storable(value: Any) -> Any:
    """Without what no database keeps as JSON: NUL, half of a pair of surrogates, numbers that are none."""
    match value:
        case str():
            return value.replace("\0", "").encode("utf-8", "replace").decode()
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {_storable(k): _storable(v) for k, v in value.items()}
        case list() | tuple():
            return [_storable(v) for v in value]
    return value


def _any_known(tx: sa.Connection, conversation: str, new: Iterable[Event]) -> bool:
    return any(tx.scalar(KNOWN, {"owner": conversation, "of_kind": type(e).__name__, "with_id": e.id}) is not None for e in new)


def sleep(tx: sa.Connection, conversation: str, seen: int) -> bool:
    """Nothing is left to do; False if something was appended since *seen*."""
    return tx.execute(SLEEP, {"of": conversation, "seen": seen}).rowcount == 1


def begin(tx: sa.Connection, address: str, channel: str, phone: str | None, **more) -> str:
    """A new, empty conversation of *address*; returns its id."""
    id = uuid.uuid4().hex
    tx.execute(conversations.insert().values(id=id, address=address, channel=channel, phone=phone, last_seq=0, created_at=now(), **more))
    return id


def fork(tx: sa.Connection, source: sa.Row, at: int, model: str | None) -> str:
    """A new conversation that shares *source*'s events up to and including seq *at*."""
    id = begin(tx, source.address, source.channel, source.phone, parent_id=source.id, fork_at=at, model=model or source.model)
    tx.execute(conversations.update().where(conversations.c.id == id).values(last_seq=at, turn=f"fork:{id}"))
    append(tx, id, [Forked(f"{source.id}:{at}", source.id, at, model)], caused_by=at, correlation=f"fork:{id}")
    return id
