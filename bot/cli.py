"""The command `palabre`. Errors are one line; exit code 0 fine, 1 failed, 2 wrong usage."""

import argparse
import json
import logging
import os
import sys
from dataclasses import asdict

import sqlalchemy as sa
from dotenv import dotenv_values

from bot import config, logs
from bot.errors import PalabreError, SettingsError, WrongUsage

MOST_CREDITS = 1_000_000  # that an account can be opened with


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    logs.set_up(logging.WARNING)
    try:
        _read_dotenv()
        return args.run(args) or 0
    except PalabreError as problem:
        print(f"palabre: {problem}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # `palabre events … | head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 1


def _read_dotenv() -> None:
    try:
        found = dotenv_values(".env")
    except (OSError, ValueError) as problem:
        raise SettingsError(f".env cannot be read: {problem}") from problem
    for name, value in found.items():
        if value is not None:
            os.environ.setdefault(name, value)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="palabre", description="Palabre: an AI tutor and assistant on WhatsApp and SMS.")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help)
        sub.set_defaults(run=run)
        return sub

    sub = command("start", start, "run everything in this terminal: Valkey, web, workers, clock, and the simulator; Ctrl-C stops it")
    sub.add_argument("--port", type=port, default=8000, help="where the web pages are (default 8000)")
    sub.add_argument("--workers", type=positive, default=2, help="worker processes (default 2)")
    sub = command("web", web, "run the web server: webhooks, media, API")
    sub.add_argument("--port", type=port, default=8000)
    sub.add_argument("--host", default="0.0.0.0", help="the address to listen on (default: all)")
    sub = command("worker", worker, "run the workers: turns, background turns, deliveries")
    sub.add_argument("--queues", type=queues, default="chat,background,delivery", help="which queues, separated by commas")
    sub.add_argument("--processes", type=positive, default=2)
    command("clock", clock, "run the clock that finds what was forgotten")
    command("migrate", migrate, "bring the database up to date")
    command("doctor", doctor, "name everything that is missing or wrong in the settings, and reach every configured service")
    users = command("users", None, "accounts").add_subparsers(required=True, metavar="ACTION")
    sub = users.add_parser("add", help="make an account")
    sub.set_defaults(run=users_add)
    sub.add_argument("phone", help="with the country code, such as +2250701020304")
    sub.add_argument("--mode", required=True, choices=("child", "pro"))
    sub.add_argument("--grade", help="a pupil's class, such as CM2")
    sub.add_argument("--credits", type=credits, default=0)
    sub.add_argument("--name")
    sub.add_argument("--email", help="counts as verified")
    sub = users.add_parser("list", help="list the accounts")
    sub.set_defaults(run=users_list)
    sub.add_argument("--json", action="store_true")
    sub = command("chat", chat, "talk to the bot in this terminal, through the same code")
    sub.add_argument("--channel", choices=("whatsapp", "sms"), default="whatsapp")
    sub.add_argument("--as", dest="phone", default="+2250701020304", help="whose telephone this is")
    sub = command("events", events, "print a conversation's events")
    sub.add_argument("conversation", help="its id, or a telephone number for the newest one")
    sub.add_argument("--json", action="store_true")
    sub = command("replay", replay, "run a conversation's fold and prompts again and compare")
    sub.add_argument("conversation", help="its id, or a telephone number for the newest one")
    sub.add_argument("--strict", action="store_true", help="also check every recorded step")
    sub = command("fork", fork, "branch a conversation after one of its events")
    sub.add_argument("conversation", help="its id, or a telephone number for the newest one")
    sub.add_argument("seq", type=positive)
    sub.add_argument("--model", help="another model for the branch")
    return top


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def queues(text: str) -> str:
    from bot import queues

    known, wanted = (queues.CHAT, queues.BACKGROUND, queues.DELIVERY), [name.strip() for name in text.split(",")]
    if unknown := [name for name in wanted if name not in known]:
        raise argparse.ArgumentTypeError(f"there is no queue {unknown[0]!r}; the queues are {', '.join(known)}")
    return ",".join(dict.fromkeys(wanted))


