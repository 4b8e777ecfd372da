"""
A person's tasks. A task's number counts the person's tasks from 1 and stays the same when others are done.

A day without a time is due at 8 in the morning there; today, in an hour. Nobody is reminded between 21:00 and 7:00: then it is 7:00.
"""

from datetime import UTC, date, datetime, time, timedelta

import sqlalchemy as sa

from bot.db import addresses, insert_once, learners, now, outbox, tasks
from bot.documents.clean import clean_line
from bot.errors import ToolError
from bot.learners import accounts
from bot.learners.accounts import Person

MORNING, FURTHEST = time(8), timedelta(days=3660)
QUIET_FROM, QUIET_TO = time(21), time(7)
MISSED = timedelta(days=2)  # a reminder that could not be sent for so long is not sent any more
NUMBER = sa.func.row_number().over(partition_by=tasks.c.owner, order_by=tasks.c.id).label("number")


def read_due(text: str, person: Person) -> datetime:
    """The moment an ISO date or date and time means, in the person's zone unless it names its own. Raises ToolError."""
    present = person.local(now())
    here = f"Where the person is it is now {present:%Y-%m-%d %H:%M} ({person.zone.key})"
    try:
        due = _moment(text.strip(), present)
    except (ValueError, OverflowError) as problem:
        raise ToolError(
            f"due_date {text[:40]!r} is not an ISO date such as 2026-12-24 or 2026-12-24T17:30. {here}. No task was made."
        ) from problem
    if due <= present:
        raise ToolError(f"due_date {text[:40]!r} is past. {here}. No task was made; ask for another date or leave it out.")
    if due - present > FURTHEST:
        raise ToolError(f"due_date {text[:40]!r} is more than ten years away. {here}. No task was made.")
    return due.astimezone(UTC)


def _moment(text: str, present: datetime) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=present.tzinfo)).astimezone(present.tzinfo)
    morning = datetime.combine(day, MORNING, present.tzinfo)
    if day != present.date() or morning > present:
        return morning
    return min(present + timedelta(hours=1), datetime.combine(day, time.max, present.tzinfo))


def create(
    tx, *, key: str, owner: str, title: str, priority: str = "normal", due_at: datetime | None = None, tags: list[str] | None = None
) -> int:
    """Note a task, once for each *key*, and return its number. Raises ToolError for an empty title."""
    title = clean_line(title)[:300]
    if not title:
        raise ToolError("The title is empty. No task was made.")
    labels = list(dict.fromkeys(filter(None, (clean_line(t).casefold() for t in tags or []))))
    insert_once(tx, tasks, key=key, owner=owner, title=title, priority=priority, due_at=due_at, tags=labels, created_at=now())
    id = tx.scalar(sa.select(tasks.c.id).where(tasks.c.key == key))
    return tx.scalar(sa.select(sa.func.count()).where(tasks.c.owner == owner, tasks.c.id <= id))


def open_tasks(connection: sa.Connection, owner: str) -> list[sa.Row]:
    """What is left to do, with its `number`: the next due first, those without a date last."""
    numbered = sa.select(tasks, NUMBER).where(tasks.c.owner == owner).subquery()
    return list(
        connection.execute(
            sa.select(numbered).where(numbered.c.done_at.is_(None)).order_by(numbered.c.due_at.is_(None), numbered.c.due_at, numbered.c.id)
        )
    )


def done(tx, owner: str, number: int) -> str | None:
    """Tick off an open task and return its title; None when there is no such task."""
    row = next((t for t in open_tasks(tx, owner) if t.number == number), None)
    if row is None:
        return None
    tx.execute(tasks.update().where(tasks.c.id == row.id).values(done_at=now()))
    return row.title


def reminder_key(task: sa.Row) -> str:
    """Under this key the reminder stands in the outbox, so that it is written once."""
    return f"reminder:{task.id}"


def due(connection: sa.Connection, limit: int = 200) -> list[tuple[sa.Row, Person]]:
    """Open tasks to remind of now, each with its `number` and the person at the address last heard from."""
    numbered, moment = sa.select(tasks, NUMBER).subquery(), now()
    told = sa.exists().where(outbox.c.key == sa.literal("reminder:") + sa.cast(numbered.c.id, sa.String) + ":0")
    waiting = (numbered.c.due_at <= moment) & (numbered.c.due_at > moment - MISSED) & numbered.c.done_at.is_(None) & ~told
    rows = connection.execute(sa.select(numbered).where(waiting).order_by(numbered.c.id).limit(limit))
    found = ((row, _whereabouts(connection, row.owner)) for row in rows)
    return [(row, person) for row, person in found if person and not is_quiet(person.local(moment))]


def is_quiet(local: datetime) -> bool:
    return local.time() >= QUIET_FROM or local.time() < QUIET_TO


def _whereabouts(connection: sa.Connection, owner: str) -> Person | None:
    if owner.startswith("learner:"):
        phone = sa.select(learners.c.phone).where(learners.c.id == owner.removeprefix("learner:")).scalar_subquery()
        mine = addresses.c.phone == phone
    else:
        mine = addresses.c.address == owner
    address = connection.scalar(
        sa.select(addresses.c.address)
        .where(mine, addresses.c.opted_out.is_(False))
        .order_by(addresses.c.heard_at.is_(None), addresses.c.heard_at.desc())
        .limit(1)
    )
    return accounts.person(connection, address) if address else None
