"""
E-mails to others: written by the model, read, changed and sent by the person.

A draft's number counts the person's drafts from 1; it stays the same whatever happens to the others.
"""

import sqlalchemy as sa

from bot.db import count_today, counted_today, drafts, insert_once, now, reading, writing
from bot.documents.clean import clean
from bot.errors import ToolError
from bot.learners import files, mail
from bot.learners.accounts import Person
from bot.services import Services

SENT_PER_DAY = 10
NUMBER = sa.func.row_number().over(partition_by=drafts.c.owner, order_by=drafts.c.id).label("number")


def create(tx, *, key: str, owner: str, to: str, subject: str, body: str, file_ids: list[str]) -> int:
    """Keep a draft, once for each *key*, and return its number. Raises ToolError for a bad address or somebody else's file."""
    recipient, ids = mail.address(to), list(dict.fromkeys(file_ids))
    if missing := set(ids) - {r.id for r in files.owned(tx, owner, ids)}:
        raise ToolError(f"The person has no file {', '.join(sorted(missing))}. Take file_id from list_user_files. No draft was made.")
    insert_once(
        tx,
        drafts,
        key=key,
        owner=owner,
        recipient=recipient,
        subject=mail.header(subject),
        body=clean(body),
        file_ids=ids,
        created_at=now(),
    )
    id = tx.scalar(sa.select(drafts.c.id).where(drafts.c.key == key))
    return tx.scalar(sa.select(sa.func.count()).where(drafts.c.owner == owner, drafts.c.id <= id))


def of(connection: sa.Connection, owner: str) -> list[sa.Row]:
    """The person's drafts with their `number`, the newest first, sent ones (with `sent_at`) too."""
    return list(connection.execute(sa.select(drafts, NUMBER).where(drafts.c.owner == owner).order_by(drafts.c.id.desc())))


def find(connection: sa.Connection, owner: str, number: int) -> sa.Row | None:
    return next((row for row in of(connection, owner) if row.number == number), None)


def edit(tx, owner: str, number: int, *, to: str, subject: str, body: str) -> bool:
    """Change a draft that was not sent; False when there is none. Raises ToolError for a bad address."""
    row = find(tx, owner, number)
    if row is None:
        return False
    values = {"recipient": mail.address(to), "subject": mail.header(subject), "body": clean(body)}
    return tx.execute(drafts.update().where(drafts.c.id == row.id, drafts.c.sent_at.is_(None)).values(**values)).rowcount == 1


def send(services: Services, person: Person, number: int) -> str:
    """
    Send a draft. Says how it went: "sent", "none" (no such draft), "already" (sent before), "limit" (of the day), "unsent" (refused,
    it can be sent again) or "unknown" (the connection broke; it counts as sent, so that it does not arrive twice).
    """
    with reading(services.db) as connection:
        row = find(connection, person.owner, number)
    if row is None:
        return "none"
    with writing(services.db) as tx:
        if counted_today(tx, person.owner, "draft", person.today()) >= SENT_PER_DAY:
            return "limit"
        mine = (drafts.c.id == row.id) & drafts.c.sent_at.is_(None)
        if not tx.execute(drafts.update().where(mine).values(sent_at=now())).rowcount:
            return "already"
        count_today(tx, person.owner, "draft", person.today())
        row = tx.execute(sa.select(drafts).where(drafts.c.id == row.id)).one()  # as it is now, not as it was before an edit
    own = person.learner.email if person.learner and person.learner.email_verified else ""
    try:
        with reading(services.db) as connection:
            attached = mail.attachments(services.settings, connection, person.owner, row.file_ids)
        mail.send(services.settings, row.recipient, row.subject, row.body, attached, reply_to=own or "")
    except mail.MaybeSent:
        return "unknown"
    except ToolError:
        with writing(services.db) as tx:
            tx.execute(drafts.update().where(drafts.c.id == row.id).values(sent_at=None))
        return "unsent"
    return "sent"
