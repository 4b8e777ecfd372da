"""The event log and its fold: numbers without gaps, facts told once, folds that agree, events that load for ever, shared prefixes."""

import json
import os
import threading
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa
from conftest import AWA, rows
from fakes import call, calls, text
from hypothesis import given, settings
from hypothesis import strategies as st
from test_prompt_order import faults

from bot import services as outside
from bot.conversation import log, prompt, snapshots
from bot.conversation.events import (
    KINDS,
    BudgetExtended,
    ConversationEnded,
    Error,
    HumanInput,
    Logged,
    MediaRead,
    ModelReply,
    ModelRequest,
    MovedToBackground,
    QuizAnswered,
    QuizExpired,
    ReplyQueued,
    ToolCall,
    ToolResult,
    ToolStarted,
    TurnStarted,
    TurnStopped,
    Unanswered,
    load,
    payload,
)
from bot.conversation.fold import Conversation, apply, fold
from bot.conversation.replay import replay
from bot.conversation.steps import AskModel, FetchMedia, GiveUpTool, JudgeQuiz, Obey, OpenTurn, QueueReply, RunTool, StopTurn, next_step
from bot.db import conversations, events, metadata, now, reading, writing
from workers import loop

DATA = Path(__file__).parent / "data"
EXAMPLES = sorted((DATA / "events").glob("*.json"))
POSTGRES = os.environ.get("TEST_POSTGRES_URL", "")
needs_postgres = pytest.mark.skipif(not POSTGRES, reason="TEST_POSTGRES_URL is not set: no PostgreSQL to test with")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=needs_postgres)])
def database(request, settings):
    """The services on an empty database of each kind."""
    name, server = f"palabre_{uuid.uuid4().hex[:12]}", None
    if request.param == "postgresql":
        server = sa.create_engine(POSTGRES, isolation_level="AUTOCOMMIT")
        with server.connect() as connection:
            connection.exec_driver_sql(f"create database {name}")
        settings = replace(settings, database_url=sa.make_url(POSTGRES).set(database=name).render_as_string(hide_password=False))
    built = outside.build(settings)
    metadata.create_all(built.db)
    yield built
    built.db.dispose()
    built.redis.close()
    if server:
        with server.connect() as connection:
            connection.exec_driver_sql(f"drop database {name} with (force)")
        server.dispose()


def human(id: str, words: str = "a", **how) -> HumanInput:
    return HumanInput(id, words, "whatsapp", how.pop("media", []), **how)


def begun(database) -> str:
    with writing(database.db) as tx:
        return log.begin(tx, f"whatsapp:{AWA}", "whatsapp", AWA)


def read(database, id: str, **how) -> list[Logged]:
    with reading(database.db) as connection:
        return log.read(connection, id, **how)


# -- appending -----------------------------------------------------------------------------------------------------


def test_two_writers_leave_no_gap_and_no_double(database):
    """Two writers side by side on two conversations: in each the numbers are dense, and events of one append stand together."""
    ids, failed = [begun(database), begun(database)], []

    def write(who: int) -> None:
        try:
            for n in range(30):
                for id in ids:
                    with writing(database.db) as tx:
                        log.append(tx, id, [human(f"{who}-{n}a"), human(f"{who}-{n}b")])
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=write, args=(who,)) for who in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    for id in ids:
        found = read(database, id)
        assert [e.seq for e in found] == list(range(1, 121))
        assert all(one.event.id[:-1] == other.event.id[:-1] for one, other in zip(found[::2], found[1::2], strict=True))


def test_the_same_fact_is_told_once(database):
    """An append of which one event is known does nothing at all; the same id of another kind is another fact."""
    id = begun(database)
    with writing(database.db) as tx:
        assert log.append(tx, id, [human("SM1")])
        assert not log.append(tx, id, [human("SM1", "another text")])
        assert not log.append(tx, id, [human("SM2"), human("SM1")])
        assert log.append(tx, id, [Unanswered("SM1", "stop")])
    assert [type(e.event).__name__ + e.event.id for e in read(database, id)] == ["HumanInputSM1", "UnansweredSM1"]


def test_the_database_itself_refuses_a_fact_twice(database):
    """What the log looks for first is a constraint of the table too."""
    id = begun(database)
    row = {"conversation_id": id, "kind": "HumanInput", "id": "SM1", "at": now(), "payload": {}}
    with pytest.raises(sa.exc.IntegrityError), writing(database.db) as tx:
        tx.execute(events.insert(), [row | {"seq": 1}, row | {"seq": 2}])
    assert read(database, id) == []


