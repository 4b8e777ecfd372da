"""Twilio, in the order of a message: addresses, signature, what arrives, delivery words, what leaves."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from twilio.request_validator import RequestValidator

from bot.channels import words
from bot.config import Settings
from bot.errors import SendError

TIMEOUT = 10  # seconds for one call to Twilio's API; the SDK has none by itself
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
OPT_OUT = {"STOP": "stop", "START": "start", "HELP": "help"}  # OptOutType: what Twilio itself took a message for
MESSAGE, STATUS = "/webhooks/twilio/message", "/webhooks/twilio/status"


# -- addresses -----------------------------------------------------------------------------------------------------


def sender_for(settings: Settings, address: str) -> dict[str, str]:
    """The From (or messaging service) with which *address* is written to."""
    own = settings.twilio_whatsapp_from if address.startswith("whatsapp:") else settings.twilio_sms_from
    return {"from_": own} if own else {"messaging_service_sid": settings.twilio_messaging_service_sid}


# -- signature -----------------------------------------------------------------------------------------------------


def tokens(settings: Settings) -> list[str]:
    """The account's auth tokens, the one we call Twilio with first."""
    return [t.strip() for t in settings.twilio_auth_token.split(",") if t.strip()]


def verified(settings: Settings, target: str, content_type: str, form: Any, body: bytes, signature: str | None) -> bool:
    """
    Whether Twilio signed this request. *target*: path and query exactly as sent; *form*: the untouched MultiDict.

    The address is PUBLIC_URL + target, never what the request says of itself. A JSON body is covered by the query's
    bodySHA256, without which it is refused. TWILIO_AUTH_TOKEN may name two tokens while one takes the other's place.
    """
    if not signature or not signature.isascii():
        return False
    url = settings.public_url + target
    if content_type.startswith("application/json"):
        if "bodySHA256" not in parse_qs(urlsplit(target).query):
            return False
        form = body.decode("utf-8", "replace")
    return any(RequestValidator(token).validate(url, form, signature) for token in tokens(settings))


# -- what arrives --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inbound:
    """A message in our own words."""

    id: str
    address: str
    channel: str
    text: str
    media: list[dict] = field(default_factory=list)
    command: str | None = None
    argument: str | None = None
    forwarded: bool = False
    quoted: str | None = None


def arrived(form: Mapping[str, str]) -> Inbound | None:
    """Translate Twilio's form; None when it lacks what makes it a message."""
    form = {name: clean(value) for name, value in form.items()}
    id, sender = form.get("MessageSid") or form.get("SmsSid") or "", form.get("From", "")
    if not id or not sender:
        return None
    whatsapp = sender.startswith("whatsapp:") or form.get("To", "").startswith("whatsapp:")
    address = sender if sender.startswith("whatsapp:") or not whatsapp else f"whatsapp:{sender}"
    channel = "whatsapp" if whatsapp else "sms"
    text = _text(form, whatsapp).strip()
    command = words.Command(OPT_OUT[opted]) if (opted := form.get("OptOutType")) in OPT_OUT else words.command(text, channel=channel)
    forwarded = "true" in (form.get("Forwarded"), form.get("FrequentlyForwarded"))
    return Inbound(
        id[:64],
        address[:200],
        channel,
        text,
        _media(form),
        command.name if command else None,
        (command.argument or None) if command else None,
        forwarded,
        form.get("OriginalRepliedMessageSid") or None,
    )


def clean(text: str) -> str:
    return CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).encode("utf-8", "replace").decode("utf-8").strip()


def _text(form: Mapping[str, str], whatsapp: bool) -> str:
    """What the person said: on WhatsApp a pressed button or chosen row before the text."""
    if whatsapp:
        chosen = form.get("ButtonPayload") or form.get("ListId") or ""
        if quiz := re.fullmatch(r"quiz:[\w-]+:(\d)", chosen):
            return quiz[1]
        return form.get("ButtonText") or form.get("ListTitle") or _described(form)
    return form.get("Body", "")


TYPES = {
    "reaction": "réaction à un message",
    "contacts": "contact partagé",
    "unsupported": "message d'un genre qui ne peut pas être lu ici",
    "interactive": "réponse à un formulaire",
}


def _described(form: Mapping[str, str]) -> str:
    """The text, and in brackets what came that is neither text nor a file."""
    body = form.get("Body", "")
    if form.get("Latitude") and form.get("Longitude"):
        place = " ".join(form[k] for k in ("Label", "Address") if form.get(k))
        return f"[position partagée : {place} ({form['Latitude']}, {form['Longitude']})] {body}"
    kind = TYPES.get(form.get("MessageType", ""))
    return f"[{kind}] {body}" if kind else body


