"""
`palabre chat`: talk to the bot in the terminal, through the same code: inbox, log, loop, outbox.

It needs a model (OPENROUTER_API_KEY, OPENROUTER_BASE_URL, or a running `palabre start` for its demo model). What would be sent to
Twilio is printed instead.
"""

import argparse
import os
import secrets
import sys
from dataclasses import dataclass
from types import SimpleNamespace

from bot import config, embedded, valkey
from bot import services as outside
from bot.channels import inbox, numbers, words
from bot.channels.twilio import Inbound
from bot.db import writing
from bot.errors import PalabreError, WrongUsage
from bot.migrate import migrate
from bot.services import Services
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
    environ = {**os.environ, **embedded.complete(os.environ, int(os.environ.get("PORT", "8000")))}
    settings = config.load(environ)
    migrate(settings)
    server = None
    if not os.environ.get("REDIS_URL") and not valkey.answers(settings.redis_url):
        server, _ = valkey.start(settings.home / "valkey")
    try:
        built = outside.build(settings)
        services = Terminal(built.settings, built.db, built.redis)
        address = number if channel == "sms" else f"whatsapp:{number}"
        print(f"{address} — write a message, or Ctrl-D to leave.", flush=True)
        for line in sys.stdin:
            if line.strip():
                say(services, address, channel, line.strip())
        return 0
    finally:
        if server:
            server.terminate()
            server.wait()


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
