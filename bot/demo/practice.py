"""Questions in a conversation: asked with the quiz tools, or in words where there are none, and what became of them."""

import re

from bot.demo import topics
from bot.demo.exercises import Exercise
from bot.demo.language import plain, say
from bot.demo.talk import Answer, Call, Talk, calls_of, read, words_of
from bot.demo.topics import Topic

VERDICT = re.compile(
    r":\s*(?:(juste|correcte?|vrai|bonne reponse|right|true)|(faux|fausse|incorrecte?|mauvaise reponse|wrong|false))"
    r"\s*(?:[.;!,]|$)"
)
WRONG = re.compile(r"incorrect|inexact|mauvais|wrong|❌|pas (?:juste|correct|bon)|not (?:right|correct)|faux|fausse|rate\b|false")
RIGHT = re.compile(r"juste|correct|bonne?\b|right|✅|exact|reussi|true|vrai")


def exercise_for(talk: Talk, topic: Topic) -> Exercise:
    """The question that this message brings; the very first of a conversation always has options to choose from."""
    return topics.exercise(topic, talk.seed, talk.language, statements=talk.count > 0)


def ask(talk: Talk, topic: Topic, text: str) -> Answer:
    exercise = exercise_for(talk, topic)
    if call := _quiz_call(exercise, talk.offered):
        return Answer(text, (call,))
    return Answer(f"{text}\n\n{_in_words(exercise, talk.language)}")


def _quiz_call(exercise: Exercise, offered: frozenset[str]) -> Call | None:
    if exercise.truth is not None and "true_false_quiz" in offered:
        return Call(
            "true_false_quiz", {"statement": exercise.question, "correct_answer": exercise.truth, "explanation": exercise.explanation}
        )
    if exercise.truth is None and "interactive_quiz" in offered:
        return Call(
            "interactive_quiz",
            {
                "question": exercise.question,
                "options": list(exercise.options),
                "correct_index": exercise.correct_index,
                "explanation": exercise.explanation,
            },
        )
    return None


def choices(exercise: Exercise, language: str) -> tuple[tuple[str, ...], int]:
    if exercise.truth is None:
        return exercise.options, exercise.correct_index
    return (("Vrai", "Faux") if language == "fr" else ("True", "False")), 0 if exercise.truth else 1


def _in_words(exercise: Exercise, language: str) -> str:
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


def offer(talk: Talk) -> str:
    return say(talk.language, "offer_quiz" if "generate_pdf" in talk.offered else "offer_quiz_guest")


def noted(talk: Talk) -> tuple[Call, ...]:
    """Palabre has told the learner the verdict: the calls that note the result and, when it was right, reward it."""
    right, topic = was_right(talk.text), talk.topic()
    calls = []
    if topic and right is not None and "report_exercise_result" in talk.offered:
        calls.append(
            Call(
                "report_exercise_result",
                {"subject": topic.subject, "correct": right, "topic": topic.title("fr"), "difficulty": topic.difficulty},
            )
        )
    if right and topic and "award_bonus_credits" in talk.offered:
        calls.append(
            Call("award_bonus_credits", {"credits": 1, "reason": say(talk.language, "bonus_reason", topic=topic.title(talk.language))})
        )
    return tuple(calls)


def was_right(text: str) -> bool | None:
    """What a note such as "[Quiz] … : juste." says: the word after the last colon that is one, else the first that looks like one.

    Quoted passages, options in brackets and "the right answer was…" are not the verdict."""
    note = plain(text[text.lower().index("[quiz") :])
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
