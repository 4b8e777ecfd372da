"""create_task: what the person has to do, in their own time."""

from datetime import UTC, datetime, timedelta

import pytest
from conftest import rows

from bot import db
from bot.channels import outbox
from bot.db import addresses, reading, tasks, writing
from bot.errors import ToolError
from bot.learners import tasks as store
from tools.create_task import create_task
from tools.offered import check

CAMEROON = "whatsapp:+237699123456"  # an hour ahead of UTC
NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch):
    """clock(moment): what the time is from now on."""

    def put(moment):
        monkeypatch.setattr(store, "now", lambda: moment)

    put(NOON)
    return put


def make(context, key="c1", **arguments):
    result = create_task(context, key=key, **arguments)
    context.tx.commit()
    return result


def test_a_task_is_noted_with_its_priority_date_and_tags(services, make_context, clock):
    context = make_context(address=CAMEROON)
    result = make(context, title=" Réviser  la dictée ", priority="high", due_date="2026-12-24T17:30", tags=["Français", "français", " "])
    [row] = rows(services, tasks)
    assert result == {"success": True, "task": 1, "due": "2026-12-24T17:30:00+01:00"}
    assert (row.title, row.priority, row.due_at, row.tags) == (
        "Réviser la dictée",
        "high",
        datetime(2026, 12, 24, 16, 30, tzinfo=UTC),
        ["français"],
    )


@pytest.mark.parametrize(
    ("text", "due"),
    [
        pytest.param("2026-12-24", datetime(2026, 12, 24, 7, 0, tzinfo=UTC), id="a day is due at eight in the morning"),
        pytest.param("2026-12-01", datetime(2026, 12, 1, 13, 0, tzinfo=UTC), id="today is due in an hour"),
        pytest.param("2026-12-24T17:30Z", datetime(2026, 12, 24, 17, 30, tzinfo=UTC), id="another zone may be named"),
        pytest.param("2026-12-24T17:30:00+03:00", datetime(2026, 12, 24, 14, 30, tzinfo=UTC), id="an offset may be named"),
        pytest.param("2026-12-24 17:30", datetime(2026, 12, 24, 16, 30, tzinfo=UTC), id="a blank may stand for the T"),
        pytest.param(" ", None, id="blank is no date"),
    ],
)
def test_a_date_is_understood_in_the_persons_zone(services, make_context, clock, text, due):
    make(make_context(address=CAMEROON), title="x", due_date=text)
    assert rows(services, tasks)[0].due_at == due


@pytest.mark.parametrize("text", ["2026-12-01T12:30", "2026-11-30", "1999-01-01T00:00", "0001-01-01"])
def test_a_past_date_is_an_error_that_says_what_time_it_is_there(services, make_context, clock, text):
    with pytest.raises(ToolError, match=r"now 2026-12-01 13:00 \(Africa/Douala\)"):
        make(make_context(address=CAMEROON), title="x", due_date=text)
    assert rows(services, tasks) == []


@pytest.mark.parametrize("text", ["demain", "24/12/2026", "2026-02-30", "2026-12-24T25:00", "9999-12-31", "2026-13-01", "12"])
def test_what_is_no_date_is_an_error_that_shows_one(services, make_context, clock, text):
    with pytest.raises(ToolError, match=r"2026-12-24|ten years"):
        make(make_context(), title="x", due_date=text)
    assert rows(services, tasks) == []


def test_the_same_call_twice_makes_one_task(services, make_context, clock):
    context = make_context()
    assert make(context, title="x")["task"] == make(context, title="x")["task"] == 1
    assert len(rows(services, tasks)) == 1


def test_tasks_are_listed_by_date_and_keep_their_numbers_when_others_are_done(services, make_context, clock):
    context = make_context()
    make(context, "a", title="sans date")
    make(context, "b", title="plus tard", due_date="2027-01-01")
    make(context, "c", title="bientôt", due_date="2026-12-02")
    with writing(services.db) as tx:
        assert [(t.number, t.title) for t in store.open_tasks(tx, context.person.owner)] == [
            (3, "bientôt"),
            (2, "plus tard"),
            (1, "sans date"),
        ]
        assert store.done(tx, context.person.owner, 2) == "plus tard"
        assert store.done(tx, context.person.owner, 2) is None
        assert store.done(tx, "somebody else", 1) is None
        assert [t.number for t in store.open_tasks(tx, context.person.owner)] == [3, 1]


def remind(services):
    with writing(services.db) as tx:
        found = store.due(tx)
        for task, person in found:
            outbox.put(tx, person.address, store.reminder_key(task), [(task.title, None)])
    return [(task.number, task.title, person.address) for task, person in found]


def test_a_reminder_is_due_once(services, make_context, clock):
    make(make_context(address=CAMEROON), title="Réviser", due_date="2026-12-01T15:00")
    assert remind(services) == []
    clock(NOON + timedelta(hours=3))
    assert remind(services) == [(1, "Réviser", CAMEROON)]
    assert remind(services) == []
    assert [r.body for r in rows(services, db.outbox)] == ["Réviser"]


def test_nobody_is_reminded_at_night(services, make_context, clock):
    make(make_context(address=CAMEROON), title="Réviser", due_date="2026-12-01T22:30")
    clock(datetime(2026, 12, 1, 22, 0, tzinfo=UTC))
    assert remind(services) == []
    clock(datetime(2026, 12, 2, 6, 1, tzinfo=UTC))
    assert len(remind(services)) == 1


@pytest.mark.parametrize("reason", ["done", "stop", "long ago"])
def test_there_is_no_reminder_of_what_is(services, make_context, clock, reason):
    context = make_context(address=CAMEROON)
    make(context, title="Réviser", due_date="2026-12-01T15:00")
    clock(NOON + timedelta(hours=3))
    with writing(services.db) as tx:
        if reason == "done":
            store.done(tx, context.person.owner, 1)
        if reason == "stop":
            tx.execute(addresses.update().values(opted_out=True))
    if reason == "long ago":
        clock(NOON + timedelta(days=3))
    with reading(services.db) as connection:
        assert store.due(connection) == []


def test_an_empty_title_is_refused(services, make_context, clock):
    with pytest.raises(ToolError, match="empty"):
        make(make_context(), title="\x00 ")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"title": ""},
        {"title": "x", "priority": "urgent"},
        {"title": "x", "due_date": 20261224},
        {"title": "x", "tags": "a"},
        {"title": "x" * 301},
    ],
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("create_task", arguments)
