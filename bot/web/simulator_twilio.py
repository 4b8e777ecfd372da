"""
The Twilio REST calls that Palabre makes, answered as Twilio answers them. TWILIO_BASE_URL points here when there is no Twilio account.

Parameters, limits and error codes are those of Twilio's API reference (Messages 2010-04-01, Indicators v2 and v3, Content v1).
"""

import json
import re
import secrets
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Response, current_app, jsonify, request

from bot.channels.segments import segments
from bot.web.simulator_network import PHONE, REPORTED, USER_ID, deliver_outbound, in_background
from bot.web.simulator_store import Store, new_sid, resource, rfc2822

twilio = Blueprint("twilio", __name__, url_prefix="/twilio")

ERRORS = {  # code: (HTTP status, message)
    20003: (401, "Authenticate"),
    20404: (404, "The requested resource was not found"),
    20001: (400, "Invalid parameter"),
    20429: (429, "Too Many Requests"),
    20500: (500, "Internal Server Error"),
    21211: (400, "Invalid 'To' Phone Number"),
    21602: (400, "Message body is required."),
    21603: (400, "A 'From' phone number is required."),
    21604: (400, "A 'To' phone number is required."),
    21606: (400, "The 'From' phone number provided is not a valid message-capable Twilio phone number for this destination."),
    21609: (400, "Invalid StatusCallback URL"),
    21610: (400, "Attempt to send to unsubscribed recipient"),
    21617: (400, "The concatenated message body exceeds the 1600 character limit"),
    21620: (400, "Invalid media URL(s)"),
    21655: (400, "The ContentSid is Invalid"),
    21656: (400, "The ContentVariables Parameter is invalid"),
    21910: (400, "Invalid 'From' and 'To' pair. 'From' and 'To' should be of the same channel"),
    63007: (400, "Twilio could not find a Channel with the specified From address"),
}
MEDIA_PER_MESSAGE = 10
PAGE_SIZE, LARGEST_PAGE = 50, 1000


def error(code: int, detail: str = "") -> tuple[Response, int]:
    status, message = ERRORS[code]
    body = {
        "code": code,
        "message": f"{message}{': ' if detail else ''}{detail}",
        "status": status,
        "more_info": f"https://www.twilio.com/docs/errors/{code}",
    }
    return jsonify(body), status


def settings():
    return current_app.extensions["palabre"].settings


def store() -> Store:
    return Store(current_app.extensions["palabre"].redis)


@twilio.before_request
def authenticate():
    given, ours = request.authorization, settings()
    known = (
        given
        and given.type == "basic"
        and secrets.compare_digest(
            f"{given.username}:{given.password}".encode(), f"{ours.twilio_account_sid}:{ours.twilio_auth_token}".encode()
        )
    )
    if not known:
        return error(20003)
    if request.view_args and request.view_args.get("account", ours.twilio_account_sid) != ours.twilio_account_sid:
        return error(20404)
    return None


# -- messages -----------------------------------------------------------------------------------------------------
@twilio.post("/2010-04-01/Accounts/<account>/Messages.json")
def create_message(account: str):
    form, ours = request.form, settings()
    if refusal := refusal_of(form):
        return error(*refusal)
    fault = store().take_fault()
    if fault and fault not in REPORTED:
        return error({"500": 20500}.get(fault) or int(fault))
    body, media, to = form.get("Body", ""), form.getlist("MediaUrl"), form["To"]
    if content := form.get("ContentSid"):
        body = rendered(store().content(content), json.loads(form.get("ContentVariables") or "{}"))
    service = form.get("MessagingServiceSid")
    sender = form.get("From") or (ours.twilio_whatsapp_from if to.startswith("whatsapp:") else ours.twilio_sms_from)
    sid, now = new_sid("MM" if media else "SM"), rfc2822()
    uri = f"/2010-04-01/Accounts/{account}/Messages/{sid}"
    message = store().add(
        {
            "account_sid": account,
            "api_version": "2010-04-01",
            "body": body,
            "date_created": now,
            "date_updated": now,
            "date_sent": None,
            "direction": "outbound-api",
            "error_code": None,
            "error_message": None,
            "from": sender,
            "messaging_service_sid": service,
            "num_media": str(len(media)),
            "num_segments": "0" if service else str(max(1, segments(body))),
            "price": None,
            "price_unit": "USD",
            "sid": sid,
            "status": "accepted" if service else "queued",
            "to": to,
            "uri": f"{uri}.json",
            "subresource_uris": {"media": f"{uri}/Media.json"},
            "address": to,
            "callback": form.get("StatusCallback", ""),
            "media": [{"href": url, "name": urlsplit(url).path.rsplit("/", 1)[-1], "size": 0, "type": ""} for url in media],
            "sms_segments": segments(body),
        }
    )
    store().hide_typing(to)
    if to.startswith("whatsapp:") and not content and not store().window_is_open(to):
        fault = fault or "63016"
    in_background(deliver_outbound, ours, store(), sid, fault)
    return jsonify(resource(message)), 201


