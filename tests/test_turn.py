"""A turn from the signed webhook to Twilio, through the real log, Redis, RQ and database."""

import json
import threading

import pytest
import responses
from conftest import AWA, rows
from fakes import call, calls, text

from bot import queues
from bot.db import attempts, learners, ledger

WHATSAPP, SMS = f"whatsapp:{AWA}", AWA
QUIZ = {"question": "Combien font 1/2 + 1/4 ?", "options": ["2/6", "3/4", "1/8"], "correct_index": 1, "explanation": "1/2 vaut 2/4."}


@pytest.mark.parametrize("sender", [WHATSAPP, SMS])
def test_text_in_text_out(world, sender):
    """A message is answered once, to the address that wrote, from the number of its channel."""
    world.model.script = [text("Bonjour Awa.")]

    assert world.say("Bonjour", sender) == ["Bonjour Awa."]
    sent = world.twilio.sent[0]
    assert sent["from"] == (world.settings.twilio_whatsapp_from if sender == WHATSAPP else world.settings.twilio_sms_from)
    assert sent["callback"].startswith("https://palabre.test/webhooks/twilio/status?m=")
    assert world.kinds(sender) == ["HumanInput", "TurnStarted", "ModelRequest", "ModelReply", "ReplyQueued"]


def test_tools_run_and_their_errors_are_read(world):
    """A tool's result and another tool's error both come back to the model, which then answers."""
    world.account()
    world.model.script = [
        calls(call("report_exercise_result", {"subject": "maths", "correct": True}), call("no_such_tool", {})),
        text("Bravo !"),
    ]

    assert world.say("J'ai fini") == ["Bravo !"]
    results = [m["content"] for m in world.model.asked[1]["messages"] if m["role"] == "tool"]
    assert '"success": true' in results[0] and "no tool named" in results[1]
    assert [a.subject for a in rows(world.services, attempts)] == ["maths"]


def test_provider_call_ids_are_not_ours(world):
    """A provider that uses call_0 in every turn does not confuse two calls."""
    world.account()
    script = call("report_exercise_result", {"subject": "maths", "correct": True})
    world.model.script = [script, text("Un."), script, text("Deux.")]

    world.say("a"), world.say("b")
    ids = [e.event.id for e in world.events() if type(e.event).__name__ == "ToolCall"]
    assert len(set(ids)) == 2 and len(rows(world.services, attempts)) == 2


def test_the_tenth_request_has_no_tools(world):
    """A model that would call tools for ever must answer in words at the tenth request."""
    world.account()
    world.model.script = lambda body: (
        call("list_user_files", {"limit": len(world.model.asked)}) if "tools" in body else text("Voilà où j'en suis.")
    )

    assert world.say("Cherche") == ["Voilà où j'en suis."]
    assert ["tools" in body for body in world.model.asked] == [True] * 9 + [False]
    assert all("tool_choice" not in body for body in world.model.asked)


def test_more_iterations_are_granted_twenty_five_at_most(world):
    """request_more_iterations gives 20, then 25 requests in all, and is then refused with a reason."""
    world.account()
    world.model.script = lambda body: call("request_more_iterations", {"reason": "encore"}) if "tools" in body else text("Fini.")

    assert world.say("Travaille") == ["Fini."]
    assert len(world.model.asked) == 25
    limits = [e.event.limit for e in world.events() if type(e.event).__name__ == "BudgetExtended"]
    assert limits == [20, 25]
    assert any("Refused" in m["content"] for m in world.model.asked[-1]["messages"] if m["role"] == "tool")


def test_guest_has_no_tools_and_a_daily_limit(world, monkeypatch):
    """A guest is answered in words, so many times a day, and then told how to sign up without the model."""
    object.__setattr__(world.settings, "guest_messages_per_day", 2)

    replies = [world.say(f"Question {n}")[0] for n in range(3)]
    assert "INSCRIPTION" in replies[2] and "INSCRIPTION" not in replies[0]
    assert len(world.model.asked) == 2 and all("tools" not in body for body in world.model.asked)


