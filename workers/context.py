"""One take-up of a conversation by a worker."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from bot.db import conversations, reading
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

    @cached_property
    def row(self) -> sa.Row:
        """The conversation's row, for what never changes in it: address, channel, fork, model."""
        with reading(self.services.db) as connection:
            return connection.execute(sa.select(conversations).where(conversations.c.id == self.conversation)).one()
