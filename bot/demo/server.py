"""The demo model on the wire: an OpenAI-compatible /chat/completions and /models, streamed or whole."""

import hashlib
import json
import time
from collections.abc import Iterator

from flask import Blueprint, Response, current_app, jsonify, request

from bot.demo.brain import Answer, answer

blueprint = Blueprint("demo", __name__, url_prefix="/demo/v1")

MODEL = "palabre/demo"
SLOW_KEY = "demo:slow"  # in Redis: how many seconds the next answer takes, used up by it
SLOWEST = 120  # seconds
PIECE = 24  # characters in one chunk of a stream


@blueprint.get("/models")
def models():
    return jsonify({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "palabre"}]})


@blueprint.post("/chat/completions")
def chat_completions():
    asked = request.get_json(silent=True)
    if problem := problem_of(asked):
        return jsonify({"error": {"message": problem, "type": "invalid_request_error", "code": 400}}), 400
    slow = current_app.extensions["palabre"].redis.getdel(SLOW_KEY)
    if slow:
        time.sleep(min(SLOWEST, float(slow)))
    made = answer(asked["messages"], asked.get("tools") or [])
    head = {"id": f"gen-{digest(asked['messages'])}", "created": int(time.time()), "model": asked.get("model") or MODEL}
    usage = usage_of(asked["messages"], made)
    calls = [
        {
            "id": f"call_{digest([asked['messages'], n])}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
        }
        for n, call in enumerate(made.calls)
    ]
    if asked.get("stream"):
        return Response(stream(head, made.text, calls, usage), content_type="text/event-stream", headers={"Cache-Control": "no-cache"})
    message = {"role": "assistant", "content": made.text or None} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return jsonify({**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def problem_of(asked: object) -> str:
    """What a provider would refuse in the request, or an empty text."""
    if not isinstance(asked, dict):
        return "the body is not a JSON object"
    messages = asked.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) and m.get("role") for m in messages):
        return "messages must be a list of messages with a role"
    if messages[-1]["role"] == "assistant":
        return "the last message must not be the assistant's"
    if not isinstance(asked.get("tools") or [], list) or not all(isinstance(t, dict) for t in asked.get("tools") or []):
        return "tools must be a list"
    return ""


def stream(head: dict, text: str, calls: list[dict], usage: dict) -> Iterator[str]:
    """Server-sent events: the text in pieces, each call as a head and two halves of its arguments, the reason, the usage, [DONE]."""

    def event(delta: dict, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return line({**head, "object": "chat.completion.chunk", "choices": [choice]})

    yield event({"role": "assistant", "content": ""})
    for at in range(0, len(text), PIECE):
        yield event({"content": text[at : at + PIECE]})
    for index, call in enumerate(calls):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        half = len(arguments) // 2
        yield event({"tool_calls": [{**call, "index": index, "function": {"name": name, "arguments": ""}}]})
        for part in (arguments[:half], arguments[half:]):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield event({}, "tool_calls" if calls else "stop")
    yield line({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def line(value: dict) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:24]


def usage_of(messages: list[dict], made: Answer) -> dict:
    """Sizes in tokens, at four characters each; there is no tokenizer here and nothing to pay."""
    asked = sum(len(json.dumps(message, ensure_ascii=False)) for message in messages) // 4
    given = (len(made.text) + sum(len(json.dumps(call.arguments)) for call in made.calls)) // 4
    return {"prompt_tokens": asked, "completion_tokens": given, "total_tokens": asked + given}
