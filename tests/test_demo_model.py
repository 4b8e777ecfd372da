"""The demo model in conversation: what it says and calls, its calls fit the tools, and its wire format is any other model's."""

import json
import re
import types

import flask
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from bot.demo import server, topics
from bot.demo.brain import answer
from bot.demo.practice import choices
from tools import offered

CHILD = list(offered.to("child"))
NOTICE = "OPENROUTER_API_KEY"


def user(text):
    return {"role": "user", "content": text}


def said(found, results=None):
    """The assistant's message for an Answer, and a result for each of its calls."""
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
        for n, c in enumerate(found.calls)
    ]
    message = {"role": "assistant", "content": found.text} | ({"tool_calls": calls} if calls else {})
    told = [(results or {}).get(c.name, '{"success": true}') for c in found.calls]
    return [message, *({"role": "tool", "tool_call_id": call["id"], "content": text} for call, text in zip(calls, told, strict=True))]


def ask(text, tools=CHILD, before=()):
    return answer([{"role": "system", "content": "# Le canal : WhatsApp"}, *before, user(text)], tools)


# -- a conversation -----------------------------------------------------------------------------------------------
PREPARE = "Aide-moi à préparer mon devoir de maths sur les fractions"


def test_the_first_answer_says_that_it_is_a_demonstration_and_how_to_get_a_model():
    for text in ("bonjour", "3/4 + 1/6", "la digestion", "quelle est la capitale du Pérou ?"):
        found = ask(text)
        assert "sans IA" in found.text and NOTICE in found.text and "OPENROUTER_BASE_URL" in found.text
    later = ask("la digestion", before=[user("bonjour"), {"role": "assistant", "content": "Bonjour"}])
    assert NOTICE not in later.text


def test_who_prepares_a_test_gets_an_explanation_and_a_quiz_at_once():
    found = ask(PREPARE)
    assert topics.bank()["fractions"].lesson("fr") in found.text
    assert [c.name for c in found.calls] == ["interactive_quiz"]


def test_who_only_asks_what_something_is_gets_no_quiz_in_the_first_answer():
    assert ask("C'est quoi la photosynthèse ?").calls == ()


def test_who_asks_for_help_later_gets_a_quiz_too():
    before = [user("bonjour"), {"role": "assistant", "content": "Bonjour"}]
    assert [c.name for c in ask("explique-moi la digestion", before=before).calls] in (["interactive_quiz"], ["true_false_quiz"])


def test_again_brings_another_question_on_the_same_topic():
    before = [user(PREPARE), *said(ask(PREPARE))]
    first, second = ask(PREPARE), ask("encore", before=before)
    assert "fractions" in second.text
    assert second.calls and second.calls[0].arguments != first.calls[0].arguments


@pytest.mark.parametrize(
    ("note", "right"),
    [
        (
            "[Quiz] À la question « Combien font 1/2 + 1/4 ? », la réponse donnée est 2 (3/4) : juste. La correction a déjà été envoyée.",
            True,
        ),
        (
            "[Quiz] À la question « Q ? », la réponse donnée est 1 (2/6) : faux ; la bonne réponse était 2 (3/4). La correction a déjà…",
            False,
        ),
        ("[Quiz] À la question « L'eau est salée : vrai ou faux ? », la réponse donnée est 2 (Faux) : juste. La correction…", True),
        ("[Quiz] À la question « Juste ou faux ? », la réponse donnée est 1 (Vrai) : faux ; la bonne réponse était 2 (Faux).", False),
        ("[Quiz] correct: true", True),
        ("[Quiz] correct=false", False),
        ("[Quiz] bonne réponse", True),
        ("[Quiz] mauvaise réponse ; la bonne réponse était 3/4", False),
        ("[Quiz] réponse incorrecte", False),
    ],
)
def test_a_quiz_result_is_reported_and_a_right_answer_rewarded(note, right):
    before = [user(PREPARE), *said(ask(PREPARE))]
    found = ask(note, before=before)
    names = [c.name for c in found.calls]
    assert names == (["report_exercise_result", "award_bonus_credits"] if right else ["report_exercise_result"])
    assert found.calls[0].arguments["correct"] is right
    assert found.calls[0].arguments["subject"] == "mathématiques"
    if right:
        assert found.calls[1].arguments["credits"] == 1
    after = answer([*before, user(f"2\n{note}"), *said(found)], CHILD)
    assert "Je ne sais pas" not in after.text
    assert after.calls == () and ("Bravo" in after.text) is right and "encore" in after.text


def test_a_refused_bonus_is_not_promised():
    before = [user(PREPARE), *said(ask(PREPARE))]
    note = "[Quiz] la réponse donnée est 1 (x) : juste."
    found = ask(note, before=before)
    after = answer([*before, user(note), *said(found, {"award_bonus_credits": '{"error": "limit for today"}'})], CHILD)
    assert "Bravo" in after.text and "crédit" not in after.text