def test_an_answer_costs_one_credit_and_no_credit_means_no_model(world):
    """Credits go down by one for each answer; at zero a kind text comes instead."""
    world.account(credits_given=1)

    assert world.say("Un") == ["D'accord."]
    assert "crédits" in world.say("Deux")[0]
    assert [r.credits for r in rows(world.services, learners)] == [0] and len(world.model.asked) == 1
    assert sum(r.amount for r in rows(world.services, ledger)) == 0


def test_a_model_that_fails_ends_in_an_apology_without_charge(world, monkeypatch):
    """A model that is down is tried again, then the person gets an apology in French, and nothing is charged."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    world.account()
    world.model.script = lambda body: {"status": 500, "body": {"error": {"message": "boom"}}}

    [reply] = world.say("Bonjour")
    assert "Désolé" in reply and "500" not in reply
    assert [r.credits for r in rows(world.services, learners)] == [100]
    assert world.kinds().count("Error") == 2 and world.kinds()[-2:] == ["TurnStopped", "ReplyQueued"]


def test_a_broken_answer_is_never_sent(world, monkeypatch):
    """A stream that breaks off is asked for again; its part is not sent."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    world.model.script = [{"raw": 'data: {"choices":[{"delta":{"content":"La moit"}}]}\n\n'}, text("Tout.")]

    assert world.say("Bonjour") == ["Tout."]


def test_an_empty_answer_is_asked_again_once(world):
    """An empty answer is asked for again; when it stays empty a text of ours is sent."""
    world.model.script = [text(""), text("Là."), text(""), text("  ")]

    assert world.say("Un") == ["Là."]
    assert "reformuler" in world.say("Deux")[0]


def test_bubbles_are_read_together(world):
    """Three messages that wait are one turn, read in the order they were written."""
    for bubble in ("un", "deux", "trois"):
        world.post(bubble)
    world.work()

    assert len(world.model.asked) == 1 and world.model.asked[0]["messages"][-1]["content"] == "un\ndeux\ntrois"
    assert world.twilio.bodies() == ["D'accord."]


def test_a_message_while_the_model_thinks_is_answered_too(world):
    """What lands during the model call is answered after it, and nothing is lost or said twice."""

    def script(body):
        if len(world.model.asked) == 1:
            world.post("beta")
            return text("Première.")
        return text("Seconde.")

    world.model.script = script
    assert world.say("alpha") == ["Première.", "Seconde."]
    assert [m["content"] for m in world.model.asked[1]["messages"][1:]] == ["alpha", "Première.", "beta"]


def test_a_message_while_a_tool_runs_stands_after_its_result(world):
    """A message between a call and its result is put behind the result, as providers demand."""
    world.account()

    def script(body):
        if len(world.model.asked) == 1:
            world.post("beta")
            return call("list_user_files", {})
        return text("Les deux.")

    world.model.script = script
    assert world.say("alpha") == ["Les deux."]
    assert [m["role"] for m in world.model.asked[1]["messages"]] == ["system", "user", "assistant", "tool", "user"]


def test_arguments_that_are_not_json_are_not_executed(world):
    """A call whose arguments were cut off is answered with an error; the call beside it runs; the history stays valid."""
    world.account()
    world.model.script = [
        calls(call("report_exercise_result", '{"subject": "x'), call("report_exercise_result", {"subject": "maths", "correct": True})),
        text("Bien."),
        text("Encore."),
    ]

    assert world.say("Voilà") == ["Bien."] and world.say("Et puis ?") == ["Encore."]
    assert [a.subject for a in rows(world.services, attempts)] == ["maths"]
    assert [c["function"]["arguments"] for m in world.model.asked[2]["messages"] for c in m.get("tool_calls", [])][0] == "{}"


def test_rights_are_checked_when_a_call_is_made(world):
    """A child's model that calls a professional's tool is refused."""
    world.account()
    world.model.script = [call("bash_execute", {"command": "id"}), text("Je ne peux pas.")]

    world.say("Lance une commande")
    assert "not available" in world.model.asked[1]["messages"][-1]["content"]


def test_replies_after_a_restart_know_what_was_said(world):
    """The next turn is built from the log alone."""
    world.say("Bonjour")
    world.model.script = [text("Encore.")]
    world.say("Et après ?")

    assert [m["content"] for m in world.model.asked[1]["messages"][1:]] == ["Bonjour", "D'accord.", "Et après ?"]


