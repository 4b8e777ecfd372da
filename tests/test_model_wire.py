"""The model's wire: what providers really send, how failures are told apart, and what comes after each of them."""

import json
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
import requests
import responses
from conftest import AWA, rows
from fakes import call, calls, text

from bot.db import attempts, learners
from bot.errors import ModelError
from workers import model, recovery, turn
from workers.recovery import Stop, Try

BODY = {"model": "test/primary", "messages": [{"role": "user", "content": "Bonjour"}], "max_tokens": 100, "stream": True}
CUT = object()  # the connection breaks here


@contextmanager
def provider(pieces, kind: str = "text/event-stream", status: int = 200, **headers):
    """A real server that answers one request with *pieces*, each in a chunk of its own; yields its address and what it was sent."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            asked.append((dict(self.headers), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(status)
            for key, value in {"Content-Type": kind, "Transfer-Encoding": "chunked", **headers}.items():
                self.send_header(key, value)
            self.end_headers()
            for piece in pieces:
                if piece is CUT:
                    self.close_connection = True
                    return
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def heard(pieces, kind: str = "text/event-stream", key: str = "sk-test", **how) -> model.Answer:
    with provider(pieces, kind, **how) as (url, _), requests.Session() as session:
        return model.complete(session, url, key, BODY, 5)


def data(*events) -> bytes:
    return b"".join(b"data: " + (e if isinstance(e, bytes) else json.dumps(e, ensure_ascii=False).encode()) + b"\n\n" for e in events)


def said(content=None, finish=None, **delta) -> dict:
    return {"choices": [{"index": 0, "delta": ({"content": content} if content is not None else {}) | delta, "finish_reason": finish}]}


def part(index=None, id=None, name=None, arguments=None) -> dict:
    """A fragment of a tool call with only what is given."""
    function = {k: v for k, v in {"name": name, "arguments": arguments}.items() if v is not None}
    fragment = {k: v for k, v in {"index": index, "id": id}.items() if v is not None}
    return said(tool_calls=[fragment | ({"function": function} if function else {})])


END, DONE = said(finish="stop"), b"[DONE]"
CALLED = said(finish="tool_calls")


# -- text ----------------------------------------------------------------------------------------------------------

TEXTS = {  # what comes over the wire, and what the model said
    "plain": ([said("Bon"), said("jour"), END, DONE], "Bonjour"),
    "B102 comments": ([said("Bon"), b": OPENROUTER PROCESSING", said("jour"), b"", b"OPENROUTER PROCESSING", END, DONE], "Bonjour"),
    "JSON that says nothing": ([b"1", b"null", b"[]", b'"x"', {}, said("Oui"), END, DONE], "Oui"),
    "choices null or empty": (
        [{"choices": None}, said("Oui"), {"choices": []}, END, {"choices": [], "usage": {"total_tokens": 1}}, DONE],
        "Oui",
    ),
    "no delta, an empty one, null": ([{"choices": [{"index": 0}]}, said(), {"choices": [{"delta": None}]}, said("Oui"), END, DONE], "Oui"),
    "content null": (
        [
            said(role="assistant", content=None) if False else {"choices": [{"delta": {"role": "assistant", "content": None}}]},
            said("Oui"),
            END,
        ],
        "Oui",
    ),
    "content in parts": (
        [{"choices": [{"delta": {"content": [{"type": "text", "text": "Ou"}, {"type": "image"}, {"type": "text", "text": "i"}]}}]}, END],
        "Oui",
    ),
    "only reasoning": ([said(reasoning="Je pense"), said(reasoning_content="encore"), END, DONE], ""),
    "reasoning beside": ([said(reasoning="Je pense"), said("Oui"), END, DONE], "Oui"),
    "thinking aloud": ([said("<think>Que dire"), said(" ?</think>\n\nOui"), END, DONE], "Oui"),
    "thinking that never ends": ([said("<think>Que dire"), END, DONE], ""),
    "no DONE": ([said("Oui"), END], "Oui"),
    "no finish but DONE": ([said("Oui"), DONE], "Oui"),
    "words behind DONE": ([said("Oui"), END, DONE, said("Non")], "Oui"),
    "a second choice": ([{"choices": [{"delta": {"content": "Oui"}}, {"delta": {"content": "Non"}}]}, END, DONE], "Oui"),
    "a message instead of a delta": ([{"choices": [{"message": {"content": "Oui"}, "finish_reason": "stop"}]}], "Oui"),
    "cut at its length": ([said("Ou"), said("i", finish="length"), DONE], "Oui"),
    "blanks around": ([said("\n\n Oui "), END, DONE], "Oui"),
    "error null": ([{"error": None, **said("Oui")}, END, DONE], "Oui"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name):
    """B102, B111: whatever stands between the words, the words are heard."""
    events, words = TEXTS[name]
    assert heard([data(*events)]).text == words


WORDS = "Réponse : l’élève a «ça» 2️⃣ 👩‍👩‍👧 ✓"
STREAM = data(*[said(c) for c in (WORDS[:9], WORDS[9:17], WORDS[17:])], END, {"choices": [], "usage": {"total_tokens": 120}}, DONE)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 1000, 10**6])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_however_the_bytes_are_cut(size, ends):
    """Events glued together or cut anywhere, even inside a letter, are heard the same."""
    stream = STREAM.replace(b"\n", ends)
    answer = heard([stream[i : i + size] for i in range(0, len(stream), size)])
    assert answer.text == WORDS and answer.usage == {"total_tokens": 120} and answer.finish == "stop"


def test_the_last_line_without_its_end():
    """A last line without a line break counts."""
    assert heard([data(said("Oui")), b"data:" + json.dumps(END).encode()]).text == "Oui"


# -- calls ---------------------------------------------------------------------------------------------------------

ONE, TWO = ("f", '{"a": 1}'), ("g", '{"b": [2, "é"]}')
CALLS = {  # fragments, and the (name, arguments) of the calls they make
    "by index": (
        [part(0, "a", "f", ""), part(0, arguments='{"a": '), part(0, arguments="1}"), part(1, "b", "g", ""), part(1, arguments=TWO[1])],
        [ONE, TWO],
    ),
    "by turns": (
        [
            part(0, "a", "f"),
            part(1, "b", "g"),
            part(0, arguments='{"a": '),
            part(1, arguments='{"b": '),
            part(0, arguments="1}"),
            part(1, arguments='[2, "é"]}'),
        ],
        [ONE, TWO],
    ),
    "each complete, without index": ([part(None, "a", *ONE), part(None, "b", *TWO)], [ONE, TWO]),
    "without index, in pieces": (
        [part(None, "a", "f", ""), part(arguments='{"a": '), part(arguments="1}"), part(None, "b", "g", ""), part(arguments=TWO[1])],
        [ONE, TWO],
    ),
    "without id": ([part(0, None, "f", '{"a": '), part(0, arguments="1}"), part(1, None, *TWO)], [ONE, TWO]),
    "without index and id": ([part(None, None, *ONE), part(None, None, *TWO)], [ONE, TWO]),
    "B106 the same index": ([part(0, "a", *ONE), part(0, "b", "g", '{"b": '), part(1, arguments='[2, "é"]}')], [ONE, TWO]),
    "the same index, tails by it": (
        [part(0, "a", "f", '{"a": '), part(0, arguments="1}"), part(0, "b", "g", '{"b": '), part(0, arguments='[2, "é"]}')],
        [ONE, TWO],
    ),
    "the id in every fragment": (
        [part(0, "a", "f", '{"a": '), part(0, "a", "f", "1}"), part(1, "b", "g", '{"b": '), part(1, "b", None, '[2, "é"]}')],
        [ONE, TWO],
    ),
    "another id in every fragment": ([part(0, "x1", "f", '{"a": '), part(0, "x2", None, "1}"), part(1, "x3", *TWO)], [ONE, TWO]),
    "an empty id": ([part(0, "", "f", '{"a": '), part(0, "", None, "1}")], [ONE]),
    "the name comes late": ([part(0, "a", None, ""), part(0, name="f"), part(0, arguments=ONE[1])], [ONE]),
    "an index that begins at one": ([part(1, "a", "f", '{"a": '), part(1, arguments="1}"), part(2, "b", *TWO)], [ONE, TWO]),
    "an index that is text": ([part("0", "a", "f", '{"a": '), part("0", arguments="1}")], [ONE]),
    "arguments as an object": ([said(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"a": 1}}}])], [ONE]),
    "null everywhere": (
        [
            said(tool_calls=[{"index": 0, "id": "a", "type": None, "function": {"name": "f", "arguments": None}}]),
            said(tool_calls=[{"index": 0, "id": None, "function": {"name": None, "arguments": ONE[1]}}]),
            said(tool_calls=None),
        ],
        [ONE],
    ),
    "two in one delta": (
        [
            said(
                tool_calls=[
                    {"index": 0, "id": "a", "function": {"name": "f", "arguments": ONE[1]}},
                    {"index": 1, "id": "b", "function": {"name": "g", "arguments": TWO[1]}},
                ]
            )
        ],
        [ONE, TWO],
    ),
    "no arguments": ([part(0, "a", "f")], [("f", "{}")]),
    "a call without a name": ([part(0, "a", None, "{}"), part(1, "b", *TWO)], [TWO]),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    """B106: fragments of calls are put together by what a provider gives of index, id and name."""
    events, wanted = CALLS[name]
    answer = heard([data(*events, CALLED, DONE)])
    assert [(c.name, c.parsed()) for c in answer.calls] == [(n, json.loads(a)) for n, a in wanted]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"q": "x',
        "{to: a}",
        "{bad",
        "null",
        "[1]",
        '"x"',
        "1",
        "NaN",
        '{"a": NaN}',
        '{"a": Infinity}',
        "{}{}",
        '{"a": 1}{"a": 1}',
        '{"a":' * 100000,
    ],
)
def test_arguments_that_are_no_object(arguments):
    """B091, B093, B096: arguments that are not one whole JSON object stay text, so that nothing can be executed with them."""
    answer = heard([data(part(0, "a", "f", arguments), CALLED, DONE)])
    assert [c.parsed() for c in answer.calls] == [arguments]


def test_text_beside_calls():
    """Text beside a call is heard too; a call without text is no error (B112)."""
    answer = heard([data(said("Je cherche."), part(0, "a", *ONE), CALLED, DONE)])
    assert answer.text == "Je cherche." and len(answer.calls) == 1
    assert heard([data(said(""), part(0, "a", *ONE), CALLED, DONE)]).text == ""


# -- answers that were not streamed --------------------------------------------------------------------------------


def whole(message: dict, **more) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **more}).encode()


WHOLE = {
    "text": ({"role": "assistant", "content": "Oui"}, "Oui", 0),
    "B111 content null": ({"role": "assistant", "content": None}, "", 0),
    "B111 a list of parts": ({"role": "assistant", "content": [{"type": "text", "text": "ok"}]}, "ok", 0),
    "B111 only reasoning": ({"role": "assistant", "content": "", "reasoning": "Je pense"}, "", 0),
    "a part without text": (
        {"role": "assistant", "content": [{"type": "text", "text": None}, {"type": "text"}, None, "x", {"type": "text", "text": "ok"}]},
        "ok",
        0,
    ),
    "calls": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": {}}},
            ],
        },
        "",
        2,
    ),
    "calls null": ({"role": "assistant", "content": "Oui", "tool_calls": None}, "Oui", 0),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "text/plain", "text/event-stream"])
def test_a_json_answer_to_a_streaming_request(name, kind):
    """B111: a provider that does not stream is heard as well, whatever it says about its answer."""
    message, words, number = WHOLE[name]
    answer = heard([whole(message)], kind)
    assert (answer.text, len(answer.calls)) == (words, number)


@pytest.mark.parametrize("kind", ["text/event-stream; charset=utf-8", "Text/Event-Stream", "application/octet-stream", "text/plain", ""])
def test_a_stream_by_any_name(kind):
    """A stream is a stream, whatever its Content-Type."""
    assert heard([b": hello\n\n", STREAM], kind).text == WORDS


# -- what is no answer ---------------------------------------------------------------------------------------------

EMBEDDED = {"choices": None, "error": {"code": 429, "message": "Provider returned error"}}
BROKEN = {  # pieces, Content-Type, and the kind of failure
    "B104 an error in mid-stream": ([data(said("Bon"), {"error": {"code": 502, "message": "x"}}, DONE)], None, "ServerError"),
    "an error with a choice beside it": (
        [data(said("Bon"), {"error": {"code": 502, "message": "x"}, **said("", finish="error")}, DONE)],
        None,
        "ServerError",
    ),
    "an error in words": ([data({"error": "overloaded"})], None, "Malformed"),
    "an error with a word for a code": ([data({"error": {"code": "server_error", "message": "x"}})], None, "Malformed"),
    "B101 an embedded 429, streamed": ([data(EMBEDDED)], None, "RateLimit"),
    "B101 an embedded 429, whole": ([json.dumps(EMBEDDED).encode()], "application/json", "RateLimit"),
    "B101 an embedded 429, called a stream": ([json.dumps(EMBEDDED).encode()], None, "RateLimit"),
    "an embedded 429 as text": ([json.dumps({"error": {"code": "429", "message": "x"}}).encode()], "application/json", "RateLimit"),
    "B101 no choices": ([b'{"choices": []}'], "application/json", "Malformed"),
    "B101 an empty object": ([b"{}"], "application/json", "Malformed"),
    "B101 HTML": ([b"<html>Oops</html>"], "text/html", "Malformed"),
    "HTML called a stream": ([b"<html>Oops</html>"], None, "Malformed"),
    "nothing": ([], "application/json", "Network"),
    "choices of nothing": ([b'{"choices": [null]}'], "application/json", "Malformed"),
    "choices that are none": ([b'{"choices": "x"}'], "application/json", "Malformed"),
    "a message that is none": ([b'{"choices": [{"message": "x"}]}'], "application/json", "Malformed"),
    "calls that are none": ([whole({"content": "x", "tool_calls": ["f"]})], "application/json", "Malformed"),
    "calls that are a number": ([whole({"content": "x", "tool_calls": 5})], "application/json", "Malformed"),
    "a function that is none": ([whole({"content": "", "tool_calls": [{"function": "f"}]})], "application/json", "Malformed"),
    "brackets without end": ([b"[" * 200000], "application/json", "Malformed"),
    "no UTF-8": ([b"\xff\xfe\xfd"], "application/json", "Malformed"),
    "a list": ([b"[]"], "application/json", "Malformed"),
    "streamed choices of nothing": ([data({"choices": [None]}, {"choices": "x"}, DONE)], None, "Malformed"),
    "streamed calls that are none": ([data(said("Oui", tool_calls=["f", 5]), CALLED, DONE)], None, "Malformed"),
    "streamed arguments that are none": ([data(part(0, "a", "f", 5), CALLED, DONE)], None, "Malformed"),
    "streamed brackets without end": ([data(b"[" * 200000, b'{"a":' * 100000)], None, "Malformed"),
    "a chunk that is cut off": ([data(said("Bon"), b'{"choices": [{"delta": {"content": "jo', said("ur"), END, DONE)], None, "Malformed"),
    "nothing but DONE": ([data(DONE)], None, "Malformed"),
    "the model gave up": ([data(said("Bon"), said("", finish="error"), DONE)], None, "Malformed"),
    "nothing at all": ([], None, "Network"),
    "it ends in the middle": ([data(said("Bon"))], None, "Network"),
    "it ends in the middle of a call": ([data(part(0, "a", "f", '{"a"'))], None, "Network"),
    "the connection breaks": ([data(said("Bon")), CUT], None, "Network"),
    "the connection breaks at once": ([CUT], None, "Network"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_answer(name):
    """B101, B104: an answer that is not whole is a failure of one of our kinds, never a part of an answer and never a crash."""
    pieces, kind, failure = BROKEN[name]
    with pytest.raises(ModelError) as raised:
        heard(pieces, kind or "text/event-stream")
    assert raised.value.kind == failure and failure in recovery.KINDS


def test_an_endless_answer_is_cut_off(monkeypatch):
    """An answer without end is not read for ever."""
    monkeypatch.setattr(model, "LARGEST", 10_000)
    with pytest.raises(ModelError) as raised:
        heard([data(said("bla " * 100))] * 100)
    assert raised.value.kind == "Malformed"


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (requests.ConnectTimeout(), "Timeout"),
        (requests.ReadTimeout(), "Timeout"),
        (requests.ConnectionError(), "Network"),
        (requests.exceptions.SSLError(), "Network"),
        (requests.exceptions.ChunkedEncodingError(), "Network"),
        (requests.exceptions.InvalidURL(), "Network"),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Exception) else x,
)
@responses.activate
def test_transport_failures(problem, kind):
    """A provider that is slow or cannot be reached is told apart from one that answers."""
    responses.post("https://model.test/v1/chat/completions", body=problem)
    with pytest.raises(ModelError) as raised:
        model.complete(requests.Session(), "https://model.test/v1", "", BODY, 5)
    assert raised.value.kind == kind


def test_time_is_up_while_it_speaks(monkeypatch):
    """A provider that goes on speaking beyond its time is interrupted."""
    moments = iter([0.0, 0.5, 0.5, 0.5] + [99.0] * 1000)
    monkeypatch.setattr(model, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    with pytest.raises(ModelError) as raised:
        heard([data(said("bla"))] * 20 + [data(END, DONE)])
    assert raised.value.kind == "Timeout"


# -- kinds of failure ----------------------------------------------------------------------------------------------

STATUS = {
    400: "BadRequest",
    401: "Auth",
    402: "Billing",
    403: "Auth",
    404: "NotFound",
    408: "Timeout",
    413: "ContextOverflow",
    418: "Unknown",
    422: "BadRequest",
    429: "RateLimit",
    500: "ServerError",
    502: "ServerError",
    503: "ServerError",
    504: "ServerError",
    524: "Timeout",
    529: "ServerError",
    301: "Unknown",
}


@pytest.mark.parametrize("status", STATUS)
@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "no", "code": 1}}',
        b"<html>no</html>",
        b"",
        b'{"error": "no"}',
        b"[]",
        b"null",
        b'{"error": null}',
        b"\xff",
        b"[" * 100000,
    ],
    ids=["JSON", "HTML", "empty", "a word", "a list", "null", "error null", "no UTF-8", "deep"],
)
def test_status_codes(status, body):
    """Every status has one kind, whatever stands in its body."""
    with pytest.raises(ModelError) as raised:
        heard([body], "application/json", status=status)
    assert (raised.value.kind, raised.value.status) == (STATUS[status], status)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Input exceeds the context window",
        "context_length_exceeded",
        "too many tokens",
    ],
)
def test_a_context_that_is_too_long(message):
    """A 400 that speaks of the length of the context is of a kind of its own."""
    assert recovery.from_response(400, json.dumps({"error": {"message": message}}), {}).kind == "ContextOverflow"


@pytest.mark.parametrize(
    ("status", "message"),
    [(400, "req_814295af is not valid"), (500, "429 from upstream"), (400, "timeout_seconds must be a number"), (503, "context length")],
)
def test_the_class_beats_the_wording(status, message):
    """Numbers and words inside a message do not change its class."""
    assert recovery.from_response(status, json.dumps({"error": {"message": message}}), {}).kind == STATUS[status]


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "7"}, {}, 7),
        ({"retry-after": "2.5"}, {}, 2.5),
        ({"Retry-After": "0"}, {}, 0),
        ({"Retry-After": "-5"}, {}, 0),
        ({}, {"error": {"retry_after": 5}}, 5),
        ({}, {"retry_after": 2.2}, 3),
        ({}, {"error": {"retry_after": 0.1}}, 1),
        ({}, {}, None),
        ({"Retry-After": "soon"}, {}, None),
        ({"Retry-After": ""}, {"retry_after": 4}, 4),
        ({}, {"retry_after": "5"}, None),
        ({}, {"retry_after": True}, None),
        ({}, {"retry_after": -1}, None),
        ({"Retry-After": "7"}, {"retry_after": 9}, 7),
        ({}, {"error": "x", "retry_after": 3}, 3),
    ],
    ids=str,
)
def test_when_to_come_back(headers, body, seconds):
    """Retry-After is read from the header or the body, rounded up; what is no time is none."""
    assert recovery.from_response(429, json.dumps(body), headers).retry_after == seconds


@pytest.mark.parametrize("value", ["inf", "1e999", "nan", "9" * 400])
def test_a_time_without_end_is_none_that_can_be_kept(value):
    """A Retry-After that is no finite number of seconds still gives something that the log can hold as JSON."""
    for failure in (
        recovery.from_response(429, "{}", {"Retry-After": value}),
        recovery.from_response(429, '{"retry_after": ' + (value if value[0].isdigit() else "1e999") + "}", {}),
    ):
        json.dumps(failure.retry_after, allow_nan=False)
        [wait] = [recovery.plan([{"error": "RateLimit", "model": "a", "retry_after": failure.retry_after}], ["a"]).wait]
        assert 0 <= wait <= 60


def test_a_date_to_come_back_at():
    """Retry-After may be a date; one that is over means at once."""
    soon, past = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True), "Wed, 21 Oct 2015 07:28:00 GMT"
    assert 25 < recovery.from_response(429, "{}", {"Retry-After": soon}).retry_after <= 30
    assert recovery.from_response(429, "{}", {"Retry-After": past}).retry_after == 0


@pytest.mark.parametrize(
    ("message", "tokens"),
    [("You can only afford 6917", 6917), ("can only afford 0", None), ("no money", None), ("can only afford many", None)],
)
def test_what_can_be_afforded(message, tokens):
    """B109: a 402 may name how many tokens the account can pay."""
    assert recovery.from_response(402, json.dumps({"error": {"message": message}}), {}).affordable_tokens == tokens
    assert recovery.from_response(400, json.dumps({"error": {"message": message}}), {}).affordable_tokens is None


@pytest.mark.parametrize("text", ["é" * 1000, "👩‍👩‍👧" * 200, "a" * 301, "x" * 300, ""])
def test_what_is_kept_of_a_providers_words(text):
    """At most 300 bytes of a provider's words are kept, cut between characters."""
    kept = recovery.shortened(text)
    assert kept == text if len(text.encode()) <= 300 else len(kept.encode()) <= 303 and text.startswith(kept[:-3]) and kept.endswith("...")


