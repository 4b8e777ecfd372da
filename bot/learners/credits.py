"""
Credits: whole numbers in an append-only, double-entry ledger.

Each movement is two rows of one key that add up to zero: the learner's and one of ours. `learners.credits` is the sum of a
learner's rows, kept in the same transaction, and never goes below zero whatever runs side by side.
"""

from datetime import date

import sqlalchemy as sa

from bot.db import insert_once, learners, ledger, now

TURN_PRICE = 1


def move(tx: sa.Connection, learner: str, amount: int, *, key: str, counterpart: str, reason: str) -> bool:
    """Give (amount > 0) or take (< 0) credits, once for each *key*; False if that would overdraw or was done before."""
    if amount == 0 or tx.scalar(sa.select(ledger.c.id).where(ledger.c.key == key).limit(1)):
        return False
    enough = (learners.c.id == learner) & (learners.c.credits + amount >= 0)
    if not tx.execute(learners.update().where(enough).values(credits=learners.c.credits + amount)).rowcount:
        return False
    for account, signed in ((f"learner:{learner}", amount), (counterpart, -amount)):
        if not insert_once(tx, ledger, key=key, account=account, amount=signed, reason=reason[:200], at=now()):
            raise sa.exc.IntegrityError("ledger", {"key": key}, Exception("the same movement twice at once"))
    return True


def refill(tx: sa.Connection, learner: sa.Row, amount: int, today: date) -> None:
    """The free credits of a day: up to *amount* again, on the first message of the person's day."""
    if amount and learner.refilled_on != today:
        move(tx, learner.id, max(0, amount - learner.credits), key=f"refill:{learner.id}:{today}", counterpart="refills", reason=str(today))
        tx.execute(learners.update().where(learners.c.id == learner.id).values(refilled_on=today))


def balance(connection: sa.Connection, learner: str) -> int:
    return connection.scalar(sa.select(learners.c.credits).where(learners.c.id == learner)) or 0


def discrepancies(connection: sa.Connection) -> list[str]:
    """What is wrong in the books; empty when every movement adds up and every balance is the sum of its rows."""
    total = connection.scalar(sa.select(sa.func.coalesce(sa.func.sum(ledger.c.amount), 0)))
    found = [f"the ledger adds up to {total}, not to zero"] if total else []
    sums = sa.select(ledger.c.account, sa.func.sum(ledger.c.amount).label("sum")).group_by(ledger.c.account).subquery()
    wrong = connection.execute(
        sa.select(learners.c.id, learners.c.credits, sums.c.sum)
        .select_from(learners.outerjoin(sums, sums.c.account == "learner:" + learners.c.id))
        .where(learners.c.credits != sa.func.coalesce(sums.c.sum, 0))
    )
    return found + [f"learner {row.id} has {row.credits} credits but entries of {row.sum or 0}" for row in wrong]
