"""The operator's API: who may ask, events and their pages, the state at any point, forks, replay, the live tail."""

import json
import threading
from itertools import pairwise

import pytest
import responses
from conftest import AWA, rows
from fakes import call, calls, text

from bot.conversation import prompt
from bot.db import attempts, conversations, events, learners, ledger, now, outbox, writing
from bot.web import api
from workers import turn

WHATSAPP, SMS = f"whatsapp:{AWA}", AWA
QUIZ = {"question": "Combien font 1/2 + 1/4 ?", "options": ["2/6", "3/4", "1/8"], "correct_index": 1, "explanation": "1/2 vaut 2/4."}
EXERCISE = call("report_exercise_result", {"subject": "maths", "correct": True})
KEY = {"Authorization": "Bearer operator-for-tests"}


def get(world, path: str, status: int = 200, **how):
    answer = world.web.get(f"/api/{path}", headers=KEY, **how)
    assert answer.status_code == status, answer.text
    return answer.get_json()


def post(world, path: str, body=None, status: int = 200):
    answer = world.web.post(f"/api/{path}", json=body, headers=KEY)
    assert answer.status_code == status, answer.text
    return answer.get_json()


def log_of(world, id: str | None = None, **query) -> list[dict]:
    found, after = [], 0
    while after is not None:
        page = get(world, f"conversations/{id or world.conversation()}/events", query_string={"after": after, **query})
        found, after = found + page["events"], page["next"]
    return found


def seqs(world, kind: str) -> list[int]:
    return [e["seq"] for e in log_of(world) if e["kind"] == kind]


@pytest.fixture
def story(world):
    """A learner's conversation with everything in it: tools, a quiz, an error, words, a message during the model's thinking."""
    world.account()
    script = [
        calls(EXERCISE, call("no_such_tool", {}), call("award_bonus_credits", {"credits": 9, "reason": "bravo"})),
        text("Bien. « É » 😀"),
        call("interactive_quiz", QUIZ, content="Voici :"),
        text("Bravo !"),
        {"status": 400, "body": {"error": {"message": "no"}}},
        text("Enfin."),
        text("Et encore."),
    ]

    def answer(body):
        if len(world.model.asked) == 6:
            world.post("pendant ce temps")
        return script[len(world.model.asked) - 1]

    world.model.script = answer
    for said in ("Bonjour", "Un quiz", "2", "SOLDE", "Et après ?"):
        world.say(said)
    assert len(world.model.asked) == 7
    return world


# -- who may ask ---------------------------------------------------------------------------------------------------

ROUTES = [
    ("GET", "conversations"),
    ("GET", "conversations/x/events"),
    ("GET", "conversations/x/state"),
    ("POST", "conversations/x/fork"),
    ("POST", "conversations/x/replay"),
]
STRANGERS = {
    "nobody": None,
    "empty": "",
    "no word": "operator-for-tests",
    "another word": "Basic operator-for-tests",
    "empty token": "Bearer ",
    "wrong": "Bearer operator-for-test",
    "longer": "Bearer operator-for-tests2",
    "blank": "Bearer  ",
    "not ASCII": "Bearer é",
    "NUL": "Bearer \x00",
}


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize(("method", "path"), ROUTES, ids=lambda x: x)
def test_without_the_operators_token_nothing_is_told(name, method, path, world):
    """Every route of the API answers 401 in JSON to whoever does not have the token, whether the thing exists or not."""
    environ = {} if STRANGERS[name] is None else {"HTTP_AUTHORIZATION": STRANGERS[name].encode().decode("latin-1")}
    answer = world.web.open(f"/api/{path}", method=method, environ_overrides=environ)
    assert answer.status_code == 401 and answer.get_json()["error"]


@pytest.mark.parametrize("given", ["Bearer ", "Bearer", "", "Bearer x"])
def test_an_empty_token_opens_nothing(given, world):
    """An empty OPERATOR_TOKEN never means that everybody may ask."""
    object.__setattr__(world.settings, "operator_token", "")
    assert world.web.get("/api/conversations", headers={"Authorization": given}).status_code == 401


