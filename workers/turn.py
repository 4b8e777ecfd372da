"""The RQ job: take a conversation's turn."""

import logging
import time

from rq import get_current_job

from bot import queues
from bot.services import Services
from workers import loop, process, words
from workers.context import Turn
from workers.lease import run_alone

logger = logging.getLogger(__name__)


def take_turn(conversation: str) -> None:
    job = get_current_job()
    take(process.services(), conversation, background=job is not None and job.origin == queues.BACKGROUND)


def take(services: Services, conversation: str, background: bool = False) -> None:
    """
    Carry *conversation* forward unless another worker is at it; that one looks again when it is done. Control words are
    obeyed in any case: they wait for nobody.
    """
    seconds = services.settings.background_seconds if background else services.settings.turn_seconds
    go_on_in: list[str] = []

    def work() -> None:
        turn = Turn(services, conversation, time.monotonic() + seconds, background, process.stopping.is_set)
        go_on_in[:] = [q for q in [loop.advance(turn)] if q]

    if not run_alone(services.redis, f"turn:{conversation}", work):
        words.obey_waiting(Turn(services, conversation, time.monotonic() + seconds))
    if go_on_in:
        queues.wake(services, conversation, go_on_in[0])
