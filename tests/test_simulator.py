"""The simulator speaks as Twilio does: signed forms in, the REST API out, callbacks for what became of a message."""

import dataclasses
import re
import threading
import time
import types
from urllib.parse import urlsplit

import flask
import pytest
import requests
from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.request_validator import RequestValidator
from twilio.rest import Client
from werkzeug.serving import make_server

from bot.demo.server import SLOW_KEY
from bot.web import simulator, simulator_network

AWA, KOFFI = "+2250701020304", "+2250505060708"


class Palabre:
    """A web server with the simulator and a webhook that only writes down what comes and checks the signature."""

    def __init__(self, services):
        self.inbound, self.statuses, self.signed, self.answer = [], [], [], 200
        app = flask.Flask("simulated")
        app.register_blueprint(simulator.blueprint)
        app.add_url_rule("/webhooks/twilio/message", view_func=self.message, methods=["POST"])
        app.add_url_rule("/webhooks/twilio/status", view_func=self.status, methods=["POST"])
        app.add_url_rule("/media/<token>/<name>", view_func=lambda token, name: flask.Response(b"%PDF" * 500, mimetype="application/pdf"))
        self.server = make_server("127.0.0.1", 0, app, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.port}"
        self.settings = dataclasses.replace(services.settings, simulator=True, public_url="https://palabre.test", local_url=self.url)
        app.extensions["palabre"] = types.SimpleNamespace(settings=self.settings, redis=services.redis)
        self.app, self.redis = app, services.redis
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def check(self):
        url = "https://palabre.test" + flask.request.full_path.removesuffix("?")
        self.signed.append(
            RequestValidator(self.settings.twilio_auth_token).validate(url, flask.request.form, flask.request.headers["X-Twilio-Signature"])
        )

    def message(self):
        self.check()
        self.inbound.append(flask.request.form.to_dict())
        return flask.Response("<Response/>", self.answer, mimetype="text/xml")

    def status(self):
        self.check()
        self.statuses.append({**flask.request.form.to_dict(), "mid": flask.request.args.get("mid")})
        return "", 204 if self.answer == 200 else self.answer

    # -- what a person does on the page
    def write(self, phone="whatsapp", number=AWA, text="Bonjour", **more):
        files = {"file": more.pop("file")} if "file" in more else None
        data = {"phone": phone, "from": number, "text": text, **more}
        return requests.post(f"{self.url}/simulator/send", data=data, files=files, timeout=5)

    def trouble(self, name, value="1"):
        return requests.post(f"{self.url}/simulator/trouble", data={"name": name, "value": value}, timeout=5)

    def screen(self, address=f"whatsapp:{AWA}", after=0):
        return requests.get(f"{self.url}/simulator/messages", params={"address": address, "after": after}, timeout=5).json()

    # -- what Palabre does through Twilio's SDK
    @property
    def twilio(self):
        return Client(self.settings.twilio_account_sid, self.settings.twilio_auth_token, http_client=Rerouted(self.url))

    def send(self, to=f"whatsapp:{AWA}", body="Salut", **more):
        sender = self.settings.twilio_whatsapp_from if to.startswith("whatsapp:") else self.settings.twilio_sms_from
        return self.twilio.messages.create(
            to=to, from_=sender, body=body, status_callback="https://palabre.test/webhooks/twilio/status?mid=7", **more
        )


class Rerouted(TwilioHttpClient):
    """TWILIO_BASE_URL: the host of every call is replaced, the path stays."""

    def __init__(self, url):
        super().__init__(timeout=5)
        self.url = url

    def request(self, method, url, *args, **kwargs):
        path = url.split("/", 3)[3]
        return super().request(method, f"{self.url}/simulator/twilio/{path}", *args, **kwargs)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(simulator_network, "PAUSES", dict.fromkeys(simulator_network.PAUSES, 0))
    monkeypatch.setattr(simulator_network, "LATE_SECONDS", 0.3)


@pytest.fixture
def palabre(services):
    running = Palabre(services)
    yield running
    for thread in threading.enumerate():
        if thread.name == "simulator":
            thread.join(5)
    running.server.shutdown()


def until(condition, limit=5.0):
    """Wait for a condition to hold and return its value."""
    ends = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.01)
    return value