@pytest.mark.parametrize(("method", "path"), ROUTES[1:], ids=lambda x: x)
def test_what_is_not_there(method, path, world):
    """A conversation that does not exist is 404 in JSON."""
    for id in ("x", "0" * 32, "%00", "é", "x" * 500):
        answer = world.web.open(
            f"/api/{path.replace('/x/', f'/{id}/')}", method=method, headers=KEY, json={"at": 1} if method == "POST" else None
        )
        assert answer.status_code == 404 and answer.get_json()["error"]


@pytest.mark.parametrize("value", ["-1", "abc", "1.5", "", " ", "²", "9" * 30, "9" * 5000, "0x1", "\x00"])
@pytest.mark.parametrize(("path", "name"), [("events", "after"), ("events", "limit"), ("state", "at")])
def test_numbers_that_are_none(path, name, value, world):
    """A parameter that is no whole number in range is 400 with a text that says so."""
    world.say("Bonjour")
    assert name in get(world, f"conversations/{world.conversation()}/{path}", 400, query_string={name: value})["error"]


@pytest.mark.parametrize("value", ["0", "-1", "x", "9" * 5000])
def test_list_parameters(value, world):
    """The list wants proper numbers too."""
    get(world, "conversations", 400, query_string={"limit": value})


BODIES = [
    None,
    {},
    [],
    "x",
    1,
    {"at": None},
    {"at": "1"},
    {"at": 1.0},
    {"at": True},
    {"at": 0},
    {"at": -1},
    {"at": 10**6},
    {"at": 10**30},
    {"at": [1]},
    {"at": 1, "model": ""},
    {"at": 1, "model": " "},
    {"at": 1, "model": 5},
    {"at": 1, "model": "x" * 201},
]


@pytest.mark.parametrize("body", BODIES, ids=lambda b: json.dumps(b)[:30])
def test_forks_that_cannot_be(body, world):
    """A fork without a seq of the log, or with a model that is no name, is 400 and makes nothing."""
    world.say("Bonjour")
    assert post(world, f"conversations/{world.conversation()}/fork", body, 400)["error"]
    assert len(rows(world.services, conversations)) == 1


@pytest.mark.parametrize("path", ["fork", "replay"])
@pytest.mark.parametrize(
    "raw",
    [b"{", b"\xff", b"[" * 60000, b'{"at": 1' + b"0" * 5000 + b"}", b'{"strict": 1' + b"0" * 5000 + b"}"],
    ids=["cut", "no UTF-8", "deep", "a number without end", "another"],
)
def test_bodies_that_are_no_json(path, raw, world):
    """A body that is no JSON is never a crash."""
    world.say("Bonjour")
    for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
        answer = world.web.post(f"/api/conversations/{world.conversation()}/{path}", data=raw, content_type=kind, headers=KEY)
        assert answer.status_code in ((400, 415) if path == "fork" else (200, 400, 415))
    assert len(rows(world.services, conversations)) == 1


@pytest.mark.parametrize("strict", ["false", 0, 1, None, []], ids=str)
def test_strict_is_true_or_false(strict, world):
    """A word for `strict` that is neither true nor false is refused: it must not be guessed."""
    world.say("Bonjour")
    assert "strict" in post(world, f"conversations/{world.conversation()}/replay", {"strict": strict}, 400)["error"]


def test_a_body_over_64_kilobytes_is_refused(world):
    """The API takes no large bodies."""
    world.say("Bonjour")
    answer = world.web.post(
        f"/api/conversations/{world.conversation()}/fork", data=b"x" * 70000, content_type="application/json", headers=KEY
    )
    assert answer.status_code == 413


def test_other_paths_and_methods(world):
    """Unknown paths are 404 and other methods 405, in JSON."""
    for method, path, status in (("GET", "nothing", 404), ("DELETE", "conversations", 405), ("GET", "conversations/x/fork", 405)):
        answer = world.web.open(f"/api/{path}", method=method, headers=KEY)
        assert answer.status_code == status and answer.get_json()["error"]


# -- conversations -------------------------------------------------------------------------------------------------


