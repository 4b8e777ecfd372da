"""
The demo model: a pure function of one request, without AI.

`answer` looks at the newest message and decides as a model would: a text, tool calls, or both. What it knows is the bank of topics
and how to work out school sums; of anything else it says that it does not know.
"""

import re
from dataclasses import replace

from bot.demo import practice, sums, topics
from bot.demo.language import plain, say
from bot.demo.talk import Answer, Call, Result, Talk, read
from bot.demo.topics import Topic

QUIZ_NOW = re.compile(
    r"prepar|quiz|quizz|exercice|exercise|entrain|interrog|revis|devoir|controle|examen|practi[sc]e|homework|"
    r"\btest|question|exam\b|revision|bepc|cepe|\bbac\b"
)
HELP = re.compile(r"\baide|\bhelp|expli|compren|understand|apprend|learn|teach")
AGAIN = re.compile(r"^\W*(encore|oui|ok|d'accord|vas-y|allez|suivante?|continue|une autre|autre|again|yes|another|next|go on|more)\b")
EXPLAIN = re.compile(r"expli|rappel|lecon|cours\b|compren|understand|lesson|remind")
REMIND = re.compile(r"\b(rappelle|rappel|rappeler|remind)\b")
PDF = re.compile(r"\bpdf\b|\bfiche\b|summary sheet")
SUMMARY = re.compile(r"\bresum|\bsummar")
WEB = re.compile(r"\binternet|\bweb\b|\bgoogle|\ben ligne|\bonline")
SEARCH = re.compile(r"\bcherche|\brecherche|\bsearch|\blook up")
NEWS = re.compile(
    r"actualite|\bmeteo|dernieres? nouvelle|en ce moment|\baujourd'hui|\bactuel|\bnews\b|\bweather|\btoday\b|\blatest|"
    r"qui est le president|who is the president|qui a gagne|who won"
)
HELLO = re.compile(r"^\W*(bonjour|bonsoir|salut|hello|hi|hey|coucou|salam|akwaba)\b")
THANKS = re.compile(r"\bmerci|\bthank")
WHO = re.compile(
    r"qui es[- ]tu|tu es qui|ton nom|comment tu t'appelle|es[- ]tu une? (robot|ia)|who are you|your name|"
    r"are you an? (robot|ai)"
)


def answer(messages: list[dict], tools: list[dict]) -> Answer:
    """What the demo model says to these messages when it is offered these tools (both as in an OpenAI-compatible request)."""
    talk = read(messages, tools)
    found = after_tools(talk) if talk.results else reply(talk)
    if talk.first and found.text:
        found = replace(found, text=f"{say(talk.language, 'notice_brief' if talk.brief else 'notice')}\n\n{found.text}")
    return found


# -- a new message ------------------------------------------------------------------------------------------------
def reply(talk: Talk) -> Answer:
    flat, here = plain(talk.said), topics.find(talk.said)
    if "[quiz" in talk.text.lower():
        calls = practice.noted(talk)
        return Answer("", calls) if calls else encouragement(talk, credited=False)
    if talk.has_file and not here and not sums.solve(talk.said, talk.language):
        return Answer(say(talk.language, "file"))
    if REMIND.search(flat) and "create_task" in talk.offered:
        return Answer("", (Call("create_task", {"title": talk.said[:200]}),))
    if PDF.search(flat):
        return summary(talk, here or talk.topic())
    if verdict := practice.judge(talk):
        return verdict
    solution = sums.solve(talk.said, talk.language)
    if WEB.search(flat) or (SEARCH.search(flat) and not solution):
        return search(talk)
    if solution:
        return solved(talk, solution)
    if not here and (small := small_talk(talk, flat)):
        return small
    topic = here or talk.topic()
    if topic and (here or any(wish.search(flat) for wish in (AGAIN, EXPLAIN, QUIZ_NOW, SUMMARY))):
        return lesson(talk, topic, flat, new=here is not None)
    if AGAIN.search(flat) or QUIZ_NOW.search(flat):
        names = list(topics.bank())
        return lesson(talk, topics.bank()[names[talk.seed % len(names)]], flat, new=True)
    if NEWS.search(flat):
        return search(talk)
    return Answer(say(talk.language, "file" if talk.has_file else "unknown") + "\n\n" + what_it_can(talk))


def small_talk(talk: Talk, flat: str) -> Answer | None:
    if WHO.search(flat):
        return Answer(say(talk.language, "who") + "\n\n" + what_it_can(talk))
    if len(flat.split()) > 5 or QUIZ_NOW.search(flat):
        return None
    if THANKS.search(flat):
        return Answer(say(talk.language, "thanks"))
    return Answer(say(talk.language, "hello") + "\n\n" + what_it_can(talk)) if HELLO.search(flat) else None


def what_it_can(talk: Talk) -> str:
    return say(talk.language, "can_brief" if talk.brief else "can", topics=labels(talk))


def labels(talk: Talk) -> str:
    found = [topic.label(talk.language) for topic in topics.bank().values()]
    return ", ".join([*found[::3], "..."] if talk.brief else found)