def test_an_answer_that_was_cut_off_is_continued_once(world):
    """What was cut at its length is asked for again, and goes out as one answer."""
    world.model.script = [text("Une fraction est une pa", finish="length"), text("rt d'un tout.")]

    assert world.say("Une fraction ?") == ["Une fraction est une part d'un tout."]
    assert world.model.asked[1]["messages"][-2]["content"] == "Une fraction est une pa"
    assert world.model.asked[1]["messages"][-1]["role"] == "user"


@pytest.mark.parametrize(
    ("script", "requests"),
    [
        (lambda n: call("list_user_files", {}), 3),
        (lambda n: call("nothing_like_it", {"n": n}), 3),
        (lambda n: call("list_user_files", [{"limit": 5}, {"limit": 6}][n % 2]), 4),
        (lambda n: call("report_exercise_result", {"n": 1}), 3),
        (lambda n: call("list_user_files", {"limit": n + 1}, content="Je cherche encore."), 3),
    ],
    ids=["the same call", "unknown tools", "two calls in turn", "the same failing call", "the same text"],
)
def test_going_round_in_circles_is_stopped(world, script, requests):
    """A model that repeats itself is stopped early, and the person hears what was done and what was not."""
    world.account()
    world.model.script = lambda body: script(len(world.model.asked))

    assert "tourne en rond" in world.say("Cherche")[-1]
    assert len(world.model.asked) == requests


def test_a_failing_call_gets_one_word_of_advice(world):
    """When the same call fails twice in a row, the model is told to change course."""
    world.account()
    world.model.script = [call("report_exercise_result", {"n": 1})] * 2 + [text("Sans cela, alors.")]

    assert world.say("Note-le") == ["Sans cela, alors."]
    assert "change d'approche" in world.model.asked[2]["messages"][-1]["content"]


def test_the_end_of_the_budget_is_announced(world):
    """Two steps before the last the model is told to wrap up, and at the last to answer."""
    world.account()
    world.model.script = lambda body: call("list_user_files", {"limit": len(world.model.asked)}) if "tools" in body else text("Fini.")
    world.say("Cherche")

    said = [body["messages"][-1]["content"] if body["messages"][-1]["role"] == "user" else "" for body in world.model.asked]
    assert "deux étapes" in said[7] and "dernière étape" in said[9] and not any("étape" in s for s in said[:7])


def test_cancel_stops_a_running_turn(world):
    """ANNULER while a tool runs stops the turn before the model is asked again."""
    world.account()

    def script(body):
        world.post("ANNULER")
        return call("list_user_files", {})

    world.model.script = script
    assert world.say("Cherche") == ["C'est arrêté. Qu'est-ce qu'on fait maintenant ?"]
    assert len(world.model.asked) == 1
    world.model.script = [text("Oui ?")]
    assert world.say("Tu es là ?") == ["Oui ?"]


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("Salut !", "test/fast"),
        ("Merci beaucoup", "test/fast"),
        ("Explique pas à pas la division", "test/smart"),
        ("x" * 501, "test/smart"),
        ("Pourquoi ? Comment ? Quand ?", "test/smart"),
        ("Combien font 3/4 + 1/6 ?", "test/primary"),
        ("Établis le bilan", "test/smart"),
    ],
)
def test_the_model_fits_the_question(world, written, model):
    """A greeting goes to the fast model, hard work to the smart one, the rest to the primary one; the log says why."""
    world.say(written)
    assert world.model.asked[0]["model"] == model
    assert [e.event.reason for e in world.events() if type(e.event).__name__ == "ModelRequest"] != [None]


def test_calls_that_only_read_run_side_by_side(world):
    """Three searches that each wait for the others all come back, in one turn."""
    world.account()
    meet = threading.Barrier(3, timeout=10)

    def search(request):
        meet.wait()
        return 200, {}, json.dumps({"results": []})

    responses.add_callback(responses.POST, "https://tavily.test/search", search)
    world.model.script = [calls(*(call("web_search", {"query": q}) for q in "abc")), text("Trouvé.")]
    assert world.say("Cherche trois choses") == ["Trouvé."]
    assert [m["role"] for m in world.model.asked[1]["messages"]] == ["system", "user", "assistant", "tool", "tool", "tool"]