def test_conversations_are_listed_oldest_first(world):
    """One conversation for each address, in the order of their creation, page by page."""
    senders = [WHATSAPP, SMS, "whatsapp:CI.1234567890", "whatsapp:+2250701020399"]
    for sender in senders:
        world.post("Bonjour", sender)
    found = get(world, "conversations")
    assert [(c["participant"], c["channel"]) for c in found["conversations"]] == [
        (s, "whatsapp" if s.startswith("whatsapp:") else "sms") for s in senders
    ] and found["next"] is None
    for limit in (1, 2, 3, 4):
        listed, after = [], 0
        while after is not None:
            page = get(world, "conversations", query_string={"limit": limit, "after": after})
            assert len(page["conversations"]) <= limit
            listed, after = listed + page["conversations"], page["next"]
        assert listed == found["conversations"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("participant=%2B2250701020304", [WHATSAPP, SMS]),
        ("participant=+2250701020304", [WHATSAPP, SMS]),
        ("participant=whatsapp:%2B2250701020304", [WHATSAPP]),
        ("participant=whatsapp:+2250701020304", [WHATSAPP]),
        ("participant=%2B225%2007%2001%2002%2003%2004", [WHATSAPP, SMS]),
        ("participant=whatsapp:CI.1234567890", ["whatsapp:CI.1234567890"]),
        ("participant=%2B33612345678", []),
        ("participant=x", []),
        ("participant=%00", []),
        ("participant=%FF", []),
        ("participant=", None),
        ("participants=x", None),
    ],
)
def test_conversations_of_one_participant(query, found, world):
    """A telephone number finds its conversations on both channels; an address finds its own."""
    senders = [WHATSAPP, SMS, "whatsapp:CI.1234567890"]
    for sender in senders:
        world.post("Bonjour", sender)
    answer = world.web.get("/api/conversations?" + query, headers=KEY)
    assert [c["participant"] for c in answer.get_json()["conversations"]] == (senders if found is None else found)


def test_a_new_conversation_of_the_same_person(world):
    """NOUVEAU begins another conversation of the same participant."""
    world.say("Bonjour")
    world.say("NOUVEAU")
    world.say("Encore")
    found = get(world, "conversations", query_string={"participant": AWA})["conversations"]
    assert [c["participant"] for c in found] == [WHATSAPP] * 2 and found[0]["id"] != found[1]["id"]
    assert [e["payload"]["text"] for c in found for e in log_of(world, c["id"]) if e["kind"] == "HumanInput"] == [
        "Bonjour",
        "NOUVEAU",
        "Encore",
    ]


# -- events --------------------------------------------------------------------------------------------------------


def test_events_are_told_whole(story):
    """Every event has its fields, its kind's payload and its place; seq is dense, and (kind, id) is told once."""
    found = log_of(story)
    assert [e["seq"] for e in found] == list(range(1, len(found) + 1))
    assert all(set(e) == {"seq", "kind", "id", "at", "caused_by", "correlation_id", "payload"} for e in found)
    assert len({(e["kind"], e["id"]) for e in found}) == len(found)
    assert all(one["at"] <= other["at"] for one, other in pairwise(found)) and all(e["at"].endswith("+00:00") for e in found)
    of = {kind: [e for e in found if e["kind"] == kind] for kind in {e["kind"] for e in found}}
    assert {"text", "channel", "media"} <= set(of["HumanInput"][0]["payload"]) and of["HumanInput"][0]["payload"]["channel"] == "whatsapp"
    assert all({"name", "arguments"} <= set(e["payload"]) for e in of["ToolCall"]) and all(
        {"name", "ok", "result"} <= set(e["payload"]) for e in of["ToolResult"]
    )
    assert all({"model", "digest", "iteration"} <= set(e["payload"]) for e in of["ModelRequest"])
    assert {"tool_call_id", "choice", "correct"} <= set(of["QuizAnswered"][0]["payload"]) and of["QuizAnswered"][0]["payload"][
        "choice"
    ] == 1
    assert {e["id"] for e in of["ToolResult"]} == {e["id"] for e in of["ToolCall"]}
    assert {"Error", "ReplyQueued", "ModelReply"} <= set(of)


