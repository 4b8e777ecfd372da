"""
The tables, and how a transaction is opened.

SQLite (WAL) and PostgreSQL are equals here. Times are UTC; money and credits are whole numbers.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from bot.errors import Unavailable

metadata = sa.MetaData()
Json = sa.JSON().with_variant(JSONB(), "postgresql")
BigId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # only "INTEGER PRIMARY KEY" counts by itself in SQLite


class Utc(sa.TypeDecorator):
    """A moment in UTC; SQLite gives it back without its zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value, dialect):
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


learners = sa.Table(
    "learners",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("phone", sa.String(20), unique=True),  # E.164; proven to be this person's on WhatsApp and SMS
    sa.Column("mode", sa.String(8), nullable=False),  # child or pro
    sa.Column("grade", sa.String(8)),
    sa.Column("name", sa.String(200)),
    sa.Column("email", sa.String(254)),
    sa.Column("email_verified", sa.Boolean, nullable=False, default=False),
    sa.Column("language", sa.String(5), nullable=False, default="fr"),
    sa.Column("credits", sa.Integer, nullable=False, default=0),  # the sum of the learner's ledger entries
    sa.Column("refilled_on", sa.Date),
    sa.Column("created_at", Utc, nullable=False),
    sa.CheckConstraint("credits >= 0", name="credits_never_negative"),
)

addresses = sa.Table(
    "addresses",
    metadata,
    sa.Column("address", sa.String(200), primary_key=True),  # as received: whatsapp:+225…, whatsapp:CI.1349…, +225…
    sa.Column("channel", sa.String(10), nullable=False),
    sa.Column("phone", sa.String(20), index=True),
    sa.Column("conversation_id", sa.String(32), nullable=False),  # the one that new messages go to
    sa.Column("opted_out", sa.Boolean, nullable=False, default=False),
    sa.Column("closed", sa.String(12)),  # unreachable or no_whatsapp; open again when somebody writes from there
    sa.Column("heard_at", Utc),  # the last message from there: WhatsApp lets us write freely for 24 h
    sa.Column("created_at", Utc, nullable=False),
)

conversations = sa.Table(
    "conversations",
    metadata,
    sa.Column("number", BigId, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String(32), nullable=False, unique=True),
    sa.Column("address", sa.String(200), nullable=False, index=True),
    sa.Column("channel", sa.String(10), nullable=False),
    sa.Column("phone", sa.String(20), index=True),
    sa.Column("last_seq", sa.Integer, nullable=False, default=0),
    sa.Column("turn", sa.String(64)),  # correlation id of the turn under way, or of the last one
    sa.Column("awake_since", Utc),  # something is waiting to be done; null when there is nothing
    sa.Column("parent_id", sa.String(32)),  # a fork shares its parent's events up to fork_at
    sa.Column("fork_at", sa.Integer),
    sa.Column("model", sa.String(200)),  # a fork's own model
    sa.Column("created_at", Utc, nullable=False),
    sa.Index("conversations_awake", "awake_since"),
)