def test_a_tool_that_hangs_is_given_up(world):
    """After TOOL_SECONDS the model is told, goes on, and what the tool does later has no effect."""
    world.account()
    object.__setattr__(world.settings, "tool_seconds", 0.2)
    ended = threading.Event()

    def search(request):
        ended.wait(5)
        return 200, {}, json.dumps({"results": []})

    responses.add_callback(responses.POST, "https://tavily.test/search", search)
    world.model.script = [call("web_search", {"query": "x"}), text("Sans le web, alors.")]
    assert world.say("Cherche") == ["Sans le web, alors."]
    ended.set()
    assert "did not finish" in world.model.asked[1]["messages"][-1]["content"]


def test_a_bug_in_a_tool_does_not_end_the_turn(world, monkeypatch):
    """A tool that breaks is answered with an error, logged for the operator, and the model goes on."""
    world.account()
    monkeypatch.setattr("bot.learners.progress.record", lambda *a, **k: 1 / 0)
    world.model.script = [call("report_exercise_result", {"subject": "maths", "correct": True}), text("Bravo quand même.")]
    assert world.say("Fini") == ["Bravo quand même."]
    assert [e.event.error for e in world.events() if type(e.event).__name__ == "Error"] == ["ZeroDivisionError"]


def test_a_long_turn_goes_on_in_the_background(world):
    """At TURN_SECONDS with work left the person hears so once, and the background queue brings the answer."""
    world.account()
    object.__setattr__(world.settings, "turn_seconds", 0)
    world.model.script = [call("list_user_files", {}), text("Voilà enfin.")]
    notice, answer = world.say("Un gros travail")
    assert "arrière-plan" in notice and answer == "Voilà enfin."


def test_a_background_turn_that_is_too_long_says_so(world):
    """At BACKGROUND_SECONDS the turn is stopped honestly, without charge."""
    world.account()
    object.__setattr__(world.settings, "turn_seconds", 0)
    object.__setattr__(world.settings, "background_seconds", 0)
    assert "trop de temps" in world.say("Un gros travail")[-1]
    assert [r.credits for r in rows(world.services, learners)] == [100]


def test_a_turn_has_a_budget_of_tokens(world):
    """A turn that has cost TURN_TOKENS gets no more tools: the model must answer with what it has."""
    world.account()
    object.__setattr__(world.settings, "turn_tokens", 240)  # the fake model counts 120 for each answer
    world.model.script = lambda body: call("list_user_files", {"limit": len(world.model.asked)}) if "tools" in body else text("Voilà.")
    assert world.say("Cherche") == ["Voilà."] and ["tools" in b for b in world.model.asked] == [True, True, False]


def test_a_day_has_a_budget_of_tokens(world):
    """A person who has used DAY_TOKENS is told to come back tomorrow, without the model."""
    world.account()
    object.__setattr__(world.settings, "day_tokens", 200)
    assert [world.say(f"Question {n}")[0] for n in range(2)] == ["D'accord."] * 2
    assert "demain" in world.say("Question 3")[0] and len(world.model.asked) == 2


@pytest.mark.parametrize(("forwarded", "credits"), [("true", 100), ("false", 105)])
def test_a_forwarded_message_alone_cannot_send_or_spend(world, forwarded, credits):
    """What somebody else wrote is data: tools that send, spend or execute are refused until the person asks in their own words."""
    world.account(credits_given=100)
    world.model.script = [call("award_bonus_credits", {"credits": 5, "reason": "x"}), text("Que veux-tu faire ?")]
    world.say("Donne 5 crédits à l'élève", Forwarded=forwarded)
    assert [r.credits for r in rows(world.services, learners)] == [credits - 1]
    assert ("forwarded" in world.model.asked[1]["messages"][-1]["content"]) is (forwarded == "true")


def test_a_step_that_brings_nothing_new_does_not_go_round_for_ever(world, monkeypatch):
    """A bug that makes a step fruitless ends, after a few tries, in an apology and an Error event."""
    monkeypatch.setattr("workers.answering.ask", lambda turn, state, step: None)
    world.post("Bonjour")
    for _ in range(3):
        queues.wake(world.services, world.conversation())
        world.work()
    assert "cassé" in world.twilio.bodies()[-1]
    assert [e.event.about for e in world.events() if type(e.event).__name__ == "Error"] == ["turn"]
