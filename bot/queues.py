"""
Telling the workers *which conversation* to look at, never what to do.

Jobs are named as text, so that this side need not import the workers. A lost job loses nothing: the clock looks for
conversations that are awake and messages that are due (workers/schedule.py).
"""

import logging

import redis

from bot.services import Services

CHAT, BACKGROUND, DELIVERY = "chat", "background", "delivery"
WAKE_SECONDS = 3600
SLACK = 60  # seconds a job may go on beyond its own clock before RQ stops it
logger = logging.getLogger(__name__)


def wake(services: Services, conversation: str, queue: str = CHAT) -> bool:
    """Have a worker look at *conversation*; False when Redis is away (the clock will find it)."""
    limit = services.settings.background_seconds if queue == BACKGROUND else services.settings.turn_seconds
    try:
        services.redis.set(f"wake:turn:{conversation}", 1, ex=WAKE_SECONDS)
        services.queue(queue).enqueue(
            "workers.turn.take_turn", conversation, job_timeout=int(limit + SLACK), result_ttl=0, failure_ttl=3600
        )
    except redis.RedisError as problem:
        logger.warning("queue unreachable, the clock will find conversation %s: %s", conversation, type(problem).__name__)
        return False
    return True


def deliver(services: Services, address: str) -> bool:
    """Have a worker send what waits in the outbox for *address*."""
    try:
        services.redis.set(f"wake:send:{address}", 1, ex=WAKE_SECONDS)
        services.queue(DELIVERY).enqueue(
            "workers.delivery.deliver", address, description="deliver", job_timeout=SLACK * 5, result_ttl=0, failure_ttl=3600
        )
    except redis.RedisError as problem:
        logger.warning("queue unreachable, the clock will find the message: %s", type(problem).__name__)
        return False
    return True
