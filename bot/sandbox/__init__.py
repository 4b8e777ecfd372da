"""
One shell command in isolation: no network, nothing of this machine but its programs, no environment, a writable folder that vanishes.

There are two ways, tried in this order:
- a box made by bubblewrap (bwrap.py), where namespaces can be had: with its own view of /proc, or, in a container, without
- a jail of another user, Landlock and seccomp (landlock.py), for root in a container that forbids namespaces

Which of them holds is found out by trying, once in a process: a probe runs inside and looks for what must not be there. Where none holds,
nothing is ever run. The limits: 30 seconds on the wall, then every process is killed; address space, processing time, open files and file
size of each process; the number of processes; and, watched from outside, memory and files of all together.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from bot.errors import ToolError
from bot.sandbox import bwrap, landlock, seccomp, watch

SECONDS = 30
PROCESSES = 48
LIMITS = ("--as=536870912", f"--nproc={PROCESSES}", f"--cpu={SECONDS}", "--fsize=67108864", "--nofile=256", "--core=0")
WAYS = ("box", "box without /proc", "jail")


def run(command: str, hidden: Sequence[Path] = (), seconds: float = SECONDS) -> dict:
    """
    {"exit_code", "stdout", "stderr"}; any exit code is a result. *hidden*: folders that stay invisible even if they lie below /usr.

    Raises ToolError when the time or the memory is used up, and when no isolation can be had.
    """
    if reason := availability():
        raise ToolError(f"Commands cannot be run on this server: {reason}. Nothing was run; compute by hand or say that you could not.")
    if "\0" in command:
        raise ToolError("The command has a NUL character in it; nothing was run.")
    return _run(way(), command.encode("utf-8", "replace").decode(), hidden, seconds)


def availability() -> str | None:
    """None when commands can be run in isolation here, otherwise the reason why not."""
    if way() is not None:
        return None
    return "; ".join(f"{name}: {_probe(name)}" for name in WAYS)


@cache
def way() -> str | None:
    """The first of WAYS that holds here."""
    return next((name for name in WAYS if _probe(name) is None), None)


@cache
def _probe(way: str) -> str | None:
    """Run canaries inside; None when it holds, otherwise what is wrong."""
    if reason := _missing(way):
        return reason
    folder, sign = Path(tempfile.mkdtemp(prefix="palabre-canary-")), secrets.randbelow(10**6)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        (folder / "canary").write_text("canary")
        os.chmod(folder, 0o755)
        try:
            script = _canaries(way, folder, listener.getsockname()[1]) + f"\necho ok $(({sign} * 2))"
            found = _run(way, script, (), 10, {"PALABRE_CANARY": "seen"})
        except (ToolError, OSError) as problem:
            return str(problem)[:200]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if found["exit_code"] == 0 and found["stdout"] == f"ok {sign * 2}\n":
        return None
    return " ".join((found["stdout"] + found["stderr"]).split())[:200] or f"exit code {found['exit_code']}"


def _missing(way: str) -> str | None:
    if seccomp.program() is None:
        return f"the processor {os.uname().machine} is not supported"
    if way == "jail":
        if os.geteuid() != 0:
            return "only root can make it"
        if landlock.abi() < landlock.LEAST_ABI:
            return "the kernel's Landlock is too old or switched off"
    needed = ("nice", "bash") if way == "jail" else ("bwrap", "prlimit", "setpriv", "nice", "bash")
    missing = [name for name in needed if shutil.which(name) is None]
    return f"{' and '.join(missing)} not found (install bubblewrap and util-linux)" if missing else None


def _canaries(way: str, folder: Path, port: int) -> str:
    """A script that names everything it can do but must not."""
    checks = {
        "files outside can be read": f"(: <{folder}/canary) 2>/dev/null || ls {folder} >/dev/null 2>&1 || (: </etc/passwd) 2>/dev/null",
        "files outside can be written": f"(: >>{folder}/canary) 2>/dev/null || (: >{folder}/new) 2>/dev/null",
        "the network is reachable": f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null",
        "processes outside can be reached": f"kill -0 {os.getpid()} 2>/dev/null || kill -0 {os.getppid()} 2>/dev/null",
        "the environment is visible": '[ -n "$PALABRE_CANARY$SECRET_KEY$DATABASE_URL" ]',
        "the system is writable": "(: >/usr/.palabre) 2>/dev/null || (: >/palabre) 2>/dev/null || (: >/dev/palabre) 2>/dev/null",
        "the user is root": '[ "$EUID" = 0 ]',
        "system calls are not filtered": "unshare -U true 2>/dev/null",
        "the own folder is not writable": "! : >ok",
    }
    if way == "box":
        checks["system calls are not filtered at all"] = "! grep -q '^Seccomp:.*2' /proc/self/status"
    return "\n".join(f"if {test}; then echo '{name}'; fi" for name, test in checks.items())


def _run(way: str, command: str, hidden: Sequence[Path], seconds: float, environment: dict[str, str] | None = None) -> dict:
    environment = {"PATH": os.environ.get("PATH", os.defpath)} | (environment or {})
    how = _in_jail if way == "jail" else _in_box
    code, out, err, stopped = how(command, hidden, way == "box", seconds, environment)
    if stopped:
        shown = f" It had written: {out[:1000]}" if out.strip() else ""
        raise ToolError(f"The command was killed: {stopped}. Everything it made is gone.{shown}")
    return {"exit_code": code, "stdout": out, "stderr": err}


def _in_box(command: str, hidden: Sequence[Path], with_proc: bool, seconds: float, environment: dict[str, str]) -> tuple:
    filter, program = os.pipe()
    try:
        with os.fdopen(program, "wb") as end:
            end.write(seccomp.program())
        inside = ["prlimit", *LIMITS, "--", "bash", "-c", command]
        process = _start(bwrap.arguments(inside, hidden, with_proc, filter), environment, filter)
    finally:
        os.close(filter)
    try:
        out, err, stopped = watch.listen(process, seconds, watch.Namespace(process.pid).over)
    finally:
        _kill(process)  # the first process of the box dies with bubblewrap, and the kernel ends every other with that one
    return process.returncode, out, err, stopped


def _in_jail(command: str, hidden: Sequence[Path], with_proc: bool, seconds: float, environment: dict[str, str]) -> tuple:
    if below := bwrap.below_usr(hidden):
        raise ToolError(f"Commands cannot be run on this server: {below[0]} would be visible. Nothing was run.")
    folder = Path(tempfile.mkdtemp(prefix="palabre-box-"))
    try:
        uid = _free_uid()
        jailer = [sys.executable, "-I", "-c", "from bot.sandbox.landlock import main; main()"]
        process = _start(["nice", "-n", "10", *jailer, str(folder), str(uid), str(PROCESSES), str(SECONDS), command], environment)
        try:
            out, err, stopped = watch.listen(process, seconds, watch.Descendants(process.pid, folder).over)
        finally:
            watch.end(process.pid)
            _kill(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return process.returncode, out, err, stopped


def _free_uid() -> int:
    """A user that owns no process."""
    taken = set()
    for pid in watch.processes():
        try:
            taken.add(os.stat(f"/proc/{pid}").st_uid)
        except OSError:
            continue
    return secrets.choice([uid for uid in bwrap.UIDS if uid not in taken])


def _start(line: list[str], environment: dict[str, str], *passed: int) -> subprocess.Popen:
    return subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=environment,
        start_new_session=True,
        pass_fds=passed,
    )


def _kill(process: subprocess.Popen) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stdout.close()
    process.stderr.close()