received = sa.Table(
    "received",
    metadata,  # provider ids of messages, so that one that is delivered again does nothing
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("at", Utc, nullable=False),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("conversation_id", sa.String(32), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("kind", sa.String(24), nullable=False),
    sa.Column("id", sa.String(80), nullable=False),
    sa.Column("at", Utc, nullable=False),
    sa.Column("caused_by", sa.Integer),
    sa.Column("correlation_id", sa.String(64)),
    sa.Column("payload", Json, nullable=False),
    sa.UniqueConstraint("conversation_id", "kind", "id", name="an_event_is_told_once"),
)

snapshots = sa.Table(
    "snapshots",
    metadata,
    sa.Column("conversation_id", sa.String(32), primary_key=True),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("version", sa.String(16), nullable=False),  # of the code that folded; another version folds anew
    sa.Column("state", Json, nullable=False),
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("id", BigId, primary_key=True, autoincrement=True),
    sa.Column("token", sa.String(22), nullable=False, unique=True),  # in the status callback's address
    sa.Column("key", sa.String(120), nullable=False, unique=True),  # what it carries, so that it is written once
    sa.Column("conversation_id", sa.String(32)),
    sa.Column("address", sa.String(200), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("media_url", sa.Text),
    sa.Column("content_sid", sa.String(34)),  # a template, sent instead of the body
    sa.Column("segments", sa.Integer, nullable=False, default=1),
    sa.Column("state", sa.String(12), nullable=False),  # see bot/channels/outbox.py
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("due_at", Utc, nullable=False),
    sa.Column("tried_at", Utc),
    sa.Column("provider_sid", sa.String(40), index=True),
    sa.Column("error_code", sa.Integer),
    sa.Column("created_at", Utc, nullable=False),
    sa.Index("outbox_waiting", "state", "due_at"),
    sa.Index("outbox_by_address", "address", "id"),
)

ledger = sa.Table(
    "ledger",
    metadata,  # double entry: the two rows of one key add up to zero
    sa.Column("id", BigId, primary_key=True, autoincrement=True),
    sa.Column("key", sa.String(120), nullable=False),
    sa.Column("account", sa.String(48), nullable=False, index=True),  # learner:<id>, or ours: usage, bonus, grants, refills, sales
    sa.Column("amount", sa.Integer, nullable=False),
    sa.Column("reason", sa.String(200), nullable=False, default=""),
    sa.Column("at", Utc, nullable=False),
    sa.UniqueConstraint("key", "account", name="a_transfer_is_made_once"),
)

daily = sa.Table(
    "daily",
    metadata,  # counters that begin anew each day: what a guest was answered, bonus given, mails sent
    sa.Column("who", sa.String(200), primary_key=True),
    sa.Column("what", sa.String(24), primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("count", sa.Integer, nullable=False),
)

attempts = sa.Table(
    "attempts",
    metadata,  # answers to quizzes, and exercises the model reports
    sa.Column("key", sa.String(120), primary_key=True),
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("kind", sa.String(10), nullable=False),  # quiz or exercise
    sa.Column("subject", sa.String(100)),
    sa.Column("topic", sa.String(200)),
    sa.Column("difficulty", sa.String(20)),
    sa.Column("correct", sa.Boolean, nullable=False),
    sa.Column("at", Utc, nullable=False),
)

files = sa.Table(
    "files",
    metadata,
    sa.Column("id", sa.String(24), primary_key=True),
    sa.Column("key", sa.String(120), nullable=False, unique=True),  # the call or message that made it
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("origin", sa.String(10), nullable=False),  # generated or uploaded
    sa.Column("filename", sa.String(120), nullable=False),
    sa.Column("media_type", sa.String(100), nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("token", sa.String(32), nullable=False, unique=True),
    sa.Column("text", sa.Text),  # what can be read and searched in it
    sa.Column("expires_at", Utc, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
)

memories = sa.Table(
    "memories",
    metadata,
    sa.Column("id", BigId, primary_key=True, autoincrement=True),
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("category", sa.String(60), nullable=False),
    sa.Column("fact", sa.Text, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),  # of the fact without case and blanks: the same fact is kept once
    sa.Column("updated_at", Utc, nullable=False),
    sa.UniqueConstraint("owner", "category", "digest", name="a_fact_is_kept_once"),
)

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("id", BigId, primary_key=True, autoincrement=True),
    sa.Column("key", sa.String(120), nullable=False, unique=True),
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("title", sa.String(300), nullable=False),
    sa.Column("priority", sa.String(8), nullable=False),
    sa.Column("due_at", Utc),
    sa.Column("tags", Json, nullable=False),
    sa.Column("done_at", Utc),
    sa.Column("created_at", Utc, nullable=False),
)

drafts = sa.Table(
    "drafts",
    metadata,
    sa.Column("id", BigId, primary_key=True, autoincrement=True),
    sa.Column("key", sa.String(120), nullable=False, unique=True),
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("recipient", sa.String(254), nullable=False),
    sa.Column("subject", sa.String(300), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("file_ids", Json, nullable=False),
    sa.Column("sent_at", Utc),
    sa.Column("created_at", Utc, nullable=False),
)

payments = sa.Table(
    "payments",
    metadata,
    sa.Column("id", sa.String(24), primary_key=True),
    sa.Column("key", sa.String(120), nullable=False, unique=True),
    sa.Column("learner_id", sa.String(32), nullable=False, index=True),
    sa.Column("credits", sa.Integer, nullable=False),
    sa.Column("amount", sa.Integer, nullable=False),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),  # open or paid
    sa.Column("created_at", Utc, nullable=False),
)


def now() -> datetime:
    return datetime.now(UTC)


def connect(url: str, patience: float = 15) -> sa.Engine:
    """An engine for *url*. Nothing is opened until it is used. *patience*: seconds to wait for SQLite's one writer."""
    if not url.startswith("sqlite"):
        return sa.create_engine(url, pool_pre_ping=True, pool_size=20, max_overflow=40, connect_args={"connect_timeout": 3})
    engine = sa.create_engine(url, connect_args={"timeout": patience, "check_same_thread": False}, pool_size=20, max_overflow=40)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection, record):
        connection.isolation_level = None  # the driver must not open transactions of its own: see begin
        connection.execute("pragma journal_mode=wal")
        connection.execute("pragma synchronous=full")  # what was answered 200 outlives a power cut

    @sa.event.listens_for(engine, "begin")
    def begin(connection):
        # A transaction that will write takes the lock at once: two that read first and write later would refuse each other.
        connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("reads_only") else "BEGIN IMMEDIATE")

    return engine


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    with _watched(), engine.connect().execution_options(reads_only=True) as connection:
        yield connection


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """One transaction: all of it or nothing."""
    with _watched(), engine.begin() as connection:
        yield connection


@contextmanager
def _watched() -> Iterator[None]:
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError) as problem:
        raise Unavailable(f"the database does not answer: {str(problem).splitlines()[0][:200]}") from problem


def insert_once(tx: sa.Connection, table: sa.Table, **values) -> bool:
    """Insert a row unless a unique column already holds one of its values; True if it was inserted."""
    if tx.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert
    made = insert(table).values(**values).on_conflict_do_nothing()
    return tx.execute(made, execution_options={"preserve_rowcount": True}).rowcount == 1  # without it an insert counts -1 on PostgreSQL


def counted_today(connection: sa.Connection, who: str, what: str, day) -> int:
    """The present value of a daily counter."""
    return connection.scalar(sa.select(daily.c.count).where(daily.c.who == who, daily.c.what == what, daily.c.day == day)) or 0


def count_today(tx: sa.Connection, who: str, what: str, day, add: int = 1) -> int:
    """Add to a daily counter and return its new value."""
    insert_once(tx, daily, who=who, what=what, day=day, count=0)
    here = (daily.c.who == who) & (daily.c.what == what) & (daily.c.day == day)
    tx.execute(daily.update().where(here).values(count=daily.c.count + add))
    return counted_today(tx, who, what, day)


class Unit:
    """
    One transaction that is opened at its first statement: what is slow can be done before the database is locked.

    Used for a tool call: its effects and its ToolResult are committed together, or not at all.
    """

    def __init__(self, engine: sa.Engine):
        self.engine, self.connection = engine, None

    def _open(self) -> sa.Connection:
        if self.connection is None:
            with _watched():
                self.connection = self.engine.connect()
                self.connection.begin()
        return self.connection

    @property
    def dialect(self) -> sa.Dialect:
        return self.engine.dialect

    def execute(self, *args, **kwargs):
        with _watched():
            return self._open().execute(*args, **kwargs)

    def scalar(self, *args, **kwargs):
        with _watched():
            return self._open().scalar(*args, **kwargs)

    def scalars(self, *args, **kwargs):
        with _watched():
            return self._open().scalars(*args, **kwargs)

    def commit(self) -> None:
        if self.connection is not None:
            with _watched():
                self.connection.commit()
        self.close()

    def close(self) -> None:
        """Undo what was not committed."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
