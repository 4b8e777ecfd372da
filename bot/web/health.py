"""Alive, ready, and the numbers: /healthz, /readyz, /metrics."""

import redis
import sqlalchemy as sa
from flask import Blueprint, Response, jsonify
from rq import worker_registration

from bot import queues
from bot.db import conversations, events, now, outbox, reading
from bot.errors import Unavailable
from bot.web.context import services

blueprint = Blueprint("health", __name__)


@blueprint.get("/healthz")
def healthz():
    return jsonify(status="ok")


@blueprint.get("/readyz")
def readyz():
    """200 when the database, Redis and a worker can be reached; else 503 and which of them cannot."""
    found = {"database": _database(), "redis": _redis(), "worker": _worker()}
    ready = all(v == "ok" for v in found.values())
    return jsonify(status="ok" if ready else "not ready", **found), 200 if ready else 503


def _database() -> str:
    try:
        with reading(services().db) as connection:
            connection.execute(sa.select(conversations.c.number).limit(1))
    except (Unavailable, sa.exc.SQLAlchemyError) as problem:
        return str(problem).splitlines()[0][:200]
    return "ok"


def _redis() -> str:
    try:
        services().redis.ping()
    except redis.RedisError as problem:
        return type(problem).__name__
    return "ok"


def _worker() -> str:
    """A worker that was killed stays on RQ's list, but its key dies with it."""
    try:
        keys = worker_registration.get_keys(queue=services().queue(queues.CHAT))
        return "ok" if keys and services().redis.exists(*keys) else "none is running"
    except redis.RedisError as problem:
        return type(problem).__name__


@blueprint.get("/metrics")
def metrics() -> Response:
    """Prometheus text; labels hold no personal data."""
    with reading(services().db) as connection:
        by_kind = connection.execute(sa.select(events.c.kind, sa.func.count()).group_by(events.c.kind)).all()
        by_state = connection.execute(sa.select(outbox.c.state, sa.func.count()).group_by(outbox.c.state)).all()
        awake = connection.execute(
            sa.select(sa.func.count(), sa.func.min(conversations.c.awake_since)).where(conversations.c.awake_since.is_not(None))
        ).one()
    age = (now() - awake[1]).total_seconds() if awake[1] else 0
    lines = [
        "# HELP palabre_events_total Events in the log.",
        "# TYPE palabre_events_total counter",
        *(f'palabre_events_total{{kind="{kind}"}} {count}' for kind, count in sorted(by_kind)),
        "# HELP palabre_messages Outgoing messages by state.",
        "# TYPE palabre_messages gauge",
        *(f'palabre_messages{{state="{state}"}} {count}' for state, count in sorted(by_state)),
        "# HELP palabre_awake_conversations Conversations with something left to do.",
        "# TYPE palabre_awake_conversations gauge",
        f"palabre_awake_conversations {awake[0]}",
        "# HELP palabre_backlog_age_seconds Age of the oldest of them.",
        "# TYPE palabre_backlog_age_seconds gauge",
        f"palabre_backlog_age_seconds {age:.3f}",
    ]
    try:
        lengths = [(q, services().queue(q).count) for q in (queues.CHAT, queues.BACKGROUND, queues.DELIVERY)]
        lines += [
            "# HELP palabre_queued_jobs Jobs waiting in Redis.",
            "# TYPE palabre_queued_jobs gauge",
            *(f'palabre_queued_jobs{{queue="{q}"}} {n}' for q, n in lengths),
        ]
    except redis.RedisError:
        lines.append("# Redis cannot be reached")
    return Response("\n".join(lines) + "\n", content_type="text/plain; version=0.0.4; charset=utf-8")