# -- a person writes ----------------------------------------------------------------------------------------------
def test_a_whatsapp_message_reaches_the_webhook_signed_and_complete(palabre):
    assert palabre.write(text="Bonjour, ça va ?\nMoi oui.", name="Awa").status_code == 202
    form = until(lambda: palabre.inbound)[0]
    assert palabre.signed == [True]
    assert form["From"] == f"whatsapp:{AWA}" and form["To"] == "whatsapp:+14155238886" and form["WaId"] == AWA[1:]
    assert form["Body"] == "Bonjour, ça va ?\nMoi oui." and form["ProfileName"] == "Awa" and form["MessageType"] == "text"
    assert form["MessageSid"] == form["SmsSid"] == form["SmsMessageSid"] and re.fullmatch("SM[0-9a-f]{32}", form["MessageSid"])
    assert form["NumMedia"] == "0" and form["NumSegments"] == "1" and form["SmsStatus"] == "received" and form["ApiVersion"] == "2010-04-01"
    assert form["AccountSid"] == palabre.settings.twilio_account_sid and form["ReferralNumMedia"] == "0"


def test_an_sms_carries_its_segments_and_no_whatsapp_fields(palabre):
    palabre.write(phone="sms", number=KOFFI, text="ç" * 71)
    form = until(lambda: palabre.inbound)[0]
    assert form["From"] == KOFFI and form["To"] == "+14155550100" and form["NumSegments"] == "2" and form["FromCountry"] == ""
    assert palabre.signed == [True] and not {"WaId", "ProfileName", "MessageType"} & set(form)


def test_a_whatsapp_user_without_a_phone_number_can_write(palabre):
    palabre.write(number="CI.13491208655302741918")
    form = until(lambda: palabre.inbound)[0]
    assert form["From"] == "whatsapp:CI.13491208655302741918" and "WaId" not in form


@pytest.mark.parametrize(
    "form",
    [
        {"phone": "fax"},
        {"number": "0701020304"},
        {"number": "abc"},
        {"phone": "sms", "number": "CI.1349"},
        {"text": "  "},
        {"text": "a" * 1601},
        {"phone": "sms", "file": ("a.png", b"x", "image/png")},
    ],
)
def test_what_a_phone_cannot_send_is_refused_in_words(palabre, form):
    refused = palabre.write(**form)
    assert refused.status_code == 400 and refused.json()["error"]
    assert palabre.screen()["messages"] == []


def test_the_page_shows_how_the_webhook_answered(palabre):
    palabre.answer = 403
    palabre.write()
    message = until(lambda: [m for m in palabre.screen()["messages"] if m["status"] == "failed"])[0]
    assert message["mine"] and message["answers"] == [403]


def test_a_message_can_be_delivered_twice_and_late(palabre):
    palabre.trouble("twice")
    palabre.trouble("late")
    began = time.monotonic()
    palabre.write()
    until(lambda: len(palabre.inbound) == 2)
    assert time.monotonic() - began >= 0.3
    assert palabre.inbound[0] == palabre.inbound[1]
    palabre.trouble("twice", "")
    assert palabre.screen()["troubles"] == {"twice": "", "late": "1", "fail": "", "slow": ""}


def test_the_slow_model_is_told_to_the_demo_model(palabre):
    palabre.trouble("slow")
    assert palabre.redis.get(SLOW_KEY) == b"8"


@pytest.mark.parametrize(("name", "value"), [("rain", "1"), ("fail", "12345"), ("", "")])
def test_an_unknown_trouble_is_refused(palabre, name, value):
    assert palabre.trouble(name, value).status_code == 400


# -- files --------------------------------------------------------------------------------------------------------
def test_an_attached_file_is_fetched_as_from_twilio(palabre):
    assert palabre.write(text="", file=("photo é.png", b"\x89PNG", "image/png")).status_code == 202
    form = until(lambda: palabre.inbound)[0]
    assert form["NumMedia"] == "1" and form["MessageSid"].startswith("MM") and form["MediaContentType0"] == "image/png"
    url = urlsplit(form["MediaUrl0"])
    assert url.netloc == "api.twilio.com" and form["MessageSid"] in url.path and form["MessageType"] == "image"
    here = f"{palabre.url}/simulator/twilio{url.path}"
    assert requests.get(here, timeout=5).status_code == 401
    answer = requests.get(here, auth=(palabre.settings.twilio_account_sid, palabre.settings.twilio_auth_token), timeout=5)
    assert answer.content == b"\x89PNG" and answer.headers["Content-Type"] == "image/png"
    media = palabre.screen()["messages"][0]["media"][0]
    assert media["name"] == "photo é.png" and media["size"] == 4
    assert requests.get(palabre.url + media["href"], timeout=5).content == b"\x89PNG"


