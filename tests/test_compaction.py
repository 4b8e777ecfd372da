"""A conversation that outgrows the context is told in a summary; nothing is lost from the log."""

import pytest
from fakes import call, text

from bot.conversation import compaction


def talk(world, turns: int) -> None:
    for n in range(turns):
        world.say(f"Question {n} : " + "mot " * 60)


@pytest.fixture
def small(world):
    """A world whose model reads about 2,000 tokens."""
    world.account()
    object.__setattr__(world.settings, "context_tokens", 2000)
    return world


def summary_or(answer):
    return lambda body: text("Il a parlé de mots.") if body["messages"][0]["content"] == compaction.INSTRUCTION else answer


def test_the_older_part_becomes_a_summary(small):
    """The model then reads the summary and the newest messages; the log keeps every message."""
    small.model.script = summary_or(text("D'accord."))
    talk(small, 24)
    shown = "\n".join(str(m["content"]) for m in small.model.asked[-1]["messages"][1:])
    assert "Il a parlé de mots." in shown and "Question 0 " not in shown and "Question 23 " in shown
    assert small.kinds().count("HumanInput") == 24 and "Compacted" in small.kinds()


def test_requests_stay_inside_the_context(small):
    """However long the conversation, what is sent stays about as small."""
    small.model.script = summary_or(text("D'accord."))
    talk(small, 40)
    sizes = [
        sum(len(str(m["content"])) for m in b["messages"][1:]) // 3
        for b in small.model.asked
        if b["messages"][0]["content"] != compaction.INSTRUCTION
    ]
    assert max(sizes) < 2000


def test_without_a_model_the_summary_is_made_all_the_same(small):
    """When the summary fails, the beginnings of what was said stand for it, and the turn goes on."""
    small.model.script = lambda body: (
        {"status": 500, "body": {}} if body["messages"][0]["content"] == compaction.INSTRUCTION else text("D'accord.")
    )
    talk(small, 24)
    assert "La personne a dit" in str(small.model.asked[-1]["messages"]) and small.twilio.bodies()[-1] == "D'accord."


def test_a_call_is_never_parted_from_its_result(small):
    """Compaction cuts only where the person began to speak."""

    def script(body):
        if body["messages"][0]["content"] == compaction.INSTRUCTION:
            return text("Résumé.")
        return call("list_user_files", {}) if body["messages"][-1]["role"] == "user" else text("D'accord.")

    small.model.script = script
    talk(small, 24)
    for body in small.model.asked:
        open_calls = [c["id"] for m in body["messages"] for c in m.get("tool_calls", [])]
        assert open_calls == [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]


def test_newest_entries_that_are_too_large_are_not_compacted_again_and_again(small):
    """When even the newest entries outgrow the context, the turn goes on: each summary tells something that was not told yet."""
    small.model.script = summary_or(text("D'accord."))
    for n in range(14):
        assert small.say(f"Question {n} : " + "mot " * 600) == ["D'accord."]
    kept = [e.event.id for e in small.events() if type(e.event).__name__ == "Compacted"]
    assert len(kept) == len(set(kept)) > 1


def test_there_is_always_something_left_to_tell():
    """A view that is nothing but a summary and the newest entries is not cut."""
    view = ({"is": "note", "text": "résumé"}, {"is": "human", "text": "x" * 99999}, *({"is": "reply", "text": "y", "calls": []},) * 15)
    assert compaction.cut_at(view, 100) is None