# -- the plan ------------------------------------------------------------------------------------------------------


def failed(*kinds, model="a", **more) -> list[dict]:
    return [{"error": k, "model": model, **more} for k in kinds]


SERVER, RATE = failed("ServerError"), failed("RateLimit")
PLANS = {  # failures so far, and what comes next, with the models a (chosen), b and c (fallbacks)
    "none": ([], Try("a")),
    "401": (failed("Auth"), Stop("model_closed", alert=True)),
    "402": (failed("Billing"), Stop("model_closed", alert=True)),
    "402 that can afford 6917": (failed("Billing", affordable_tokens=6917), Try("a", changes={"max_tokens": 6817})),
    "402 that can afford 550": (failed("Billing", affordable_tokens=550), Try("a", changes={"max_tokens": 512})),
    "402 that can afford 511": (failed("Billing", affordable_tokens=511), Stop("model_closed", alert=True)),
    "B109 402 twice": (failed("Billing", "Billing", affordable_tokens=6917), Stop("model_closed", alert=True)),
    "429": (RATE, Try("a", wait=5)),
    "429 with a time": (failed("RateLimit", retry_after=7), Try("a", wait=7)),
    "429 at once": (failed("RateLimit", retry_after=0), Try("a", wait=0)),
    "429 with a long time": (failed("RateLimit", retry_after=600), Try("a", wait=60)),
    "429 twice": (RATE * 2, Try("b")),
    "429 twice, then the fallback too": (RATE * 2 + failed("RateLimit", model="b"), Try("c")),
    "500": (SERVER, Try("a", wait=2)),
    "500 twice": (SERVER * 2, Try("b")),
    "500 everywhere": (SERVER * 2 + failed("ServerError", model="b") + failed("ServerError", model="c"), Stop("model_failed")),
    "time-out": (failed("Timeout"), Try("a", wait=2)),
    "network": (failed("Network"), Try("a", wait=2)),
    "malformed": (failed("Malformed"), Try("a", wait=2)),
    "malformed, then 500": (failed("Malformed", "ServerError"), Try("b")),
    "500, then 429": (failed("ServerError", "RateLimit"), Try("b")),
    "404": (failed("NotFound"), Try("b")),
    "404 everywhere": (
        failed("NotFound") + failed("NotFound", model="b") + failed("NotFound", model="c"),
        Stop("model_failed", alert=True),
    ),
    "the fallback wants money": (failed("NotFound") + failed("Billing", model="b"), Stop("model_closed", alert=True)),
    "400": (failed("BadRequest"), Try("a", plain=True)),
    "400 twice": (failed("BadRequest", "BadRequest"), Stop("model_failed", alert=True)),
    "too long": (failed("ContextOverflow"), Try("a", halved=True)),
    "too long twice": (failed("ContextOverflow", "ContextOverflow"), Stop("model_failed")),
    "418": (failed("Unknown"), Stop("model_failed", alert=True)),
}


