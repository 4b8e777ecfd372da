"""
What travels between the simulated network and our own web server: signed inbound forms and status callbacks, as Twilio posts them.

The posts are made by short-lived threads: the web server that serves the page is the one that is posted to, and must not wait for itself.
"""

import logging
import re
import threading
import time
from urllib.parse import unquote, urlsplit

import requests
from twilio.request_validator import RequestValidator

from bot.channels import twilio
from bot.channels.segments import segments
from bot.config import Settings
from bot.web.simulator_store import Store, new_sid, rfc2822

log = logging.getLogger(__name__)

PHONE = re.compile(r"\+[1-9]\d{6,14}")
USER_ID = re.compile(r"[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}")  # a WhatsApp user who shows no phone number
LATE_SECONDS = 5
PAUSES = {"sent": 0.2, "delivered": 0.3, "read": 0.8, "undelivered": 0.3, "failed": 0.3}  # seconds before each callback
REPORTED = {"63016": "failed", "63018": "failed", "30003": "undelivered", "63019": "failed"}  # told by a callback, not by the API


def person_is_valid(phone: str, number: str) -> bool:
    return bool(PHONE.fullmatch(number) or (phone == "whatsapp" and USER_ID.fullmatch(number)))


def person_address(phone: str, number: str) -> str:
    return f"whatsapp:{number}" if phone == "whatsapp" else number


def inbound_form(settings: Settings, phone: str, number: str, text: str, file: tuple[str, str] | None = None, name: str = "") -> dict:
    """The form Twilio posts for one message of a person. *file* is (media sid, content type); *name* is the WhatsApp profile's."""
    sid = new_sid("MM" if file else "SM")
    form = {
        "MessageSid": sid,
        "SmsSid": sid,
        "SmsMessageSid": sid,
        "AccountSid": settings.twilio_account_sid,
        "ApiVersion": "2010-04-01",
        "From": person_address(phone, number),
        "Body": text,
        "SmsStatus": "received",
        "NumMedia": "1" if file else "0",
    }
    if phone == "whatsapp":
        kind = {"image": "image", "audio": "audio", "video": "video"}.get(file[1].split("/")[0], "document") if file else "text"
        form |= {
            "To": settings.twilio_whatsapp_from,
            "NumSegments": "1",
            "ProfileName": name,
            "MessageType": kind,
            "ReferralNumMedia": "0",
            "ChannelMetadata": '{"type":"whatsapp","data":{"context":{}}}',
        }
        if number.startswith("+"):
            form["WaId"] = number[1:]
    else:
        form |= {"To": settings.twilio_sms_from, "NumSegments": str(max(1, segments(text))), "ToCountry": "US"}
        form |= {f"{end}{part}": "" for end in ("From", "To") for part in ("City", "State", "Zip", "Country") if end + part != "ToCountry"}
    if file:
        form["MediaUrl0"] = f"https://api.twilio.com/2010-04-01/Accounts/{settings.twilio_account_sid}/Messages/{sid}/Media/{file[0]}"
        form["MediaContentType0"] = file[1]
    return form


def post_signed(settings: Settings, url: str, form: dict) -> int:
    """Post *form* to *url* (an address under PUBLIC_URL, over which it is signed) where our server really listens.

    Returns the HTTP status, 0 when nobody answered."""
    signature = RequestValidator(settings.twilio_auth_token).compute_signature(url, form)
    session = requests.Session()
    session.trust_env = False  # our own server is not behind the proxy of the environment
    headers = {"X-Twilio-Signature": signature, "User-Agent": "TwilioProxy/1.1", "I-Twilio-Idempotency-Token": new_sid("")}
    try:
        return session.post(local(settings, url), data=form, headers=headers, timeout=15, allow_redirects=False).status_code
    except requests.RequestException as problem:
        log.warning("simulator: %s did not answer: %s", urlsplit(url).path, type(problem).__name__)
        return 0
    finally:
        session.close()