def test_a_result_is_kept_whole(world):
    """The log holds a tool's full result; what is cut is the copy in the prompt."""
    from conftest import responses as wire

    page = "é" * 20000
    wire.add(
        wire.POST,
        "https://tavily.test/search",
        json={"results": [{"title": "T", "url": "https://x.test", "content": page, "score": 1}] * 7, "query": "q", "response_time": 1},
    )
    world.account()
    world.model.script = [call("web_search", {"query": "fractions"}), text("Voilà.")]
    world.say("Cherche")
    [result] = [e["payload"] for e in log_of(world) if e["kind"] == "ToolResult"]
    shown = next(m["content"] for m in world.model.asked[1]["messages"] if m["role"] == "tool")
    assert result["ok"], result
    assert len(json.dumps(result["result"], ensure_ascii=False)) > len(shown) and len(shown) < 5 * 1700 + 1500 and "untrusted" in shown


def test_causes_and_turns(story):
    """caused_by is an earlier seq or null, null for what people write; the events of one turn have one correlation id."""
    found = log_of(story)
    assert all(e["caused_by"] is None or 1 <= e["caused_by"] < e["seq"] for e in found)
    assert {e["kind"] for e in found if e["caused_by"] is None} == {"HumanInput"}
    human = [e for e in found if e["kind"] == "HumanInput"]
    turns = {e["correlation_id"] for e in found}
    assert None not in turns and len(turns) == len(human) - 1  # the message during the thinking belongs to the turn under way
    assert len({e["correlation_id"] for e in found if e["seq"] < human[1]["seq"]}) == 1


@pytest.mark.parametrize("limit", [1, 2, 7, 100, 1000, 5000])
def test_pages_have_no_gaps(limit, story):
    """Pages of any size, put together, are the log; `next` is null at its end."""
    whole = get(story, f"conversations/{story.conversation()}/events", query_string={"limit": 1000})
    assert whole["next"] is None and log_of(story, limit=limit) == whole["events"]
    end = whole["events"][-1]["seq"]
    for after in (end, end + 1, end + 1000):
        assert get(story, f"conversations/{story.conversation()}/events", query_string={"after": after}) == {"events": [], "next": None}


# -- state ---------------------------------------------------------------------------------------------------------


def test_the_state_at_a_request_is_what_was_sent(story):
    """At each ModelRequest `messages` are exactly what was sent, also when a message had landed meanwhile; the digest is theirs."""
    requests = [e for e in log_of(story) if e["kind"] == "ModelRequest"]
    assert len(requests) == len(story.model.asked)
    for event, body in zip(requests, story.model.asked, strict=True):
        state = get(story, f"conversations/{story.conversation()}/state", query_string={"at": event["seq"]})
        assert state["messages"] == body["messages"] and event["payload"]["model"] == body["model"]
        tools = prompt.digest_of_tools(body.get("tools", []))
        assert event["payload"]["digest"] == prompt.digest(body["model"], body["messages"], body["max_tokens"], tools)


def test_a_message_between_reading_and_asking(world, monkeypatch):
    """A message that is written down after the log was read and before the request is, is not in the request's messages."""
    build, posted = prompt.build, []

    def built(*args, **kwargs):
        if not posted:
            posted.append(world.post("bêta").status_code)
        return build(*args, **kwargs)

    monkeypatch.setattr(prompt, "build", built)
    world.model.script = [text("Un."), text("Deux.")]
    assert world.say("alpha") == ["Un.", "Deux."]
    for seq, body in zip(seqs(world, "ModelRequest"), world.model.asked, strict=True):
        assert get(world, f"conversations/{world.conversation()}/state", query_string={"at": seq})["messages"] == body["messages"]
    assert [m["content"] for m in world.model.asked[0]["messages"][1:]] == ["alpha"]
    assert post(world, f"conversations/{world.conversation()}/replay", {"strict": True})["ok"]