def test_a_failed_transaction_leaves_no_number_behind(database):
    """After a transaction that came to nothing the next event takes the number that it had."""
    id = begun(database)
    with pytest.raises(RuntimeError), writing(database.db) as tx:
        log.append(tx, id, [human("SM1"), human("SM2")])
        raise RuntimeError
    with writing(database.db) as tx:
        log.append(tx, id, [human("SM3")])
    assert [(e.seq, e.event.id) for e in read(database, id)] == [(1, "SM3")]


def test_a_conversation_does_not_sleep_over_something_new(database):
    """A conversation is put to sleep only when nothing came since it was read."""
    id = begun(database)
    with writing(database.db) as tx:
        log.append(tx, id, [human("SM1")])
        log.append(tx, id, [human("SM2")])
    with writing(database.db) as tx:
        assert not log.sleep(tx, id, 1) and log.sleep(tx, id, 2)
        log.append(tx, id, [human("SM3")])
        assert tx.scalar(sa.select(conversations.c.awake_since).where(conversations.c.id == id)) is not None


ODD = [
    "a\x00b",
    "a\ud800b",
    "é\U0001f600",
    "\ufffe\uffff",
    "\u2028",
    '"\\',
    "",
    "x" * 100_000,
    {"\x00k": "\ud800"},
    [float("nan"), float("inf"), 1e300, -0.0],
    {"deep": [[[[["\x00"]]]]]},
    10**30,
    None,
    True,
]


@pytest.mark.parametrize("value", ODD, ids=lambda v: ascii(v)[:20])
def test_whatever_comes_back_can_be_stored(value, database):
    """NUL, halves of letters and numbers that are none are taken out; all else comes back as it was, on both databases."""
    id = begun(database)
    with writing(database.db) as tx:
        log.append(tx, id, [human("SM1", value if isinstance(value, str) else "a"), ToolResult("c1", "browse_url", True, value)])
    stored = read(database, id)[1].event.result
    clean = json.dumps(stored, allow_nan=False)
    assert "\\u0000" not in clean and "ud800" not in clean
    if not any(c in ascii(value) for c in ("\\x00", "\\ud800", "nan", "inf")):
        assert stored == value


# -- folding -------------------------------------------------------------------------------------------------------

QUIZ = {"kind": "interactive_quiz", "question": "?", "options": ["a", "b"], "expires_at": "2026-12-01T00:00:00+00:00"}
WORDS = {"SOLDE": "balance", "ANNULER": "cancel", "STOP": "stop", "NOUVEAU": "new", "SUITE": "more"}
SAID = ["Bonjour", "Et après ?", "1", "9", *WORDS]


def answers(input: dict, quiz: dict) -> bool:
    return input["text"].isdigit()


