"""The operator's API over the event log: list, events (also live), state, fork, replay."""

import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from functools import wraps
from urllib.parse import unquote

import sqlalchemy as sa
from flask import Blueprint, Response, abort, jsonify, request

from bot import queues
from bot.channels import numbers
from bot.conversation import log, prompt
from bot.conversation.events import Logged, ModelRequest, payload
from bot.conversation.fold import fold
from bot.conversation.replay import replay as replayed
from bot.db import conversations, reading, writing
from bot.web.context import services

PAGE, LARGEST_PAGE = 100, 1000
LOOK_SECONDS, HEARTBEAT_SECONDS, STREAM_SECONDS = 0.25, 15, 600
blueprint = Blueprint("api", __name__, url_prefix="/api")


@blueprint.before_request
def bearer() -> None:
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    ours = services().settings.operator_token
    if not ours or kind.lower() != "bearer" or not hmac.compare_digest(token.encode(), ours.encode()):
        abort(401, "send Authorization: Bearer OPERATOR_TOKEN")


def found(view):
    """Give the view its conversation's row, or answer 404."""

    @wraps(view)
    def wrapped(id: str):
        with reading(services().db) as connection:
            row = connection.execute(sa.select(conversations).where(conversations.c.id == id)).one_or_none()
        return view(row) if row else abort(404, "there is no such conversation")

    return wrapped


def number(name: str, default: int | None, least: int = 0) -> int | None:
    value = request.args.get(name)
    if value is None:
        return default
    found = whole(value)
    if found is None or found < least:
        abort(400, f"{name} must be a whole number of at least {least}")
    return found


def whole(value: str) -> int | None:
    """The whole number that *value* is, or None; one that is too long to be a seq is none."""
    return int(value) if value.isdecimal() and len(value) < 10 else None


def asked() -> dict:
    """The JSON object of the request's body, empty when it is none."""
    try:
        wanted = request.get_json(silent=True)
    except RecursionError:  # brackets inside brackets without end
        wanted = None
    return wanted if isinstance(wanted, dict) else {}


@blueprint.get("/conversations")
def list_conversations():
    """All conversations, oldest first, or those of one participant (a telephone number or an address)."""
    after, limit = number("after", 0), min(number("limit", PAGE, 1), LARGEST_PAGE)
    query = sa.select(conversations).where(conversations.c.number > after).order_by(conversations.c.number).limit(limit + 1)
    if wanted := _participant():
        query = query.where(
            (conversations.c.address == wanted) | (conversations.c.phone == (numbers.of_address(wanted) or wanted))
            if not wanted.startswith("whatsapp:")
            else conversations.c.address == wanted
        )
    with reading(services().db) as connection:
        rows = list(connection.execute(query))
    return jsonify(conversations=[_about(r) for r in rows[:limit]], next=rows[limit - 1].number if len(rows) > limit else None)


def _participant() -> str | None:
    """The participant asked for; a bare + in a query is a plus here, not a blank."""
    for pair in request.query_string.decode("utf-8", "replace").split("&"):
        name, _, value = pair.partition("=")
        if name == "participant" and value:
            return unquote(value).replace("\0", "\ufffd").strip()
    return None


def _about(row: sa.Row) -> dict:
    return {
        "id": row.id,
        "participant": row.address,
        "channel": row.channel,
        "created_at": row.created_at.isoformat(),
        "last_seq": row.last_seq,
        "working": row.awake_since is not None,
        "forked_from": row.parent_id,
        "fork_at": row.fork_at,
    }


@blueprint.get("/conversations/<id>/events")
@found
def list_events(row: sa.Row):
    after, limit = number("after", 0), min(number("limit", PAGE, 1), LARGEST_PAGE)
    if "text/event-stream" in request.headers.get("Accept", ""):
        last = whole(request.headers.get("Last-Event-ID", ""))
        return Response(
            _stream(row.id, after if last is None else last),
            mimetype="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    with reading(services().db) as connection:
        events = log.read(connection, row.id, after=after, limit=limit + 1)
    return jsonify(events=[shown(e) for e in events[:limit]], next=events[limit - 1].seq if len(events) > limit else None)


def _stream(id: str, after: int) -> Iterator[str]:
    """Events as they are logged. It ends after some minutes, and a client that comes again goes on with Last-Event-ID."""
    outside, ends, spoke = services(), time.monotonic() + STREAM_SECONDS, time.monotonic()

    def events() -> Iterator[str]:
        nonlocal after, spoke
        yield ": open\n\n"
        while time.monotonic() < ends:
            with reading(outside.db) as connection:
                new = log.read(connection, id, after=after, limit=LARGEST_PAGE)
            for logged in new:
                after = logged.seq
                yield f"id: {logged.seq}\ndata: {json.dumps(shown(logged), ensure_ascii=False)}\n\n"
            if new:
                spoke = time.monotonic()
            elif time.monotonic() - spoke > HEARTBEAT_SECONDS:
                spoke = time.monotonic()
                yield ": still here\n\n"
            if not new:
                time.sleep(LOOK_SECONDS)

    return events()


def shown(logged: Logged) -> dict:
    return {
        "seq": logged.seq,
        "kind": type(logged.event).__name__,
        "id": logged.event.id,
        "at": logged.at.isoformat(),
        "caused_by": logged.caused_by,
        "correlation_id": logged.correlation_id,
        "payload": payload(logged.event),
    }


@blueprint.get("/conversations/<id>/state")
@found
def state(row: sa.Row):
    """The fold just after event `at`, and what the model would be sent; at a ModelRequest, what it was sent."""
    at, budget = number("at", row.last_seq, 1), services().settings.context_tokens
    with reading(services().db) as connection:
        events = log.read(connection, row.id, upto=at)
    folded = fold(events)
    last = events[-1].event if events and events[-1].seq == at else None
    messages = prompt.of_request(folded, last, budget) if isinstance(last, ModelRequest) else prompt.build(folded, budget=budget)
    return jsonify(at=folded.seq, state=asdict(folded), messages=messages)


@blueprint.post("/conversations/<id>/fork")
@found
def begin_fork(row: sa.Row):
    at, model = asked().get("at"), asked().get("model")
    if not isinstance(at, int) or isinstance(at, bool) or not 1 <= at <= row.last_seq:
        abort(400, f"at must be the seq of an event, from 1 to {row.last_seq}")
    if model is not None and (not isinstance(model, str) or not model.strip() or len(model) > 200):
        abort(400, "model must be the name of a model")
    with writing(services().db) as tx:
        id = log.fork(tx, row, at, model)
    queues.wake(services(), id)
    return jsonify(id=id, source=row.id, at=at, model=model), 201


@blueprint.post("/conversations/<id>/replay")
@found
def replay(row: sa.Row):
    strict = asked().get("strict", True)
    if not isinstance(strict, bool):
        abort(400, "strict must be true or false")
    with reading(services().db) as connection:
        events = log.read(connection, row.id)
    return jsonify(asdict(replayed(events, services().settings.context_tokens, strict=strict)))
