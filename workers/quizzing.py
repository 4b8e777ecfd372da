"""Judge an answer to a quiz, without the model; the verdict goes out at once."""

from bot.conversation import log
from bot.conversation.events import QuizAnswered, QuizExpired, Unanswered
from bot.conversation.fold import Conversation
from bot.db import reading
from bot.learners import accounts, progress, quizzes
from bot.texts import say
from workers import replying
from workers.context import Turn


def judge(turn: Turn, state: Conversation, input: dict, quiz: dict) -> None:
    services, language = turn.services, state.profile.get("language", "fr")
    if _opted_out(turn):  # the quiz waits for START
        turn.log(Unanswered(input["id"], "opted_out"), caused_by=input["seq"])
        return
    sealed = quizzes.recall(services.redis, turn.conversation, quiz, _arguments(turn, quiz["call"]))
    if sealed is None:
        turn.log(QuizExpired(quiz["call"], input["id"]), caused_by=input["seq"])
        return
    choice = quizzes.read(input["text"], quiz)
    if not 0 <= choice < len(sealed["options"]):
        text = say(language, "quiz_verdict.out_of_range", last=len(sealed["options"])) + "\n\n" + quizzes.prompt(quiz, language)
        replying.send(turn, state, f"again:{input['id']}", text, input["seq"])
        return
    correct = choice == sealed["correct"]
    told = note(sealed, choice) if services.settings.quiz_follow_up else ""
    answered = QuizAnswered(quiz["call"], quiz["call"], choice, correct, input["id"], told)
    right = sealed["options"][sealed["correct"]]
    text = say(language, "quiz_verdict.right" if correct else "quiz_verdict.wrong", answer=f"{sealed['correct'] + 1}) {right}")

    owner, key = state.profile.get("owner", turn.row.address), f"quiz:{turn.conversation}:{quiz['call']}"

    def record(tx) -> None:
        progress.record(tx, key=key, owner=owner, kind="quiz", correct=correct, topic=quiz["question"])

    verdict = f"{text}\n{sealed['explanation']}"
    if replying.send(turn, state, f"verdict:{quiz['call']}", verdict, input["seq"], also=(answered,), effect=record):
        quizzes.forget(services.redis, turn.conversation, quiz["call"])


def note(sealed: dict, choice: int) -> str:
    """What the model is told of the answer."""
    right, options = sealed["correct"], sealed["options"]
    verdict = "juste" if choice == right else f"faux ; la bonne réponse était {right + 1} ({options[right]})"
    return (
        f"[Quiz] À la question « {sealed['question']} », la réponse donnée est {choice + 1} ({options[choice]}) : {verdict}. "
        "La correction et l'explication ont déjà été envoyées."
    )


def _opted_out(turn: Turn) -> bool:
    with reading(turn.services.db) as connection:
        return accounts.person(connection, turn.row.address).opted_out


def _arguments(turn: Turn, call: str) -> dict:
    with reading(turn.services.db) as connection:
        return log.arguments_of(connection, turn.conversation, call)