def refusal_of(form) -> tuple[int] | tuple[int, str] | None:
    """Why Twilio would refuse these parameters: (code, detail), or None."""
    ours, to, sender, body = settings(), form.get("To", ""), form.get("From", ""), form.get("Body", "")
    whatsapp = to.startswith("whatsapp:")
    number = to.removeprefix("whatsapp:")
    if not to:
        return (21604,)
    if not PHONE.fullmatch(number) and not (whatsapp and USER_ID.fullmatch(number)):
        return (21211, to)
    if not sender and not form.get("MessagingServiceSid"):
        return (21603,)
    if sender and sender not in (ours.twilio_whatsapp_from, ours.twilio_sms_from):
        return (63007 if sender.startswith("whatsapp:") else 21606,)
    if sender and sender.startswith("whatsapp:") != whatsapp:
        return (21910,)
    if len(body) > 1600:
        return (21617,)
    media = form.getlist("MediaUrl")
    if not body.strip() and not media and not form.get("ContentSid"):
        return (21602,)
    if len(media) > MEDIA_PER_MESSAGE or any(urlsplit(url).scheme not in ("http", "https") for url in media):
        return (21620,)
    callback = urlsplit(form.get("StatusCallback", "https://none"))
    if callback.scheme not in ("http", "https") or "_" in callback.netloc:
        return (21609,)
    return content_refusal(form)


def content_refusal(form) -> tuple[int] | None:
    if "ContentSid" in form and not store().content(form["ContentSid"]):
        return (21655,)
    if "ContentVariables" in form:
        try:
            values = json.loads(form["ContentVariables"]).values()
        except (ValueError, AttributeError):
            return (21656,)
        if not form.get("ContentSid") or not all(isinstance(v, str) and v.strip() and not re.search(r"[\n\t]| {5}", v) for v in values):
            return (21656,)
    return None


def rendered(content: dict, variables: dict) -> str:
    """What a person reads of a message template: its body with the variables filled in."""
    kinds = content.get("types") or {}
    bodies = [kind["body"] for kind in kinds.values() if isinstance(kind, dict) and kind.get("body")]
    body = bodies[0] if bodies else content.get("friendly_name") or ""
    for name, value in {**(content.get("variables") or {}), **variables}.items():
        body = body.replace("{{" + name + "}}", str(value))
    return body


@twilio.get("/2010-04-01/Accounts/<account>/Messages.json")
def list_messages(account: str):
    query = request.args
    found = [m for m in store().newest_first() if query.get("To", m["to"]) == m["to"] and query.get("From", m["from"]) == m["from"]]
    try:
        for name, keep in (("DateSent", str.__eq__), ("DateSent<", str.__le__), ("DateSent>", str.__ge__)):
            if name in query:
                wanted = datetime.fromisoformat(query[name]).strftime("%Y-%m-%dT%H:%M:%S")
                length = len(wanted) if "T" in query[name] and name != "DateSent" else 10  # a day is compared as a day
                found = [m for m in found if keep(sent_at(m)[:length], wanted[:length])]
        size, page = min(LARGEST_PAGE, max(1, int(query.get("PageSize", PAGE_SIZE)))), max(0, int(query.get("Page", 0)))
    except ValueError:
        return error(20001)
    here = found[page * size : (page + 1) * size]

    def uri(number: int) -> str:
        return f"/2010-04-01/Accounts/{account}/Messages.json?" + urlencode({**query, "PageSize": size, "Page": number})

    return jsonify(
        {
            "messages": [resource(m) for m in here],
            "page": page,
            "page_size": size,
            "start": page * size,
            "end": max(0, page * size + len(here) - 1),
            "uri": uri(page),
            "first_page_uri": uri(0),
            "previous_page_uri": uri(page - 1) if page else None,
            "next_page_uri": uri(page + 1) if len(found) > (page + 1) * size else None,
        }
    )


