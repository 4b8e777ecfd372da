"""Quizzes: asked by a tool, judged without the model, one verdict."""

import json

import pytest
from conftest import AWA, rows
from fakes import call, text

from bot.db import attempts

WHATSAPP = f"whatsapp:{AWA}"
ASK = {
    "question": "Quelle est la capitale de la Côte d'Ivoire ?",
    "options": ["Abidjan", "Yamoussoukro", "Bouaké"],
    "correct_index": 1,
    "explanation": "C'est ainsi depuis mars 1983.",
}
SAY = {"statement": "Le Nil traverse l'Égypte.", "correct_answer": True, "explanation": "Il y coule du sud au nord."}


@pytest.fixture
def pupil(world):
    """A learner with one open quiz; world.quiz holds what was sent."""
    world.account()

    def ask(arguments=ASK, then=()):
        name = "interactive_quiz" if "options" in arguments else "true_false_quiz"
        world.model.script = [call(name, arguments), *then]
        return world.say("Un quiz !")

    world.ask = ask
    return world


@pytest.mark.parametrize("arguments", [ASK, SAY], ids=["choices", "true or false"])
def test_the_prompt_gives_nothing_away(pupil, arguments):
    """What goes out shows the question and numbered choices, and neither the answer nor the explanation."""
    [shown] = pupil.ask(arguments)
    assert arguments.get("question", arguments.get("statement")) in shown and "1" in shown and "2" in shown
    assert arguments["explanation"] not in shown
    assert len(pupil.model.asked) == 1


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("2", True),
        ("2.", True),
        ("B", True),
        ("b)", True),
        ("la 2", True),
        ("réponse 2", True),
        ("2️⃣", True),
        ("٢", True),
        ("yamoussoukro", True),
        ("1", False),
        ("C", False),
        ("Bouaké", False),
    ],
)
def test_an_answer_is_judged_without_the_model(pupil, written, right):
    """The verdict goes out before the model is asked, with the explanation, and the attempt is kept."""
    pupil.ask(then=[text("On continue ?")])
    verdict, follow_up = pupil.say(written)

    assert ASK["explanation"] in verdict and "Yamoussoukro" in verdict and follow_up == "On continue ?"
    [answered] = [e.event for e in pupil.events() if type(e.event).__name__ == "QuizAnswered"]
    assert answered.correct is right and [a.correct for a in rows(pupil.services, attempts)] == [right]
    assert pupil.kinds().index("QuizAnswered") < len(pupil.kinds()) - 1 - pupil.kinds()[::-1].index("ModelRequest")


@pytest.mark.parametrize(
    ("written", "right"), [("vrai", True), ("VRAI !", True), ("v", True), ("true", True), ("c'est faux", False), ("F", False)]
)
def test_true_and_false(pupil, written, right):
    """True and false are understood in words, letters and any case."""
    pupil.ask(SAY, then=[text("Bien.")])
    pupil.say(written)
    assert [a.correct for a in rows(pupil.services, attempts)] == [right]


def test_out_of_range_keeps_the_question(pupil):
    """A number that is not there brings the question again, without the model; the answer then counts."""
    pupil.ask(then=[text("Bien.")])
    [again] = pupil.say("7")
    assert ASK["question"] in again and len(pupil.model.asked) == 1
    assert ASK["explanation"] in pupil.say("2")[0]


def test_talk_leaves_the_quiz_open(pupil):
    """Other text while a quiz is open goes to the model, and the quiz can still be answered."""
    pupil.ask(then=[text("Cinq."), text("Bravo.")])
    assert pupil.say("2 pommes et 3 pommes, ça fait combien ?") == ["Cinq."]
    assert ASK["explanation"] in pupil.say("2")[0]


def test_two_answers_count_once(pupil):
    """Two quick answers bring one verdict."""
    pupil.ask(then=[text("Bien.")] * 2)
    pupil.post("2"), pupil.post("3")
    pupil.work()
    assert sum(ASK["explanation"] in body for body in pupil.twilio.bodies()) == 1
    assert len(rows(pupil.services, attempts)) == 1


