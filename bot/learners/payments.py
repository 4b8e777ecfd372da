"""
Packs of credits and their payment. A payment is made once for each key and credited once.

Only the sandbox gateway is here: its page confirms without money.
"""

import secrets

import sqlalchemy as sa

from bot.channels import numbers
from bot.config import Settings
from bot.db import insert_once, learners, now, payments
from bot.errors import ToolError
from bot.learners import credits
from bot.learners.accounts import Person

PACKS = {"petit": (100, 500), "moyen": (500, 2000), "grand": (1500, 5000)}  # credits, francs CFA
CENTRAL = {"CM", "CF", "TD", "CG", "GQ", "GA"}  # where the franc CFA is XAF; both francs have the same value


def create(settings: Settings, tx, person: Person, pack: str, *, key: str) -> sa.Row:
    """An open payment of *pack*, once for each *key*. Raises ToolError."""
    if settings.payment_gateway != "sandbox":
        raise ToolError("Buying credits is not set up on this server (PAYMENT_GATEWAY). Tell the person that none can be bought for now.")
    if person.learner is None:
        raise ToolError("This person has no account to put credits on. They make one by answering INSCRIPTION.")
    if pack not in PACKS:
        raise ToolError(f"There is no pack {pack!r}; the packs are {', '.join(PACKS)}.")
    bought, amount = PACKS[pack]
    currency = "XAF" if numbers.country(person.address) in CENTRAL else "XOF"
    insert_once(
        tx,
        payments,
        id=f"p{secrets.token_hex(11)}",
        key=key,
        learner_id=person.learner.id,
        credits=bought,
        amount=amount,
        currency=currency,
        state="open",
        created_at=now(),
    )
    return tx.execute(sa.select(payments).where(payments.c.key == key)).one()


def url(settings: Settings, row: sa.Row) -> str:
    return f"{settings.public_url}/pay/{row.id}"


def by_id(connection: sa.Connection, id: str) -> sa.Row | None:
    return connection.execute(sa.select(payments).where(payments.c.id == id)).one_or_none()


def confirm(tx: sa.Connection, id: str) -> bool:
    """The money is there: credit it. False when there is no such payment or it was credited before."""
    row = by_id(tx, id)
    still_open = (payments.c.id == id) & (payments.c.state == "open")
    if row is None or not tx.execute(payments.update().where(still_open).values(state="paid")).rowcount:
        return False
    if tx.scalar(sa.select(learners.c.id).where(learners.c.id == row.learner_id)) is None:
        return False
    return credits.move(tx, row.learner_id, row.credits, key=f"payment:{id}", counterpart="sales", reason=f"{row.amount} {row.currency}")
