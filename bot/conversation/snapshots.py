"""
A snapshot is nothing but the fold of everything before a point, kept so that the thousandth turn costs what the first did.

It belongs to one version of the folding code: after a change of that code it is ignored and made anew.
"""

import hashlib
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from bot.conversation import fold as folding
from bot.conversation import log
from bot.conversation.fold import Conversation
from bot.db import insert_once, snapshots

EVERY = 50  # events between two snapshots


@cache
def version() -> str:
    here = Path(__file__).parent
    return hashlib.sha256(
        b"".join((here / f).read_bytes() for f in ("events.py", "fold.py", "truncation.py", "compaction.py"))
    ).hexdigest()[:16]


def current(connection: sa.Connection, conversation: str) -> tuple[Conversation, int]:
    """The state of a conversation now, and the seq of the snapshot it was built on (0: none)."""
    row = connection.execute(
        sa.select(snapshots).where(snapshots.c.conversation_id == conversation, snapshots.c.version == version())
    ).one_or_none()
    start = _revived(row.state) if row else Conversation()
    return folding.fold(log.read(connection, conversation, after=start.seq), start), start.seq


def at(connection: sa.Connection, conversation: str, seq: int | None) -> Conversation:
    """The state just after event *seq*; without it, at the end."""
    return folding.fold(log.read(connection, conversation, upto=seq))


def keep(tx: sa.Connection, conversation: str, state: Conversation) -> None:
    values = {"seq": state.seq, "version": version(), "state": asdict(state)}
    if not insert_once(tx, snapshots, conversation_id=conversation, **values):
        tx.execute(snapshots.update().where(snapshots.c.conversation_id == conversation).values(**values))


def _revived(state: dict) -> Conversation:
    tuples = {f.name for f in fields(Conversation) if str(f.type).startswith("tuple")}
    return Conversation(**{name: tuple(value) if name in tuples else value for name, value in state.items()})