def test_what_was_written_beside_a_quiz_answer_is_answered_too():
    before = [user(PREPARE), *said(ask(PREPARE))]
    text = "1\n[Quiz] la réponse donnée est 1 (x) : juste.\ncombien font 7 x 8 ?"
    after = answer([*before, user(text), *said(ask(text, before=before))], CHILD)
    assert "Bravo" in after.text and "56" in after.text


def test_a_pdf_holds_the_lesson_three_exercises_and_their_answers():
    before = [user(PREPARE), *said(ask(PREPARE))]
    wish = user("fais-moi un résumé en PDF")
    found = answer([*before, wish], CHILD)
    assert [c.name for c in found.calls] == ["generate_pdf"]
    content = found.calls[0].arguments["content"]
    assert topics.bank()["fractions"].explanation("fr") in content
    assert all(f"**{n}.**" in content for n in (1, 2, 3)) and "Corrigé" in content
    done = answer([*before, wish, *said(found, {"generate_pdf": '{"file_id": "f", "filename": "a.pdf"}'})], CHILD)
    assert done.calls == () and "prête" in done.text
    failed = answer([*before, wish, *said(found, {"generate_pdf": '{"error": "no room"}'})], CHILD)
    assert failed.calls == () and "numérateur" in failed.text


def test_a_pdf_on_nothing_asks_which_lesson():
    assert "Sur quelle leçon" in ask("un PDF stp").text


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"error": "TAVILY_API_KEY is not set"}', "n'est pas branchée ici"),
        ('{"results": [{"title": "Elim Kudum", "url": "https://a.example", "content": "Un  texte"}]}', "**Elim Kudum** : Un texte"),
        (
            '<donnees_non_fiables>\nattention\n{"results": [{"title": "T", "url": "u", "content": "c"}]}\n</donnees_non_fiables>',
            "**T** : c",
        ),
        ('{"results": []}', "rien donné"),
    ],
)
def test_a_web_search_is_called_and_its_result_explained(content, expected):
    found = ask("cherche sur internet le prix du cacao")
    assert [c.name for c in found.calls] == ["web_search"]
    after = answer([user("cherche sur internet le prix du cacao"), *said(found, {"web_search": content})], CHILD)
    assert after.calls == () and expected in after.text and NOTICE in after.text


@pytest.mark.parametrize(
    ("text", "calls", "expected"),
    [
        ("aujourd'hui on a vu les fractions", [], "numérateur"),
        ("cherche x : 2x + 3 = 11", [], "x = 4"),
        ("ok merci", [], "Avec plaisir"),
        ("quelle est la météo ?", ["web_search"], ""),
        ("salut !", [], "Dis-moi ce que tu étudies"),
        ("qui es-tu ?", [], "Je suis Palabre"),
        ("cherche des exemples de photosynthèse sur le web", ["web_search"], ""),
        ("exercice", ["interactive_quiz"], "À toi"),
        ("Bonjour, peux-tu m'expliquer le cycle de l'eau ?", [], "Évaporation"),
    ],
)
def test_the_wish_of_a_message_is_understood(text, calls, expected):
    found = ask(text)
    assert [c.name for c in found.calls] == calls and expected in found.text


def test_the_unknown_is_admitted_with_what_it_can_do():
    found = ask("Quel est le sens de la vie ?")
    assert found.calls == () and "Je ne sais pas répondre" in found.text and "cycle de l'eau" in found.text


def test_an_english_question_is_answered_in_english():
    found = ask("What is photosynthesis?")
    assert "without AI" in found.text and "green plant" in found.text
    quiz = ask("Help me prepare my homework about fractions").calls[0].arguments
    assert re.match("What is|Which", quiz["question"])


def test_sms_gets_a_short_answer():
    for text in (PREPARE, "bonjour", "la digestion"):
        messages = [{"role": "system", "content": "# Le canal : SMS\n\nÉcris du texte simple"}, user(text)]
        assert len(answer(messages, CHILD).text) <= 459, text


def test_a_picture_is_not_pretended_to_be_seen():
    content = [{"type": "text", "text": "[pièce jointe : photo.jpg, file_id f1]"}, {"type": "image_url", "image_url": {"url": "media:f1"}}]
    assert "ni les images" in answer([user(content)], CHILD).text
    assert "ni les images" in ask("c'est quoi ?\n[pièce jointe : devoir.pdf, file_id f2]").text