@pytest.mark.parametrize("name", PLANS)
def test_plan(name):
    """One table says what comes after each failure."""
    failures, wanted = PLANS[name]
    assert recovery.plan(failures, ["a", "b", "c"]) == wanted


@pytest.mark.parametrize("kind", [k for k in recovery.KINDS if k not in ("Auth", "Billing")])
def test_without_fallbacks_trying_ends_soon(kind):
    """Without another model every kind of failure is tried twice at most."""
    assert isinstance(recovery.plan(failed(kind, kind), ["a"]), Stop)


def test_every_stop_has_its_words():
    """What the person reads at each end exists, promises no other try, and shows no code."""
    from bot.texts import say

    for _, wanted in PLANS.values():
        for language in ("fr", "en"):
            if isinstance(wanted, Stop):
                words = say(language, f"stopped.{wanted.reason}")
                assert (
                    len(words) > 20 and not any(c.isdigit() for c in words) and "je réessaie" not in words and "retry" not in words.lower()
                )


# -- through the turn ----------------------------------------------------------------------------------------------


@pytest.fixture
def waits(monkeypatch):
    """Instead of waiting, the seconds that would have been waited."""
    found, here, real = [], threading.current_thread(), time.sleep
    monkeypatch.setattr("time.sleep", lambda seconds: found.append(seconds) if threading.current_thread() is here else real(seconds))
    return found


