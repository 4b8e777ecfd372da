"""
What a conversation's events add up to. Pure: no clock, no database, no network, no chance.

The fold keeps only what the next steps and the next prompt need, so it stays small however long the conversation is.
"""

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import assert_never

from bot.conversation import compaction, truncation
from bot.conversation.events import (
    BudgetExtended,
    Compacted,
    ConversationEnded,
    Error,
    Forked,
    HumanInput,
    Logged,
    MediaRead,
    ModelReply,
    ModelRequest,
    MovedToBackground,
    ProgressTold,
    QuizAnswered,
    QuizExpired,
    ReplyQueued,
    ToolCall,
    ToolResult,
    ToolStarted,
    TurnStarted,
    TurnStopped,
    Unanswered,
)

WINDOW, KEPT = 240, 160  # entries of the view: when there are more than WINDOW, the newest KEPT stay
REST = 2  # answers of the model during which a tool whose service is down is left alone
RECENT_TURNS = 24


@dataclass(frozen=True)
class Conversation:
    """
    view: what the model may be shown, as plain dicts: human, reply, result and note entries, each with its seq.
    inbox: messages that nothing has been decided about yet (a control word, an answer to a quiz, or talk).
    """

    seq: int = 0
    channel: str = ""
    view: tuple[dict, ...] = ()
    inbox: tuple[dict, ...] = ()
    unfetched: tuple[dict, ...] = ()  # messages whose files were not looked at yet
    heard: int = 0  # seq of the last thing that the model should read
    spoken: int = 0  # seq of the last thing that the person wrote to be read
    read: int = 0  # how far the model has read
    asked: int = 0  # answers of the model since the person last spoke
    opened: bool = False  # the turn has its TurnStarted
    profile: dict = field(default_factory=dict)
    spent: int = 0  # tokens of this turn, as the provider counts
    limit: int = 10  # requests to the model in this turn
    cap: int = 25
    calls: tuple[dict, ...] = ()  # not yet answered: {"id", "name", "arguments", "seq"}
    started: tuple[str, ...] = ()  # calls that may already have had their effect
    failures: tuple[dict, ...] = ()  # of the model, since it last answered: {"error", "detail"}
    empties: int = 0
    partial: str = ""  # the beginning of an answer that was cut off at its length
    resting: dict = field(default_factory=dict)  # tools whose service is down: until how many answers they are left alone
    stopped: int = 0  # upto of the last TurnStopped: an answer that was under way then is not heard
    deaf: bool = False  # the newest answer is not heard, nor its calls
    unsent: tuple[dict, ...] = ()  # replies waiting for the outbox: {"key", "cause", …}
    rest: tuple[list, ...] = ()  # pages kept until SUITE
    files: tuple[str, ...] = ()  # made in this turn, delivered with its answer
    quiz: dict | None = None  # the open one
    quizzes: int = 0
    quiz_over: bool = False  # a quiz was asked in this reply: results beside it are not read before the learner's answer
    last_id: str = ""  # the provider's id of what the person last wrote
    turns_at: tuple[str, ...] = ()  # when the newest turns began, ISO
    background: bool = False
    forked: bool = False
    trusted: bool = True  # the person's own words began this turn, not only something forwarded


# -- folding -------------------------------------------------------------------------------------------------------


def fold(events: list[Logged], start: Conversation | None = None) -> Conversation:
    return reduce(apply, events, start or Conversation())


def upto_of(id: str) -> int:
    """The seq that the id of a ModelRequest, ModelReply or TurnStopped begins with."""
    return int(id.split("/")[0])


