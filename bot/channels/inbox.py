"""What a person wrote, written down: the address (made when it is new), the conversation, the HumanInput."""

import sqlalchemy as sa

from bot.channels import numbers, outbox
from bot.channels.twilio import Inbound
from bot.conversation import log
from bot.conversation.events import HumanInput
from bot.db import addresses, conversations, events, insert_once, now, received
from bot.db import outbox as table

QUOTED = 300  # characters of a quoted message that the model is shown


def receive(tx: sa.Connection, inbound: Inbound) -> str | None:
    """Store a message and return its conversation; None when it was stored before."""
    if not insert_once(tx, received, id=inbound.id, at=now()):
        return None
    row = open_address(tx, inbound.address)
    tx.execute(addresses.update().where(addresses.c.address == inbound.address).values(heard_at=now(), closed=None))
    outbox.release(tx, inbound.address)
    log.append(
        tx,
        row.conversation_id,
        [
            HumanInput(
                inbound.id,
                inbound.text,
                inbound.channel,
                inbound.media,
                inbound.command,
                inbound.argument,
                inbound.forwarded,
                _quoted(tx, inbound),
            )
        ],
    )
    return row.conversation_id


def _quoted(tx: sa.Connection, inbound: Inbound) -> str | None:
    """The beginning of the message that this one answers: one of ours, or the person's own."""
    if not inbound.quoted:
        return None
    ours = tx.scalar(sa.select(table.c.body).where(table.c.address == inbound.address, table.c.provider_sid == inbound.quoted))
    if ours is None:
        own = sa.select(events.c.payload).where(
            events.c.kind == "HumanInput",
            events.c.id == inbound.quoted,
            events.c.conversation_id.in_(sa.select(conversations.c.id).where(conversations.c.address == inbound.address)),
        )
        ours = (tx.scalar(own) or {}).get("text")
    return ours[:QUOTED] if ours else None


def open_address(tx: sa.Connection, address: str) -> sa.Row:
    """The row of *address*, made with its first conversation if the address is new."""
    query = sa.select(addresses).where(addresses.c.address == address)
    if row := tx.execute(query).one_or_none():
        return row
    conversation = log.begin(tx, address, numbers.channel_of(address), numbers.of_address(address))
    if not insert_once(
        tx,
        addresses,
        address=address,
        channel=numbers.channel_of(address),
        phone=numbers.of_address(address),
        conversation_id=conversation,
        opted_out=False,
        created_at=now(),
    ):
        tx.execute(conversations.delete().where(conversations.c.id == conversation))  # two first messages at once
    return tx.execute(query).one()


def begin_anew(tx: sa.Connection, address: str) -> str:
    """NOUVEAU: another conversation for *address*; returns its id."""
    conversation = log.begin(tx, address, numbers.channel_of(address), numbers.of_address(address))
    tx.execute(addresses.update().where(addresses.c.address == address).values(conversation_id=conversation))
    return conversation