def one_model(world) -> None:
    """test/primary for everything, test/b in its place when it fails."""
    for name in ("model_fast", "model_smart", "model_vision"):
        object.__setattr__(world.settings, name, "test/primary")
    object.__setattr__(world.settings, "model_fallbacks", ("test/b",))


def refused(status: int, message: str = "no", headers=None, **error) -> dict:
    return {"status": status, "body": {"error": {"message": message, "code": status, **error}}, "headers": headers or {}}


TURNS = {  # what the model answers, the models asked, the seconds waited (None: whatever), and the reply (None: an apology)
    "401": ([refused(401)], ["primary"], [], None),
    "403": ([refused(403)], ["primary"], [], None),
    "402": ([refused(402)], ["primary"], [], None),
    "B109 402 with tokens": ([refused(402, "can only afford 3919"), text("Oui.")], ["primary"] * 2, [], "Oui."),
    "429 with its time": ([refused(429, headers={"Retry-After": "7"}), text("Oui.")], ["primary"] * 2, [7], "Oui."),
    "429 with its time in the body": ([refused(429, retry_after=3), text("Oui.")], ["primary"] * 2, [3], "Oui."),
    "429 twice": ([refused(429), refused(429), text("Oui.")], ["primary", "primary", "b"], [5], "Oui."),
    "500 once": ([refused(500), text("Oui.")], ["primary"] * 2, [2], "Oui."),
    "500 twice": ([refused(500), refused(502), text("Oui.")], ["primary", "primary", "b"], [2], "Oui."),
    "500 everywhere": ([refused(500), refused(500), refused(500)], ["primary", "primary", "b"], [2], None),
    "404": ([refused(404), text("Oui.")], ["primary", "b"], [], "Oui."),
    "400": ([refused(400), text("Oui.")], ["primary"] * 2, [], "Oui."),
    "400 twice": ([refused(400), refused(400)], ["primary"] * 2, [], None),
    "a context that is too long": ([refused(400, "maximum context length is 10"), text("Oui.")], ["primary"] * 2, [], "Oui."),
    "B104 an error in mid-stream": (
        [{"raw": data(said("Bon"), {"error": {"code": 502}}, DONE).decode()}, text("Oui.")],
        ["primary"] * 2,
        [2],
        "Oui.",
    ),
    "B101 an embedded 429": ([{"raw": json.dumps(EMBEDDED), "type": "application/json"}, text("Oui.")], ["primary"] * 2, [5], "Oui."),
    "B101 HTML": ([{"raw": "<html>", "type": "text/html"}, text("Oui.")], ["primary"] * 2, [2], "Oui."),
    "silence": ([requests.ReadTimeout(), text("Oui.")], ["primary"] * 2, [2], "Oui."),
    "B111 empty, then words": (
        [{"raw": whole({"content": None}).decode(), "type": "application/json"}, text("Oui.")],
        ["primary"] * 2,
        [],
        "Oui.",
    ),
    "B111 empty twice": ([text(""), text(" ")], ["primary"] * 2, [], None),
    "B112 a call without words": (
        [call("report_exercise_result", {"subject": "maths", "correct": True}), text("Oui.")],
        ["primary"] * 2,
        [],
        "Oui.",
    ),
}