def solved(talk: Talk, solution: sums.Solution) -> Answer:
    topic = topics.bank()[solution.topic]
    if QUIZ_NOW.search(plain(talk.said)):
        return practice.ask(talk, topic, solution.text + "\n\n" + say(talk.language, "now_you"))
    return Answer(f"{solution.text}\n\n{practice.offer(talk)}")


def lesson(talk: Talk, topic: Topic, flat: str, new: bool) -> Answer:
    """Explain, question, or both: a first answer questions only who asked to be questioned or prepared."""
    again = not new and not EXPLAIN.search(flat) and not SUMMARY.search(flat)
    if again:
        return practice.ask(talk, topic, say(talk.language, "another", topic=topic.title(talk.language)))
    text = topic.lesson(talk.language, talk.brief)
    if QUIZ_NOW.search(flat) or (not talk.first and HELP.search(flat)) or (not talk.offered and HELP.search(flat)):
        return practice.ask(talk, topic, f"{text}\n\n{say(talk.language, 'now_you')}")
    return Answer(f"{text}\n\n{practice.offer(talk)}")


def encouragement(talk: Talk, credited: bool) -> Answer:
    topic = talk.topic()
    right = practice.was_right(talk.text)
    text = say(
        talk.language,
        ("praise_credit" if credited else "praise") if right else "comfort",
        topic=topic.label(talk.language) if topic else "…",
    )
    if not talk.said_since:
        return Answer(text)
    also = reply(replace(talk, text=talk.said_since))
    return replace(also, text=f"{text}\n\n{also.text}")


# -- files and the web --------------------------------------------------------------------------------------------
def summary(talk: Talk, topic: Topic | None) -> Answer:
    if not topic:
        return Answer(say(talk.language, "pdf_which", topics=labels(talk)))
    if "generate_pdf" not in talk.offered:
        return Answer(f"{say(talk.language, 'pdf_guest')}\n\n{topic.lesson(talk.language, talk.brief)}")
    made = [topics.exercise(topic, topics.seed_of(topic.name, n), talk.language, statements=False) for n in range(12)]
    three = list({exercise.question: exercise for exercise in made}.values())[:3]
    asked = [f"**{n}.** {e.question}\n\n" + "\n".join(f"- {option}" for option in e.options) for n, e in enumerate(three, 1)]
    answered = [f"{n}. **{e.options[e.correct_index]}** : {e.explanation}" for n, e in enumerate(three, 1)]
    title = say(talk.language, "pdf_title", topic=topic.title(talk.language))
    content = say(
        talk.language,
        "pdf_content",
        explanation=topic.explanation(talk.language),
        exercises="\n\n".join(asked),
        answers="\n".join(answered),
    )
    return Answer("", (Call("generate_pdf", {"title": title, "content": content}),))


def search(talk: Talk) -> Answer:
    if "web_search" not in talk.offered:
        return Answer(say(talk.language, "no_search") + "\n\n" + what_it_can(talk))
    return Answer("", (Call("web_search", {"query": talk.said[:300]}),))


# -- the results of tools -----------------------------------------------------------------------------------------
def after_tools(talk: Talk) -> Answer:
    results = {result.name: result for result in talk.results}
    language = talk.language
    if {"report_exercise_result", "award_bonus_credits"} & set(results):
        award = results.get("award_bonus_credits")
        return encouragement(talk, credited=award is not None and not award.failed)
    if "generate_pdf" in results:
        topic = topics.find(talk.said) or talk.topic()
        if results["generate_pdf"].failed and topic:
            return Answer(f"{say(language, 'pdf_failed')}\n\n{topic.lesson(language, talk.brief)}")
        return Answer(say(language, "pdf_done", topic=topic.title(language) if topic else "PDF"))
    if "web_search" in results:
        return searched(results["web_search"], language)
    last = talk.results[-1]
    if last.name in ("interactive_quiz", "true_false_quiz") and not last.failed:
        return Answer(say(language, "quiz_waits"))
    return Answer(say(language, "tool_failed", reason=reason(last)) if last.failed else say(language, "tool_done"))


def reason(result: Result) -> str:
    data = result.data
    return one_line(data.get("error") if isinstance(data, dict) else result.content, 200).split(". ")[0].rstrip(".") + "."


def one_line(text: object, longest: int) -> str:
    return re.sub(r"\s+", " ", str(text or "")).strip()[:longest]


def searched(result: Result, language: str) -> Answer:
    if result.failed:
        return Answer(say(language, "search_failed"))
    data = result.data
    rows = data.get("results", []) if isinstance(data, dict) else data
    if not isinstance(rows, list):
        text = one_line(rows, 600)
        return Answer(say(language, "searched", results=text) if text else say(language, "search_empty"))
    lines = [
        f"- **{row.get('title') or row.get('url')}** : {one_line(row.get('content'), 160)}\n  {row.get('url') or ''}"
        for row in rows[:3]
        if isinstance(row, dict)
    ]
    return Answer(say(language, "searched", results="\n".join(lines)) if lines else say(language, "search_empty"))