class Play:
    """
    A conversation by chance: a person who writes at any moment, a model that answers, fails, calls or says nothing, tools that work or
    do not, workers that die. Every step must bring something new, or workers would take it for ever.
    """

    def __init__(self, chance: Random):
        self.chance, self.log, self.state, self.ids, self.inputs, self.steps = chance, [], Conversation(), set(), 0, 0
        self.sent: dict[str, list[dict]] = {}  # what the model was sent with each request

    def append(self, *new) -> bool:
        if any((type(e), e.id) in self.ids for e in new):
            return False
        self.ids |= {(type(e), e.id) for e in new}
        for event in new:
            at = datetime(2026, 12, 1, tzinfo=UTC) + timedelta(seconds=len(self.log))
            self.log.append(Logged(len(self.log) + 1, at, None, "t", event))
            self.state = apply(self.state, self.log[-1])
        return True

    def write(self) -> None:
        """The person writes."""
        words = self.chance.choice(SAID)
        self.inputs += 1
        media = [{"url": "u", "type": "image/jpeg"}] if self.chance.random() < 0.1 else []
        self.append(human(f"SM{self.inputs}", words, command=WORDS.get(words), media=media))

    def perhaps(self, chance: float = 0.15) -> None:
        """While something slow runs the person may write, and another worker obeys a word at once."""
        if self.chance.random() < chance and self.inputs < 40:
            self.write()
            for input in self.state.inbox:
                if input["command"]:
                    self.obey(input)

    def obey(self, input: dict) -> bool:
        c, name = self.state, input["command"]
        stopped = [TurnStopped(str(c.heard), "cancelled")] if c.calls or c.heard > c.read else []
        match name:
            case "cancel":
                return self.append(*stopped, ReplyQueued(f"command:{input['id']}", "x"))
            case "stop":
                return self.append(*stopped, Unanswered(input["id"], "stop"))
            case "new":
                return self.append(ConversationEnded(input["id"]), ReplyQueued(f"command:{input['id']}", "x"))
            case "more":
                return self.append(ReplyQueued(f"command:{input['id']}", "x", continues=True))
        return self.append(ReplyQueued(f"command:{input['id']}", "x"))

    def run(self, writes: int) -> None:
        """Until nobody writes any more and nothing is left to do."""
        while True:
            if writes and self.chance.random() < 0.3:
                self.write()
                writes -= 1
            late = self.chance.random() < 0.03
            step = next_step(self.state, answers, ("late" if self.state.background else "background") if late else None)
            if step is None:
                if not writes:
                    return
                self.write()
                writes -= 1
                continue
            self.steps += 1
            assert self.steps < 2000, "it never comes to rest"
            if self.chance.random() < 0.05:
                continue  # the worker died before it could do anything
            assert self.perform(step), f"{step} brings nothing new: workers would take it for ever"

    def perform(self, step) -> bool:
        c, chance = self.state, self.chance.random()
        match step:
            case Obey(input):
                return self.obey(input)
            case QueueReply(reply):
                return self.append(ReplyQueued(reply["key"], reply.get("text", "x"), rest=[["y"]] if chance < 0.2 else []))
            case JudgeQuiz(input, quiz):
                if chance < 0.2:
                    return self.append(QuizExpired(quiz["call"], input["id"]))
                if chance < 0.3:
                    return self.append(Unanswered(input["id"], "opted_out"))
                if input["text"] == "9":
                    return self.append(ReplyQueued(f"again:{input['id']}", "x"))
                answered = QuizAnswered(quiz["call"], quiz["call"], 0, True, input["id"], "noté" if chance < 0.8 else "")
                return self.append(answered, ReplyQueued(f"verdict:{quiz['call']}", "x"))
            case OpenTurn(at):
                refused = "no_credits" if chance < 0.1 else "opted_out" if chance < 0.2 else None
                mode = "guest" if chance > 0.9 else "child"
                return self.append(TurnStarted(str(at), {"mode": mode, "limits": {"iterations": 3, "extended": 5}}, refused))
            case FetchMedia(message):
                self.perhaps()
                return self.append(MediaRead(message["id"], [{"type": "image/jpeg", "file_id": "f1"}]))
            case AskModel():
                return self.ask(step, chance)
            case RunTool(call):
                return self.use(c, call, chance)
            case GiveUpTool(call):
                return self.append(ToolResult(call["id"], call["name"], False, "x"))
            case StopTurn(at, reason):
                return self.append(MovedToBackground(str(at)) if reason == "background" else TurnStopped(str(at), reason))

    def ask(self, step: AskModel, chance: float) -> bool:
        id = f"{step.upto}/{step.attempt}"
        if len(self.state.failures) >= 3:
            return self.append(TurnStopped(str(step.upto), "model_failed"))
        sent = prompt.build(self.state, step.upto)
        assert faults(sent[1:]) == [], "a provider would refuse this"
        self.perhaps(0.1)
        self.sent[id] = sent
        self.append(ModelRequest(id, "m", "d", step.iteration))
        before = len(self.log)
        self.perhaps()
        if chance < 0.15:
            return self.append(Error(id, "ServerError"))
        if chance < 0.25:
            return self.append(ModelReply(id, ""))
        if chance < 0.3 and not self.state.partial:
            return self.append(ModelReply(id, "Le début", cut=True))
        if chance < 0.6 and step.tools:
            made = [
                ToolCall(
                    f"call_{step.upto}_{n}",
                    self.chance.choice(["web_search", "interactive_quiz", "send_email_to_user", "more"]),
                    {"n": len(self.log) + n},
                )
                for n in range(self.chance.randint(1, 3))
            ]
            return self.append(ModelReply(str(step.upto), "Je cherche." if chance < 0.45 else "", len(made)), *made)
        return self.append(ModelReply(str(step.upto), f"Réponse {len(self.log)}.")) or len(self.log) > before

    def use(self, c: Conversation, call: dict, chance: float) -> bool:
        id, name = call["id"], call["name"]
        if name == "send_email_to_user":
            self.append(ToolStarted(id))
            if chance < 0.2:
                return True  # it died in the middle
        self.perhaps()
        if chance < 0.2:
            return self.append(ToolResult(id, name, False, "x", transient=chance < 0.1))
        if name == "interactive_quiz":
            return self.append(ToolResult(id, name, True, {}, quiz=QUIZ))
        if name == "more" and self.state.limit < self.state.cap:
            return self.append(ToolResult(id, name, True, {}), BudgetExtended(id, "x", min(self.state.limit + 10, self.state.cap)))
        return self.append(ToolResult(id, name, True, {"content": f"{len(self.log)}"}, files=["f1"] if chance < 0.4 else None))