def test_the_state_includes_its_event(story):
    """state?at=n is the fold of the first n events, and without `at` of all of them; the prompt is valid at every point."""
    found = log_of(story)
    for event in found:
        state = get(story, f"conversations/{story.conversation()}/state", query_string={"at": event["seq"]})
        assert (
            state["at"] == event["seq"] and state["messages"][0]["role"] == "system" and state["messages"][-1]["role"] in ("user", "tool")
        )
        if event["kind"] == "HumanInput" and not event["payload"].get("command"):
            assert event["payload"]["text"] in json.dumps(state["messages"][-1], ensure_ascii=False)
    end = get(story, f"conversations/{story.conversation()}/state")
    assert end["at"] == found[-1]["seq"] and end["state"]["quiz"] is None


def test_reading_changes_nothing(story):
    """The API's reading routes and replay change neither the log nor anything else."""
    before = [rows(story.services, t) for t in (events, conversations, outbox, ledger, attempts)]
    for path in ("events", "state"):
        get(story, f"conversations/{story.conversation()}/{path}")
    get(story, "conversations")
    post(story, f"conversations/{story.conversation()}/replay", {})
    assert before == [rows(story.services, t) for t in (events, conversations, outbox, ledger, attempts)]


# -- fork ----------------------------------------------------------------------------------------------------------


def effects(world) -> tuple:
    return (
        len(world.twilio.sent),
        len(rows(world.services, outbox)),
        len(rows(world.services, attempts)),
        len(rows(world.services, ledger)),
        [r.credits for r in rows(world.services, learners)],
        len(list(world.settings.home.glob("mail/*"))),
    )


@pytest.mark.parametrize("at", range(1, 40, 3))
def test_a_fork_at_any_point(at, story):
    """A fork shares the prefix, is carried on with its own model until nothing is left to do, and has no effect on anybody."""
    source, before, model_calls = log_of(story), effects(story), len(story.model.asked)
    at = min(at, len(source))
    story.model.script = lambda body: text("Autrement.")
    made = post(story, f"conversations/{story.conversation()}/fork", {"at": at, "model": "test/other"}, 201)
    story.work()

    forked = log_of(story, made["id"])
    assert forked[:at] == source[:at] and forked[at]["kind"] == "Forked" and forked[at]["payload"]["at"] == at
    assert log_of(story) == source and effects(story) == before
    assert {body["model"] for body in story.model.asked[model_calls:]} <= {"test/other"}
    assert [e["seq"] for e in forked] == list(range(1, len(forked) + 1))
    asked = sum(e["kind"] == "ModelRequest" for e in forked[at:])
    assert asked == len(story.model.asked) - model_calls
    assert not get(story, "conversations", query_string={"limit": 1, "after": 1})["conversations"][0]["working"]
    assert post(story, f"conversations/{made['id']}/replay", {"strict": True})["ok"]


def test_tools_of_the_prefix_do_not_run_again(world):
    """A fork behind a tool's result does not run it again; a fork between a call and its result only pretends to."""
    world.account(email="awa@exemple.ci")
    world.model.script = [calls(EXERCISE, call("send_email_to_user", {"subject": "Bilan", "body": "Bravo"})), text("Fait.")]
    world.say("Écris-moi")
    before = effects(world)
    world.model.script = lambda body: text("Autrement.")
    for event in [e for e in log_of(world) if e["kind"] in ("ToolCall", "ToolStarted", "ToolResult")]:
        made = post(world, f"conversations/{world.conversation()}/fork", {"at": event["seq"]}, 201)
        world.work()
        forked = log_of(world, made["id"])
        new = [e for e in forked[event["seq"] :] if e["kind"] == "ToolResult"]
        assert effects(world) == before
        assert all(e["payload"]["result"].get("simulated") for e in new if e["payload"]["ok"])
        assert forked[-1]["kind"] == "ReplyQueued" and forked[-1]["payload"]["text"] == "Autrement."


