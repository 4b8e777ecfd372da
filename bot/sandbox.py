"""
One shell command in a box made by bubblewrap: no network, nothing of this machine but a read-only /usr, no environment, its own
process tree, and folders in memory that vanish with it.

Whether that can be had is found out by trying, once in a process: a probe runs in the same box and looks for what must not be there.
Where one of them is found, or the box cannot be made, nothing is ever run.

The limits: 30 seconds on the wall, then the whole tree is killed; address space, processing time, open files and file size for each
process; the number of processes; and, watched from outside, memory and inodes of the whole tree.
"""

import os
import secrets
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bot.errors import ToolError

SECONDS = 30
KEPT = 100_000  # bytes of stdout and of stderr that are kept; the rest is read and thrown away
FOLDER_BYTES = 64 * 1024 * 1024  # of /box and of /tmp each
TREE_BYTES = 768 * 1024 * 1024  # resident memory of all processes together
INODES = 20_000  # files and folders in /box and /tmp each: every one costs memory of the kernel
LIMITS = ("--as=536870912", "--nproc=48", f"--cpu={SECONDS}", "--fsize=67108864", "--nofile=256", "--core=0")
UIDS = range(65100, 65200)  # reserved by Debian policy, so nobody's; one is drawn for each call when we are root
SYSTEM = ("bin", "sbin", "lib", "lib64", "lib32")
CUT = "\n[…]"


def run(command: str, hidden: Sequence[Path] = (), seconds: float = SECONDS) -> dict:
    """
    {"exit_code", "stdout", "stderr"}; any exit code is a result. *hidden*: folders that stay invisible even if they lie below /usr.

    Raises ToolError when the time or the memory is used up, and when no sandbox can be had.
    """
    if reason := availability():
        raise ToolError(f"Commands cannot be run on this server: {reason}. Nothing was run; compute by hand or say that you could not.")
    if "\0" in command:
        raise ToolError("The command has a NUL character in it; nothing was run.")
    return _run(command.encode("utf-8", "replace").decode(), hidden, _with_proc(), seconds)


@cache
def availability() -> str | None:
    """None when commands can be run in isolation here, otherwise the reason why not."""
    missing = [name for name in ("bwrap", "prlimit", "setpriv", "nice", "bash") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} not found (install bubblewrap and util-linux)"
    reasons = [_probe(True)]
    if reasons[0] is not None:
        reasons.append(_probe(False))  # a container that masks parts of /proc does not let it be mounted anew
    if None not in reasons:
        return f"the sandbox cannot be made or does not hold here ({reasons[-1]})"
    return None


def _with_proc() -> bool:
    return _probe(True) is None