@pytest.mark.parametrize("name", TURNS)
def test_turns(name, world, waits):
    """Every failure ends in an answer or in one apology that shows nothing of it; only an answer costs a credit."""
    script, models, waited, reply = TURNS[name]
    one_model(world)
    world.account()
    world.model.script = list(script)
    [sent] = world.say("Explique-moi les fractions")

    assert [body["model"] for body in world.model.asked] == [f"test/{m}" for m in models]
    assert [s for s in waits if s >= 2] == [w for w in waited if w >= 2]
    assert sent == reply if reply else "Désolé" in sent and not any(c.isdigit() for c in sent)
    assert [r.credits for r in rows(world.services, learners)] == [99 if reply else 100]
    assert "Error" in world.kinds() or "B11" in name


def test_402_lowers_max_tokens_once(world, waits):
    """B109: after a 402 that names a number the same model is asked once with fewer tokens."""
    world.model.script = [refused(402, "can only afford 1500"), text("Oui.")]
    world.say("Bonjour")
    assert [body["max_tokens"] for body in world.model.asked] == [world.settings.max_tokens, 1400]


def test_a_fallback_serves_the_turn_that_needed_it(world, waits):
    """The next turn begins with the chosen model again."""
    one_model(world)
    world.model.script = [refused(404), text("Un."), text("Deux.")]
    world.say("Un"), world.say("Deux")
    assert [body["model"] for body in world.model.asked] == ["test/primary", "test/b", "test/primary"]


