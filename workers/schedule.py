"""
The clock: finds what was forgotten. It holds no state, so it can be killed, and two of them do no harm.

- conversations that are awake and that nobody is working on (Redis was down, a worker was killed): a worker is told to look
- messages that should have left: a worker is told to send them
- reminders that are due
"""

import logging
import signal
import threading
from datetime import timedelta

import redis
import sqlalchemy as sa

from bot import config, logs, queues
from bot import services as outside
from bot.channels import outbox, sms
from bot.db import conversations, now, reading, writing
from bot.errors import Unavailable
from bot.learners import tasks
from bot.services import Services
from bot.texts import say
from workers.lease import is_held

TICK = 2.0  # seconds
FORGOTTEN = timedelta(seconds=8)  # awake for so long, and nobody at it
OVERDUE = timedelta(seconds=1)
AT_ONCE = 500
logger = logging.getLogger(__name__)


def sweep(services: Services) -> int:
    """Look once; returns how much was found."""
    with reading(services.db) as connection:
        awake = list(
            connection.scalars(
                sa.select(conversations.c.id)
                .where(conversations.c.awake_since < now() - FORGOTTEN)
                .order_by(conversations.c.awake_since)
                .limit(AT_ONCE)
            )
        )
        late = outbox.due(connection, now() - OVERDUE, AT_ONCE)
    found = 0
    for id in awake:
        if not is_held(services.redis, f"turn:{id}") and _first(services, f"turn:{id}"):
            found += queues.wake(services, id)
    remind(services)
    for address in late:
        if not is_held(services.redis, f"send:{address}") and _first(services, f"send:{address}"):
            found += queues.deliver(services, address)
    return found


def remind(services: Services) -> None:
    """Put the reminders that are due into the outbox; each is written once."""
    with reading(services.db) as connection:
        waiting = tasks.due(connection)
    for task, person in waiting:
        text = say(person.language, "turn.reminder", number=task.number, title=task.title)
        with writing(services.db) as tx:
            outbox.put(tx, person.address, tasks.reminder_key(task), [(sms.dress(text) if person.channel == "sms" else text, None)])
        queues.deliver(services, person.address)


def _first(services: Services, name: str) -> bool:
    """Whether this is the first word about *name* for a while: a worker is not told every time the clock looks."""
    return bool(services.redis.set(f"swept:{name}", 1, nx=True, ex=int(FORGOTTEN.total_seconds())))


def run(services: Services, stop: threading.Event) -> None:
    while not stop.wait(TICK):
        try:
            if found := sweep(services):
                logger.info("found %d forgotten", found)
        except (redis.RedisError, Unavailable) as problem:
            logger.warning("the clock could not look: %s", type(problem).__name__)


def main() -> None:
    logs.set_up(logging.INFO)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    run(outside.build(config.require_service(config.load())), stop)


if __name__ == "__main__":
    main()
