"""
One at a time, and nobody forgotten.

Whoever wants something looked at sets its wake flag *before* trying the lease. Whoever holds the lease clears the flag before
looking, and looks at it again after letting go: so a job that finds the lease taken can simply go home. A holder that dies loses its
lease in LEASE seconds.
"""

import logging
import threading
from collections.abc import Callable

import redis
from redis.lock import Lock

LEASE = 15.0  # seconds
logger = logging.getLogger(__name__)


def run_alone(client: redis.Redis, name: str, work: Callable[[], None]) -> bool:
    """Call *work* while holding the lease of *name*, again as long as it was asked for meanwhile; False if another holds it."""
    while True:
        lock = Lock(client, f"lease:{name}", timeout=LEASE, blocking=False, thread_local=False)
        if not lock.acquire():
            return False
        ended = threading.Event()
        keeper = threading.Thread(target=_keep, args=(lock, ended), daemon=True)
        keeper.start()
        try:
            client.delete(f"wake:{name}")
            work()
        finally:
            ended.set()
            _let_go(lock)
        if not client.exists(f"wake:{name}"):
            return True


def is_held(client: redis.Redis, name: str) -> bool:
    return bool(client.exists(f"lease:{name}"))


def _keep(lock: Lock, ended: threading.Event) -> None:
    while not ended.wait(LEASE / 3):
        try:
            lock.reacquire()
        except redis.RedisError as problem:  # the log's unique ids still keep everything from happening twice
            logger.warning("lease not renewed: %s", type(problem).__name__)


def _let_go(lock: Lock) -> None:
    try:
        lock.release()
    except redis.RedisError as problem:
        logger.warning("lease not released: %s", type(problem).__name__)
