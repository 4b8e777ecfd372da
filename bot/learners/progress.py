"""What a learner tried and how it went: quiz answers and the exercises that the model reports."""

import sqlalchemy as sa

from bot.db import attempts, insert_once, now


def record(
    tx,
    *,
    key: str,
    owner: str,
    kind: str,
    correct: bool,
    subject: str | None = None,
    topic: str | None = None,
    difficulty: str | None = None,
) -> None:
    """Write an attempt down, once for each *key*."""
    insert_once(
        tx,
        attempts,
        key=key,
        owner=owner,
        kind=kind,
        correct=correct,
        subject=(subject or "")[:100] or None,
        topic=(topic or "")[:200] or None,
        difficulty=(difficulty or "")[:20] or None,
        at=now(),
    )


def tally(connection: sa.Connection, owner: str) -> tuple[int, int]:
    """(attempts, right ones) so far."""
    right = sa.func.coalesce(sa.func.sum(sa.case((attempts.c.correct, 1), else_=0)), 0)
    return tuple(connection.execute(sa.select(sa.func.count(), right).where(attempts.c.owner == owner)).one())