def apply(c: Conversation, logged: Logged) -> Conversation:
    seq, event = logged.seq, logged.event
    c = replace(c, seq=seq)
    match event:
        case HumanInput():
            return _heard(c, seq, event, logged.at.isoformat())
        case MediaRead():
            view = tuple({**e, "media": event.media} if e["is"] == "human" and e["id"] == event.id else e for e in c.view)
            return replace(c, view=view, unfetched=tuple(m for m in c.unfetched if m["id"] != event.id))
        case TurnStarted():
            return _opened(c, seq, event, logged.at.isoformat())
        case ModelRequest():
            return replace(c, inbox=tuple(i for i in c.inbox if i["seq"] > upto_of(event.id) or i["command"]))
        case ModelReply():
            return _replied(c, seq, event)
        case ToolCall() if c.deaf:
            return c
        case ToolCall():
            call = {"id": event.id, "name": event.name, "arguments": event.arguments, "seq": seq}
            last = c.view[-1]
            return replace(c, calls=(*c.calls, call), view=(*c.view[:-1], {**last, "calls": [*last["calls"], call]}))
        case ToolStarted():
            return replace(c, started=(*c.started, event.id))
        case ToolResult():
            return _answered(c, seq, event)
        case QuizAnswered():
            return _judged(c, seq, event)
        case QuizExpired():
            return replace(c, quiz=None, unsent=(*c.unsent, {"key": f"expired:{event.id}", "cause": seq, "say": "quiz_verdict.expired"}))
        case BudgetExtended():
            return replace(c, limit=event.limit)
        case Error():
            failure = {"error": event.error, **(event.data or {})}
            return replace(c, failures=(*c.failures, failure)) if event.about == "model" else c
        case TurnStopped():
            return _stopped(c, seq, event)
        case MovedToBackground():
            said = {"key": f"background:{event.id}", "cause": seq, "say": "turn.background"}
            return replace(c, background=True, unsent=(*c.unsent, said))
        case ReplyQueued():
            return _queued(c, event)
        case Unanswered() | ConversationEnded():
            return _done_with(c, event.id)
        case ProgressTold():
            return c
        case Compacted():
            kept = tuple(e for e in c.view if e["seq"] >= int(event.id))
            summary = {"is": "note", "seq": int(event.id) - 1, "text": f"{compaction.HEAD}\n{event.summary}"}
            return replace(c, view=(summary, *kept))
        case Forked():
            return replace(c, forked=True, failures=())  # its own model has not failed yet
        case _:
            assert_never(event)


def at_work(c: Conversation) -> bool:
    """Whether a call is open or something was not read yet."""
    return bool(c.calls) or c.heard > c.read


def idle(c: Conversation) -> bool:
    return not (at_work(c) or c.unsent or c.inbox)


def _heard(c: Conversation, seq: int, event: HumanInput, at: str) -> Conversation:
    input = {"seq": seq, "id": event.id, "text": event.text, "command": event.command, "argument": event.argument, "at": at}
    if idle(c):
        c = replace(c, opened=False, background=False, files=(), asked=0, spent=0, started=(), trusted=False)
    c = replace(c, channel=event.channel, inbox=(*c.inbox, input), trusted=c.trusted or not event.forwarded)
    if event.command:
        return c
    entry = {"is": "human", "seq": seq, "id": event.id, "text": event.text, "media": event.media}
    c = replace(c, unfetched=(*c.unfetched, {"seq": seq, "id": event.id, "media": event.media})) if event.media else c
    entry |= {"forwarded": True} if event.forwarded else {}
    entry |= {"quoted": event.quoted} if event.quoted else {}
    return replace(
        c,
        view=(*c.view, entry),
        heard=seq,
        spoken=seq,
        asked=0,
        failures=(),
        empties=0,
        partial="",
        resting={},
        last_id=event.id,
        quiz_over=False,
        limit=c.profile.get("limits", {}).get("iterations", c.limit),
    )


def _opened(c: Conversation, seq: int, event: TurnStarted, at: str) -> Conversation:
    limits = event.profile.get("limits", {})
    c = replace(
        c,
        opened=True,
        profile=event.profile,
        limit=limits.get("iterations", 10),
        cap=limits.get("extended", 25),
        turns_at=(*c.turns_at, at)[-RECENT_TURNS:],
        view=_windowed(c.view),
    )
    if not event.refused:
        return c
    upto = upto_of(event.id)
    said = {"key": f"refused:{event.id}", "cause": seq, "say": f"refused.{event.refused}"}
    silent = event.refused in ("opted_out", "quiet")
    if event.refused == "opted_out":  # what was written after STOP is not taken up when the person comes back
        c = replace(c, view=tuple(e for e in c.view if not (e["is"] == "human" and c.read < e["seq"] <= upto)))
    return replace(
        c,
        unfetched=(),
        read=max(c.read, upto),
        inbox=tuple(i for i in c.inbox if i["seq"] > upto or i["command"]),
        unsent=c.unsent if silent else (*c.unsent, said),
    )


def _windowed(view: tuple[dict, ...]) -> tuple[dict, ...]:
    """The newest entries, beginning with something the person wrote, when there are too many."""
    if len(view) <= WINDOW:
        return view
    start = next((i for i in range(len(view) - KEPT, len(view)) if view[i]["is"] == "human"), len(view) - KEPT)
    return view[start:]