seeds = st.integers(0, 10**9)


@settings(max_examples=300, deadline=None)
@given(seeds, st.integers(1, 12))
def test_every_conversation_comes_to_rest(seed, writes):
    """Whatever happens in whatever order: every step brings something new, every prompt is valid, in the end nothing is owed."""
    play = Play(Random(seed))
    play.run(writes)
    c = play.state
    assert not c.calls and not c.unsent and not c.inbox and c.heard <= c.read
    told = {e.event.id for e in play.log if isinstance(e.event, ReplyQueued)}
    deaf, stopped = set(), 0
    for logged in play.log:  # every answer that was not stopped before it came was sent
        if isinstance(logged.event, TurnStopped):
            stopped = max(stopped, int(logged.event.id.split("/")[0]))
        if isinstance(logged.event, ModelReply) and int(logged.event.id.split("/")[0]) <= stopped:
            deaf.add(logged.event.id)
    final = [e.event for e in play.log if isinstance(e.event, ModelReply) and e.event.text and not e.event.calls and not e.event.cut]
    assert {f"reply:{e.id}" for e in final if e.id not in deaf} <= told
    assert not {f"reply:{e.id}" for e in final if e.id in deaf} & told


@settings(max_examples=150, deadline=None)
@given(seeds, st.integers(1, 10), st.floats(0, 1))
def test_a_prefix_and_the_rest_are_the_whole(seed, writes, where):
    """fold(prefix) and then the rest is fold(all), also when the prefix was kept as a snapshot; folding twice is the same."""
    play = Play(Random(seed))
    play.run(writes)
    whole, cut = fold(play.log), int(len(play.log) * where)
    kept = snapshots._revived(json.loads(json.dumps(snapshots.asdict(fold(play.log[:cut])))))
    assert fold(play.log) == whole == play.state
    assert fold(play.log[cut:], fold(play.log[:cut])) == whole == fold(play.log[cut:], kept)


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(1, 10))
def test_what_is_stored_folds_the_same(seed, writes):
    """Events that went through JSON and back are the same events, and a strict replay misses nothing that it waits for."""
    play = Play(Random(seed))
    play.run(writes)
    stored = [replace(e, event=load(type(e.event).__name__, e.event.id, json.loads(json.dumps(payload(e.event))))) for e in play.log]
    assert stored == play.log
    real = [
        replace(e, event=replace(e.event, digest=_digest(play.log[:n], e.event))) if isinstance(e.event, ModelRequest) else e
        for n, e in enumerate(play.log)
    ]
    assert replay(real, 24000).ok


def _digest(before: list[Logged], request: ModelRequest) -> str:
    return prompt.digest(request.model, prompt.of_request(fold(before), request, 24000), request.max_tokens, request.tools)


@settings(max_examples=100, deadline=None)
@given(seeds, st.integers(1, 8))
def test_states_do_not_know_the_future(seed, writes):
    """What the model was sent can be made again from the log, although people wrote while it was being made and afterwards."""
    play = Play(Random(seed))
    play.run(writes)
    for n, logged in enumerate(play.log):
        if isinstance(logged.event, ModelRequest):
            for events_so_far in (play.log[:n], play.log[: n + 1]):
                assert prompt.of_request(fold(events_so_far), logged.event, 24000) == play.sent[logged.event.id]


def test_a_snapshot_is_the_fold(world, monkeypatch):
    """However often snapshots are kept, the state is the fold of the whole log; one of other code is not used."""
    monkeypatch.setattr(snapshots, "EVERY", 3)
    world.account()
    exercise = call("report_exercise_result", {"subject": "maths", "correct": True})
    world.model.script = lambda body: calls(exercise, exercise) if body["messages"][-1]["role"] == "user" else text("Bien.")
    for n in range(6):
        world.say(f"Message {n}")
        with reading(world.services.db) as connection:
            state, kept = snapshots.current(connection, world.conversation())
            assert state == snapshots.at(connection, world.conversation(), None)
    assert kept > 20
    monkeypatch.setattr(snapshots, "version", lambda: "other")
    with reading(world.services.db) as connection:
        assert snapshots.current(connection, world.conversation()) == (state, 0)