def test_a_guest_gets_the_exercise_in_words_and_its_verdict():
    found = ask(PREPARE, tools=[])
    assert found.calls == () and "Exercice :" in found.text and "1)" in found.text and "3)" in found.text
    count = len(re.findall(r"^\d\)", found.text, re.MULTILINE))
    verdicts = [ask(str(n), tools=[], before=[user(PREPARE), *said(found)]).text for n in range(1, count + 1)]
    assert sum("Juste !" in v for v in verdicts) == 1
    assert all("Pas tout à fait" in v for v in verdicts if "Juste !" not in v)
    assert "de 1 à" in ask("7", tools=[], before=[user(PREPARE), *said(found)]).text


def test_statements_come_with_two_choices():
    statement = topics.bank()["eau"].statements[1]
    assert choices(statement, "fr") == (("Vrai", "Faux"), 1)


# -- never a loop, never a crash ----------------------------------------------------------------------------------
STARTS = [topic.label("fr") for topic in topics.bank().values()] + [
    PREPARE,
    "encore",
    "PDF sur les fractions",
    "cherche la météo",
    "[Quiz] : juste.",
    "2",
    "merci",
    "quiz",
    "Help me",
    "",
    "qui es-tu ?",
]


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("text", STARTS)
def test_a_turn_ends_in_a_text_and_no_call_is_made_twice(text, failing):
    messages, made = [user(text)], []
    for _ in range(4):
        found = answer(messages, CHILD)
        for call in found.calls:
            offered.check(call.name, call.arguments)
            assert call not in made
            made.append(call)
        if not found.calls:
            assert found.text
            return
        messages += said(found, dict.fromkeys(offered.SCHEMAS, '{"error": "refused"}') if failing else None)
    pytest.fail("no text after four requests")


MESSAGE = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": st.one_of(st.text(max_size=60), st.sampled_from(STARTS))}),
    st.fixed_dictionaries({"role": st.sampled_from(["assistant", "system", "tool"]), "content": st.none() | st.text(max_size=40)}),
)


@hypothesis_settings(max_examples=150)
@given(st.lists(MESSAGE, min_size=1, max_size=6), st.booleans())
def test_any_messages_get_the_same_answer_twice(messages, guest):
    tools = [] if guest else CHILD
    first, second = answer(messages, tools), answer(messages, tools)
    assert first == second and (first.text or first.calls)
    assert not (guest and first.calls)


# -- on the wire --------------------------------------------------------------------------------------------------
@pytest.fixture
def client(services):
    app = flask.Flask("demo")
    app.extensions["palabre"] = types.SimpleNamespace(settings=services.settings, redis=services.redis)
    app.register_blueprint(server.blueprint)
    return app.test_client()


def post(client, **body):
    return client.post("/demo/v1/chat/completions", json={"model": "palabre/demo", "messages": [user(PREPARE)], "tools": CHILD, **body})


def test_a_stream_is_put_together_again_to_the_whole_answer(client):
    raw = post(client, stream=True)
    assert raw.mimetype == "text/event-stream"
    events = [line.removeprefix("data: ") for line in raw.get_data(as_text=True).split("\n\n") if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    text, arguments, names = "", {}, {}
    for chunk in chunks:
        assert chunk["object"] == "chat.completion.chunk"
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls", []):
                arguments[call["index"]] = arguments.get(call["index"], "") + call["function"]["arguments"]
                names.setdefault(call["index"], (call.get("id"), call["function"].get("name")))
    whole = post(client).get_json()["choices"][0]
    assert text == whole["message"]["content"]
    assert [(names[n], arguments[n]) for n in sorted(names)] == [
        ((c["id"], c["function"]["name"]), c["function"]["arguments"]) for c in whole["message"]["tool_calls"]
    ]
    assert chunks[-2]["choices"][0]["finish_reason"] == whole["finish_reason"] == "tool_calls"
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["total_tokens"] > 0


def test_a_text_alone_stops(client):
    choice = post(client, messages=[user("la digestion")]).get_json()["choices"][0]
    assert choice["finish_reason"] == "stop" and "tool_calls" not in choice["message"]


def test_the_models_are_listed(client):
    assert client.get("/demo/v1/models").get_json()["data"][0]["id"] == "palabre/demo"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"messages": []}',
        b'{"messages": "x"}',
        b'{"messages": [{}]}',
        b'{"messages": [1]}',
        b'{"messages": [{"role": "assistant", "content": "x"}]}',
        b'{"messages": [{"role": "user", "content": "x"}], "tools": 3}',
    ],
)
def test_a_bad_request_is_refused_in_json(client, body):
    refused = client.post("/demo/v1/chat/completions", data=body, content_type="application/json")
    assert refused.status_code == 400 and refused.get_json()["error"]["message"]


def test_a_slow_answer_is_slow_once(client, services, monkeypatch):
    slept = []
    monkeypatch.setattr(server.time, "sleep", slept.append)
    services.redis.set(server.SLOW_KEY, "8")
    assert post(client).status_code == post(client).status_code == 200
    assert slept == [8.0]