def local(settings: Settings, url: str) -> str:
    """Where an address under PUBLIC_URL is reached from this machine."""
    if not is_ours(settings, url):
        raise ValueError("not an address under PUBLIC_URL")
    return settings.local_url + url[len(settings.public_url) :]


def is_ours(settings: Settings, url: str) -> bool:
    return url.startswith(settings.public_url + "/")


# -- inbound ------------------------------------------------------------------------------------------------------
def deliver_inbound(settings: Settings, store: Store, form: dict, troubles: dict[str, str]) -> None:
    """Hand a person's message to the webhook, late or twice if so asked; the message's status tells how it was answered."""
    if troubles["late"]:
        time.sleep(LATE_SECONDS)
    answers = [post_signed(settings, settings.public_url + twilio.MESSAGE, form) for _ in range(2 if troubles["twice"] else 1)]
    good = all(200 <= status < 300 for status in answers)
    store.change(form["MessageSid"], status="received" if good else "failed", answers=answers)


# -- outbound -----------------------------------------------------------------------------------------------------
def deliver_outbound(settings: Settings, store: Store, sid: str, fault: str = "") -> None:
    """Carry one of our messages to the phone: fetch its media, then report each state by a callback.

    The message takes on a state once our server has answered the callback, so what the page shows is what Palabre knows."""
    message = store.get(sid)
    if message is None:  # deleted at once
        return
    media = []
    for item in message["media"]:
        seen = look_at(settings, item["href"])
        fault = fault or ("" if seen else "63019")
        media.append({**item, **(seen or {})})
    if media:
        store.change(sid, media=media)
    steps = [REPORTED[fault]] if fault else ["sent", "delivered"] + (["read"] if message["to"].startswith("whatsapp:") else [])
    for status in steps:
        time.sleep(PAUSES[status])
        if not report(settings, store, message, status, fault):
            return


def report(settings: Settings, store: Store, message: dict, status: str, error: str) -> bool:
    """Post one status callback. True when our server took it (or none was asked for); a refusal is kept for the page."""
    form = {
        "MessageSid": message["sid"],
        "SmsSid": message["sid"],
        "MessageStatus": status,
        "SmsStatus": status,
        "To": message["to"],
        "From": message["from"] or "",
        "AccountSid": settings.twilio_account_sid,
        "ApiVersion": "2010-04-01",
    }
    if message["to"].startswith("whatsapp:"):
        form |= {"ChannelPrefix": "whatsapp", "ChannelInstallSid": "XE" + "0" * 32} | ({"EventType": "READ"} if status == "read" else {})
    elif status == "delivered":
        form["RawDlrDoneDate"] = time.strftime("%y%m%d%H%M", time.gmtime())
    if error:
        form["ErrorCode"] = error
    url = message["callback"]
    answer = post_signed(settings, url, form) if url and is_ours(settings, url) else 200
    if 200 <= answer < 300:
        error_fields = {"error_code": int(error), "error_message": f"Error {error}"} if error else {}
        store.change(message["sid"], status=status, **error_fields, **({"date_sent": rfc2822()} if status == "sent" else {}))
        return True
    store.change(message["sid"], refused=answer)
    return False


def look_at(settings: Settings, url: str) -> dict | None:
    """Ask for a media file as Twilio does before it sends it: {"name", "size", "type"}, or None when it cannot be had."""
    if not is_ours(settings, url):
        return {}
    session = requests.Session()
    session.trust_env = False
    try:
        answer = session.head(local(settings, url), timeout=10, allow_redirects=False)
    except requests.RequestException:
        return None
    finally:
        session.close()
    if answer.status_code != 200:
        return None
    return {
        "name": unquote(urlsplit(url).path.rsplit("/", 1)[-1]),
        "size": int(answer.headers.get("Content-Length") or 0),
        "type": answer.headers.get("Content-Type", "").split(";")[0],
    }


def in_background(task, *args) -> None:
    threading.Thread(target=task, args=args, daemon=True, name="simulator").start()