def test_what_is_asked(world):
    """B100, B109: every request has a model, messages and max_tokens, streams, offers each tool once, and never a tool_choice."""
    world.account()
    world.model.script = lambda body: call("list_user_files", {}) if "tools" in body and len(world.model.asked) < 3 else text("Fini.")
    world.say("Cherche")
    world.say("Bonjour", "whatsapp:+2250701020399")
    for body in world.model.asked:
        assert (
            set(body) <= {"model", "messages", "max_tokens", "tools", "stream", "stream_options"}
            and body["max_tokens"] == 2000
            and body["stream"] is True
        )
        names = [t["function"]["name"] for t in body.get("tools", [])]
        assert len(set(names)) == len(names) and all(t["function"]["description"] for t in body.get("tools", []))
        assert body.get("tools") != [] and body["messages"][-1]["role"] in ("user", "tool")
    headers = responses.calls[0].request.headers
    assert headers["Authorization"] == "Bearer sk-test" and headers["Content-Type"] == "application/json"


def test_the_last_request_has_no_tools_nor_words_about_them(world):
    """B100: at the end of the budget neither tools nor tool_choice are sent, and calls that come all the same are not made."""
    object.__setattr__(world.settings, "max_iterations", 2)
    world.account()
    exercise = call("report_exercise_result", {"subject": "maths", "correct": True})
    world.model.script = [call("list_user_files", {}), calls(exercise) | {"content": "Voilà."}]
    assert world.say("Cherche") == ["Voilà."]
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(world.model.asked[-1]) and rows(world.services, attempts) == []