def test_an_expired_quiz_is_over(pupil, monkeypatch):
    """After its time the answer brings a kind word, no verdict, and is read as ordinary talk."""
    object.__setattr__(pupil.settings, "quiz_ttl_seconds", 0)
    monkeypatch.setattr(type(pupil.services.redis), "set", lambda self, *a, ex=None, **k: True if ex == 0 else _set(self, *a, ex=ex, **k))
    pupil.ask(then=[text("Tu parles du quiz ?")])
    kind, answer = pupil.say("2")
    assert ASK["explanation"] not in kind + answer and answer == "Tu parles du quiz ?" and not rows(pupil.services, attempts)


_set = __import__("redis").Redis.set


def test_a_quiz_outlives_redis(pupil):
    """What Redis forgot before its time is put back from the log."""
    pupil.ask(then=[text("Bien.")])
    pupil.services.redis.flushdb()
    assert ASK["explanation"] in pupil.say("2")[0]


def test_no_follow_up_when_it_is_switched_off(pupil):
    """With QUIZ_FOLLOW_UP=0 the model is not asked after the verdict."""
    object.__setattr__(pupil.settings, "quiz_follow_up", 0)
    pupil.ask()
    assert len(pupil.say("2")) == 1 and len(pupil.model.asked) == 1
    pupil.model.script = [text("Voilà.")]
    assert pupil.say("Et ensuite ?") == ["Voilà."]


def test_what_the_model_learns(pupil):
    """The tool's result holds no answer; the note after the learner's choice tells all of it."""
    pupil.ask(then=[text("Bien.")])
    pupil.say("1")
    messages = pupil.model.asked[1]["messages"]
    result = next(m for m in messages if m["role"] == "tool")["content"]
    assert "1983" not in result and "correct" not in result and json.loads(result)["options"] == ASK["options"]
    assert "1 (Abidjan) : faux" in messages[-1]["content"] and "Yamoussoukro" in messages[-1]["content"]


def test_text_beside_a_quiz_comes_first(pupil):
    """An explanation in the same answer as a quiz is sent before the question."""
    pupil.model.script = [call("interactive_quiz", ASK, content="La capitale est une ville.")]
    explanation, quiz = pupil.say("Un quiz")
    assert explanation == "La capitale est une ville." and ASK["question"] in quiz


def test_a_quiz_belongs_to_one_conversation(pupil):
    """Somebody else's number is not an answer to it."""
    pupil.ask(then=[text("Bonjour Koffi."), text("Bien.")])
    assert pupil.say("2", "whatsapp:+2250505060708") == ["Bonjour Koffi."]
    assert ASK["explanation"] in pupil.say("2")[0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"options": ["a"]}, "options"),
        ({"options": ["a", "A"]}, "same"),
        ({"correct_index": 3}, "correct_index"),
        ({"options": ["a", " "]}, "empty"),
        ({"correct_index": "1"}, "correct_index"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_quiz_that_cannot_be_asked(pupil, wrong, said):
    """The model is told what is wrong with its quiz, and nothing is sent."""
    assert pupil.ask({**ASK, **wrong}, then=[text("Autrement dit.")]) == ["Autrement dit."]
    assert said in pupil.model.asked[1]["messages"][-1]["content"]


def test_the_answer_lies_in_redis_until_it_is_given(pupil):
    """What judges an answer is the sealed quiz in Redis, which is gone once it was answered."""
    pupil.ask(then=[text("Bien.")])
    [key] = pupil.services.redis.keys(f"quiz:{pupil.conversation()}:*")
    assert key.decode().count(":") == 2
    pupil.services.redis.set(key, json.dumps({"question": "q", "options": ASK["options"], "correct": 2, "explanation": "De Redis."}), ex=60)
    assert "De Redis." in pupil.say("3")[0] and not pupil.services.redis.exists(key)