def test_what_happens_later_stays_in_the_source(world):
    """Messages that come after the fork go to the source only, and the fork of a fork keeps both prefixes."""
    world.say("Un")
    first = post(world, f"conversations/{world.conversation()}/fork", {"at": 1, "model": "test/a"}, 201)["id"]
    world.work()
    second = post(world, f"conversations/{first}/fork", {"at": len(log_of(world, first))}, 201)["id"]
    world.work()
    world.say("Deux")
    assert [e["payload"]["text"] for e in log_of(world) if e["kind"] == "HumanInput"] == ["Un", "Deux"]
    for id in (first, second):
        assert [e["payload"]["text"] for e in log_of(world, id) if e["kind"] == "HumanInput"] == ["Un"]
    assert log_of(world, second)[:-1] == log_of(world, first) and log_of(world, second, limit=1) == log_of(world, second)
    listed = get(world, "conversations", query_string={"participant": AWA})["conversations"]
    assert [c["id"] for c in listed] == [world.conversation(), first, second]


def test_a_fork_at_the_end_has_nothing_to_do(world):
    """Where nothing is left to do a fork asks nobody."""
    world.say("Bonjour")
    asked = len(world.model.asked)
    made = post(world, f"conversations/{world.conversation()}/fork", {"at": len(log_of(world))}, 201)
    world.work()
    assert len(world.model.asked) == asked and log_of(world, made["id"])[-1]["kind"] == "Forked"


# -- replay --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [True, False])
def test_a_replay_finds_what_happened(strict, story):
    """A conversation that nobody touched replays to its end, in every step; nothing leaves the machine."""
    before = len(responses.calls)
    found = post(story, f"conversations/{story.conversation()}/replay", {"strict": strict})
    assert found["ok"] and found["divergence"] is None and found["steps"] >= 7 and set(found) == {"ok", "steps", "divergence"}
    assert len(responses.calls) == before
    assert post(story, f"conversations/{story.conversation()}/replay")["ok"]


def altered(value, name: str):
    """A stored payload with one character of one field changed."""
    if isinstance(value[name], str):
        return {**value, name: value[name][:-1] + ("x" if value[name][-1] != "x" else "y")}
    return {**value, name: json.loads(json.dumps(value[name]).replace("maths", "mathy").replace('"mode": "child"', '"mode": "guest"'))}


