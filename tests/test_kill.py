"""Killing a worker at any moment changes neither the log nor what is sent."""

import re

import pytest
import requests
from conftest import rows
from fakes import call, calls, masked, text

from bot.channels import outbox
from bot.db import attempts, conversations, files, learners, ledger, now, reading
from workers import delivery, turn

QUIZ = {"question": "Combien font 1/2 + 1/4 ?", "options": ["2/6", "3/4", "1/8"], "correct_index": 1, "explanation": "1/2 vaut 2/4."}
EXERCISE = call("report_exercise_result", {"subject": "maths", "correct": True})
PLAYS = {  # what the model says, one answer after another, and what the learner writes
    "an answer": ([text("Bonjour Awa.")], ["Bonjour"]),
    "tools, a file and an answer": (
        [
            calls(
                EXERCISE,
                call("award_bonus_credits", {"credits": 3, "reason": "bravo"}),
                call("generate_md", {"title": "Notes", "content": "# Un"}),
            ),
            text("Voici."),
        ],
        ["Fais-moi une fiche"],
    ),
    "a quiz, its answer and what follows": (
        [call("interactive_quiz", QUIZ, content="Une fraction est une part."), EXERCISE, text("On continue ?")],
        ["Un quiz", "2"],
    ),
    "control words": ([], ["SOLDE", "AIDE", "NOUVEAU"]),
    "a message that cannot be repeated": (
        [call("send_email_to_user", {"subject": "Bilan", "body": "Bravo"}), text("C'est parti.")],
        ["Écris-moi"],
    ),
}


class Killed(BaseException):
    """Not an Exception, as kill -9 is none: nothing on the way may handle it."""


class Killer:
    """While armed, dies at the *at*-th moment: a database commit or an HTTP request, just before it or just after."""

    def __init__(self, patch, engine, at: int | None):
        self.at, self.moments, self.armed = at, 0, False
        commit, send = engine.dialect.do_commit, requests.adapters.HTTPAdapter.send
        patch.setattr(engine.dialect, "do_commit", lambda connection: self.around(lambda: commit(connection)))
        patch.setattr(requests.adapters.HTTPAdapter, "send", lambda *a, **k: self.around(lambda: send(*a, **k)))

    def around(self, act):
        self.moment()
        result = act()
        self.moment()
        return result

    def moment(self) -> None:
        if self.armed:
            self.moments += 1
            if self.moments == self.at:
                raise Killed


def carry_on(world) -> None:
    """What the clock and new workers do after a death: take up what is awake, send what is due, until there is nothing."""
    for _ in range(20):
        with reading(world.services.db) as connection:
            awake = [c.id for c in connection.execute(conversations.select()) if c.awake_since]
            due = outbox.due(connection, now())
        if not awake and not due:
            return
        try:
            for id in awake:
                turn.take(world.services, id)
            for address in due:
                delivery.deliver_now(world.services, address)
        except Killed:
            pass
    raise AssertionError("the conversation never comes to rest")


def play(world, patch, script, said, at: int | None):
    """One play, killed at moment *at*; returns (log, messages sent, effects) without what chance decides, and the killer."""
    killer = Killer(patch, world.services.db, at)
    world.account(email="awa@exemple.ci")
    world.model.script = lambda body: script[sum(m["role"] == "assistant" for m in body["messages"])]
    for message in said:
        world.post(message)
        killer.armed = True
        carry_on(world)
        killer.armed = False
    hide = re.compile(r"\b[0-9a-f]{32,64}\b|f[0-9a-f]{16}|/media/[\w-]+/|\d{4}-\d\d-\d\dT[^\"']+")
    story = [hide.sub("…", repr(e.event)) for e in world.events()]
    mails = sorted((world.settings.home / "mail").glob("*.eml"))
    effects = {
        "attempts": len(rows(world.services, attempts)),
        "files": len(rows(world.services, files)),
        "mails": len(mails),
        "credits": [r.credits for r in rows(world.services, learners)],
        "ledger": sum(r.amount for r in rows(world.services, ledger)),
    }
    return story, [masked(m["body"]) for m in world.twilio.sent], effects, killer


@pytest.mark.parametrize("name", PLAYS)
def test_killed_at_any_moment(name, fresh_world, monkeypatch):
    """Whatever the moment of death, the log, the messages and the effects are those of a calm run; an e-mail that may have left is never
    sent again."""
    monkeypatch.setattr(delivery, "LOOK_UP_AFTER", 0)
    script, said = PLAYS[name]
    with fresh_world() as world, monkeypatch.context() as patch:
        *calm, killer = play(world, patch, script, said, None)
    assert killer.moments > 10
    for at in range(1, killer.moments + 1):
        with fresh_world() as world, monkeypatch.context() as patch:
            story, sent, effects, _ = play(world, patch, script, said, at)
        assert sent == calm[1], f"killed at moment {at} of {killer.moments}"
        if effects["mails"] == 0 or "Interrupted" in str(story):  # in doubt the model is told so
            assert "may or may not" in str(story) or effects == calm[2]
        else:
            assert (story, effects) == (calm[0], calm[2]), f"killed at moment {at} of {killer.moments}"
        assert effects["mails"] <= calm[2]["mails"]
