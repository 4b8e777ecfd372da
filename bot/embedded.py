"""
`palabre start`: everything in one terminal, with nothing but Python.

What a newcomer has not set is brought along: Valkey for REDIS_URL, the simulator for a Twilio account, the demo model for a model
key, a folder for a mail server, generated secrets. What is set is used.
"""

import contextlib
import errno
import fcntl
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from bot import config, valkey
from bot.config import OPENROUTER, Settings
from bot.db import connect, writing
from bot.errors import SettingsError, WrongUsage
from bot.learners import accounts
from bot.migrate import migrate, prepare_home
from bot.supervisor import Child, Supervisor, end_with_parent

PEOPLE = {
    "+2250701020304": {"mode": "child", "grade": "CM2", "name": "Awa", "credits_given": 1000},
    "+2250505060708": {"mode": "child", "grade": "3e", "name": "Koffi", "credits_given": 1000},
    "+221771234567": {"mode": "pro", "name": "Fatou", "credits_given": 1000, "email": "fatou@exemple.sn"},
}
SIMULATED = {"TWILIO_WHATSAPP_FROM": "whatsapp:+14155238886", "TWILIO_SMS_FROM": "+14155550100"}


def start(environ: Mapping[str, str], port: int, workers: int) -> None:
    """Run until Ctrl-C. Raises SettingsError with one clear line."""
    first = config.load(environ)
    prepare_home(first)
    with only_one(first.home):
        _free(port)
        full = {**environ, **complete(environ, port)}
        settings = config.require_service(config.load(full))
        migrate(settings)
        if settings.simulator:
            _introduce(settings)

        def announce() -> bool:
            if ready := _listens(port):
                print(welcome(settings), flush=True)
            return ready

        Supervisor(_children(full, settings, port, workers, bring_valkey=not environ.get("REDIS_URL"))).run(announce)


def _introduce(settings: Settings) -> None:
    """Accounts for the simulator's phones, so that a newcomer meets quizzes and documents at once."""
    engine = connect(settings.database_url)
    for phone, how in PEOPLE.items():
        with contextlib.suppress(WrongUsage), writing(engine) as tx:  # it is there since the first start
            accounts.add(tx, phone, **how)
    engine.dispose()


def complete(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """The settings that are missing, filled in for one machine."""
    settings = config.load(environ)
    here, kept = f"http://127.0.0.1:{port}", _secrets(settings.home)
    found = {
        "PALABRE_HOME": str(settings.home),
        "LOCAL_URL": here,
        "PUBLIC_URL": environ.get("PUBLIC_URL") or here,
        "SECRET_KEY": settings.secret_key or kept["secret_key"],
        "OPERATOR_TOKEN": settings.operator_token or kept["operator_token"],
        "PAYMENT_GATEWAY": settings.payment_gateway or "sandbox",
        "REDIS_URL": settings.redis_url or valkey.url_of(valkey.socket_in(settings.home / "valkey")),
    }
    if not settings.twilio_account_sid and not settings.twilio_auth_token:
        found |= {
            "PALABRE_SIMULATOR": "1",
            "TWILIO_ACCOUNT_SID": kept["account_sid"],
            "TWILIO_AUTH_TOKEN": kept["auth_token"],
            "TWILIO_BASE_URL": f"{here}/simulator/twilio",
        } | SIMULATED
    if not settings.model_key and settings.model_url == OPENROUTER:
        found |= {"PALABRE_DEMO": "1", "OPENROUTER_BASE_URL": f"{here}/demo/v1", "MODEL_FALLBACKS": ""}
        found |= {name: "palabre/demo" for name in ("MODEL_FAST", "MODEL_PRIMARY", "MODEL_SMART", "MODEL_VISION")}
    return found


def _secrets(home: Path) -> dict[str, str]:
    """Generated once and kept, so that sessions and links outlive a restart."""
    path = home / "secrets.json"
    if not path.exists():
        made = {
            "secret_key": secrets.token_urlsafe(32),
            "operator_token": secrets.token_urlsafe(18),
            "account_sid": "AC" + secrets.token_hex(16),
            "auth_token": secrets.token_hex(16),
        }
        half = path.with_suffix(".new")
        with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(made, file)
        half.replace(path)  # whole or not at all
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        raise SettingsError(f"{path} cannot be read ({type(problem).__name__}); put it right or remove it") from problem


def only_one(home: Path) -> TextIO:
    """Whoever brings a Valkey of its own holds this open file: two of them on one folder would ruin its data."""
    try:
        lock = open(home / "running.lock", "w")  # noqa: SIM115  held until the process ends
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SettingsError(f"another Palabre is running on {home}; stop it, or give this one another PALABRE_HOME") from None
    except OSError as problem:
        raise SettingsError(f"PALABRE_HOME ({home}) cannot be used: {problem.strerror}") from problem
    return lock


def _free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError as problem:
            why = "is in use" if problem.errno == errno.EADDRINUSE else f"cannot be used ({problem.strerror})"
            raise SettingsError(f"port {port} {why}; choose another one with --port") from None


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _children(environ: Mapping[str, str], settings: Settings, port: int, workers: int, bring_valkey: bool) -> list[Child]:
    palabre = [sys.executable, "-m", "bot.cli"]

    def process(*args: str):
        return lambda: subprocess.Popen([*palabre, *args], env=dict(environ), preexec_fn=end_with_parent, start_new_session=True)

    host = "127.0.0.1" if settings.public_url == settings.local_url else "0.0.0.0"  # others may come in only where that is wanted
    children = [Child("valkey", lambda: valkey.start(settings.home / "valkey")[0])] if bring_valkey else []
    return [
        *children,
        Child("web", process("web", "--port", str(port), "--host", host)),
        Child("worker", process("worker", "--processes", str(workers))),
        Child("clock", process("clock")),
    ]


def welcome(settings: Settings) -> str:
    lines = ["", "  Palabre est en marche. Ctrl-C l'arrête.", ""]
    if settings.simulator:
        lines.append(f"  Simulateur     {settings.local_url}/simulator")
    lines += [
        f"  API            {settings.local_url}/api/conversations   (Authorization: Bearer {settings.operator_token})",
        f"  Santé          {settings.local_url}/readyz",
    ]
    if settings.demo:
        lines.append("  Modèle         démonstration sans IA ; OPENROUTER_API_KEY ou OPENROUTER_BASE_URL branche un vrai modèle")
    lines.append(f"  Données        {settings.home}")
    return "\n".join([*lines, ""])
