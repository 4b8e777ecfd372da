"""
What the model is sent, built from the fold. Pure and deterministic: the same state gives the same bytes, years later.

What a provider refuses (a message between a call and its result, a call left open, two user messages in a row) is put
right here, in the view. The log keeps what happened.
"""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from bot.conversation import layers, truncation
from bot.conversation.events import ModelRequest
from bot.conversation.fold import Conversation, upto_of

LAYERS = Path(__file__).parent / "prompts"
INTERRUPTED = json.dumps({"error": "Interrompu : cet appel n'a pas été mené à son terme."}, ensure_ascii=False)
EMPTY = "(message vide)"
GO_ON = "(continue)"
ABOUT = (("name", "Prénom ou nom"), ("grade", "Classe"), ("country", "Pays"), ("language", "Langue"), ("today", "Aujourd'hui"))


def build(c: Conversation, upto: int | None = None, budget: int = 24000, note: str | None = None, partial: str | None = None) -> list[dict]:
    """
    The messages of a request that reads the log up to seq *upto* (by default all that was heard), within about *budget*
    tokens. *note* is said to the model last; *partial* is the beginning of an answer that it is to continue. Pictures stand as
    {"type": "image_url", "image_url": {"url": "media:<file id>"}}: whoever sends them fills them in.
    """
    upto = c.heard if upto is None else upto
    entries = sorted((e for e in c.view if (e["read"] < upto if e["is"] == "reply" else e["seq"] <= upto)), key=_place)
    messages = [_message(e) for e in entries]
    messages += [{"role": "assistant", "content": partial}] if partial else []
    messages += [{"role": "user", "content": note}] if note else []
    return [{"role": "system", "content": system(c, upto)}, *fit(repair(messages), budget)]