def test_a_file_that_could_run_as_a_page_is_only_downloaded(palabre):
    palabre.write(file=("x.html", b"<script>alert(1)</script>", "text/html"))
    href = palabre.screen()["messages"][0]["media"][0]["href"]
    answer = requests.get(palabre.url + href, timeout=5)
    assert answer.headers["Content-Type"] == "application/octet-stream" and answer.headers["Content-Disposition"].startswith("attachment")


def test_a_file_of_more_than_5_mb_is_refused(palabre):
    refused = palabre.write(file=("x.pdf", b"x" * (simulator.FILE_LIMIT + 1), "application/pdf"))
    assert refused.status_code == 413 and "5 Mo" in refused.json()["error"]


# -- Palabre answers through Twilio's SDK -------------------------------------------------------------------------
def test_a_message_goes_out_and_its_callbacks_come_back_signed(palabre):
    palabre.write()
    sent = palabre.send(body="*Salut* Awa")
    assert sent.status == "queued" and sent.num_segments == "1" and sent.num_media == "0" and sent.error_code is None
    assert sent.date_created.tzinfo is not None and sent.direction == "outbound-api"
    until(lambda: len(palabre.statuses) == 3)
    assert [s["MessageStatus"] for s in palabre.statuses] == ["sent", "delivered", "read"]
    assert all(palabre.signed) and {s["mid"] for s in palabre.statuses} == {"7"} and palabre.statuses[2]["EventType"] == "READ"
    until(lambda: palabre.twilio.messages(sent.sid).fetch().status == "read")
    shown = [m for m in palabre.screen()["messages"] if not m["mine"]]
    assert [(m["text"], m["status"]) for m in shown] == [("*Salut* Awa", "read")]


def test_an_sms_is_delivered_but_never_read(palabre):
    sent = palabre.send(to=KOFFI, body="é" * 161)
    assert sent.num_segments == "2"
    until(lambda: palabre.twilio.messages(sent.sid).fetch().status == "delivered")
    assert [s["MessageStatus"] for s in palabre.statuses] == ["sent", "delivered"]


def test_a_tick_waits_until_palabre_accepts_the_callback(palabre):
    palabre.write()
    until(lambda: palabre.inbound)
    palabre.answer = 503
    sent = palabre.send()
    message = until(lambda: [m for m in palabre.screen()["messages"] if m["refused"] == 503])[0]
    assert message["sid"] == sent.sid and message["status"] == "queued"


def test_a_document_shows_its_name_and_size(palabre):
    palabre.write()
    palabre.send(media_url=["https://palabre.test/media/abc/fiche.pdf"])
    media = until(lambda: [m["media"][0] for m in palabre.screen()["messages"] if m["media"] and m["media"][0]["size"]])[0]
    assert media == {"href": "/media/abc/fiche.pdf", "name": "fiche.pdf", "size": 2000, "type": "application/pdf"}


def test_a_document_that_cannot_be_fetched_fails_with_63019(palabre):
    palabre.write()
    sent = palabre.send(media_url=["https://palabre.test/nowhere/fiche.pdf"])
    until(lambda: palabre.statuses)
    assert palabre.statuses[0]["MessageStatus"] == "failed" and palabre.statuses[0]["ErrorCode"] == "63019"
    until(lambda: palabre.twilio.messages(sent.sid).fetch().error_code == 63019)


