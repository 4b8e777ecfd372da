"""Keep processes running: started in order, restarted when they die, ended together and cleanly."""

import ctypes
import logging
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bot.errors import PalabreError

PATIENCE = 25.0  # seconds that a process has to end by itself
PAUSES = (0.2, 0.5, 1, 2, 5, 10)  # seconds before it is started again, when it keeps dying
STEADY = 30.0  # seconds after which a process counts as running well
PR_SET_PDEATHSIG = 1
logger = logging.getLogger(__name__)


@dataclass
class Child:
    """start() returns a running process; it is called again when the process has died."""

    name: str
    start: Callable[[], subprocess.Popen]
    process: subprocess.Popen | None = None
    deaths: int = 0
    started_at: float = 0.0
    due_at: float = field(default=0.0)


def end_with_parent() -> None:
    """For a child process: be ended when the supervisor is killed, so that nothing is left running."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    def __init__(self, children: list[Child]):
        self.children, self.ending = children, False

    def run(self, announce: Callable[[], bool] = lambda: True) -> None:
        """
        Start all and keep them running until SIGINT, SIGTERM or SIGHUP. *announce* is called until it returns True: when it
        finds that all is ready, it says so.
        """
        announced = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        try:
            for child in self.children:
                if not self.ending:
                    self._start(child)
            while not self.ending:
                announced = announced or announce()
                self._look_after()
                time.sleep(0.1)
        finally:
            self.end()

    def _stop(self, *_) -> None:
        self.ending = True

    def _start(self, child: Child) -> None:
        child.started_at = time.monotonic()
        child.process = child.start()

    def _look_after(self) -> None:
        for child in self.children:
            if child.process is not None and child.process.poll() is not None:
                self._died(child, f"ended with {child.process.returncode}")
            elif child.process is None and time.monotonic() >= child.due_at:
                try:
                    self._start(child)
                except (PalabreError, OSError) as problem:
                    self._died(child, str(problem))

    def _died(self, child: Child, how: str) -> None:
        child.deaths = 1 if time.monotonic() - child.started_at > STEADY else child.deaths + 1
        pause = PAUSES[min(child.deaths, len(PAUSES)) - 1]
        logger.error("%s: %s; it is started again in %g s", child.name, how, pause)
        child.process, child.due_at = None, time.monotonic() + pause

    def end(self) -> None:
        """End the children, the last started first; whoever does not listen is killed."""
        groups = [[c for c in reversed(self.children) if c.name != "valkey"], [c for c in self.children if c.name == "valkey"]]
        for group in groups:  # Valkey goes last: the others still write to it
            running = [c.process for c in group if c.process is not None and c.process.poll() is None]
            for process in running:
                process.terminate()
            ends = time.monotonic() + PATIENCE
            for process in running:
                try:
                    process.wait(max(0.1, ends - time.monotonic()))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
