"""
The demo model: a pure function of one request, without AI.

`answer` looks at the newest message and decides as a model would: a text, tool calls, or both. What it knows is the bank of topics
and how to work out school sums; of anything else it says that it does not know.
"""

import re
from dataclasses import dataclass, replace

from bot.demo import sums, topics
from bot.demo.exercises import Exercise
from bot.demo.language import plain, say
from bot.demo.talk import Result, Talk, calls_of, read, words_of
from bot.demo.topics import Topic

QUIZ_NOW = re.compile(r"prepar|quiz|quizz|exercice|exercise|entrain|interrog|revis|devoir|controle|examen|practi[sc]e|homework|"
                      r"\btest|question|exam\b|revision|bepc|cepe|\bbac\b")
HELP = re.compile(r"\baide|\bhelp|expli|compren|understand|apprend|learn|teach")
AGAIN = re.compile(r"^\W*(encore|oui|ok|d'accord|vas-y|allez|suivante?|continue|une autre|autre|again|yes|another|next|go on|more)\b")
EXPLAIN = re.compile(r"expli|rappel|lecon|cours\b|compren|understand|lesson|remind")
PDF = re.compile(r"\bpdf\b|\bfiche\b|summary sheet")
SUMMARY = re.compile(r"\bresum|\bsummar")
SEARCH = re.compile(r"\bcherche|\brecherche|\binternet|\bsur le web|\bweb\b|\bgoogle|actualite|\bmeteo|derniere?s? nouvelle|en ce moment|"
                    r"\baujourd'hui|\bactuel|\bsearch|\bnews\b|\bweather|\btoday\b|\blatest|qui est le president|who is the president")
HELLO = re.compile(r"^\W*(bonjour|bonsoir|salut|hello|hi|hey|coucou|salam|akwaba)\b")
THANKS = re.compile(r"\bmerci|\bthank")
WHO = re.compile(r"qui es[- ]tu|tu es qui|ton nom|comment tu t'appelle|es[- ]tu une? (robot|ia)|who are you|your name|"
                 r"are you an? (robot|ai)")
VERDICT = re.compile(r":\s*(?:(juste|correcte?|vrai|bonne reponse|right|true)|(faux|fausse|incorrecte?|mauvaise reponse|wrong|false))"
                     r"\s*(?:[.;!,]|$)")
WRONG = re.compile(r"incorrect|inexact|mauvais|wrong|❌|pas (?:juste|correct|bon)|not (?:right|correct)|faux|fausse|rate\b|false")
RIGHT = re.compile(r"juste|correct|bonne?\b|right|✅|exact|reussi|true|vrai")


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict


@dataclass(frozen=True)
class Answer:
    text: str
    calls: tuple[Call, ...] = ()


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
        return after_quiz(talk)
    if talk.has_image and not talk.said:
        return Answer(say(talk.language, "image"))
    if PDF.search(flat):
        return summary(talk, here or talk.topic())
    if verdict := judge(talk):
        return verdict
    if SEARCH.search(flat):
        return search(talk)
    if solution := sums.solve(talk.said, talk.language):
        return solved(talk, solution)
    topic = here or talk.topic()
    if topic and (here or AGAIN.search(flat) or EXPLAIN.search(flat) or QUIZ_NOW.search(flat) or SUMMARY.search(flat)):
        return lesson(talk, topic, flat, new=here is not None)
    if AGAIN.search(flat) or QUIZ_NOW.search(flat):
        names = list(topics.bank())
        return lesson(talk, topics.bank()[names[talk.seed % len(names)]], flat, new=True)
    for pattern, phrase in ((WHO, "who"), (THANKS, "thanks"), (HELLO, "hello")):
        if pattern.search(flat):
            return Answer(say(talk.language, phrase) + ("" if phrase == "thanks" else "\n\n" + what_it_can(talk)))
    return Answer(say(talk.language, "image" if talk.has_image else "unknown") + "\n\n" + what_it_can(talk))


def what_it_can(talk: Talk) -> str:
    return say(talk.language, "can_brief" if talk.brief else "can", topics=labels(talk))


def labels(talk: Talk) -> str:
    found = [topic.label(talk.language) for topic in topics.bank().values()]
    return ", ".join([*found[::3], "..."] if talk.brief else found)


def solved(talk: Talk, solution: sums.Solution) -> Answer:
    topic = topics.bank()[solution.topic]
    if QUIZ_NOW.search(plain(talk.said)):
        return ask(talk, topic, solution.text + "\n\n" + say(talk.language, "now_you"))
    return Answer(f"{solution.text}\n\n{offer(talk)}")


def offer(talk: Talk) -> str:
    return say(talk.language, "offer_quiz" if "generate_pdf" in talk.offered else "offer_quiz_guest")


def lesson(talk: Talk, topic: Topic, flat: str, new: bool) -> Answer:
    """Explain, question, or both: a first answer questions only who asked to be questioned or prepared."""
    again = not new and not EXPLAIN.search(flat) and not SUMMARY.search(flat)
    if again:
        return ask(talk, topic, say(talk.language, "another", topic=topic.title(talk.language)))
    text = topic.lesson(talk.language, talk.brief)
    if QUIZ_NOW.search(flat) or (not talk.first and HELP.search(flat)) or (not talk.offered and HELP.search(flat)):
        return ask(talk, topic, f"{text}\n\n{say(talk.language, 'now_you')}")
    return Answer(f"{text}\n\n{offer(talk)}")


# -- questions ----------------------------------------------------------------------------------------------------
def exercise_for(talk: Talk, topic: Topic) -> Exercise:
    """The question that this message brings; the very first of a conversation always has options to choose from."""
    return topics.exercise(topic, talk.seed, talk.language, statements=talk.count > 0)