def _replied(c: Conversation, seq: int, event: ModelReply) -> Conversation:
    read = upto_of(event.id)
    if read <= c.stopped:
        return replace(c, deaf=True)
    c = replace(c, deaf=False, spent=c.spent + tokens_of(event))
    if event.cut:
        return replace(c, partial=event.text)
    if not event.text and not event.calls:
        return replace(c, empties=c.empties + 1)
    entry = {"is": "reply", "seq": seq, "read": read, "text": event.text, "calls": []}
    said = {"key": f"reply:{read}", "cause": seq, "text": event.text, "final": not event.calls}
    again = event.calls and any(e["is"] == "reply" and e["read"] >= c.spoken and e["text"] == event.text for e in c.view)
    return replace(
        c,
        read=read,
        asked=c.asked + 1,
        failures=(),
        empties=0,
        partial="",
        quiz_over=False,
        view=(*c.view, entry),
        unsent=(*c.unsent, said) if event.text and not again else c.unsent,
    )


def tokens_of(event: ModelReply) -> int:
    total = (event.usage or {}).get("total_tokens")
    return total if isinstance(total, int) else 0


def _answered(c: Conversation, seq: int, event: ToolResult) -> Conversation:
    call = next((x for x in c.calls if x["id"] == event.id), None)
    entry = {"is": "result", "seq": seq, "id": event.id, "text": truncation.shown(event.name, event.ok, event.result), "ok": event.ok}
    entry |= {"unknown": True} if event.unknown else {}
    c = replace(c, resting={**c.resting, event.name: c.asked + REST}) if event.transient else c
    c = replace(c, calls=tuple(x for x in c.calls if x["id"] != event.id), view=(*c.view, entry), files=(*c.files, *(event.files or ())))
    if call is None:  # it came after the turn was stopped
        return c
    if event.quiz:
        asked = {"key": f"quiz:{event.id}", "cause": seq, "quiz": event.quiz}
        c = replace(
            c,
            quiz={**event.quiz, "call": event.id},
            quizzes=c.quizzes + 1,
            quiz_over=True,
            unsent=(*c.unsent, asked),
            heard=c.spoken if c.spoken > c.read else c.read,
        )
    return c if c.quiz_over else replace(c, heard=seq)


def _judged(c: Conversation, seq: int, event: QuizAnswered) -> Conversation:
    c = replace(c, quiz=None, heard=seq, spoken=seq, inbox=tuple(i for i in c.inbox if i["id"] != event.input))
    if event.note:
        return replace(c, view=(*c.view, {"is": "note", "seq": seq, "text": event.note}))
    talk = any(not i["command"] for i in c.inbox)  # written beside the answer, and still to be read
    return c if talk else replace(c, read=seq)


def _stopped(c: Conversation, seq: int, event: TurnStopped) -> Conversation:
    upto = upto_of(event.id)
    said = {"key": f"stopped:{event.id}", "cause": seq, "say": f"stopped.{event.reason}", "values": event.values or {}}
    return replace(
        c,
        read=max(c.read, upto),
        calls=(),
        failures=(),
        empties=0,
        partial="",
        stopped=max(c.stopped, upto),
        unfetched=tuple(m for m in c.unfetched if m["seq"] > upto),
        inbox=tuple(i for i in c.inbox if i["seq"] > upto or i["command"]),
        unsent=c.unsent if event.reason == "cancelled" else (*c.unsent, said),
    )


def _queued(c: Conversation, event: ReplyQueued) -> Conversation:
    kind, _, answers = event.id.partition(":")
    c = replace(c, unsent=tuple(r for r in c.unsent if r["key"] != event.id))
    if kind in ("command", "again"):
        c = _done_with(c, answers)
    if event.rest or event.continues or kind == "reply":
        c = replace(c, rest=tuple(event.rest))
    if event.files:
        c = replace(c, files=tuple(f for f in c.files if f not in event.files))
    return c


def _done_with(c: Conversation, id: str) -> Conversation:
    """The message *id* needs nothing more; the model is not asked about it."""
    seqs = [i["seq"] for i in c.inbox if i["id"] == id]
    c = replace(c, inbox=tuple(i for i in c.inbox if i["id"] != id))
    others = [i for i in c.inbox if not i["command"]]
    if seqs and not others and not c.calls and c.heard == seqs[0]:
        c = replace(c, read=max(c.read, c.heard))
    return c