def test_the_thousandth_turn_reads_what_the_first_did(world, monkeypatch):
    """Late in a long conversation a turn still reads only the events since the last snapshot."""
    monkeypatch.setattr(snapshots, "EVERY", 10)
    read_rows, original = [], log.read
    world.account()
    monkeypatch.setattr(loop.log, "read", lambda *a, **k: read_rows.append(len(found := original(*a, **k))) or found)
    for n in range(25):
        read_rows.clear()
        world.say(f"Message {n}")
    assert len(world.events()) > 100 and max(read_rows[:-1] or [0]) <= 20


# -- events for ever -----------------------------------------------------------------------------------------------


def test_every_kind_has_its_example():
    """For each kind of event one stored example lies in tests/data/events; it stays there for ever."""
    assert {path.stem for path in EXAMPLES} >= set(KINDS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_old_events_load_for_ever(path):
    """A stored event loads with all that it said, also with fields that are gone since, and says the same again."""
    stored = json.loads(path.read_text())
    event = load(stored["kind"], stored["id"], stored["payload"])
    assert type(event).__name__ == path.stem and event.id == stored["id"]
    assert payload(event) == stored["payload"] and all(getattr(event, k) == v for k, v in stored["payload"].items())
    assert load(stored["kind"], stored["id"], stored["payload"] | {"a field of another time": 1}) == event


def test_an_old_conversation_still_folds():
    """A whole conversation that was stored when Palabre began folds to what it was: nothing is owed, and everybody was heard."""
    stored = json.loads((DATA / "conversation.json").read_text())
    found = [
        Logged(e["seq"], datetime.fromisoformat(e["at"]), e["caused_by"], e["correlation_id"], load(e["kind"], e["id"], e["payload"]))
        for e in stored
    ]
    c = fold(found)
    assert next_step(c) is None and c.seq == len(stored) and c.quiz is None and c.quizzes == 1 and c.profile["mode"] == "child"
    sent = prompt.build(c)
    assert faults(sent[1:]) == [] and [m["content"] for m in sent if m["role"] == "user"][0] == "Bonjour"


def test_a_kind_that_never_was_is_told_aloud():
    """An unknown kind is an error, not something to be passed over."""
    with pytest.raises(KeyError):
        load("Teleported", "1", {})


# -- forks ---------------------------------------------------------------------------------------------------------


def test_a_fork_reads_its_prefix(database):
    """For every fork, and forks of forks, any stretch that is read is that stretch of the whole; the source knows nothing of it."""
    id = begun(database)
    with writing(database.db) as tx:
        log.append(tx, id, [human(f"SM{n}") for n in range(6)])

    def forked(source: str, at: int) -> str:
        with writing(database.db) as tx:
            row = tx.execute(sa.select(conversations).where(conversations.c.id == source)).one()
            made = log.fork(tx, row, at, None)
            log.append(tx, made, [human(f"{made}-{n}") for n in range(2)])
            return made

    first = forked(id, 4)
    others = [forked(first, 2), forked(first, 4), forked(first, 5), forked(first, 7), forked(forked(id, 1), 1)]
    with writing(database.db) as tx:
        log.append(tx, id, [human("later")])
        log.append(tx, first, [human("later too")])
    assert [e.event.id for e in read(database, id)] == [*(f"SM{n}" for n in range(6)), "later"]
    assert read(database, first)[:4] == read(database, id)[:4]
    assert read(database, others[3])[:7] == read(database, first)[:7]
    for one in (id, first, *others):
        whole = read(database, one)
        assert (
            [e.seq for e in whole] == list(range(1, len(whole) + 1))
            and not {"later", "later too"} & {e.event.id for e in whole}
            or one in (id, first)
        )
        for after in range(len(whole) + 2):
            for upto in (None, *range(len(whole) + 2)):
                for limit in (None, 1, 3):
                    stretch = [e for e in whole if e.seq > after and (upto is None or e.seq <= upto)][:limit]
                    assert read(database, one, after=after, upto=upto, limit=limit) == stretch


def test_the_arguments_of_a_call_are_found_in_the_prefix(database):
    """A fork knows the calls of its prefix and not those that came later in its source."""
    id = begun(database)
    with writing(database.db) as tx:
        log.append(tx, id, [human("SM1"), ModelReply("1", "", 1), ToolCall("c1", "x", {"n": 1}), ToolCall("c2", "x", {"n": 2})])
        row = tx.execute(sa.select(conversations).where(conversations.c.id == id)).one()
        made = log.fork(tx, row, 3, None)
        assert log.arguments_of(tx, made, "c1") == {"n": 1}
        with pytest.raises(KeyError):
            log.arguments_of(tx, made, "c2")


def test_a_log_without_rows_is_a_log(database):
    """A conversation in which nothing was said yet reads as nothing."""
    assert read(database, begun(database)) == [] and rows(database, events) == []
