"""The order of messages that every provider accepts, whatever the log holds: a table of cases and a property."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.conversation import prompt
from bot.conversation.fold import Conversation
from bot.conversation.prompt import GO_ON, INTERRUPTED, repair


def user(content) -> dict:
    return {"role": "user", "content": content}


def says(content, *ids: str) -> dict:
    """What the model says, with calls of these ids."""
    calls = [{"id": i, "type": "function", "function": {"name": "web_search", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": content} | ({"tool_calls": calls} if calls else {})


def result(id: str, content: str = "") -> dict:
    return {"role": "tool", "tool_call_id": id, "content": content or f"result {id}"}


def lost(id: str) -> dict:
    return result(id, INTERRUPTED)


def faults(messages: list[dict]) -> list[str]:
    """Why a strict provider would refuse these messages."""
    found, open_calls, before = [], [], None
    for message in messages:
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                found.append("a result that is not right behind its call")
            else:
                open_calls.remove(message["tool_call_id"])
        elif open_calls:
            found.append("a call without its result")
        if role == before and role in ("user", "assistant"):
            found.append(f"two of {role}")
        if role == "assistant":
            if "tool_calls" in message and not message["tool_calls"]:
                found.append("an empty list of calls")
            if not message.get("content") and not message.get("tool_calls"):
                found.append("an empty answer")
            open_calls = [c["id"] for c in message.get("tool_calls", [])]
            if len(set(open_calls)) != len(open_calls):
                found.append("a call twice")
        before = role
    if open_calls:
        found.append("a call without its result at the end")
    if not messages or messages[0]["role"] != "user":
        found.append("it does not begin with the person")
    if messages and messages[-1]["role"] == "assistant":
        found.append("it ends with the model")
    return found


END = user("fin")
CASES = {  # what the log holds, and what is sent; the numbers are those of the table of cases this project began with
    "1 a clean conversation": (
        [user("a"), says("", "c1"), result("c1"), says("b"), END],
        [user("a"), says("", "c1"), result("c1"), says("b"), END],
    ),
    "2 a result at the start": ([result("c0"), says("x"), user("a"), says("b"), END], [user("a"), says("b"), END]),
    "3 two results at the start": ([result("c0"), result("c1"), says("x"), user("a"), says("b"), END], [user("a"), says("b"), END]),
    "4 a call without result between answers": (
        [user("a"), says("", "c1"), result("c1"), says("", "c2"), user("b"), says("d"), END],
        [user("a"), says("", "c1"), result("c1"), says("", "c2"), lost("c2"), user("b"), says("d"), END],
    ),
    "5 one of two results": (
        [user("a"), says("", "c1", "c2"), result("c1"), says("b"), END],
        [user("a"), says("", "c1", "c2"), result("c1"), lost("c2"), says("b"), END],
    ),
    "6 a long loop whose start was cut off": (
        [result("c0"), says("x"), user("a"), *[m for n in range(1, 6) for m in (says("", f"c{n}"), result(f"c{n}"))]],
        [user("a"), *[m for n in range(1, 6) for m in (says("", f"c{n}"), result(f"c{n}"))]],
    ),
    "7 a call whose content is null": (
        [user("a"), says(None, "c1"), result("c1"), says("b"), END],
        [user("a"), says(None, "c1"), result("c1"), says("b"), END],
    ),
    "8 two answers in a row": (
        [user("a"), says("x", "c1"), says("y", "c2"), result("c1"), result("c2")],
        [user("a"), says("x\ny", "c1", "c2"), result("c1"), result("c2")],
    ),
    "11 late results": (
        [user("a"), says("", "npm"), user("b"), says("", "git"), result("git"), result("npm"), says("x"), END],
        [user("a"), says("", "npm"), result("npm"), user("b"), says("", "git"), result("git"), says("x"), END],
    ),
    "12 B099 two calls and then the person": (
        [user("a"), says("", "t1", "t2"), user("b")],
        [user("a"), says("", "t1", "t2"), lost("t1"), lost("t2"), user("b")],
    ),
    "12 B099 one of two results, then the person": (
        [user("a"), says("", "t1", "t2"), result("t2"), user("b")],
        [user("a"), says("", "t1", "t2"), lost("t1"), result("t2"), user("b")],
    ),
    "14 an empty answer": ([user("a"), says(""), user("b"), says(None), END], [user("a\nb\nfin")]),
    "15 two results for one call": (
        [user("a"), says("", "c1"), result("c1", "un"), result("c1", "deux"), END],
        [user("a"), says("", "c1"), result("c1", "un"), END],
    ),
    "16 a burst": ([user("a"), user("b"), user("c")], [user("a\nb\nc")]),
    "17 a summary in the middle": (
        [user("a"), {"role": "system", "content": "s"}, user("b")],
        [user("a"), {"role": "system", "content": "s"}, user("b")],
    ),
    "18 a call twice": ([user("a"), says("", "c1"), says("", "c1"), result("c1")], [user("a"), says("", "c1"), result("c1")]),
    "18 a call again later": (
        [user("a"), says("", "c1"), result("c1"), user("b"), says("x", "c1"), END],
        [user("a"), says("", "c1"), result("c1"), user("b"), says("x"), END],
    ),
    "19 an answer of which nothing is left": (
        [user("a"), says("", "c1"), result("c1"), user("b"), says("", "c1"), user("c")],
        [user("a"), says("", "c1"), result("c1"), user("b\nc")],
    ),
    "a message between a call and its result": (
        [user("a"), says("", "c1"), user("b"), result("c1")],
        [user("a"), says("", "c1"), result("c1"), user("b")],
    ),
    "a result before its call": ([user("a"), result("c1"), says("", "c1")], [user("a"), says("", "c1"), result("c1")]),
    "an empty list of calls": ([user("a"), says("b") | {"tool_calls": []}, END], [user("a"), says("b"), END]),
    "calls that are null": (
        [user("a"), says("b") | {"tool_calls": None}, says("c", "c1"), result("c1")],
        [user("a"), says("b\nc", "c1"), result("c1")],
    ),
    "the model speaks last": ([user("a"), says("b")], [user("a"), says("b"), user(GO_ON)]),
    "the model speaks first": ([says("b"), user("a")], [user("a")]),
    "nothing": ([], [user(GO_ON)]),
    "nothing but results": ([result("a"), result("b")], [user(GO_ON)]),
    "a picture beside words": (
        [user("a"), user([{"type": "image_url", "image_url": {"url": "media:f"}}]), user("b")],
        [user([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "media:f"}}, {"type": "text", "text": "b"}])],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_cases(name):
    """Each kind of disorder is put right in one known way; doing it twice changes nothing; what was given is not touched."""
    given_messages, wanted = CASES[name]
    before = copy.deepcopy(given_messages)
    found = repair(given_messages)
    assert found == wanted and repair(found) == found and faults(found) == [] and given_messages == before


ids = st.sampled_from([f"c{n}" for n in range(5)])
words = st.sampled_from(["a", "é", "deux\nlignes", "b"])
messages = st.one_of(
    st.builds(user, words | st.just([{"type": "text", "text": "vois"}, {"type": "image_url", "image_url": {"url": "media:f1"}}])),
    st.builds(lambda c, i: says(c, *i), words | st.sampled_from(["", None]), st.lists(ids, max_size=3)),
    st.builds(result, ids, words),
    st.builds(lambda m, c: m | {"tool_calls": c}, st.builds(says, words), st.sampled_from([None, []])),
    st.just({"role": "system", "content": "résumé"}),
)


def spoken(messages: list[dict]) -> str:
    """All that the person said, in order."""
    found = []
    for message in messages:
        if message["role"] == "user":
            content = message["content"]
            found += [content] if isinstance(content, str) else [p.get("text", "") for p in content]
    return "".join("".join(found).split())


@given(st.lists(messages, max_size=30))
def test_any_messages_become_acceptable(found):
    """20: for any list the result keeps every rule, is the same when repaired again, loses no word of the person, and nothing raises."""
    before = copy.deepcopy(found)
    repaired = repair(found)
    assert [f for f in faults(repaired) if "begin" not in f or not any(m["role"] == "system" for m in found)] == []
    assert repair(repaired) == repaired and found == before
    assert spoken(repaired).replace("".join(GO_ON.split()), "") == spoken(found)


@given(st.lists(messages, max_size=30), st.integers(0, 400))
def test_any_budget_keeps_the_rules(found, budget):
    """However little room there is, what is sent keeps the rules and ends with what was said last."""
    repaired = repair([m for m in found if m["role"] != "system"])
    fitted = prompt.fit(repaired, budget)
    assert faults(fitted) == [] and fitted == repaired[len(repaired) - len(fitted) :]
    assert sum(map(prompt.tokens, fitted)) <= budget or sum(m["role"] == "user" for m in fitted) == 1


@pytest.mark.parametrize("arguments", ["{bad", '{"q": "x', "null", "", "[1]"])
def test_arguments_that_were_no_object_are_echoed_as_one(arguments):
    """B094: a call in the log whose arguments are no JSON object is sent back as an empty object, for ever."""
    call = {"id": "c1", "name": "web_search", "arguments": arguments, "seq": 3}
    view = (
        {"is": "human", "seq": 1, "id": "SM1", "text": "a", "media": []},
        {"is": "reply", "seq": 2, "read": 1, "text": "", "calls": [call]},
        {"is": "result", "seq": 4, "id": "c1", "text": "non", "ok": False},
    )
    sent = prompt.build(Conversation(view=view, heard=4))
    assert [json.loads(c["function"]["arguments"]) for m in sent for c in m.get("tool_calls", [])] == [{}] and faults(sent[1:]) == []


def test_a_prompt_without_a_conversation():
    """Even an empty conversation gives something that can be sent."""
    system, *rest = prompt.build(Conversation())
    assert system["role"] == "system" and system["content"] and faults(rest) == []