def ask(talk: Talk, topic: Topic, text: str) -> Answer:
    exercise = exercise_for(talk, topic)
    if call := quiz_call(exercise, talk.offered):
        return Answer(text, (call,))
    return Answer(f"{text}\n\n{in_words(exercise, talk.language)}")


def quiz_call(exercise: Exercise, offered: frozenset[str]) -> Call | None:
    if exercise.truth is not None and "true_false_quiz" in offered:
        return Call("true_false_quiz", {"statement": exercise.question, "correct_answer": exercise.truth,
                                        "explanation": exercise.explanation})
    if exercise.truth is None and "interactive_quiz" in offered:
        return Call("interactive_quiz", {"question": exercise.question, "options": list(exercise.options),
                                         "correct_index": exercise.correct_index, "explanation": exercise.explanation})
    return None


def choices(exercise: Exercise, language: str) -> tuple[tuple[str, ...], int]:
    if exercise.truth is None:
        return exercise.options, exercise.correct_index
    return (("Vrai", "Faux") if language == "fr" else ("True", "False")), 0 if exercise.truth else 1


def in_words(exercise: Exercise, language: str) -> str:
    options, _ = choices(exercise, language)
    return say(language, "in_words", question=exercise.question, options="\n".join(f"{n}) {o}" for n, o in enumerate(options, 1)))


def judge(talk: Talk) -> Answer | None:
    """The verdict when a number or an option answers a question that the answer before put in words.

    Nothing is remembered: the question is made again from the messages that led to it."""
    asked = max((n for n, m in enumerate(talk.messages) if m.get("role") == "assistant"), default=None)
    if asked is None or calls_of(talk.messages[asked]):
        return None
    then = read(list(talk.messages[:asked]), [{"function": {"name": name}} for name in talk.offered])
    topic = topics.find(then.said) or then.topic() or topics.named_in(words_of(talk.messages[asked]))
    if not topic:
        return None
    exercise = exercise_for(then, topic)
    options, right = choices(exercise, then.language)
    if exercise.question not in words_of(talk.messages[asked]):
        return None
    said = plain(talk.said).strip(" .)!")
    number = re.fullmatch(r"(?:(?:la |le |reponse |numero |answer |number )*)([1-9]|[a-d])", said)
    if number:
        choice = int(number[1]) - 1 if number[1].isdigit() else "abcd".index(number[1])
    elif said in (flat := [plain(o) for o in options]):
        choice = flat.index(said)
    else:
        return None
    if choice >= len(options):
        return Answer(say(then.language, "no_such_option", last=len(options)))
    name = "right_in_words" if choice == right else "wrong_in_words"
    return Answer(say(then.language, name, answer=options[right], explanation=exercise.explanation) + "\n\n" + offer(talk))


def after_quiz(talk: Talk) -> Answer:
    """Palabre has told the learner the verdict; note the result and, when it was right, reward it."""
    right, topic = was_right(talk.text), talk.topic()
    calls = []
    if topic and right is not None and "report_exercise_result" in talk.offered:
        calls.append(Call("report_exercise_result", {"subject": topic.subject, "correct": right, "topic": topic.title("fr"),
                                                     "difficulty": topic.difficulty}))
    if right and topic and "award_bonus_credits" in talk.offered:
        calls.append(Call("award_bonus_credits", {"credits": 1, "reason": say(talk.language, "bonus_reason",
                                                                            topic=topic.title(talk.language))}))
    return Answer("", tuple(calls)) if calls else encouragement(talk, credited=False)


def was_right(text: str) -> bool | None:
    """What a note such as "[Quiz] … : juste." says: the word after the last colon that is one, else the first that looks like one.

    Quoted passages, options in brackets and "the right answer was…" are not the verdict."""
    note = plain(text[text.lower().index("[quiz"):])
    if found := re.search(r"\b(?:correct|juste)\W{1,4}(true|false|oui|non)\b", note):
        return found[1] in ("true", "oui")
    note = re.sub(r"«[^»]*»|“[^”]*”|\"[^\"]*\"|\([^)]*\)", " ", note)
    if found := list(VERDICT.finditer(note)):
        return bool(found[-1][1])
    note = re.sub(r"\b(?:la|the) (?:bonne|right|correct)e? (?:reponse|answer)", " ", note)
    wrong, right = WRONG.search(note), RIGHT.search(note)
    if not wrong and not right:
        return None
    return bool(right and not (wrong and wrong.start() <= right.start()))


def encouragement(talk: Talk, credited: bool) -> Answer:
    topic = talk.topic()
    right = was_right(talk.text)
    text = say(talk.language, ("praise_credit" if credited else "praise") if right else "comfort",
               topic=topic.label(talk.language) if topic else "…")
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
    content = say(talk.language, "pdf_content", explanation=topic.explanation(talk.language), exercises="\n\n".join(asked),
                  answers="\n".join(answered))
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
        return Answer(say(language, "search_failed", reason=reason(result)))
    data = result.data
    rows = data.get("results", []) if isinstance(data, dict) else data
    if not isinstance(rows, list):
        text = one_line(rows, 600)
        return Answer(say(language, "searched", results=text) if text else say(language, "search_empty"))
    lines = [f"- **{row.get('title') or row.get('url')}** : {one_line(row.get('content'), 160)}\n  {row.get('url') or ''}"
             for row in rows[:3] if isinstance(row, dict)]
    return Answer(say(language, "searched", results="\n".join(lines)) if lines else say(language, "search_empty"))
