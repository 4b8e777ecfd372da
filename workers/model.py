"""
The language model: any OpenAI-compatible /chat/completions, streamed, over `requests`.

What comes back over the wire is read liberally (fragments without index or id, comments, glued or cut chunks, a plain JSON
answer to a streaming request), but an answer that is not whole is an error: a part of an answer never goes out.
"""

import codecs
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

import requests

from bot.errors import ModelError
from workers import recovery

CONNECT_SECONDS, SILENCE_SECONDS = 10, 60  # to be reached; between two bytes
LOOK_SECONDS = 1  # between two looks at whether the answer is still wanted
LARGEST = 4_000_000  # bytes of one answer


class Abandoned(Exception):
    """Nobody wants the answer any more."""


@dataclass
class Call:
    id: str = ""
    name: str = ""
    arguments: str = ""
    index: int | None = None  # as the provider counts, which is not reliable

    def parsed(self) -> dict | str:
        """The arguments as an object, or the text as it came when it is not one."""
        try:
            value = json.loads(self.arguments or "{}", parse_constant=_no_number)
        except (ValueError, RecursionError):
            return self.arguments
        return value if isinstance(value, dict) else self.arguments


def _no_number(word: str):
    raise ValueError(f"{word} is no JSON")


@dataclass
class Answer:
    text: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    usage: dict | None = None