def credits(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_CREDITS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {MOST_CREDITS}")
    return int(text)


def port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number")
    return int(text)


# -- processes -----------------------------------------------------------------------------------------------------


def start(args) -> None:
    from bot import embedded

    embedded.start(os.environ, args.port, args.workers)


def web(args) -> None:
    config.require_service(config.load())
    os.execv(
        sys.executable,
        [
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "python:bot.web.gunicorn",
            "--bind",
            f"{args.host}:{args.port}",
            "bot.web.app:create_app()",
        ],
    )


def worker(args) -> None:
    config.require_service(config.load())
    os.execv(sys.executable, [sys.executable, "-m", "workers.serve", "--queues", args.queues, "--processes", str(args.processes)])


def clock(args) -> None:
    config.require_service(config.load())
    os.execv(sys.executable, [sys.executable, "-m", "workers.schedule"])


def chat(args) -> None:
    os.execv(sys.executable, [sys.executable, "-m", "workers.terminal", "--channel", args.channel, "--as", args.phone])


# -- the database --------------------------------------------------------------------------------------------------


def migrate(args) -> None:
    from bot.migrate import migrate as run

    print(f"the database is up to date ({run(config.load())})")


def users_add(args) -> None:
    from bot.db import writing
    from bot.learners import accounts

    with writing(_database()) as tx:
        row = accounts.add(tx, args.phone, args.mode, grade=args.grade, credits_given=args.credits, name=args.name, email=args.email)
    print(f"{row.phone}: {row.mode}{f', {row.grade}' if row.grade else ''}, {row.credits} credits")


def users_list(args) -> None:
    from bot.db import reading
    from bot.learners import accounts

    with reading(_database()) as connection:
        rows = accounts.everybody(connection)
    fields = ("id", "phone", "mode", "grade", "credits", "email", "name", "language")
    if args.json:
        print(json.dumps([{f: getattr(r, f) for f in fields} for r in rows], ensure_ascii=False, indent=2))
    else:
        for r in rows:
            print(f"{r.phone or '-':16} {r.mode:6} {r.grade or '-':5} {r.credits:6} credits  {r.name or ''}  {r.email or ''}".rstrip())


def _database() -> sa.Engine:
    from bot.db import connect
    from bot.migrate import require_current

    settings = config.load()
    require_current(settings)
    return connect(settings.database_url)


# -- the log -------------------------------------------------------------------------------------------------------


def _conversation(connection: sa.Connection, id: str) -> sa.Row:
    from bot.db import conversations

    query = sa.select(conversations).where(conversations.c.id == id)
    if id.startswith(("+", "whatsapp:")):  # the newest one of a participant
        query = sa.select(conversations).where(
            (conversations.c.address == id) | (conversations.c.phone == id), conversations.c.parent_id.is_(None)
        )
    row = connection.execute(query.order_by(conversations.c.number.desc()).limit(1)).one_or_none()
    if row is None:
        raise WrongUsage(f"there is no conversation {id!r}")
    return row


def events(args) -> None:
    from bot.conversation import log
    from bot.conversation.events import payload
    from bot.db import reading

    with reading(_database()) as connection:
        found = log.read(connection, _conversation(connection, args.conversation).id)
    for e in found:
        about = {
            "seq": e.seq,
            "kind": type(e.event).__name__,
            "id": e.event.id,
            "at": e.at.isoformat(),
            "caused_by": e.caused_by,
            "correlation_id": e.correlation_id,
            "payload": payload(e.event),
        }
        if args.json:
            print(json.dumps(about, ensure_ascii=False))
        else:
            print(f"{e.seq:5} {e.at:%d/%m %H:%M:%S} {about['kind']:16} {json.dumps(about['payload'], ensure_ascii=False)[:160]}")


def replay(args) -> int:
    from bot.conversation import log
    from bot.conversation.replay import replay as run
    from bot.db import reading

    with reading(_database()) as connection:
        found = log.read(connection, _conversation(connection, args.conversation).id)
    result = run(found, config.load().context_tokens, strict=args.strict)
    print(json.dumps(asdict(result), ensure_ascii=False))
    return 0 if result.ok else 1


def fork(args) -> None:
    from bot import queues
    from bot import services as outside
    from bot.conversation import log
    from bot.db import reading, writing

    engine = _database()
    with reading(engine) as connection:
        row = _conversation(connection, args.conversation)
    if not 1 <= args.seq <= row.last_seq:
        raise WrongUsage(f"the conversation has events 1 to {row.last_seq}, not {args.seq}")
    with writing(engine) as tx:
        id = log.fork(tx, row, args.seq, args.model)
    settings = config.load()
    if settings.redis_url:
        queues.wake(outside.build(settings), id)
    print(id)


def doctor(args) -> int:
    from bot.doctor import examine

    found = examine(config.load())
    for finding in found:
        print(f"{'ok  ' if finding.fine else 'FAUX'}  {finding.what}: {finding.said}")
    return 0 if all(f.fine for f in found) else 1


if __name__ == "__main__":
    sys.exit(main())