def test_free_text_before_the_person_has_written_fails_with_63016(palabre):
    palabre.send()
    until(lambda: palabre.statuses)
    assert palabre.statuses[0]["ErrorCode"] == "63016"


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"to": "whatsapp:+225"}, 400, 21211),
        ({"to": "abc"}, 400, 21211),
        ({"body": "a" * 1601}, 400, 21617),
        ({"body": " "}, 400, 21602),
        ({"from_": "+15005550006"}, 400, 21606),
        ({"from_": "whatsapp:+15005550006"}, 400, 63007),
        ({"from_": "+14155550100"}, 400, 21910),
        ({"media_url": ["ftp://x/y"]}, 400, 21620),
        ({"content_sid": "HX" + "0" * 32}, 400, 21655),
        ({"content_variables": "{}"}, 400, 21656),
        ({"status_callback": "mailto:x"}, 400, 21609),
    ],
)
def test_what_twilio_refuses_is_refused_with_its_code(palabre, fields, status, code):
    given = {"to": f"whatsapp:{AWA}", "from_": "whatsapp:+14155238886", "body": "x", **fields}
    with pytest.raises(TwilioRestException) as refused:
        palabre.twilio.messages.create(**given)
    assert (refused.value.status, refused.value.code) == (status, code)
    assert palabre.screen()["messages"] == []


@pytest.mark.parametrize(("fault", "status", "code"), [("21610", 400, 21610), ("20429", 429, 20429), ("500", 500, 20500)])
def test_the_next_message_can_be_refused_once(palabre, fault, status, code):
    palabre.write()
    palabre.trouble("fail", fault)
    with pytest.raises(TwilioRestException) as refused:
        palabre.send()
    assert (refused.value.status, refused.value.code) == (status, code)
    assert palabre.send().sid


@pytest.mark.parametrize(("fault", "reported"), [("63016", "failed"), ("63018", "failed"), ("30003", "undelivered")])
def test_the_next_message_can_fail_by_callback(palabre, fault, reported):
    palabre.write()
    palabre.trouble("fail", fault)
    sent = palabre.send()
    until(lambda: palabre.statuses)
    assert [(s["MessageSid"], s["MessageStatus"], s["ErrorCode"]) for s in palabre.statuses] == [(sent.sid, reported, fault)]
    shown = until(lambda: [m for m in palabre.screen()["messages"] if m["error"]])[0]
    assert shown["error"] == int(fault) and shown["status"] == reported


def test_wrong_credentials_are_20003_and_a_foreign_account_20404(palabre):
    other = Client(palabre.settings.twilio_account_sid, "wrong", http_client=Rerouted(palabre.url))
    with pytest.raises(TwilioRestException) as refused:
        other.messages.create(to=KOFFI, from_="+14155550100", body="x")
    assert (refused.value.status, refused.value.code) == (401, 20003)
    with pytest.raises(TwilioRestException) as refused:
        palabre.twilio.api.v2010.accounts("AC" + "9" * 32).messages("SM" + "0" * 32).fetch()
    assert (refused.value.status, refused.value.code) == (404, 20404)


def test_messages_are_listed_newest_first_by_pages_and_by_date(palabre):
    sids = [palabre.send(to=KOFFI, body=f"n {n}").sid for n in range(5)]
    palabre.send(to="+2250707070707")
    assert [m.sid for m in palabre.twilio.messages.list(to=KOFFI, page_size=2)] == sids[::-1]
    made = palabre.twilio.messages(sids[0]).fetch().date_created
    later, earlier = made.replace(year=made.year + 1), made.replace(year=made.year - 1)
    assert len(palabre.twilio.messages.list(to=KOFFI, date_sent_after=earlier)) == 5
    assert palabre.twilio.messages.list(to=KOFFI, date_sent_after=later) == []
    assert palabre.twilio.messages.list(to=KOFFI, date_sent_before=earlier) == []
    assert len(palabre.twilio.messages.list(to=KOFFI, date_sent=made.date())) == 5
    assert len(palabre.twilio.messages.list(limit=3)) == 3


