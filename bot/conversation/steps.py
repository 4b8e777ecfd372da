"""What should happen next in a conversation. Pure: a function of what has happened."""

from dataclasses import dataclass

from bot.conversation import compaction, stalls
from bot.conversation.fold import Conversation, at_work

EMPTY_REPLIES = 2  # so many empty answers of the model, and the turn is given up


@dataclass(frozen=True)
class Obey:
    """A control word."""

    input: dict


@dataclass(frozen=True)
class QueueReply:
    reply: dict


@dataclass(frozen=True)
class JudgeQuiz:
    """The newest message may answer the open quiz."""

    input: dict
    quiz: dict


@dataclass(frozen=True)
class OpenTurn:
    at: int


@dataclass(frozen=True)
class AskModel:
    """upto: what it reads; attempt counts from 0; tools: whether it may call any."""

    upto: int
    iteration: int
    attempt: int
    tools: bool


@dataclass(frozen=True)
class RunTool:
    call: dict


@dataclass(frozen=True)
class GiveUpTool:
    call: dict


@dataclass(frozen=True)
class StopTurn:
    at: int
    reason: str


@dataclass(frozen=True)
class FetchMedia:
    """Look at what came with a message."""

    message: dict


@dataclass(frozen=True)
class Compact:
    """Tell the older part of the view, up to this index, in a summary."""

    cut: int


Step = Obey | QueueReply | JudgeQuiz | OpenTurn | FetchMedia | Compact | AskModel | RunTool | GiveUpTool | StopTurn


def next_step(c: Conversation, may_answer=lambda input, quiz: False, late: str | None = None) -> Step | None:
    """
    The one thing to do now, or None while we wait for the person.

    may_answer(input, quiz): whether a message reads like an answer to the quiz (pure). late: why time is up, if it is.
    """
    for input in c.inbox:
        if input["command"]:
            return Obey(input)
    if c.unsent:
        return QueueReply(c.unsent[0])
    for input in c.inbox:
        if c.quiz and may_answer(input, c.quiz):
            return JudgeQuiz(input, c.quiz)
    if not at_work(c):
        return None
    if late:
        return StopTurn(c.heard, late)
    if c.calls:
        call = c.calls[0]
        return GiveUpTool(call) if call["id"] in c.started else RunTool(call)
    if not c.opened:
        return OpenTurn(c.heard)
    if c.unfetched:
        return FetchMedia(c.unfetched[0])
    if (cut := compaction.cut_at(c.view, c.profile.get("limits", {}).get("context", 0))) is not None:
        return Compact(cut)
    if c.empties >= EMPTY_REPLIES:
        return StopTurn(c.heard, "empty")
    if why := stalls.stalled(c.view, c.spoken):
        return StopTurn(c.heard, why)
    tools = c.profile.get("mode", "guest") != "guest" and c.asked + 1 < c.limit and not spent_up(c)
    return AskModel(c.heard, c.asked + 1, len(c.failures) + c.empties + bool(c.partial), tools)


def spent_up(c: Conversation) -> bool:
    """Whether the turn has cost so many tokens that the model must answer now."""
    return c.spent >= c.profile.get("limits", {}).get("tokens", c.spent + 1)
