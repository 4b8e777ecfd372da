"""What SQLite hides: the same code on PostgreSQL, with writers that really run side by side."""

import os
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa
from conftest import AWA, rows
from fakes import call, text

from bot import services as outside
from bot.channels import inbox, outbox
from bot.conversation import log
from bot.conversation.events import HumanInput
from bot.db import connect, conversations, events, learners, ledger, metadata, reading, writing
from bot.db import outbox as outgoing
from bot.learners import accounts, credits
from bot.migrate import migrate, require_current
from workers import schedule

URL = os.environ.get("TEST_POSTGRES_URL", "")
WHATSAPP = f"whatsapp:{AWA}"
QUIZ = {"question": "Combien font 1/2 + 1/4 ?", "options": ["2/6", "3/4", "1/8"], "correct_index": 1, "explanation": "1/2 vaut 2/4."}

pytestmark = pytest.mark.skipif(not URL, reason="TEST_POSTGRES_URL is not set: no PostgreSQL to test with")


@pytest.fixture
def settings(settings):
    """Those of the other tests, on a new and empty database."""
    name = f"palabre_{uuid.uuid4().hex[:12]}"
    server = sa.create_engine(URL, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"create database {name}")
    yield replace(settings, database_url=sa.make_url(URL).set(database=name).render_as_string(hide_password=False))
    with server.connect() as connection:
        connection.exec_driver_sql(f"drop database {name} with (force)")
    server.dispose()


@pytest.fixture
def services(settings):
    migrate(settings)
    built = outside.build(settings)
    built.redis.flushdb()
    yield built
    built.db.dispose()
    built.redis.close()


def at_once(count: int, act) -> list:
    """What act(0), act(1)… return, begun at the same moment."""
    gate = threading.Barrier(count)

    def one(n: int):
        gate.wait(10)
        return act(n)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_migrations_make_the_tables_of_the_code(settings):
    """After the migrations the database has every table, column and unique constraint that the code knows; a second run changes nothing."""
    assert migrate(settings) == migrate(settings)
    require_current(settings)
    engine = connect(settings.database_url)
    found = sa.inspect(engine)
    for table in metadata.sorted_tables:
        assert {c["name"] for c in found.get_columns(table.name)} == set(table.columns.keys())
        wanted = {frozenset(c.columns.keys()) for c in table.constraints if isinstance(c, sa.UniqueConstraint)}
        unique = {frozenset(u["column_names"]) for u in found.get_unique_constraints(table.name)}
        unique |= {frozenset(i["column_names"]) for i in found.get_indexes(table.name) if i["unique"]}
        assert wanted <= unique, table.name
    engine.dispose()


def test_a_whole_turn(world):
    """A message, a quiz, its verdict, a file and the delivery, all on PostgreSQL, and the books add up."""
    world.account(credits_given=20)
    world.model.script = [
        call("interactive_quiz", QUIZ, content="Une fraction est une part."),
        text("Bravo."),
        call("generate_pdf", {"title": "Fractions", "content": "# Un\n\n½ + ¼"}),
        text("Voici ta fiche."),
    ]

    first, second, third = world.say("Un quiz"), world.say("2"), world.say("En PDF")
    assert "2) 3/4" in first[-1] and "1/2 vaut 2/4." in second[0] and second[-1] == "Bravo." and third[0] == "Voici ta fiche."
    assert {r.state for r in rows(world.services, outgoing)} == {"accepted"}
    assert [e.seq for e in world.events()] == list(range(1, len(world.events()) + 1))
    with reading(world.services.db) as connection:
        assert credits.discrepancies(connection) == []
    assert schedule.sweep(world.services) == 0
    assert world.web.get("/metrics").status_code == 200


def test_a_message_delivered_twice_at_the_same_moment(world):
    """Eight deliveries of one message at once are eight times 200 and one HumanInput."""
    world.account()
    assert at_once(8, lambda n: world.post("Bonjour", MessageSid="SM" + "7" * 32).status_code) == [200] * 8
    world.work()
    assert world.kinds().count("HumanInput") == 1 and world.twilio.bodies() == ["D'accord."]


def test_first_messages_at_the_same_moment(world):
    """Two first messages of somebody new at the same moment are one conversation with both."""
    assert at_once(6, lambda n: world.post(f"Bonjour {n}").status_code) == [200] * 6
    assert len(rows(world.services, conversations)) == 1 and world.kinds().count("HumanInput") == 6