def test_a_message_can_be_blanked_and_deleted(palabre):
    sent = palabre.send(to=KOFFI)
    assert palabre.twilio.messages(sent.sid).update(body="").body == ""
    assert palabre.twilio.messages(sent.sid).delete() is True
    with pytest.raises(TwilioRestException) as refused:
        palabre.twilio.messages(sent.sid).fetch()
    assert refused.value.code == 20404


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_typing_is_shown_until_the_answer(palabre, version):
    sid = palabre.write().json()["sid"]
    auth = (palabre.settings.twilio_account_sid, palabre.settings.twilio_auth_token)
    given = {"data": {"channel": "whatsapp", "messageId": sid}} if version == "v2" else {"json": {"channel": "WHATSAPP", "messageId": sid}}
    url = f"{palabre.url}/simulator/twilio/{version}/Indicators/Typing.json"
    assert requests.post(url, auth=auth, timeout=5, **given).json() == {"success": True}
    assert palabre.screen()["typing"] is True
    palabre.send()
    assert palabre.screen()["typing"] is False
    assert requests.post(url, auth=auth, timeout=5, json={"channel": "WHATSAPP", "messageId": "SM1"}).status_code == 400


def test_a_template_is_made_found_and_sent_with_its_variables(palabre):
    auth = (palabre.settings.twilio_account_sid, palabre.settings.twilio_auth_token)
    made = requests.post(
        f"{palabre.url}/simulator/twilio/v1/Content",
        auth=auth,
        timeout=5,
        json={"friendly_name": "reponse", "language": "fr", "variables": {"1": "toi"}, "types": {"twilio/text": {"body": "Bonjour {{1}}"}}},
    )
    assert made.status_code == 201
    content = palabre.twilio.content.v1.contents(made.json()["sid"]).fetch()
    assert content.types == {"twilio/text": {"body": "Bonjour {{1}}"}}
    assert [c.sid for c in palabre.twilio.content.v1.contents.list()] == [content.sid]
    sent = palabre.twilio.messages.create(
        to=f"whatsapp:{AWA}", from_="whatsapp:+14155238886", content_sid=content.sid, content_variables='{"1": "Awa"}'
    )
    assert sent.body == "Bonjour Awa"
    until(lambda: palabre.twilio.messages(sent.sid).fetch().status == "read")  # a template may open a conversation
    assert palabre.twilio.content.v1.contents(content.sid).delete() is True


# -- the page -----------------------------------------------------------------------------------------------------
def test_each_phone_sees_only_its_own_messages_and_only_what_is_new(palabre):
    palabre.write()
    palabre.write(phone="sms", number=KOFFI, text="salut")
    until(lambda: [m for m in palabre.screen(KOFFI)["messages"] if m["status"] == "received"])
    first = palabre.screen(KOFFI)
    assert [m["text"] for m in first["messages"]] == ["salut"]
    assert palabre.screen(KOFFI, first["next"])["messages"] == []


def test_the_page_needs_nothing_from_elsewhere_and_no_inline_script(palabre):
    page = requests.get(f"{palabre.url}/simulator", timeout=5).text
    assert "<style" not in page and "<script>" not in page and " style=" not in page and " onclick" not in page
    assert "https://" not in page.replace("http://www.w3.org", "")
    for name in ("whatsapp-log", "whatsapp-input", "whatsapp-send", "whatsapp-file", "sms-screen", "sms-input", "sms-send", "sms-segments"):
        assert f'id="{name}"' in page
    for name in ("simulator.css", "simulator.js", "palabre.svg"):
        assert requests.get(f"{palabre.url}/simulator/static/{name}", timeout=5).status_code == 200


def test_segments_are_counted_for_the_page(palabre):
    counted = requests.get(f"{palabre.url}/simulator/segments", params={"text": "ça va"}, timeout=5).json()
    assert counted == {"segments": 1, "encoding": "UCS-2", "characters": 5}


def test_with_a_twilio_account_there_is_no_simulator(palabre):
    palabre.app.extensions["palabre"].settings = dataclasses.replace(palabre.settings, simulator=False)
    for path in ("/simulator", "/simulator/messages", "/simulator/static/simulator.js", "/simulator/twilio/v1/Content"):
        assert requests.get(palabre.url + path, timeout=5).status_code == 404
    assert palabre.write().status_code == 404


def test_another_site_cannot_write_in_a_persons_name(palabre):
    refused = requests.post(
        f"{palabre.url}/simulator/send",
        data={"phone": "sms", "from": KOFFI, "text": "x"},
        timeout=5,
        headers={"Sec-Fetch-Site": "cross-site"},
    )
    assert refused.status_code == 403 and palabre.inbound == []
