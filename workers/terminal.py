"""
`palabre chat`: talk to the bot in the terminal, through the same code: inbox, log, loop, outbox.

What is not set is brought along, as by `palabre start`: Valkey, the demo model, and a web server on a free port for it and for the
links to files, which work as long as the conversation lasts. What would be sent to Twilio is printed instead.
"""

import argparse
import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

from werkzeug.serving import WSGIRequestHandler, make_server

from bot import config, embedded, valkey
from bot import services as outside
from bot.channels import inbox, numbers, words
from bot.channels.twilio import Inbound
from bot.config import Settings
from bot.db import writing
from bot.errors import PalabreError, WrongUsage
from bot.migrate import migrate, prepare_home
from bot.services import Services
from bot.web.app import create_app
from workers import turn


def main() -> int:
    parser = argparse.ArgumentParser(prog="palabre chat")
    parser.add_argument("--channel", choices=("whatsapp", "sms"), default="whatsapp")
    parser.add_argument("--as", dest="phone", default="+2250701020304")
    args = parser.parse_args()
    try:
        return talk(args.channel, args.phone)
    except PalabreError as problem:
        print(f"palabre: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


def talk(channel: str, phone: str) -> int:
    number = numbers.normalise(phone)
    if number is None:
        raise WrongUsage(f"{phone!r} is not a telephone number with its country code")
    prepare_home(config.load())
    listening = socket.create_server(("127.0.0.1", 0))
    settings = config.load({**os.environ, **embedded.complete(os.environ, listening.getsockname()[1])})
    migrate(settings)
    with _valkey(settings):
        built = outside.build(settings)
        web = make_server("127.0.0.1", 0, create_app(built), threaded=True, fd=listening.fileno(), request_handler=Silent)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        services = Terminal(built.settings, built.db, built.redis)
        address = number if channel == "sms" else f"whatsapp:{number}"
        print(f"{address} — write a message, or Ctrl-D to leave.", flush=True)
        for line in sys.stdin:
            if line.strip():
                say(services, address, channel, line.strip())
    return 0


@contextmanager
def _valkey(settings: Settings) -> Iterator[None]:
    """That of REDIS_URL or of a running `palabre start`, or else one of our own while the conversation lasts."""
    if os.environ.get("REDIS_URL") or valkey.answers(settings.redis_url):
        yield
        return
    with embedded.only_one(settings.home):
        server, _ = valkey.start(settings.home / "valkey")
        try:
            yield
        finally:
            server.terminate()
            server.wait()


class Silent(WSGIRequestHandler):
    def log(self, *_) -> None:
        pass


def say(services: Services, address: str, channel: str, text: str) -> None:
    """One message in, and everything that it brings, in this thread."""
    command = words.command(text, channel=channel)
    name, argument = (command.name, command.argument or None) if command else (None, None)
    inbound = Inbound(f"SM{secrets.token_hex(16)}", address, channel, text, [], name, argument)
    with writing(services.db) as tx:
        conversation = inbox.receive(tx, inbound)
    turn.take(services, conversation)


@dataclass(frozen=True)
class Terminal(Services):
    """The outside world with this terminal in Twilio's place."""

    @property
    def twilio(self) -> SimpleNamespace:
        return SimpleNamespace(messages=SimpleNamespace(create=_shown, list=lambda **_: []))


def _shown(to: str, body: str = "", media_url: tuple[str, ...] = (), **_) -> SimpleNamespace:
    print("\n".join([*([body] if body else []), *(f"[fichier] {url}" for url in media_url)]), flush=True)
    return SimpleNamespace(sid=f"SM{secrets.token_hex(16)}")


if __name__ == "__main__":
    sys.exit(main())
