"""The box made by bubblewrap: namespaces of its own for everything, a file system of a read-only /usr and two folders in memory."""

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from bot.sandbox.watch import FOLDER_BYTES

UIDS = range(65100, 65500)  # reserved by Debian policy, so nobody's; one is drawn for each call when we are root
SYSTEM = ("bin", "sbin", "lib", "lib64", "lib32")
PATH = "/usr/local/bin:/usr/bin:/bin"


def arguments(command: Sequence[str], hidden: Sequence[Path], with_proc: bool, filter: int) -> list[str]:
    """
    The command line that runs *command* in the box. *hidden*: folders below /usr that are shown empty; *filter*: the descriptor from
    which the seccomp program is read. Order matters to bubblewrap: what comes later lies on top.
    """
    line = ["nice", "-n", "10"]
    if os.geteuid() == 0:  # limits on processes do not hold for root, so it is left before the box is made
        uid = str(secrets.choice(UIDS))
        line += ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    line += [
        "bwrap",
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--hostname",
        "palabre",
        "--clearenv",
        "--setenv",
        "PATH",
        PATH,
        "--setenv",
        "HOME",
        "/box",
        "--setenv",
        "LANG",
        "C.UTF-8",
        "--ro-bind",
        "/usr",
        "/usr",
    ]
    for name in SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            line += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            line += ["--ro-bind", str(path), str(path)]
    if Path("/etc/alternatives").is_dir():  # Debian's awk leads through it
        line += ["--ro-bind", "/etc/alternatives", "/etc/alternatives"]
    for path in below_usr([*hidden, Path("/usr/src")]):
        line += ["--tmpfs", path, "--remount-ro", path]
    line += ["--proc", "/proc"] if with_proc else []
    line += ["--dev", "/dev", "--remount-ro", "/dev"]
    for folder in ("/box", "/tmp"):
        line += ["--size", str(FOLDER_BYTES), "--tmpfs", folder]
    return [*line, "--remount-ro", "/", "--chdir", "/box", "--seccomp", str(filter), "--", *command]


def below_usr(folders: Sequence[Path]) -> list[str]:
    found = {folder.resolve() for folder in folders}
    return sorted(str(f) for f in found if f.is_dir() and f.is_relative_to("/usr") and f != Path("/usr"))
