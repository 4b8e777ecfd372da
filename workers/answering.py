"""Ask the model, and write down what it said or how it failed."""

import base64
import logging
import time

from bot.conversation import log, prompt
from bot.conversation.events import Error, Event, ModelReply, ModelRequest, ToolCall, TurnStopped
from bot.conversation.fold import AskModel, Conversation
from bot.db import reading, writing
from bot.errors import ModelError
from bot.learners import files
from tools import offered
from workers import budget, model, recovery
from workers.context import Turn

LEAST_SECONDS = 1.0  # that a request is given, however late it is
logger = logging.getLogger(__name__)


def ask(turn: Turn, state: Conversation, step: AskModel) -> None:
    settings = turn.services.settings
    plan = recovery.plan(state.failures, _models(turn, state))
    if isinstance(plan, recovery.Stop):
        return _give_up(turn, state, step, plan)
    if plan.wait:
        time.sleep(max(0.0, min(plan.wait, turn.seconds_left)))
    tools = [*offered.to(state.profile["mode"]), budget.TOOL] if step.tools else []
    max_tokens = plan.changes.get("max_tokens", settings.max_tokens)
    messages = prompt.build(state, step.upto, settings.context_tokens // 2 if plan.halved else settings.context_tokens)
    tools_digest = prompt.digest_of_tools(tools)
    request = ModelRequest(f"{step.upto}/{step.attempt}", plan.model, prompt.digest(plan.model, messages, max_tokens, tools_digest),
                           step.iteration, max_tokens, tools_digest, halved=plan.halved)
    _logged(turn, [request], caused_by=step.upto)
    body = {"model": plan.model, "messages": _with_pictures(turn, messages), "max_tokens": max_tokens} | ({"tools": tools} if tools else {})
    body |= {"stream": True} | ({} if plan.plain else {"stream_options": {"include_usage": True}})
    try:
        answer = model.complete(turn.services.http, settings.model_url, settings.model_key, body, max(turn.seconds_left, LEAST_SECONDS))
    except ModelError as failure:
        logger.warning("model %s: %s (conversation %s)", plan.model, failure.kind, turn.conversation)
        data = {"model": plan.model, "retry_after": failure.retry_after, "affordable_tokens": failure.affordable_tokens}
        error = Error(f"{step.upto}/{step.attempt}", failure.kind, detail=recovery.shortened(str(failure)),
                      data={k: v for k, v in data.items() if v is not None})
        return _logged(turn, [error], caused_by=step.upto)
    _logged(turn, said(answer, step, plan.model), caused_by=step.upto)


def said(answer: model.Answer, step: AskModel, name: str) -> list[Event]:
    """The events behind an answer. Calls get ids of our own: providers use theirs again. Without tools, calls are not heard."""
    calls = [ToolCall(f"call_{step.upto}_{n}", c.name, c.parsed()) for n, c in enumerate(answer.calls)] if step.tools else []
    id = str(step.upto) if answer.text or calls else f"{step.upto}/{step.attempt}"
    return [ModelReply(id, answer.text, len(calls), answer.finish, answer.usage, name), *calls]


def _models(turn: Turn, state: Conversation) -> list[str]:
    """The model for this answer, and those that may stand in for it."""
    settings, row = turn.services.settings, turn.row()
    last = next((e for e in reversed(state.view) if e["is"] == "human"), {"media": []})
    seen = any(str(m.get("type", "")).startswith("image/") and m.get("file_id") for m in last["media"])
    chosen = row.model or (settings.model_vision if seen else settings.model_primary)
    return [chosen, *(m for m in settings.model_fallbacks if m != chosen)]


def _with_pictures(turn: Turn, messages: list[dict]) -> list[dict]:
    """The messages with each picture in place, as a data URL."""
    return [{**m, "content": [_filled(turn, p) for p in m["content"]]} if isinstance(m.get("content"), list) else m for m in messages]


def _filled(turn: Turn, part: dict) -> dict:
    if part["type"] != "image_url":
        return part
    id = part["image_url"]["url"].removeprefix("media:")
    with reading(turn.services.db) as connection:
        row = files.by_id(connection, id)
    if row is None or not (path := files.path(turn.services.settings, row)).exists():
        return {"type": "text", "text": "[cette image n'existe plus]"}
    return {"type": "image_url", "image_url": {"url": f"data:{row.media_type};base64,{base64.b64encode(path.read_bytes()).decode()}"}}


def _give_up(turn: Turn, state: Conversation, step: AskModel, stop: recovery.Stop) -> None:
    if stop.alert:
        logger.error("the model cannot be used: %s (conversation %s). Check OPENROUTER_API_KEY, its credit and the MODEL_ settings.",
                     state.failures[-1]["error"], turn.conversation)
    _logged(turn, [TurnStopped(str(step.upto), stop.reason)], caused_by=step.upto)


def _logged(turn: Turn, events: list[Event], caused_by: int) -> None:
    with writing(turn.services.db) as tx:
        log.append(tx, turn.conversation, events, caused_by=caused_by)
