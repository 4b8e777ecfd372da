"""Everything a tool may touch."""

from dataclasses import dataclass, field

from bot.config import Settings
from bot.db import Unit
from bot.learners.accounts import Person
from bot.services import Services


@dataclass(frozen=True)
class Context:
    """
    tx: the transaction that also writes the call's ToolResult; it is opened at its first statement, so do what is slow before.
    untrusted: the turn was begun by a forwarded message only, not in the person's own words: nothing may be sent, spent or executed.
    """

    services: Services
    tx: Unit
    person: Person
    conversation: str
    untrusted: bool = False
    made: list[str] = field(default_factory=list)  # ids of files to be delivered with the answer
    quiz: list[dict] = field(default_factory=list)  # the quiz that was asked

    @property
    def settings(self) -> Settings:
        return self.services.settings
