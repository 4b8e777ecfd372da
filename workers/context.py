"""One take-up of a conversation by a worker."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from bot.conversation import log
from bot.conversation.events import Event
from bot.db import conversations, reading, writing
from bot.services import Services


@dataclass(frozen=True)
class Turn:
    """One take-up of a conversation. ends: when its clock runs out (time.monotonic)."""

    services: Services
    conversation: str
    ends: float
    background: bool = False
    stopping: Callable[[], bool] = lambda: False

    @property
    def seconds_left(self) -> float:
        return self.ends - time.monotonic()

    def log(self, *events: Event, caused_by: int) -> bool:
        """Append in a transaction of its own; False when one of them was known."""
        with writing(self.services.db) as tx:
            return log.append(tx, self.conversation, events, caused_by=caused_by)

    @cached_property
    def row(self) -> sa.Row:
        """The conversation's row, for what never changes in it: address, channel, fork, model."""
        with reading(self.services.db) as connection:
            return connection.execute(sa.select(conversations).where(conversations.c.id == self.conversation)).one()
