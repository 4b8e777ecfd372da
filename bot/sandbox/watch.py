"""What a sandboxed command writes and uses, watched from outside; and how its processes are ended."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

KEPT = 100_000  # bytes of stdout and of stderr that are kept; the rest is read and thrown away
TREE_BYTES = 768 * 1024 * 1024  # resident memory of all processes together
FOLDER_BYTES = 64 * 1024 * 1024  # of each folder that can be written
INODES = 20_000  # files and folders in it: every one costs memory of the kernel, or room on the disk
EVERY = 0.1  # seconds between two measurements
CUT = "\n[…]"


def listen(process: subprocess.Popen, seconds: float, over: Callable[[], str]) -> tuple[str, str, str]:
    """
    (stdout, stderr, why it must be stopped or "") once *process* has ended, *seconds* are over or *over* gives a reason. Output is read
    to its end, so that nobody waits for a full pipe, but never kept beyond KEPT.
    """
    streams, stopped = (process.stdout, process.stderr), ""
    kept, cut, deadline, measured = {stream: bytearray() for stream in streams}, set(), time.monotonic() + seconds, 0.0
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        while not stopped and (selector.get_map() or process.poll() is None):
            left = deadline - time.monotonic()
            if left <= 0:
                stopped = f"it took longer than {seconds:g} seconds"
                break
            for key, _ in selector.select(min(left, EVERY)) if selector.get_map() else ():
                piece, room = os.read(key.fd, 65536), KEPT - len(kept[key.fileobj])
                kept[key.fileobj] += piece[:room]
                if len(piece) > room:
                    cut.add(key.fileobj)
                if not piece:
                    selector.unregister(key.fileobj)
            if not selector.get_map():
                time.sleep(0.005)  # it has closed its output and goes on
            if time.monotonic() - measured > EVERY:
                stopped, measured = over(), time.monotonic()
    out, err = (kept[s].decode("utf-8", "replace").replace("\0", "�") + (CUT if s in cut else "") for s in streams)
    return out, err, stopped


def too_much_memory(pids: list[int]) -> str:
    return f"it used more than {TREE_BYTES // 1024**2} MB of memory" if sum(map(_resident, pids)) > TREE_BYTES else ""


def too_many_files(count: int) -> str:
    return f"it made more than {INODES} files" if count > INODES else ""


class Namespace:
    """The processes of a box with a process namespace of its own: those that share it with the first child of *pid*."""

    def __init__(self, pid: int):
        self.pid, self.own, self.space, self.inside = pid, _space(os.getpid()), None, 0

    def over(self) -> str:
        """What the box has too much of, or nothing."""
        if self.space is None and not self._enter():
            return ""
        mine = [pid for pid in processes() if _space(pid) == self.space]
        return too_much_memory(mine) or too_many_files(max(map(self._inodes, ("box", "tmp"))))

    def _enter(self) -> bool:
        for child in _children(self.pid):
            space = _space(child)
            if space not in (None, self.own):
                self.space, self.inside = space, child
                return True
        return False

    def _inodes(self, folder: str) -> int:
        try:
            state = os.statvfs(f"/proc/{self.inside}/root/{folder}")
        except OSError:
            return 0
        return state.f_files - state.f_ffree


class Descendants:
    """The processes below *pid*, which adopts every orphan among them, and the folder they may write."""

    def __init__(self, pid: int, folder: Path):
        self.pid, self.folder = pid, folder

    def over(self) -> str:
        return too_much_memory(list(descendants(self.pid))) or self._folder()

    def _folder(self) -> str:
        count = size = 0
        for path, folders, names in os.walk(self.folder):
            count += len(folders) + len(names)
            for name in names:
                try:
                    size += os.lstat(os.path.join(path, name)).st_blocks * 512
                except OSError:
                    continue
            if size > FOLDER_BYTES:
                return f"it wrote more than {FOLDER_BYTES // 1024**2} MB"
            if count > INODES:
                break
        return too_many_files(count)


def end(root: int, seconds: float = 10) -> bool:
    """
    Kill every process below *root*: first all are stopped, so that none makes new ones meanwhile, then killed. False when some are left.

    A process is held by a descriptor and its time of birth, so that a number given to another process meanwhile is not touched.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        stopped: dict[int, str] = {}
        while found := {pid: born for pid, born in descendants(root).items() if stopped.get(pid) != born}:
            for pid, born in found.items():
                _signal(pid, born, signal.SIGSTOP)
            stopped |= found
        if not stopped:
            return True
        for pid, born in stopped.items():
            _signal(pid, born, signal.SIGKILL)
    return False


def descendants(root: int) -> dict[int, str]:
    """The living processes below *root*, each with its time of birth."""
    parents: dict[int, list[tuple[int, str]]] = {}
    for pid in processes():
        if (state := _state(pid)) is not None:
            parents.setdefault(state[0], []).append((pid, state[1]))
    found, waiting = {}, [root]
    while waiting:
        for pid, born in parents.get(waiting.pop(), ()):
            found[pid] = born
            waiting.append(pid)
    return found


def processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _signal(pid: int, born: str, number: int) -> None:
    try:
        held = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if (state := _state(pid)) is not None and state[1] == born:
            signal.pidfd_send_signal(held, number)
    except OSError:
        pass  # it has ended
    finally:
        os.close(held)


def _state(pid: int) -> tuple[int, str] | None:
    """(parent, time of birth) of a living process, see proc(5)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else (int(fields[1]), fields[19])


def _children(pid: int) -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _space(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
