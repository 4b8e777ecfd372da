"""Run the fold and the prompts again against what was recorded: nothing is asked, nothing leaves the machine."""

from dataclasses import dataclass

from bot.conversation import prompt
from bot.conversation.events import Logged, ModelReply, ModelRequest, ReplyQueued, ToolResult
from bot.conversation.fold import Conversation, apply, upto_of


@dataclass(frozen=True)
class Replay:
    """steps: recorded steps that were checked. divergence: None, or the first difference as {"seq", "expected", "got"}."""

    ok: bool
    steps: int
    divergence: dict | None


def replay(events: list[Logged], budget: int, strict: bool = True) -> Replay:
    """
    Fold *events* anew and compare. Every prompt must have the recorded digest; *strict* also wants every reply, result and answer
    to be one that the fold was waiting for.
    """
    state, steps = Conversation(), 0
    for logged in events:
        event = logged.event
        found = None
        if isinstance(event, ModelRequest):
            steps += 1
            found = _prompt_differs(state, event, budget)
        elif strict and isinstance(event, ModelReply | ToolResult | ReplyQueued):
            steps += 1
            found = _unexpected(state, event)
        if found:
            return Replay(False, steps, {"seq": logged.seq, **found})
        state = apply(state, logged)
    return Replay(True, steps, None)


def _prompt_differs(state: Conversation, event: ModelRequest, budget: int) -> dict | None:
    digest = prompt.digest(event.model, prompt.of_request(state, event, budget), event.max_tokens, event.tools)
    return None if digest == event.digest else {"expected": event.digest, "got": digest}


def _unexpected(state: Conversation, event) -> dict | None:
    match event:
        case ModelReply():
            return None if upto_of(event.id) <= state.heard else {"expected": f"an answer to {state.heard} or before", "got": event.id}
        case ToolResult():
            known = any(event.id == x["id"] for e in state.view for x in e.get("calls", ()))
            return None if known else {"expected": "a result of a recorded call", "got": event.id}
        case ReplyQueued(id=id) if id.startswith(("reply:", "quiz:", "stopped:", "refused:", "expired:", "background:")):
            waiting = {r["key"]: r for r in state.unsent}
            if id not in waiting:
                return {"expected": list(waiting), "got": id}
            text = waiting[id].get("text", event.text)  # what a reply of ours says stands in the catalogue, which may be edited
            return None if event.text == text else {"expected": text, "got": event.text}
    return None