def test_writers_side_by_side_get_dense_numbers_in_commit_order(services):
    """Eight writers on one conversation: numbers without gaps, and whoever reads never sees a later event before an earlier one."""
    with writing(services.db) as tx:
        id = inbox.open_address(tx, WHATSAPP).conversation_id
    done, seen = threading.Event(), []

    def read() -> None:
        while not done.is_set():
            with reading(services.db) as connection:
                seen.append([e.seq for e in log.read(connection, id)])

    reader = threading.Thread(target=read)
    reader.start()

    def write(n: int) -> None:
        for k in range(25):
            with writing(services.db) as tx:
                assert log.append(tx, id, [HumanInput(f"SM{n}-{k}", "a", "whatsapp", []), HumanInput(f"SM{n}-{k}b", "b", "whatsapp", [])])

    try:
        at_once(8, write)
    finally:
        done.set()
        reader.join()
    assert [r.seq for r in sorted(rows(services, events), key=lambda r: r.seq)] == list(range(1, 401))
    assert len(seen) > 5 and all(seqs == list(range(1, len(seqs) + 1)) for seqs in seen)


def test_one_of_two_equal_events_is_kept(services):
    """Sixteen writers of the same event: one of them wins, the others are told."""
    with writing(services.db) as tx:
        id = inbox.open_address(tx, WHATSAPP).conversation_id

    def write(n: int) -> bool:
        with writing(services.db) as tx:
            return log.append(tx, id, [HumanInput("SM1", "a", "whatsapp", [])])

    assert sorted(at_once(16, write)) == [False] * 15 + [True]


def test_credits_never_go_below_zero(services):
    """Sixteen who take and give at once: never below zero, each movement once, and the ledger adds up to zero."""
    with writing(services.db) as tx:
        person = accounts.add(tx, AWA, "child", credits_given=10)

    def spend(n: int) -> list[bool]:
        made = []
        for k in range(5):
            with writing(services.db) as tx:
                made.append(credits.move(tx, person.id, -1, key=f"turn:{n}:{k}", counterpart="usage", reason="answer"))
        return made

    assert sum(sum(made) for made in at_once(16, spend)) == 10
    assert [r.credits for r in rows(services, learners)] == [0]

    def give(n: int) -> bool:
        try:
            with writing(services.db) as tx:
                return credits.move(tx, person.id, 3, key="bonus:the same", counterpart="bonus", reason="bravo")
        except sa.exc.IntegrityError:
            return False

    assert sum(at_once(16, give)) == 1
    assert [r.credits for r in rows(services, learners)] == [3]
    assert sum(r.amount for r in rows(services, ledger)) == 0
    with reading(services.db) as connection:
        assert credits.discrepancies(connection) == []


def test_the_same_account_twice_at_once(services):
    """Of eight who make an account with one number at once, one does."""

    def add(n: int) -> bool:
        try:
            with writing(services.db) as tx:
                return bool(accounts.add(tx, AWA, "child", credits_given=5))
        except accounts.WrongUsage:
            return False

    assert sum(at_once(8, add)) == 1 and len(rows(services, learners)) == 1


def test_an_answer_is_queued_once(services):
    """Eight workers that hand over the same answer at once leave one message in the outbox."""

    def put(n: int) -> None:
        with writing(services.db) as tx:
            outbox.put(tx, WHATSAPP, "conversation:reply:1", [("Bonjour", None)])

    at_once(8, put)
    assert [r.body for r in rows(services, outgoing)] == ["Bonjour"]


def test_a_database_that_is_gone(world):
    """A database that went away is a fast 503, and nothing is half written; when it is back, so are we."""
    assert world.say("Un") == ["D'accord."]
    name = sa.make_url(world.settings.database_url).database
    server = sa.create_engine(URL, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"alter database {name} with allow_connections false")
        connection.exec_driver_sql(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")
        assert world.post("Deux").status_code == 503
        assert world.web.get("/readyz").status_code == 503
        connection.exec_driver_sql(f"alter database {name} with allow_connections true")
    server.dispose()
    assert world.say("Trois") == ["D'accord."]
    assert world.kinds().count("HumanInput") == 2
