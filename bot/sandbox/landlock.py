"""
The jail where no namespaces can be had, as in an ordinary container: another user, Landlock for files, seccomp for everything else.

This is a program of its own, started by sandbox.py as root: it becomes the adopter of all orphans below it, forks, and the child gives up
everything before it becomes bash. It ends when bash has ended and everything bash left behind is killed. Only root can give the child a
user that owns nothing, which is what keeps it from the service's own files and processes, so nobody else gets this jail.

Landlock: https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import resource
import shutil
import signal
import struct
import sys
from pathlib import Path

from bot.sandbox import seccomp, watch

CREATE, ADD, RESTRICT = 444, 445, 446  # the same on all processors
LEAST_ABI = 3  # from which on truncating is a right of its own
EXECUTE, WRITE, READ, LIST, TRUNCATE, IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
ALL = {3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}  # by ABI; later ones have the rights of 5
TCP, SCOPES = 3, 3
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libexec", "share", "include", "games")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
MEMORY, FILE = 512 * 1024 * 1024, 64 * 1024 * 1024
PATH = "/usr/local/bin:/usr/bin:/bin"
BROKEN = 125  # the exit code when the command was not run
libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock that the kernel has switched on; 0 for none."""
    return max(0, libc.syscall(CREATE, None, 0, 1))


def main() -> None:
    folder, uid, processes, seconds, command = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    _checked(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(BROKEN))
    _checked(libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0))
    try:
        child = os.fork()
        if child == 0:
            _become_bash(folder, uid, processes, seconds, command)
        code = _wait(child)
    finally:
        watch.end(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)  # also when the one who asked was killed
    sys.exit(code)


def _wait(child: int) -> int:
    """Reap whoever ends until *child* does; its exit code as a shell would say it."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _become_bash(folder: str, uid: int, processes: int, seconds: int, command: str) -> None:
    """Never returns. Whatever fails, nothing is run."""
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for kind, limit in (
            (resource.RLIMIT_AS, MEMORY),
            (resource.RLIMIT_NPROC, processes),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, FILE),
            (resource.RLIMIT_NOFILE, 256),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(kind, (limit, limit))
        os.chown(folder, uid, uid)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        os.chdir(folder)
        _checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _restrict_files(folder)
        program = seccomp.program()
        lines = ctypes.create_string_buffer(program, len(program))
        _checked(libc.prctl(PR_SET_SECCOMP, 2, struct.pack("@HP", len(program) // 8, ctypes.addressof(lines)), 0, 0))
        os.closerange(3, 256)
        os.execve("/bin/bash", ["bash", "-c", command], {"PATH": PATH, "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"})
    except BaseException as problem:  # not even an exit may lead back into the parent's code
        os.write(2, f"the sandbox could not be made: {problem}\n".encode())
    os._exit(BROKEN)


def _restrict_files(folder: str) -> None:
    """Only the system can be read, only *folder* and harmless devices written; no TCP, no signals to others where Landlock knows them."""
    version = abi()
    everything = ALL[min(version, 5)]
    rights = struct.pack("QQQ", everything, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
    ruleset = _checked(libc.syscall(CREATE, rights, 8 if version < 4 else 16 if version < 6 else 24, 0))
    for base in ("/usr", "/usr/local", "/"):
        for name in SYSTEM:
            _allow(ruleset, os.path.join(base, name), EXECUTE | READ | LIST)
    _allow(ruleset, "/etc/alternatives", READ | LIST)
    _allow(ruleset, "/etc/ld.so.cache", READ)
    for device in DEVICES:
        _allow(ruleset, device, READ | WRITE)
    _allow(ruleset, folder, everything)
    _checked(libc.syscall(RESTRICT, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    if not Path(path).exists():
        return
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    _checked(libc.syscall(ADD, ruleset, 1, struct.pack("=Qi", rights, place), 0))
    os.close(place)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
