"""The RQ job: take a conversation's turn."""

import logging
import time

import redis
from rq import get_current_job
from rq.timeouts import BaseTimeoutException

from bot import queues
from bot.conversation import log, snapshots
from bot.conversation.events import Error, TurnStopped
from bot.db import writing
from bot.errors import Unavailable
from bot.services import Services
from workers import loop, process, words
from workers.context import Turn
from workers.lease import run_alone

PATIENCE = 3  # unforeseen failures of one conversation in an hour before its turn is given up
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
        try:
            go_on_in[:] = [q for q in [loop.advance(turn)] if q]
        except (Unavailable, redis.RedisError, BaseTimeoutException):
            raise  # it passes: the clock has the conversation looked at again
        except Exception as bug:
            logger.exception("conversation %s failed", conversation)
            _give_up_in_the_end(services, conversation, bug)

    if not run_alone(services.redis, f"turn:{conversation}", work):
        words.obey_waiting(Turn(services, conversation, time.monotonic() + seconds))
    if go_on_in:
        queues.wake(services, conversation, go_on_in[0])


def _give_up_in_the_end(services: Services, conversation: str, bug: Exception) -> None:
    """A bug must not be met for ever: after a few times the person is told, and the log says why."""
    times = services.redis.incr(f"failed:{conversation}")
    services.redis.expire(f"failed:{conversation}", 3600)
    if times < PATIENCE:
        return
    with writing(services.db) as tx:
        state, _ = snapshots.current(tx, conversation)
        log.append(
            tx,
            conversation,
            [
                Error(f"{state.seq}", type(bug).__name__, about="turn", detail=str(bug)[:300]),
                TurnStopped(f"{state.heard}/broken", "broken"),
            ],
            caused_by=state.heard or None,
        )
    services.redis.delete(f"failed:{conversation}")
    queues.wake(services, conversation)