CHANGES = {  # kind, which of them, field: and the event at which a strict replay finds it
    "what a person wrote": ("HumanInput", 0, "text", ("ModelRequest", 0)),
    "what a person wrote in the middle": ("HumanInput", 1, "text", ("ModelRequest", 2)),
    "who the person is": ("TurnStarted", 0, "profile", ("ModelRequest", 0)),
    "the digest": ("ModelRequest", 3, "digest", ("ModelRequest", 3)),
    "the model's name": ("ModelRequest", 1, "model", ("ModelRequest", 1)),
    "the tools": ("ModelRequest", 0, "tools", ("ModelRequest", 0)),
    "an answer": ("ModelReply", 1, "text", ("ReplyQueued", 0)),
    "the last answer": ("ModelReply", -1, "text", ("ReplyQueued", -1)),
    "a call": ("ToolCall", 0, "arguments", ("ModelRequest", 1)),
    "a call's name": ("ToolCall", 0, "name", ("ModelRequest", 1)),
    "a refusal": ("ToolResult", 1, "result", ("ModelRequest", 1)),
    "the note on a quiz": ("QuizAnswered", 0, "note", ("ModelRequest", 3)),
    "what was sent": ("ReplyQueued", 0, "text", ("ReplyQueued", 0)),
    "the last that was sent": ("ReplyQueued", -1, "text", ("ReplyQueued", -1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_changed_character_is_found(name, story):
    """A change of one character in what is stored is found at the first event that it makes different."""
    kind, number, field, (found_kind, found_number) = CHANGES[name]
    stored = [e for e in log_of(story) if e["kind"] == kind][number]
    here = (events.c.conversation_id == story.conversation()) & (events.c.seq == stored["seq"])
    with writing(story.services.db) as tx:
        tx.execute(events.update().where(here).values(payload=altered(stored["payload"], field)))
    replayed = post(story, f"conversations/{story.conversation()}/replay", {"strict": True})
    expected = [e for e in log_of(story) if e["kind"] == found_kind][found_number]["seq"]
    assert not replayed["ok"] and replayed["divergence"]["seq"] == expected and set(replayed["divergence"]) == {"seq", "expected", "got"}
    assert replayed["divergence"]["expected"] != replayed["divergence"]["got"]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", ["tutor", "mode_child", "channel_whatsapp"])
def test_one_changed_character_in_a_prompt_is_found(name, strict, story, monkeypatch):
    """A prompt text that was edited since is found at the first request that used it."""
    layer = prompt.layer
    monkeypatch.setattr(prompt, "layer", lambda n: layer(n) + "." if n == name else layer(n))
    replayed = post(story, f"conversations/{story.conversation()}/replay", {"strict": strict})
    assert not replayed["ok"] and replayed["divergence"]["seq"] == seqs(story, "ModelRequest")[0]


def test_an_event_that_nothing_called_for_is_found(story):
    """A result or an answer put into the log by another hand is found where it stands."""
    last, conversation = len(log_of(story)), story.conversation()
    with writing(story.services.db) as tx:
        tx.execute(
            events.insert().values(
                conversation_id=conversation, seq=last + 1, kind="ReplyQueued", id="reply:999", at=now(), payload={"text": "x"}
            )
        )
    assert post(story, f"conversations/{story.conversation()}/replay", {"strict": True})["divergence"]["seq"] == last + 1
    assert post(story, f"conversations/{story.conversation()}/replay", {"strict": False})["ok"]


# -- the live tail -------------------------------------------------------------------------------------------------


def read_events(stream, wanted: int) -> list[dict]:
    """The next *wanted* events of a stream."""
    found = []
    for chunk in stream:
        text = chunk.decode() if isinstance(chunk, bytes) else chunk
        found += [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
        if len(found) >= wanted:
            return found
    raise AssertionError("the stream ended")


def test_the_live_tail(world, monkeypatch):
    """With Accept: text/event-stream the events come as they are logged, each once, from `after` or Last-Event-ID on."""
    monkeypatch.setattr(api, "LOOK_SECONDS", 0.01)
    world.say("Bonjour")
    path, log = f"/api/conversations/{world.conversation()}/events", log_of(world)
    live = {**KEY, "Accept": "text/event-stream"}
    answer = world.web.get(path, headers=live)
    assert answer.status_code == 200 and answer.mimetype == "text/event-stream" and answer.headers["Cache-Control"] == "no-store"
    stream = iter(answer.response)
    assert read_events(stream, len(log)) == log

    another = threading.Thread(target=world.say, args=("Encore",))
    another.start()
    new = read_events(stream, 5)
    another.join(30)
    assert new == log_of(world)[len(log) :][: len(new)] and new[0]["payload"]["text"] == "Encore"

    for headers, query in ((live, "?after=3"), ({**live, "Last-Event-ID": "3"}, ""), ({**live, "Last-Event-ID": "3"}, "?after=1")):
        again = world.web.get(path + query, headers=headers)
        assert read_events(iter(again.response), 3)[0]["seq"] == 4
    for odd in ("x", "-1", "9" * 5000, "é".encode().decode("latin-1")):
        again = world.web.get(path, headers=live, environ_overrides={"HTTP_LAST_EVENT_ID": odd})
        assert again.status_code == 200
        again.close()


def test_the_tail_asks_for_the_token_too(world):
    """The live tail is no way around the token."""
    world.say("Bonjour")
    assert world.web.get(f"/api/conversations/{world.conversation()}/events", headers={"Accept": "text/event-stream"}).status_code == 401


def test_a_fork_is_taken_up_by_whoever_comes(story):
    """A fork whose job got lost is awake, so the clock finds it."""
    story.model.script = lambda body: text("Autrement.")
    made = post(story, f"conversations/{story.conversation()}/fork", {"at": 1}, 201)
    for queue in ("chat", "background", "delivery"):
        story.services.queue(queue).empty()
    [row] = rows(story.services, conversations, conversations.c.id == made["id"])
    assert row.awake_since is not None
    turn.take(story.services, made["id"])
    assert log_of(story, made["id"])[-1]["kind"] == "ReplyQueued"