@cache
def _probe(with_proc: bool) -> str | None:
    """Run canaries in the box; None when it holds, otherwise what was wrong."""
    folder = Path(tempfile.mkdtemp(prefix="palabre-canary-"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        (folder / "canary").write_text("canary")
        os.chmod(folder, 0o755)
        checks = {
            "files outside are visible": f"[ -e {folder}/canary ] || [ -e /etc/passwd ] || [ -e /root ] || [ -e /home ]",
            "the network is reachable": f"(exec 3<>/dev/tcp/127.0.0.1/{listener.getsockname()[1]}) 2>/dev/null",
            "processes outside are visible": f"kill -0 {os.getpid()} 2>/dev/null || [ -e /proc/{os.getpid()} -a {os.getpid()} -gt 20 ]",
            "the environment is visible": '[ -n "$PALABRE_CANARY$SECRET_KEY$DATABASE_URL" ]',
            "the system is writable": "(: >/usr/.palabre) 2>/dev/null || (: >/palabre) 2>/dev/null || (: >/dev/palabre) 2>/dev/null",
            "the user is root": '[ "$EUID" = 0 ]',
        }
        script = "\n".join(f"if {test}; then echo '{name}'; fi" for name, test in checks.items())
        sign = secrets.randbelow(10**6)
        try:
            script += f"\n: >/box/ok && : >/tmp/ok && ls /box && echo $(({sign} * 2))"
            found = _run(script, (), with_proc, 10, {"PALABRE_CANARY": "seen"})
        except (ToolError, OSError) as problem:
            return str(problem)[:200]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if found["exit_code"] == 0 and found["stdout"] == f"ok\n{sign * 2}\n":
        return None
    return " ".join((found["stdout"] + found["stderr"]).split())[:200] or f"exit code {found['exit_code']}"


def _arguments(command: str, hidden: Sequence[Path], with_proc: bool) -> list[str]:
    """The whole command line. Order matters to bubblewrap: what comes later lies on top."""
    line = ["nice", "-n", "10"]
    if os.geteuid() == 0:  # limits on processes do not hold for root, so it is left before the box is made
        uid = str(UIDS[secrets.randbelow(len(UIDS))])
        line += ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    line += ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
             "--hostname", "palabre", "--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/box",
             "--setenv", "LANG", "C.UTF-8", "--ro-bind", "/usr", "/usr"]
    for name in SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            line += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            line += ["--ro-bind", str(path), str(path)]
    if Path("/etc/alternatives").is_dir():  # Debian's awk leads through it
        line += ["--ro-bind", "/etc/alternatives", "/etc/alternatives"]
    for path in _below_usr([*hidden, Path("/usr/src")]):
        line += ["--tmpfs", path, "--remount-ro", path]
    line += ["--proc", "/proc"] if with_proc else []
    line += ["--dev", "/dev", "--remount-ro", "/dev"]
    for folder in ("/box", "/tmp"):
        line += ["--size", str(FOLDER_BYTES), "--tmpfs", folder]
    line += ["--remount-ro", "/", "--chdir", "/box", "--"]
    return [*line, "prlimit", *LIMITS, "--", "bash", "-c", command]


def _below_usr(folders: Sequence[Path]) -> list[str]:
    found = {folder.resolve() for folder in folders}
    return sorted(str(f) for f in found if f.is_dir() and f.is_relative_to("/usr") and f != Path("/usr"))


def _run(command: str, hidden: Sequence[Path], with_proc: bool, seconds: float, environment: dict[str, str] | None = None) -> dict:
    process = subprocess.Popen(
        _arguments(command, hidden, with_proc), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/",
        env={"PATH": os.environ.get("PATH", os.defpath)} | (environment or {}), start_new_session=True)
    watch = _Watch(process, time.monotonic() + seconds)
    try:
        out, err = watch.read()
    finally:
        _kill(process)
    if watch.stopped:
        shown = f" It had written: {out[:1000]}" if out.strip() else ""
        raise ToolError(f"The command was killed: {watch.stopped.format(seconds=seconds)}. Everything it made is gone.{shown}")
    return {"exit_code": process.returncode, "stdout": out, "stderr": err}


def _kill(process: subprocess.Popen) -> None:
    """End the box: its first process dies with bubblewrap, and the kernel ends every other with that one."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stdout.close()
    process.stderr.close()


class _Watch:
    """Reads what the command writes, and stops it when a limit of the whole box is reached."""

    def __init__(self, process: subprocess.Popen, deadline: float):
        self.process, self.deadline, self.stopped = process, deadline, ""
        self.tree = _Tree(process.pid)

    def read(self) -> tuple[str, str]:
        streams = (self.process.stdout, self.process.stderr)
        kept = {stream: bytearray() for stream in streams}
        cut, measured = set(), 0.0
        with selectors.DefaultSelector() as selector:
            for stream in streams:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map() or self.process.poll() is None:
                left = self.deadline - time.monotonic()
                if left <= 0:
                    self.stopped = "it took longer than {seconds:g} seconds"
                    break
                for key, _ in selector.select(min(left, 0.1)):
                    piece = os.read(key.fd, 65536)
                    room = KEPT - len(kept[key.fileobj])
                    kept[key.fileobj] += piece[:room]
                    if len(piece) > room:
                        cut.add(key.fileobj)
                    if not piece:
                        selector.unregister(key.fileobj)
                if not selector.get_map():
                    time.sleep(0.005)
                if time.monotonic() - measured > 0.1:
                    measured = time.monotonic()
                    if reason := self.tree.over():
                        self.stopped = reason
                        break
        return tuple(kept[s].decode("utf-8", "replace").replace("\0", "�") + (CUT if s in cut else "") for s in streams)


class _Tree:
    """The processes of one box, seen from outside: those that share the process namespace of bubblewrap's child."""

    def __init__(self, pid: int):
        self.pid, self.own, self.space, self.inside = pid, _space(os.getpid()), None, None

    def over(self) -> str:
        """What the box has too much of, or nothing."""
        if self.space is None and not self._enter():
            return ""
        memory = sum(_resident(pid) for pid in _processes() if _space(pid) == self.space)
        if memory > TREE_BYTES:
            return f"it used more than {TREE_BYTES // 1024 ** 2} MB of memory"
        for folder in ("box", "tmp"):
            try:
                state = os.statvfs(f"/proc/{self.inside}/root/{folder}")
            except OSError:
                continue
            if state.f_files - state.f_ffree > INODES:
                return f"it made more than {INODES} files"
        return ""

    def _enter(self) -> bool:
        """Find the box: the first child of bubblewrap in a process namespace of its own."""
        for child in _children(self.pid):
            space = _space(child)
            if space not in (None, self.own):
                self.space, self.inside = space, child
                return True
        return False


def _children(pid: int) -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


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
