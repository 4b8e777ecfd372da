"""
Two phones in the browser: a smartphone with WhatsApp and a feature phone, for those who have no Twilio account.

The page only shows and types. What leaves it goes to the real webhook, signed; what Palabre sends comes back through the Twilio calls
of `simulator_twilio`. So what is tried here is what runs in production.
"""

import mimetypes

from flask import Blueprint, Response, abort, jsonify, render_template, request

from bot.channels.segments import encoding, segments
from bot.web import simulator_network as network
from bot.web.context import services
from bot.web.simulator_store import FAULTS, ONE_SHOTS, TOGGLES, Store, rfc2822
from bot.web.simulator_twilio import twilio

blueprint = Blueprint("simulator", __name__, url_prefix="/simulator", template_folder="templates", static_folder="static")
blueprint.register_blueprint(twilio)

FILE_LIMIT = 5 * 1024 * 1024  # bytes; WhatsApp's own limit for a picture
SLOW_SECONDS = "8"
SAFE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif", "audio/", "video/", "application/pdf")  # shown, not downloaded


def store() -> Store:
    return Store(services().redis)


@blueprint.before_request
def only_without_a_twilio_account():
    if not services().settings.simulator:
        abort(404)
    if request.headers.get("Sec-Fetch-Site") == "cross-site" and request.method == "POST":
        abort(403)  # another site in the same browser has no business here


@blueprint.get("")
def page():
    settings = services().settings
    return render_template(
        "simulator.html",
        whatsapp_number=settings.twilio_whatsapp_from.removeprefix("whatsapp:"),
        sms_number=settings.twilio_sms_from,
        faults=FAULTS,
        file_limit=FILE_LIMIT,
    )


@blueprint.post("/send")
def send():
    """A person's message, from a form with phone, from, text, name and file. 202 once it is on its way to the webhook."""
    request.max_content_length = FILE_LIMIT + 64 * 1024
    settings, form = services().settings, request.form
    phone, number, text = form.get("phone", ""), form.get("from", "").replace(" ", ""), form.get("text", "").replace("\r\n", "\n")
    upload = request.files.get("file")
    if phone not in ("whatsapp", "sms"):
        return refuse("phone doit valoir whatsapp ou sms.")
    if not network.person_is_valid(phone, number):
        return refuse("Ce numéro n'est pas valable : il faut la forme internationale, par exemple +2250701020304.")
    if len(text) > 1600:
        return refuse("Un message a au plus 1600 caractères.")
    if phone == "sms" and upload:
        return refuse("Un SMS ne porte pas de fichier.")
    if not text.strip() and not upload:
        return refuse("Le message est vide.")
    file, media = None, []
    if upload:
        data, name = upload.read(), upload.filename or "fichier"
        kind = upload.mimetype or mimetypes.guess_type(name)[0] or "application/octet-stream"
        if len(data) > FILE_LIMIT:
            return refuse("Le fichier dépasse 5 Mo.", 413)
        file = (store().add_file(data, kind, name), kind)
        media = [{"href": f"/simulator/file/{file[0]}", "name": name, "size": len(data), "type": kind}]
    inbound = network.inbound_form(settings, phone, number, text, file, form.get("name", ""))
    keep_inbound(inbound, media)
    network.in_background(network.deliver_inbound, settings, store(), inbound, store().troubles())
    return jsonify({"sid": inbound["MessageSid"]}), 202


def keep_inbound(form: dict, media: list[dict]) -> None:
    """Show the message on the person's own phone, and let Twilio's API know it."""
    now, uri = rfc2822(), f"/2010-04-01/Accounts/{form['AccountSid']}/Messages/{form['MessageSid']}"
    store().open_window(form["From"])
    store().add(
        {
            "account_sid": form["AccountSid"],
            "api_version": "2010-04-01",
            "body": form["Body"],
            "date_created": now,
            "date_sent": now,
            "date_updated": now,
            "direction": "inbound",
            "error_code": None,
            "error_message": None,
            "from": form["From"],
            "messaging_service_sid": None,
            "num_media": form["NumMedia"],
            "num_segments": form["NumSegments"],
            "price": None,
            "price_unit": "USD",
            "sid": form["MessageSid"],
            "status": "receiving",
            "to": form["To"],
            "uri": f"{uri}.json",
            "subresource_uris": {"media": f"{uri}/Media.json"},
            "address": form["From"],
            "media": media,
            "sms_segments": int(form["NumSegments"]),
        }
    )


def refuse(text: str, status: int = 400):
    return jsonify({"error": text}), status


@blueprint.get("/messages")
def messages():
    """What is new on one phone: `messages` (new or changed since *after*), `next`, `typing` and the troubles that are on."""
    address = request.args.get("address", "")
    found, following = store().changed(address, request.args.get("after", 0, type=int))
    return jsonify(
        {"messages": [shown(m) for m in found], "next": following, "typing": store().is_typing(address), "troubles": store().troubles()}
    )


def shown(message: dict) -> dict:
    public = services().settings.public_url + "/"
    media = [
        {**item, "href": item["href"].removeprefix(public.removesuffix("/")) if item["href"].startswith(public) else item["href"]}
        for item in message["media"]
    ]
    return {
        "sid": message["sid"],
        "text": message["body"],
        "mine": message["direction"] == "inbound",
        "status": message["status"],
        "error": message["error_code"],
        "refused": message.get("refused"),
        "answers": message.get("answers"),
        "at": message["at"],
        "media": media,
        "segments": message["sms_segments"],
    }


@blueprint.get("/segments")
def count_segments():
    text = request.args.get("text", "")[:1600]
    return jsonify({"segments": segments(text), "encoding": encoding(text), "characters": len(text)})


@blueprint.post("/trouble")
def trouble():
    """Switch a trouble on (with a value) or off: twice, late, fail (a code of FAULTS), slow."""
    name, value = request.form.get("name", ""), request.form.get("value", "")
    if name not in (*TOGGLES, *ONE_SHOTS) or (name == "fail" and value and value not in FAULTS):
        return refuse("Cette panne n'existe pas.")
    store().set_trouble(name, SLOW_SECONDS if name == "slow" and value else value)
    return jsonify(store().troubles())


@blueprint.get("/file/<sid>")
def file(sid: str):
    """A file that a person has attached, for their own phone."""
    found = store().file(sid)
    if not found:
        abort(404)
    data, kind, name = found
    answer = Response(data, mimetype=kind if kind.startswith(SAFE_TYPES) else "application/octet-stream")
    answer.headers.set("Content-Disposition", "inline" if kind.startswith(SAFE_TYPES) else "attachment", filename=name)
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer
