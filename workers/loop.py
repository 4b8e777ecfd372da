"""Carry a conversation forward, one logged step at a time."""

import time
from typing import assert_never

from bot import queues
from bot.conversation import log, snapshots
from bot.conversation.fold import Conversation, fold
from bot.conversation.steps import (
    AskModel,
    Compact,
    FetchMedia,
    GiveUpTool,
    JudgeQuiz,
    Obey,
    OpenTurn,
    QueueReply,
    RunTool,
    Step,
    StopTurn,
    next_step,
)
from bot.db import now, reading, writing
from bot.learners import quizzes
from bot.services import Services
from workers import answering, compacting, delivery, fetching, opening, pacing, quizzing, replying, running, stopping, words
from workers.context import Turn

SPEAKING = (Obey, QueueReply, JudgeQuiz)  # steps that put something into the outbox
PATIENCE = 3  # fruitless steps
NAP = 0.2  # seconds between two looks at the log while more bubbles may come


def advance(turn: Turn) -> str | None:
    """Take steps until the log says that nothing is left to do; else the name of the queue that must go on."""
    services, conversation = turn.services, turn.conversation
    with reading(services.db) as connection:
        state, kept = snapshots.current(connection, conversation)
    fruitless = 0  # steps in a row that brought nothing new
    spoken = None  # whether something waits in the outbox; if this is forgotten, the clock finds it
    while True:
        step = _next(turn, state)
        if spoken and step is not None and not isinstance(step, SPEAKING):
            spoken = _deliver(turn)
        if step is None:
            if _rest(services, conversation, state, kept):
                return _deliver(turn) if spoken else None
        elif turn.stopping():
            return queues.BACKGROUND if turn.background else queues.CHAT
        elif state.background and not turn.background and isinstance(step, AskModel | RunTool | GiveUpTool):
            return queues.BACKGROUND
        elif isinstance(step, AskModel | FetchMedia) and (wait := pacing.pause(state, services.settings.debounce_seconds, now())):
            time.sleep(min(wait, NAP))
        else:
            perform(step, turn, state)
            spoken = spoken or isinstance(step, SPEAKING)
            fruitless += 1
        with reading(services.db) as connection:
            news = log.news(connection, conversation, state.seq)
        fruitless = 0 if news else fruitless
        if fruitless > PATIENCE:
            raise RuntimeError(f"{type(step).__name__} brings nothing new")  # a bug: better a stopped turn than one without end
        state = fold(news, state)


def _deliver(turn: Turn) -> None:
    """
    Send what was said. Before anything slow begins, so that nobody waits; and at the end only after the conversation was let
    go to sleep, because the answer to what is sent now is a turn of its own.
    """
    delivery.deliver_now(turn.services, turn.row.address)


def _next(turn: Turn, state: Conversation) -> Step | None:
    late = None
    if turn.ends < time.monotonic() and (turn.background or not state.background):
        late = "late" if turn.background else "background"
    return next_step(state, lambda input, quiz: quizzes.read(input["text"], quiz) is not None, late)


def _rest(services: Services, conversation: str, state: Conversation, kept: int) -> bool:
    """Let the conversation sleep; False if something has come meanwhile."""
    with writing(services.db) as tx:
        if not log.sleep(tx, conversation, state.seq):
            return False
        if state.seq - kept >= snapshots.EVERY:
            snapshots.keep(tx, conversation, state)
        return True


def perform(step: Step, turn: Turn, state: Conversation) -> None:
    """Do the one thing asked and log it: the only place where something happens."""
    match step:
        case Obey(input):
            words.obey(turn, state, input)
        case QueueReply(reply):
            replying.queue(turn, state, reply)
        case JudgeQuiz(input, quiz):
            quizzing.judge(turn, state, input, quiz)
        case OpenTurn(at):
            opening.open_turn(turn, state, at)
        case FetchMedia(message):
            fetching.fetch(turn, state, message)
        case Compact(cut):
            compacting.compact(turn, state, cut)
        case AskModel():
            answering.ask(turn, state, step)
        case RunTool(call):
            running.run(turn, state, call)
        case GiveUpTool(call):
            running.give_up(turn, call)
        case StopTurn(at, reason):
            stopping.stop(turn, state, at, reason)
        case _:
            assert_never(step)