def test_without_a_key_nobody_is_named(world):
    """With an address of its own and no key no Authorization header is sent, also when a .netrc knows the host."""
    object.__setattr__(world.settings, "model_key", "")
    world.say("Bonjour")
    assert "Authorization" not in responses.calls[0].request.headers


def test_a_netrc_does_not_speak_for_us(tmp_path, monkeypatch):
    """The key that goes out is ours, whatever stands in .netrc."""
    from bot import services

    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login x password y\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with provider([STREAM]) as (url, asked):
        built = services.Services(None, None, None)
        for key in ("sk-test", ""):
            model.complete(built.http, url, key, BODY, 5)
    assert [headers.get("Authorization") for headers, _ in asked] == ["Bearer sk-test", None]


@pytest.mark.parametrize(
    "arguments",
    ['{"subject": "x', "{subject: maths, correct: true}", '{"subject": "maths", "correct": NaN}', '{"subject":' * 50000, "null", ""],
)
def test_calls_that_cannot_be_read_are_not_made(arguments, world):
    """B091, B093, B094, B096: such a call is answered with an error, the other one is made, and no later request is spoiled."""
    world.account()
    good = call("report_exercise_result", {"subject": "maths", "correct": True})
    world.model.script = [calls(call("report_exercise_result", arguments), good), text("Bien."), text("Encore.")]
    assert world.say("Voilà") == ["Bien."] and world.say("Et puis ?") == ["Encore."]
    assert [a.subject for a in rows(world.services, attempts)] == ["maths"] and len(world.model.asked) == 3
    for message in [m for body in world.model.asked for m in body["messages"] if m.get("tool_calls")]:
        assert all(isinstance(json.loads(c["function"]["arguments"]), dict) for c in message["tool_calls"])


