"""
`python -m workers.serve`: RQ workers, several processes of several threads.

A turn waits for a model, not for a processor, so one process carries many: each thread is an RQ worker of its own with its own
connection. The parent imports everything once and forks, and starts a process again when it dies.
"""

import argparse
import logging
import os
import signal
import threading
import time

from rq import Queue, SimpleWorker, worker_registration
from rq.timeouts import TimerDeathPenalty

from bot import config, logs, queues
from bot.services import connect_redis
from bot.supervisor import Child, Supervisor, end_with_parent
from workers import delivery, process, turn  # noqa: F401  loaded before the fork, shared by the children

DELIVERERS, BACKGROUNDERS = 2, 2  # threads for the other queues, beside WORKER_THREADS for chat
WARM_SECONDS = 20  # how long running turns may take to reach their next step when the process is asked to end
logger = logging.getLogger(__name__)
_busy: set[threading.Thread] = set()  # those in the middle of a job


class ThreadWorker(SimpleWorker):
    """
    An RQ worker inside a thread: time limits by timer instead of alarm, no signal handlers, and nothing new is begun once the
    process was asked to end.
    """

    death_penalty_class = TimerDeathPenalty
    max_connection_wait_time = 2.0  # seconds between two tries to reach Redis

    def _install_signal_handlers(self) -> None:
        pass

    def execute_job(self, job, queue) -> None:
        _busy.add(threading.current_thread())
        try:
            super().execute_job(job, queue)
        finally:
            self._stop_requested = process.stopping.is_set()
            _busy.discard(threading.current_thread())

    def heartbeat(self, timeout: int | None = None, pipeline=None) -> None:
        """Also says again that this worker exists: a Redis that lost its data would never know."""
        worker_registration.register(self, pipeline)
        super().heartbeat(timeout, pipeline)


class Forked:
    """A forked child with the few methods of Popen that the supervisor uses."""

    def __init__(self, run):
        self.pid, self.returncode = os.fork(), None
        if self.pid == 0:
            end_with_parent()
            code = 1
            try:
                run()
                code = 0
            finally:
                logging.shutdown()
                os._exit(code)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        import subprocess

        ends = time.monotonic() + timeout if timeout is not None else None
        while self.poll() is None:
            if ends is not None and time.monotonic() > ends:
                raise subprocess.TimeoutExpired("worker", timeout)
            time.sleep(0.02)
        return self.returncode

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def run_process(names: list[str]) -> None:
    """One worker process: threads until SIGTERM, then each ends at its next step."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.stopping.set())
    settings = process.services().settings
    counts = {queues.CHAT: settings.worker_threads, queues.DELIVERY: DELIVERERS, queues.BACKGROUND: BACKGROUNDERS}
    for name in names:
        for n in range(counts[name]):
            threading.Thread(target=_work, args=(name, settings.redis_url), name=f"{name}-{n}", daemon=True).start()
    process.stopping.wait()
    ends = time.monotonic() + WARM_SECONDS
    while _busy and time.monotonic() < ends:
        time.sleep(0.05)


def _work(name: str, redis_url: str) -> None:
    """Be an RQ worker, and be one again when Redis went away."""
    told = None
    while not process.stopping.is_set():
        try:
            connection = connect_redis(redis_url, blocking=True)
            worker = ThreadWorker(
                [Queue(name, connection=connection)],
                connection=connection,
                worker_ttl=60,
                maintenance_interval=60,
                name=f"{name}-{os.getpid()}-{threading.get_ident():x}-{time.monotonic_ns():x}",
            )
            worker.push_exc_handler(_told)
            worker.work(logging_level="CRITICAL")  # RQ would print a traceback for each thread whenever Redis is away
        except Exception as problem:
            if type(problem) is not told:
                logger.warning("worker thread begins again: %s", type(problem).__name__)
            told = type(problem)
        process.stopping.wait(0.5)


def _told(job, kind, problem, trace) -> bool:
    logger.error("job %s failed: %s", job.func_name, kind.__name__, exc_info=(kind, problem, trace))
    return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="palabre worker", description="Take turns, deliver messages.")
    parser.add_argument("--queues", default=",".join((queues.CHAT, queues.BACKGROUND, queues.DELIVERY)))
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    names = args.queues.split(",")
    config.require_service(config.load())
    logs.set_up(logging.INFO)
    Supervisor([Child(f"worker {n + 1}", lambda: Forked(lambda: run_process(names))) for n in range(args.processes)]).run()


if __name__ == "__main__":
    main()