def _media(form: Mapping[str, str]) -> list[dict]:
    count = form.get("NumMedia") or "0"
    count = min(int(count), 10) if count.isdecimal() and len(count) < 4 else 0
    return [{"url": form[f"MediaUrl{n}"], "type": form.get(f"MediaContentType{n}", "")} for n in range(count) if form.get(f"MediaUrl{n}")]


# -- delivery words ------------------------------------------------------------------------------------------------

STATES = {  # Twilio's MessageStatus: our state (bot/channels/outbox.py)
    "accepted": "accepted",
    "scheduled": "accepted",
    "queued": "accepted",
    "sending": "accepted",
    "sent": "sent",
    "delivered": "delivered",
    "partially_delivered": "delivered",
    "read": "read",
    "undelivered": "failed",
    "failed": "failed",
    "canceled": "failed",
}


@dataclass(frozen=True)
class News:
    """What became of a message, in our words. code: why it failed."""

    sid: str
    state: str
    code: int | None


def reported(form: Mapping[str, str]) -> News | None:
    """Translate a status callback; None when its word is missing or not known."""
    state, code = STATES.get(form.get("MessageStatus", "").lower()), form.get("ErrorCode", "")
    if state is None:
        return None
    return News(clean(form.get("MessageSid", ""))[:40], state, int(code) if code.isdecimal() and len(code) < 9 else None)


# -- what leaves ---------------------------------------------------------------------------------------------------


def client(settings: Settings):
    """The SDK's client with a time limit, talking to TWILIO_BASE_URL where that is set."""
    from twilio.http.http_client import TwilioHttpClient
    from twilio.rest import Client

    base = urlsplit(settings.twilio_base_url)

    class Http(TwilioHttpClient):
        def request(self, method, url, *args, **kwargs):
            if base.netloc:
                parts = urlsplit(url)
                url = urlunsplit((base.scheme, base.netloc, base.path + parts.path, parts.query, parts.fragment))
            answer = super().request(method, url, *args, **kwargs)
            if answer.status_code == 429:  # here, because the SDK's exception does not carry the header
                wait = (answer.headers or {}).get("Retry-After", "")
                raise SendError(
                    "Twilio: 429", 20429, retryable=True, retry_after=float(wait) if wait.isdecimal() and len(wait) < 5 else None
                )
            return answer

    return Client(settings.twilio_account_sid, tokens(settings)[0], http_client=Http(timeout=TIMEOUT))


def send(services, row) -> str:
    """Hand one message of the outbox to Twilio and return its sid. Raises SendError."""
    settings = services.settings
    how = sender_for(settings, row.address) | {"status_callback": f"{settings.public_url}{STATUS}?m={row.token}"}
    if row.content_sid:
        how["content_sid"] = row.content_sid
    elif row.body:
        how["body"] = row.body
    if row.media_url:
        how["media_url"] = [row.media_url]
    return _called(lambda: services.twilio.messages.create(to=row.address, **how)).sid


def find(services, address: str, body: str, since: datetime, known: set[str]) -> str | None:
    """The sid of a message like this that Twilio accepted since *since* and that we do not know yet, or None."""
    listed = _called(lambda: services.twilio.messages.list(to=address, date_sent_after=since - timedelta(seconds=30), limit=50))
    found = [m for m in listed if m.sid not in known and (m.body or "") == body and not str(m.direction or "").startswith("inbound")]
    return found[-1].sid if found else None


def _called(call):
    """Run an SDK call; its exceptions become ours, with the decision in them."""
    import requests
    from twilio.base.exceptions import TwilioException, TwilioRestException, TwilioServiceException

    try:
        return call()
    except (TwilioRestException, TwilioServiceException) as refused:
        code, status = refused.code or 0, refused.status
        if status == 429 or code in (20429, 63018, 63017):
            raise SendError(f"Twilio: {code}", code, retryable=True) from refused
        raise SendError(f"Twilio: {status} {code}", code or status, ambiguous=status >= 500) from refused
    except requests.ConnectTimeout as problem:
        raise SendError("Twilio cannot be reached", retryable=True) from problem
    except (requests.RequestException, json.JSONDecodeError, TwilioException, OSError) as problem:
        raise SendError(f"no answer from Twilio: {type(problem).__name__}", ambiguous=True) from problem


def reach(services) -> None:
    """Ask for one message, to see that the account answers. Raises SendError."""
    _called(lambda: services.twilio.messages.list(limit=1, page_size=1))


def show_typing(services, message: str) -> None:
    """Show the person that *message* is being answered (it is marked as read, too). Raises SendError."""
    _called(lambda: services.twilio.messaging.v2.typing_indicator.create("whatsapp", message))
