"""The far edge, faked at the HTTP socket: the model, Twilio, Tavily. Requests to anywhere else fail."""

import itertools
import json
import re
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import responses
from openapi_core import OpenAPI
from openapi_core.testing import MockRequest
from twilio.request_validator import RequestValidator
from werkzeug.datastructures import MultiDict

DATA = Path(__file__).parent / "data"


def text(content: str, **how) -> dict:
    return {"content": content, "calls": [], **how}


def call(name: str, arguments: dict | str, id: str = "call_0", content: str = "") -> dict:
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"content": content, "calls": [{"id": id, "name": name, "arguments": raw}]}


def calls(*answers: dict) -> dict:
    """Several calls in one answer."""
    return {"content": answers[0]["content"], "calls": [{**c, "id": f"call_{n}"} for n, a in enumerate(answers) for c in a["calls"]]}


def sse(answer: dict) -> str:
    """An answer as the wire carries it: text in pieces, calls in fragments, usage, [DONE]."""
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"content": answer["content"][i : i + 9]} for i in range(0, len(answer["content"]), 9)]
    for index, c in enumerate(answer["calls"]):
        half = len(c["arguments"]) // 2
        deltas.append(
            {"tool_calls": [{"index": index, "id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": ""}}]}
        )
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]} for part in (c["arguments"][:half], c["arguments"][half:])
        ]
    finish = answer.get("finish") or ("tool_calls" if answer["calls"] else "stop")
    chunks = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks += [
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}},
    ]
    return "".join(f"data: {json.dumps(c, ensure_ascii=False)}\n\n" for c in chunks) + "data: [DONE]\n\n"


class Model:
    """Says what *script* tells it: a list of answers, or a function of the request's body. `asked` holds the bodies."""

    def __init__(self, url: str):
        self.asked: list[dict] = []
        self.script: list | None = None
        responses.add_callback(responses.POST, f"{url}/chat/completions", self._answer)

    def _answer(self, request):
        body = json.loads(request.body)
        self.asked.append(body)
        answer = self.script(body) if callable(self.script) else self.script.pop(0) if self.script else text("D'accord.")
        if isinstance(answer, Exception):
            raise answer
        if "status" in answer:
            return answer["status"], answer.get("headers", {}), json.dumps(answer["body"])
        raw = answer.get("raw", None)
        return 200, {"Content-Type": answer.get("type", "text/event-stream")}, raw if raw is not None else sse(answer)


@cache
def twilio_api() -> OpenAPI:
    return OpenAPI.from_dict(json.loads((DATA / "twilio_messages.json").read_text()))


class Twilio:
    """
    Accepts messages as Twilio does and keeps them in `sent`. Each request is checked against Twilio's own OpenAPI description.

    faults: what the next requests get instead of an answer: (status, code), an exception, or "lost": accepted, but no answer comes.
    """

    def __init__(self, settings):
        self.settings, self.sent, self.faults, self.ids = settings, [], [], itertools.count(1)
        url = f"https://api.twilio.com/2010-04-01/Accounts/{settings.twilio_account_sid}/Messages.json"
        responses.add_callback(responses.POST, url, self._create)
        responses.add_callback(responses.GET, url, self._list)

    def _create(self, request):
        checked = twilio_api().unmarshal_request(
            MockRequest(
                "https://api.twilio.com",
                "post",
                urlsplit(request.url).path,
                headers=dict(request.headers),
                data=request.body.encode(),
                content_type="application/x-www-form-urlencoded",
            )
        )
        assert not checked.errors, checked.errors
        form = {k: v if k == "MediaUrl" else v[0] for k, v in parse_qs(request.body, keep_blank_values=True).items()}
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, tuple):
            return fault[0], {}, json.dumps({"code": fault[1], "message": "refused", "status": fault[0]})
        if isinstance(fault, Exception):
            raise fault
        sid = f"SM{next(self.ids):032x}"
        now = format_datetime(datetime.now(UTC))
        message = {
            "sid": sid,
            "status": "queued",
            "to": form["To"],
            "from": form.get("From"),
            "body": form.get("Body", ""),
            "num_segments": "1",
            "num_media": str(len(form.get("MediaUrl", []))),
            "direction": "outbound-api",
            "date_created": now,
            "date_sent": now,
            "date_updated": now,
            "error_code": None,
            "error_message": None,
            "price": None,
            "price_unit": "USD",
            "api_version": "2010-04-01",
            "account_sid": self.settings.twilio_account_sid,
            "uri": "/x",
            "subresource_uris": {},
            "messaging_service_sid": None,
        }
        self.sent.append(
            {**message, "media": form.get("MediaUrl", []), "content": form.get("ContentSid"), "callback": form.get("StatusCallback")}
        )
        if fault == "lost":
            raise ConnectionResetError("the answer was lost")
        return 201, {}, json.dumps(message)

    def _list(self, request):
        wanted = parse_qs(urlsplit(request.url).query).get("To", [None])[0]
        found = [
            {k: v for k, v in m.items() if k not in ("media", "callback", "content")} for m in reversed(self.sent) if m["to"] == wanted
        ]
        return (
            200,
            {},
            json.dumps(
                {
                    "messages": found,
                    "page": 0,
                    "page_size": 50,
                    "next_page_uri": None,
                    "first_page_uri": "/x",
                    "previous_page_uri": None,
                    "uri": "/x",
                    "start": 0,
                    "end": len(found),
                }
            ),
        )

    def bodies(self, to: str | None = None) -> list[str]:
        return [m["body"] for m in self.sent if to in (None, m["to"])]


def signature(settings, target: str, form: list[tuple[str, str]]) -> str:
    return RequestValidator(settings.twilio_auth_token).compute_signature(settings.public_url + target, MultiDict(form))


def masked(body: str) -> str:
    """A text without what chance decides: the tokens of media links."""
    return re.sub(r"/media/[\w-]+/", "/media/…/", body)
