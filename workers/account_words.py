"""Control words about one's own things: tasks, drafts, memories, profile. Each returns what the person is told."""

from bot.conversation.fold import Conversation
from bot.db import Unit, learners, reading, writing
from bot.errors import ToolError, WrongUsage
from bot.learners import accounts, credits, drafts, files, memories, payments, quizzes, tasks
from bot.learners.accounts import Person
from bot.texts import say
from workers.context import Turn

PACK = "moyen"


def answer(turn: Turn, state: Conversation, input: dict, person: Person) -> str:
    """The text for a word that is about the person's own things."""
    word, argument, language = input["command"], (input["argument"] or "").strip(), person.language
    if word == "quiz":
        return quizzes.prompt(state.quiz, language) if state.quiz else say(language, "words.quiz_about")
    if word in ("login", "delete"):
        return say(language, "words.elsewhere")
    if person.learner is None:
        return say(language, "words.only_members")
    match word:
        case "balance":
            with reading(turn.services.db) as connection:
                return say(language, "words.balance", credits=credits.balance(connection, person.learner.id))
        case "files":
            return _files(turn, person)
        case "buy":
            return _buy(turn, input, person)
        case "profile":
            return _profile(person)
        case "grade":
            return _grade(turn, person, argument)
        case "language":
            return _language(turn, person, argument)
        case "tasks":
            return _tasks(turn, person)
        case "done":
            with writing(turn.services.db) as tx:
                title = tasks.done(tx, person.owner, int(argument))
            return say(language, "words.task_done", title=title) if title else say(language, "words.no_such_task", number=argument)
        case "send":
            return _send(turn, person, int(argument))
        case "mydata":
            return _mydata(turn, person)
        case "forget":
            return _forget(turn, person, argument)
    raise ValueError(word)


def _files(turn: Turn, person: Person) -> str:
    with reading(turn.services.db) as connection:
        found = files.newest(connection, person.owner, limit=5)
    lines = [f"- {f.filename} : {files.url(turn.services.settings, f)}" for f in found]
    return "\n".join([say(person.language, "words.files"), *lines]) if lines else say(person.language, "words.no_files")


def _buy(turn: Turn, input: dict, person: Person) -> str:
    unit = Unit(turn.services.db)
    try:
        row = payments.create(turn.services.settings, unit, person, PACK, key=f"word:{input['id']}")
        unit.commit()
    except ToolError:
        return say(person.language, "words.cannot_buy")
    finally:
        unit.close()
    return say(
        person.language,
        "words.buy",
        credits=row.credits,
        amount=f"{row.amount:,}".replace(",", "\u00a0"),
        url=payments.url(turn.services.settings, row),
    )


def _profile(person: Person) -> str:
    learner, language = person.learner, person.language
    mode = say(language, f"mode.{learner.mode}") + (f", {learner.grade}" if learner.grade else "")
    return say(language, "words.profile", name=learner.name or person.learner.phone, mode=mode, credits=learner.credits)


def _grade(turn: Turn, person: Person, argument: str) -> str:
    try:
        grade = accounts.grade_named(argument) if argument else None
    except WrongUsage:
        grade = None
    if grade is None:
        return say(person.language, "words.grade_how")
    _change(turn, person, grade=grade)
    return say(person.language, "words.grade_set", grade=grade)


def _language(turn: Turn, person: Person, argument: str) -> str:
    if not argument:
        return say(person.language, "words.language_how")
    language = "en" if argument.casefold().startswith(("en", "an")) else "fr"
    _change(turn, person, language=language)
    return say(language, "words.language_set")


def _change(turn: Turn, person: Person, **values) -> None:
    with writing(turn.services.db) as tx:
        tx.execute(learners.update().where(learners.c.id == person.learner.id).values(**values))


def _tasks(turn: Turn, person: Person) -> str:
    with reading(turn.services.db) as connection:
        found = tasks.open_tasks(connection, person.owner)
    if not found:
        return say(person.language, "words.no_tasks")
    lines = [f"{t.number}. {t.title}" + (f" ({person.local(t.due_at):%d/%m %H:%M})" if t.due_at else "") for t in found]
    return "\n".join([say(person.language, "words.tasks"), *lines])


def _send(turn: Turn, person: Person, number: int) -> str:
    how = drafts.send(turn.services, person, number)
    with reading(turn.services.db) as connection:
        row = drafts.find(connection, person.owner, number)
    return say(person.language, f"draft.{how}", number=number, recipient=row.recipient if row else "")


def _mydata(turn: Turn, person: Person) -> str:
    with reading(turn.services.db) as connection:
        found = memories.facts(connection, person.owner)
    lines = [f"- {row.fact}" for row in found]
    known = "\n".join([say(person.language, "words.memories"), *lines]) if lines else say(person.language, "words.no_memories")
    return f"{_profile(person)}\n{known}"


def _forget(turn: Turn, person: Person, argument: str) -> str:
    with writing(turn.services.db) as tx:
        count = memories.forget(tx, person.owner, argument)
    if not count:
        return say(person.language, "words.nothing_to_forget")
    return say(person.language, "words.forgotten" if argument else "words.forgot_all")