def complete(
    session: requests.Session, url: str, key: str, body: dict, seconds: float, abandoned: Callable[[], bool] = lambda: False
) -> Answer | None:
    """Send *body* once and wait at most *seconds* for the whole answer; None when *abandoned* says, while it comes in, that nobody wants
    it any more. Raises ModelError with the kind of failure."""
    ends = time.monotonic() + seconds
    headers = {"Accept": "text/event-stream", "X-Title": "Palabre"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        with session.post(
            f"{url}/chat/completions",
            json=body,
            headers=headers,
            stream=True,
            timeout=(min(CONNECT_SECONDS, seconds), min(SILENCE_SECONDS, seconds)),
        ) as response:
            if response.status_code != 200:
                raise recovery.from_response(response.status_code, _head(response), response.headers)
            answer = _read(_chunks(response, ends, abandoned))
    except Abandoned:
        return None
    except requests.Timeout as problem:
        raise ModelError("Timeout", "the model did not answer in time") from problem
    except requests.RequestException as problem:
        raise ModelError("Network", f"the model cannot be reached: {type(problem).__name__}") from problem
    answer.text = _without_reasoning(answer.text)
    return answer


def _head(response: requests.Response) -> str:
    return next(response.iter_content(4000), b"").decode("utf-8", "replace")


def _chunks(response: requests.Response, ends: float, abandoned: Callable[[], bool]) -> Iterator[bytes]:
    size, look_at = 0, time.monotonic() + LOOK_SECONDS
    for chunk in response.iter_content(chunk_size=None):
        size += len(chunk)
        if time.monotonic() > look_at:
            look_at = time.monotonic() + LOOK_SECONDS
            if abandoned():
                raise Abandoned
        if time.monotonic() > ends:
            raise ModelError("Timeout", "the model's answer took too long")
        if size > LARGEST:
            raise ModelError("Malformed", "the model's answer is endless")
        yield chunk


def _read(chunks: Iterator[bytes]) -> Answer:
    """A stream of events or one document: told apart by their first byte, because what Content-Type says is not always true."""
    start = b""
    while not start and (chunk := next(chunks, None)) is not None:
        start = chunk.lstrip()
    if not start or start[:1] in b":deir":  # a comment, data, event, id, retry
        return assembled(_data(chain([start], chunks)))
    return whole(b"".join(chain([start], chunks)))


def _data(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of each server-sent event, whatever way the bytes were cut."""
    decoder, pending = codecs.getincrementaldecoder("utf-8")("replace"), ""
    for chunk in chunks:
        *lines, pending = (pending + decoder.decode(chunk)).split("\n")
        yield from (line[5:].strip() for line in lines if line.startswith("data:"))
    if pending.startswith("data:"):
        yield pending[5:].strip()


def assembled(data: Iterable[str]) -> Answer:
    """Put a streamed answer together. Raises ModelError when it is not whole."""
    answer, text, ended = Answer(), [], False
    for item in data:
        if item == "[DONE]":
            ended = True
            break
        event = _event(item)
        if event.get("error"):
            raise recovery.from_error_object(event["error"])
        answer.usage = event.get("usage") or answer.usage
        with _of_another_shape():
            for choice in (event.get("choices") or [])[:1]:
                delta = choice.get("delta") or choice.get("message") or {}
                text.append(_text(delta.get("content")))
                for fragment in delta.get("tool_calls") or []:
                    _add(answer.calls, fragment)
                answer.finish = choice.get("finish_reason") or answer.finish
    if answer.finish is None and not (ended and (any(text) or answer.calls)):
        raise ModelError("Network" if not ended else "Malformed", "the model's answer broke off")
    return _checked(answer, "".join(text))


def _event(item: str) -> dict:
    """An event's data, empty when they are the keep-alive words of a router. Raises ModelError for what was an object once."""
    try:
        event = json.loads(item)
    except (ValueError, RecursionError):
        if item.startswith("{"):
            raise ModelError("Malformed", "a piece of the model's answer cannot be read") from None
        event = {}
    return event if isinstance(event, dict) else {}


@contextmanager
def _of_another_shape() -> Iterator[None]:
    """Whatever does not look as it should inside an answer makes the answer unusable."""
    try:
        yield
    except (AttributeError, LookupError, TypeError) as problem:
        raise ModelError("Malformed", f"the model's answer has another shape: {problem}") from problem


def _add(calls: list[Call], fragment: dict) -> None:
    """
    Add a fragment of a tool call to the call it belongs to.

    An id that is new begins a call even if its index is not (unless it brings arguments without a name); without an id the index tells,
    and without either the last one is meant.
    """
    id, index, function = fragment.get("id"), fragment.get("index"), fragment.get("function") or {}
    known = next((c for c in calls if id and c.id == id), None)
    same = [c for c in calls if index is not None and c.index == index]
    if known is None and id and same and function.get("arguments") and not function.get("name"):
        known = same[-1]
    elif known is None and not id:
        if same:
            known = same[-1]
        elif isinstance(index, int) and index < len(calls):
            known = calls[index]
        elif calls and not (function.get("name") and calls[-1].name):
            known = calls[-1]
    if known is None:
        known = Call(id=id or "", index=index)
        calls.append(known)
    known.name = known.name or function.get("name") or ""
    arguments = function.get("arguments")
    known.arguments += json.dumps(arguments) if isinstance(arguments, dict) else arguments or ""


def whole(content: bytes) -> Answer:
    """An answer that was not streamed. Raises ModelError."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise ModelError("Malformed", "the model's answer is not JSON") from None
    if isinstance(body, dict) and body.get("error"):
        raise recovery.from_error_object(body["error"])
    choices = body.get("choices") if isinstance(body, dict) else None
    if not choices:
        raise ModelError("Malformed", "the model's answer has no choices")
    with _of_another_shape():
        message = choices[0]["message"]
        answer = Answer(finish=choices[0].get("finish_reason") or "stop", usage=body.get("usage"))
        for n, fragment in enumerate(message.get("tool_calls") or []):
            _add(answer.calls, {"index": n, **fragment})
        return _checked(answer, _text(message.get("content")))


def _text(content) -> str:
    """Content as text: a string, null, or a list of parts of which only the text ones are said."""
    if isinstance(content, list):
        return "".join(p.get("text") or "" for p in content if isinstance(p, dict) and p.get("type") in ("text", "output_text"))
    return content if isinstance(content, str) else ""


def _checked(answer: Answer, text: str) -> Answer:
    if answer.finish == "error":
        raise ModelError("Malformed", "the model gave up in mid-answer")
    answer.calls = [c for c in answer.calls if c.name]
    answer.text = text
    return answer


def _without_reasoning(text: str) -> str:
    """Some models think aloud between tags; the person is not sent that."""
    return re.sub(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", "", text, flags=re.S).strip()