@pytest.mark.parametrize("words", ["a\x00b", "a\ud800b", "\ufffe", "\x1b[0m"], ids=ascii)
def test_letters_that_nobody_can_store(words, world):
    """NUL and halves of letters in an answer, in arguments or in results neither stop the turn nor reach the person."""
    world.account()
    raw = json.dumps({"choices": [{"message": {"content": f"Oui {words}."}, "finish_reason": "stop"}]})
    world.model.script = [
        call("save_memory", {"fact": f"aime {words} les maths"}),
        {"raw": raw, "type": "application/json"},
        text("Encore."),
    ]
    [sent] = world.say("Bonjour")
    assert sent.startswith("Oui ") and "\x00" not in sent and sent.encode()
    assert world.say("Et puis ?") == ["Encore."]
    stored = "".join(map(repr, world.events()))
    assert "\\x00" not in stored and "\\ud800" not in stored


def test_the_model_always_calls_the_same(world):
    """B115: a model that makes the same call for ever is stopped after three, with a text and without charge to the provider."""
    world.account()
    world.model.script = lambda body: call("list_user_files", {}) if "tools" in body else text("Fini.")
    sent = world.say("Cherche")
    assert len(sent) == 1 and len(world.model.asked) <= 10


def test_rqs_own_limit_passes_through(world, monkeypatch):
    """B121: RQ's timeout is an ordinary exception and must not be taken for a failure of the model or of the turn."""
    from rq.timeouts import JobTimeoutException

    def late(*args):
        raise JobTimeoutException

    monkeypatch.setattr(model, "complete", late)
    world.post("Bonjour")
    with pytest.raises(JobTimeoutException):
        turn.take(world.services, world.conversation())
    assert world.kinds()[-1] == "ModelRequest" and "Error" not in world.kinds()


def test_big_results_are_cut_before_they_are_asked_about(world):
    """B118: a page of three megabytes becomes at most some thousand characters of the prompt."""
    world.account()
    responses.add(responses.GET, "https://jina.test/https://93.184.216.34/", body="é" * 1_500_000, content_type="text/plain; charset=utf-8")
    responses.add(responses.POST, "https://jina.test/", body="é" * 1_500_000, content_type="text/plain; charset=utf-8")
    world.model.script = [call("browse_url", {"url": "https://93.184.216.34/"}), text("Voilà.")]
    world.say("Lis cette page")
    [result] = [m["content"] for m in world.model.asked[1]["messages"] if m["role"] == "tool"]
    assert 8000 < len(result) < 9500 and "tronqué" in result and AWA not in result
