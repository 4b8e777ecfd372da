"""The services of this worker process: built on first use, so after any fork, and shared by its threads."""

import threading
from functools import cache

from bot import config
from bot import services as outside
from bot.services import Services

stopping = threading.Event()  # the process was asked to end: turns are handed back at their next step
_lock = threading.Lock()


@cache
def _built() -> Services:
    return outside.build(config.require_service(config.load()))


def services() -> Services:
    with _lock:
        return _built()
