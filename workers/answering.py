"""Ask the model, and write down what it said or how it failed."""

import base64
import logging
import re
import time
from dataclasses import replace

from bot.conversation import fold, log, prompt, stalls
from bot.conversation.events import Error, Event, ModelReply, ModelRequest, ToolCall, TurnStopped
from bot.conversation.fold import Conversation
from bot.conversation.steps import AskModel, spent_up
from bot.db import count_today, now, reading, writing
from bot.errors import ModelError
from bot.learners import files
from tools import offered
from workers import budget, model, recovery, routing, signs, words
from workers.context import Turn

LEAST_SECONDS = 1.0  # that a request is given, however late it is
GO_ON = "[Système] Ta réponse a été coupée. Continue exactement où elle s'est arrêtée, sans rien répéter."
AGAIN = "[Système] Le même appel de {name} vient d'échouer deux fois. Ne le refais pas : change d'approche ou réponds avec ce que tu as."
WRAP_UP = "[Système] Il te reste deux étapes. Termine l'essentiel et prépare ta réponse."
LAST = "[Système] C'est la dernière étape : réponds maintenant en texte, avec ce que tu as, et dis ce qui manque."
logger = logging.getLogger(__name__)


def ask(turn: Turn, state: Conversation, step: AskModel) -> None:
    settings = turn.services.settings
    models, why = _models(turn, state)
    plan = recovery.plan(state.failures, models)
    if isinstance(plan, recovery.Stop):
        return _give_up(turn, state, step, plan)
    if plan.wait:
        time.sleep(max(0.0, min(plan.wait, turn.seconds_left)))
    tools = [*offered.to(state.profile["mode"]), budget.TOOL] if step.tools else []
    max_tokens = plan.changes.get("max_tokens", settings.max_tokens)
    tools_digest = prompt.digest_of_tools(tools)
    request = ModelRequest(
        f"{step.upto}/{step.attempt}",
        plan.model,
        "",
        step.iteration,
        max_tokens,
        tools_digest,
        why,
        noted(state, step),
        state.partial or None,
        plan.halved,
    )
    messages = prompt.of_request(state, request, settings.context_tokens)
    request = replace(request, digest=prompt.digest(plan.model, messages, max_tokens, tools_digest))
    turn.log(request, caused_by=step.upto)
    body = {"model": plan.model, "messages": _with_pictures(turn, messages), "max_tokens": max_tokens} | ({"tools": tools} if tools else {})
    body |= {"stream": True} | ({} if plan.plain else {"stream_options": {"include_usage": True}})
    try:
        with signs.typing(turn, state):
            answer = model.complete(
                turn.services.http,
                settings.model_url,
                settings.model_key,
                body,
                max(turn.seconds_left, LEAST_SECONDS),
                lambda: words.cancelled(turn, step.upto),
            )
    except ModelError as failure:
        logger.warning("model %s: %s (conversation %s)", plan.model, failure.kind, turn.conversation)
        data = {"model": plan.model, "retry_after": failure.retry_after, "affordable_tokens": failure.affordable_tokens}
        error = Error(
            f"{step.upto}/{step.attempt}",
            failure.kind,
            detail=recovery.shortened(str(failure)),
            data={k: v for k, v in data.items() if v is not None},
        )
        turn.log(error, caused_by=step.upto)
        return
    if answer is not None:
        _answered(turn, said(answer, step, plan.model, state.partial), step.upto, state.profile.get("owner"))


def said(answer: model.Answer, step: AskModel, name: str, partial: str = "") -> list[Event]:
    """
    The events behind an answer. Calls get ids of our own: providers use theirs again. Without tools, calls are not heard. An
    answer that was cut off at its length is not said yet: it is continued once.
    """
    calls = [ToolCall(f"call_{step.upto}_{n}", c.name, c.parsed()) for n, c in enumerate(answer.calls)] if step.tools else []
    cut = answer.finish == "length" and bool(answer.text) and not calls and not partial
    text = continued(partial, answer.text) if partial and not calls else answer.text
    id = str(step.upto) if (text or calls) and not cut else f"{step.upto}/{step.attempt}"
    return [ModelReply(id, text, len(calls), answer.finish, cut, answer.usage, name), *calls]


def continued(start: str, rest: str) -> str:
    """
    An answer in two pieces. When the second piece begins the answer anew instead of continuing it, it stands alone: it does when a
    quarter of its first thirty three-word sequences are in the first piece already.
    """
    known, new = _shingles(start), _shingles(rest)[:30]
    if new and sum(s in set(known) for s in new) / len(new) >= 0.25:
        return rest
    glue = (
        ""
        if start[-1:].isspace() or rest[:1].isspace() or not rest or rest[0] in ",.;:!?)" or start[-1:].isalnum() and rest[:1].islower()
        else " "
    )
    return start + glue + rest


def _shingles(text: str) -> list[tuple[str, ...]]:
    words = [w for w in re.findall(r"\w+", text.casefold()) if len(w) > 2]
    return list(zip(words, words[1:], words[2:], strict=False))


def noted(state: Conversation, step: AskModel) -> str | None:
    """What the model is told behind the messages: to go on, to change course, or that the end is near."""
    notes = [GO_ON] if state.partial else []
    if name := stalls.failing_again(state.view, state.spoken):
        notes.append(AGAIN.format(name=name))
    left = state.limit - step.iteration
    if state.profile.get("mode", "guest") != "guest":
        notes += [LAST] if left <= 0 or spent_up(state) else [WRAP_UP] if left == 2 else []
    return "\n".join(notes) or None


def _models(turn: Turn, state: Conversation) -> tuple[list[str], str]:
    """The model for this answer and those that may stand in for it; and why."""
    settings, own = turn.services.settings, turn.row.model
    route = routing.Route(own, "fork") if own else routing.route(settings, state)
    return [route.model, *(m for m in settings.model_fallbacks if m != route.model)], route.reason


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
        logger.error(
            "the model cannot be used: %s (conversation %s). Check OPENROUTER_API_KEY, its credit and the MODEL_ settings.",
            state.failures[-1]["error"],
            turn.conversation,
        )
    turn.log(TurnStopped(str(step.upto), stop.reason), caused_by=step.upto)


def _answered(turn: Turn, events: list[Event], upto: int, owner: str | None) -> None:
    """Append an answer and, in the same transaction, add what it cost in tokens to *owner*'s day."""
    with writing(turn.services.db) as tx:
        logged = log.append(tx, turn.conversation, events, caused_by=upto)
        if logged and owner and (spent := fold.tokens_of(events[0])):
            count_today(tx, owner, "tokens", now().date(), add=spent)
