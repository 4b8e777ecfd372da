"""What each control word does. They work without a model and without credits."""

import contextlib

import redis

from bot.channels import inbox, outbox
from bot.conversation import log, snapshots
from bot.conversation.events import ConversationEnded, TurnStopped, Unanswered
from bot.conversation.fold import Conversation, at_work
from bot.db import addresses, reading, writing
from bot.learners import accounts
from bot.texts import say
from workers import account_words, delivery, replying
from workers.context import Turn


def obey_waiting(turn: Turn) -> None:
    """Obey the control words that wait, while another worker has the turn."""
    with reading(turn.services.db) as connection:
        state, _ = snapshots.current(connection, turn.conversation)
    words = [input for input in state.inbox if input["command"]]
    for input in words:
        obey(turn, state, input)
    if words:
        delivery.deliver_now(turn.services, turn.row.address)


def obey(turn: Turn, state: Conversation, input: dict) -> None:
    if state.forked:  # a branch of the log acts on nobody
        return _unanswered(turn, input, "fork")
    with reading(turn.services.db) as connection:
        person = accounts.person(connection, turn.row.address)
    if person.opted_out and input["command"] != "start":
        return _unanswered(turn, input, "opted_out")
    language = person.language
    match input["command"]:
        case "help":
            _reply(turn, state, input, say(language, f"words.help_{person.channel}") + "\n" + say(language, f"words.help_{person.mode}"))
        case "stop":
            _stop(turn, state, input, person)
        case "start":
            with writing(turn.services.db) as tx:
                tx.execute(addresses.update().where(addresses.c.address == person.address).values(opted_out=False))
            _reply(turn, state, input, say(language, "words.started"))
        case "cancel":
            _cancel(turn, state, input, language)
        case "more":
            _more(turn, state, input, language)
        case "new":
            _begin_anew(turn, state, input, person)
        case "signup":
            _reply(turn, state, input, say(language, "words.signup" if person.learner is None else "words.signed_up"))
        case "status":
            _reply(turn, state, input, say(language, "words.status_working" if at_work(state) else "words.status_idle"))
        case _:
            _reply(turn, state, input, _own(turn, state, input, person))


def _own(turn: Turn, state: Conversation, input: dict, person: accounts.Person) -> str:
    if input["command"] == "balance" and person.learner is None:
        return say(person.language, "words.balance_guest", limit=turn.services.settings.guest_messages_per_day)
    return account_words.answer(turn, state, input, person)


def _reply(turn: Turn, state: Conversation, input: dict, text: str, also: tuple = ()) -> None:
    replying.send(turn, state, f"command:{input['id']}", text, input["seq"], also=also)


def _unanswered(turn: Turn, input: dict, why: str) -> None:
    turn.log(Unanswered(input["id"], why), caused_by=input["seq"])


def _stop(turn: Turn, state: Conversation, input: dict, person: accounts.Person) -> None:
    """Opt the address out. On WhatsApp one word says so; on SMS the network answers STOP by itself."""
    events: list = [_cancelling(turn, state)] if at_work(state) else []
    with writing(turn.services.db) as tx:
        if not log.append(tx, turn.conversation, [*events, Unanswered(input["id"], "stop")], caused_by=input["seq"]):
            return
        outbox.opt_out(tx, person.address)
        if person.channel == "whatsapp":
            outbox.put(
                tx,
                person.address,
                f"{turn.conversation}:farewell:{input['id']}",
                [(say(person.language, "words.stopped"), None)],
                turn.conversation,
            )


def cancelled(turn: Turn, upto: int) -> bool:
    """Whether the turn that reads up to *upto* was stopped by a word while the model thinks."""
    try:
        value = turn.services.redis.get(f"cancel:{turn.conversation}")
    except redis.RedisError:
        return False
    return value is not None and int(value) >= upto


def _cancelling(turn: Turn, state: Conversation) -> TurnStopped:
    """The event that stops the turn under way; a worker that waits for the model looks at the key beside it."""
    with contextlib.suppress(redis.RedisError):
        turn.services.redis.set(f"cancel:{turn.conversation}", state.heard, ex=300)
    return TurnStopped(f"{state.heard}", "cancelled")


def _cancel(turn: Turn, state: Conversation, input: dict, language: str) -> None:
    if at_work(state):
        _reply(turn, state, input, say(language, "words.cancelled"), also=(_cancelling(turn, state),))
    else:
        _reply(turn, state, input, say(language, "words.nothing_to_cancel"))


def _more(turn: Turn, state: Conversation, input: dict, language: str) -> None:
    """The next page of the last answer."""
    if state.rest:
        pages = [list(page) for page in state.rest]
        replying.send(turn, state, f"command:{input['id']}", "\n".join(pages[0]), input["seq"], pages=pages, continues=True)
    else:
        _reply(turn, state, input, say(language, "words.nothing_more"))


def _begin_anew(turn: Turn, state: Conversation, input: dict, person: accounts.Person) -> None:
    with writing(turn.services.db) as tx:
        current = inbox.open_address(tx, person.address).conversation_id
        if current == turn.conversation:
            inbox.begin_anew(tx, person.address)
    _reply(turn, state, input, say(person.language, "words.begun_anew"), also=(ConversationEnded(input["id"]),))
