"""gunicorn's settings: a few processes of many threads. A live tail of events holds a thread, a webhook hardly any time."""

import logging

from bot import logs

worker_class = "gthread"
workers = 2
threads = 32
timeout = 60
graceful_timeout = 10
keepalive = 30
accesslog = None
loglevel = "warning"
control_socket_disable = True


def post_fork(server, worker) -> None:
    logs.set_up(logging.WARNING)