def sent_at(message: dict) -> str:
    """When a message was sent (or made, while it is still waiting), UTC, in the form of the DateSent filters."""
    return parsedate_to_datetime(message["date_sent"] or message["date_created"]).strftime("%Y-%m-%dT%H:%M:%S")


@twilio.get("/2010-04-01/Accounts/<account>/Messages/<sid>.json")
def fetch_message(account: str, sid: str):
    message = store().get(sid)
    return jsonify(resource(message)) if message else error(20404)


@twilio.post("/2010-04-01/Accounts/<account>/Messages/<sid>.json")
def update_message(account: str, sid: str):
    """Twilio lets the body be blanked; a message can be cancelled only while it is scheduled, which ours never are."""
    if not store().get(sid):
        return error(20404)
    if request.form.get("Body") != "":
        return error(20001, "only an empty Body can be set")
    store().change(sid, body="")
    return jsonify(resource(store().get(sid)))


@twilio.delete("/2010-04-01/Accounts/<account>/Messages/<sid>.json")
def delete_message(account: str, sid: str):
    if not store().get(sid):
        return error(20404)
    store().delete(sid)
    return "", 204


@twilio.get("/2010-04-01/Accounts/<account>/Messages/<message>/Media/<sid>")
def fetch_media(account: str, message: str, sid: str):
    file = store().file(sid)
    return Response(file[0], mimetype=file[1]) if file else error(20404)


# -- the sign that somebody is writing ----------------------------------------------------------------------------
@twilio.post("/<any(v2,v3):version>/Indicators/Typing.json")
def typing(version: str):
    given = (request.get_json(silent=True) or {}) if version == "v3" else request.form
    message = store().get(str(given.get("messageId", "")))
    if given.get("channel") != {"v2": "whatsapp", "v3": "WHATSAPP"}[version] or not message or message["direction"] != "inbound":
        return error(20001, "channel and the messageId of an inbound message are needed")
    store().show_typing(message["address"])
    return jsonify({"success": True})


# -- message templates --------------------------------------------------------------------------------------------
@twilio.post("/v1/Content")
def create_content():
    given = request.get_json(silent=True)
    if not isinstance(given, dict) or not isinstance(given.get("types"), dict) or not given["types"] or not given.get("language"):
        return error(20001, "language and types are needed")
    sid, now = new_sid("HX"), datetime.now().astimezone().isoformat(timespec="seconds")
    url = f"https://content.twilio.com/v1/Content/{sid}"
    content = {
        "sid": sid,
        "account_sid": settings().twilio_account_sid,
        "friendly_name": given.get("friendly_name"),
        "language": given["language"],
        "variables": given.get("variables") or {},
        "types": given["types"],
        "url": url,
        "date_created": now,
        "date_updated": now,
        "links": {"approval_create": f"{url}/ApprovalRequests/whatsapp", "approval_fetch": f"{url}/ApprovalRequests"},
    }
    store().add_content(content)
    return jsonify(content), 201


@twilio.get("/v1/Content")
def list_contents():
    url = "https://content.twilio.com/v1/Content?PageSize=50&Page=0"
    meta = {
        "page": 0,
        "page_size": 50,
        "first_page_url": url,
        "previous_page_url": None,
        "next_page_url": None,
        "url": url,
        "key": "contents",
    }
    return jsonify({"contents": store().contents(), "meta": meta})


@twilio.get("/v1/Content/<sid>")
def fetch_content(sid: str):
    content = store().content(sid)
    return jsonify(content) if content else error(20404)


@twilio.delete("/v1/Content/<sid>")
def delete_content(sid: str):
    if not store().content(sid):
        return error(20404)
    store().delete_content(sid)
    return "", 204
