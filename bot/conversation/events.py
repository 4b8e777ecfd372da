"""
Everything that can happen in a conversation, and nothing else.

Events are facts: named in the past tense, never changed. An event's *id* says what it answers, and (conversation, kind, id)
is unique, so the same fact told twice is one event. A field whose value is its default is left out of the payload, and a
field that a payload lacks takes its default: that is how old events load for ever.
"""

from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class HumanInput:
    """A message from the person. id: the provider's message id."""

    id: str
    text: str
    channel: str  # whatsapp or sms
    media: list  # [{"url", "type"}]
    command: str | None = None  # a control word: it was the whole message (bot/channels/words.py)
    argument: str | None = None
    forwarded: bool = False
    quoted: str | None = None  # the beginning of the message it answers


@dataclass(frozen=True, slots=True)
class MediaRead:
    """What came with a message was fetched. id: the HumanInput."""

    id: str
    media: list  # [{"type", "name", "file_id", "transcript", "problem"}], as far as known


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """What the turn knows of the world, looked up once. id: seq of the first message it hears."""

    id: str
    profile: dict  # mode, grade, name, language, learner_id, today, facts: whatever the prompt is made of
    refused: str | None = None  # guest_limit, no_credits, opted_out: then the model is not asked


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """id: how far into the log the model reads, and which try."""

    id: str
    model: str
    digest: str  # sha256 of what is sent (bot/conversation/prompt.py)
    iteration: int  # 1 for the first request of a turn
    max_tokens: int = 0
    tools: str | None = None  # digest of the tools offered; None: no tools
    reason: str | None = None  # why this model
    note: str | None = None  # what is said to the model behind the messages
    partial: str | None = None  # the beginning of the answer, which is to be continued
    halved: bool = False  # half of the context only: all of it was too long


@dataclass(frozen=True, slots=True)
class ModelReply:
    """id: how far into the log the model had read."""

    id: str
    text: str
    calls: int = 0  # how many ToolCall events follow
    finish: str | None = None
    cut: bool = False  # the text was cut off at its length: the rest is asked for
    usage: dict | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """id: ours, unique in the conversation (providers reuse theirs). arguments: a str when they were not a JSON object."""

    id: str
    name: str
    arguments: dict | str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call that must not be made twice is about to be made. id: the call."""

    id: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """id: the call it answers."""

    id: str
    name: str
    ok: bool
    result: Any
    quiz: dict | None = None  # a quiz was asked: {"kind", "question", "options", "expires_at"}, without the answer
    files: list | None = None  # file ids to be delivered with the next reply
    unknown: bool = False  # there is no such tool
    transient: bool = False  # its service is down: later it may work


@dataclass(frozen=True, slots=True)
class QuizAnswered:
    """The learner's answer, judged without the model. id: the quiz's call."""

    id: str
    tool_call_id: str
    choice: int
    correct: bool
    input: str = ""  # id of the HumanInput
    note: str = ""  # what the model is told


@dataclass(frozen=True, slots=True)
class QuizExpired:
    """An answer came too late. id: the quiz's call."""

    id: str
    input: str = ""


@dataclass(frozen=True, slots=True)
class BudgetExtended:
    """id: the call of request_more_iterations."""

    id: str
    reason: str
    limit: int


@dataclass(frozen=True, slots=True)
class Error:
    """Something failed. id: what failed, and which try. detail: for operators, never for the person."""

    id: str
    error: str  # for a model, one of workers.recovery.KINDS
    about: str = "model"  # or tool, or turn
    detail: str = ""
    data: dict | None = None  # what the next try needs to know: model, retry_after (s), affordable_tokens


@dataclass(frozen=True, slots=True)
class TurnStopped:
    """The turn ends without a last word of the model. id: how far into the log it had come."""

    id: str
    reason: str  # a key of the message catalogue's [stopped]
    values: dict | None = None


@dataclass(frozen=True, slots=True)
class MovedToBackground:
    """The turn ran into TURN_SECONDS with work left and goes on in the background queue. id: the turn."""

    id: str


@dataclass(frozen=True, slots=True)
class ProgressTold:
    """A line about the work in the background; the model is never shown it. id: the call it tells of."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Compacted:
    """The older part of the conversation, told in a summary. id: seq of the first entry that stays as it is."""

    id: str
    summary: str
    model: str | None = None  # None: made without one


@dataclass(frozen=True, slots=True)
class ReplyQueued:
    """What the person gets, handed to the outbox in the same transaction. id: what it carries (see fold.Reply)."""

    id: str
    text: str
    parts: list = field(default_factory=list)  # messages sent now
    rest: list = field(default_factory=list)  # pages kept until SUITE, each a list of messages
    files: list = field(default_factory=list)  # file ids sent along
    charged: int = 0  # credits
    continues: bool = False  # the next page of an earlier answer: SUITE


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A message that is not answered on purpose. id: the HumanInput."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """NOUVEAU: the next message begins another conversation. id: the HumanInput."""

    id: str


@dataclass(frozen=True, slots=True)
class Forked:
    """id: the source conversation and the last seq shared with it."""

    id: str
    source: str
    at: int
    model: str | None = None


Event = (
    HumanInput
    | MediaRead
    | TurnStarted
    | ModelRequest
    | ModelReply
    | ToolCall
    | ToolStarted
    | ToolResult
    | QuizAnswered
    | QuizExpired
    | BudgetExtended
    | Error
    | TurnStopped
    | MovedToBackground
    | ProgressTold
    | Compacted
    | ReplyQueued
    | Unanswered
    | ConversationEnded
    | Forked
)
KINDS = {kind.__name__: kind for kind in Event.__args__}


@dataclass(frozen=True, slots=True)
class Logged:
    """An event in its place in the log. seq counts from 1 without gaps; caused_by is a seq or None."""

    seq: int
    at: datetime
    caused_by: int | None
    correlation_id: str | None
    event: Event


@cache
def _optional(kind: type) -> dict[str, Any]:
    defaults = {f.name: f.default for f in fields(kind) if f.default is not MISSING}
    return defaults | {f.name: f.default_factory() for f in fields(kind) if f.default_factory is not MISSING}


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.name != "id")


def payload(event: Event) -> dict:
    optional, found = _optional(type(event)), {}
    for name in _names(type(event)):
        value = getattr(event, name)
        if name not in optional or value != optional[name]:
            found[name] = value
    return found


def load(kind: str, id: str, payload: dict) -> Event:
    """The event behind a stored row. Raises KeyError for a kind that never existed."""
    return KINDS[kind](id=id, **{name: payload[name] for name in _names(KINDS[kind]) if name in payload})