def of_request(c: Conversation, request: ModelRequest, budget: int) -> list[dict]:
    """The messages of a request in the log, made again: exactly what was sent."""
    return build(c, upto_of(request.id), budget // 2 if request.halved else budget, request.note, request.partial)


def digest(model: str, messages: list[dict], max_tokens: int, tools: str | None) -> str:
    """sha256 of exactly what is sent; *tools* is the digest of the tools offered."""
    body = {"model": model, "messages": messages, "max_tokens": max_tokens, "tools": tools}
    return hashlib.sha256(json.dumps(body, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_tools(tools: list[dict]) -> str | None:
    return hashlib.sha256(json.dumps(tools, ensure_ascii=False, sort_keys=True).encode()).hexdigest() if tools else None


# -- the system message --------------------------------------------------------------------------------------------


@cache
def layer(name: str) -> str:
    return (LAYERS / f"{name}.md").read_text(encoding="utf-8").strip()


def system(c: Conversation, upto: int | None = None) -> str:
    """Who the tutor is, the mode, the channel, the class, the subject, and what is known of the person."""
    who = c.profile
    said = [e["text"] for e in c.view if e["is"] == "human" and (upto is None or e["seq"] <= upto)]
    parts = [layer(name) for name in layers.chosen(who, c.channel, said)]
    about = [f"- {label} : {who[key]}" for key, label in ABOUT if who.get(key)]
    parts.append("\n".join(["# La personne", *about]))
    if who.get("facts"):
        parts.append("\n".join(["# Ce que tu sais d'elle", *(f"- {fact}" for fact in who["facts"])]))
    return "\n\n".join(parts)


# -- messages ------------------------------------------------------------------------------------------------------


def _place(entry: dict) -> tuple[int, int, int]:
    """A reply stands after what the model had read when it spoke, not where it was written down."""
    return (entry["read"], 1, entry["seq"]) if entry["is"] == "reply" else (entry["seq"], 0, 0)


def _message(entry: dict) -> dict:
    match entry["is"]:
        case "human":
            return {"role": "user", "content": _said(entry)}
        case "note":
            return {"role": "user", "content": entry["text"]}
        case "result":
            return {"role": "tool", "tool_call_id": entry["id"], "content": entry["text"]}
        case "reply":
            calls = [
                {"id": x["id"], "type": "function", "function": {"name": x["name"], "arguments": _echoed(x["arguments"])}}
                for x in entry["calls"]
            ]
            return {"role": "assistant", "content": entry["text"]} | ({"tool_calls": calls} if calls else {})
    raise ValueError(entry["is"])


def _said(entry: dict) -> Any:
    text = truncation.fence(entry["text"]) if entry.get("forwarded") else entry["text"]
    text = f"[en réponse à : « {entry['quoted']} »]\n{text}" if entry.get("quoted") else text
    text = "\n".join(x for x in (text, *(_attached(m) for m in entry["media"])) if x.strip()) or EMPTY
    pictures = [{"type": "image_url", "image_url": {"url": f"media:{m['file_id']}"}} for m in entry["media"] if is_picture(m)]
    return [{"type": "text", "text": text}, *pictures] if pictures else text


def is_picture(media: dict) -> bool:
    return bool(media.get("file_id")) and str(media.get("type", "")).startswith("image/")


def _attached(media: dict) -> str:
    """What is said of a file that came with a message."""
    if media.get("transcript"):
        return f"[message vocal, transcrit automatiquement ; commence par « J'ai entendu : … »]\n{media['transcript']}"
    known = f", file_id {media['file_id']}" if media.get("file_id") else ""
    problem = f" ; {media['problem']}" if media.get("problem") else ""
    return f"[pièce jointe : {media.get('name') or media.get('type') or 'fichier'}{known}{problem}]"


def _echoed(arguments: dict | str) -> str:
    """Arguments that were not a JSON object would make every later request fail: they are echoed as an empty one."""
    return json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict) else "{}"


# -- repair --------------------------------------------------------------------------------------------------------


def repair(messages: list[dict]) -> list[dict]:
    """
    Put a list of messages into the order every provider accepts; applying it twice changes nothing more.

    Neighbours of one role (user, assistant) are merged; each call has exactly one result, right behind it (the first one
    wins; a call without one is answered with an error); results without a call and empty answers are dropped; the
    first message is the person's, the last is not the model's.
    """
    return _begun(_merged(_paired(_merged(messages))))


def _merged(messages: list[dict]) -> list[dict]:
    found: list[dict] = []
    for message in messages:
        if "tool_calls" in message and not message["tool_calls"]:
            message = {k: v for k, v in message.items() if k != "tool_calls"}
        if message["role"] == "assistant" and not message.get("content") and not message.get("tool_calls"):
            continue
        if found and message["role"] == found[-1]["role"] and message["role"] in ("user", "assistant"):
            found[-1] = _joined(found[-1], message)
        else:
            found.append(message)
    return found


def _joined(first: dict, second: dict) -> dict:
    joined = {**first, "content": _together(first.get("content"), second.get("content"))}
    calls = [*first.get("tool_calls", []), *second.get("tool_calls", [])]
    return joined | ({"tool_calls": calls} if calls else {})


def _together(first: Any, second: Any) -> Any:
    if isinstance(first, list) or isinstance(second, list):
        return [*_parts(first), *_parts(second)]
    return "\n".join(x for x in (first, second) if x)


def _parts(content: Any) -> list[dict]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []


def _paired(messages: list[dict]) -> list[dict]:
    results: dict[str, dict] = {}
    for message in messages:
        if message["role"] == "tool":
            results.setdefault(message["tool_call_id"], message)
    found, answered = [], set()
    for message in messages:
        if message["role"] == "tool":
            continue
        calls = {x["id"]: x for x in message.get("tool_calls") or [] if x["id"] not in answered}
        if message.get("tool_calls") and message["role"] == "assistant":
            message = {k: v for k, v in message.items() if k != "tool_calls"} | ({"tool_calls": list(calls.values())} if calls else {})
        found.append(message)
        found += [results.get(id) or {"role": "tool", "tool_call_id": id, "content": INTERRUPTED} for id in calls]
        answered |= set(calls)
    return found


def _begun(messages: list[dict]) -> list[dict]:
    start = next((i for i, m in enumerate(messages) if m["role"] == "user"), len(messages))
    kept = messages[start:]
    return [*kept, {"role": "user", "content": GO_ON}] if not kept or kept[-1]["role"] == "assistant" else kept


# -- budget --------------------------------------------------------------------------------------------------------


def tokens(message: dict) -> int:
    """A rough upper estimate: French takes about one token for three characters; a picture about a thousand."""
    content = message.get("content") or ""
    pictures = sum(p["type"] == "image_url" for p in content) if isinstance(content, list) else 0
    text = content if isinstance(content, str) else "".join(p.get("text", "") for p in content)
    return 4 + len(text) // 3 + 1000 * pictures + sum(len(x["function"]["arguments"]) // 3 + 10 for x in message.get("tool_calls", []))


def fit(messages: list[dict], budget: int) -> list[dict]:
    """The newest messages that fit, beginning with a user message; the last user message and what follows always stay."""
    starts = [i for i, m in enumerate(messages) if m["role"] == "user"]
    sizes = [tokens(m) for m in messages]
    best = starts[-1] if starts else 0
    for start in reversed(starts):
        if sum(sizes[start:]) > budget:
            break
        best = start
    return messages[best:]
