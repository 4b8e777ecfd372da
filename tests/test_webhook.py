"""The way in: signatures, forms of every kind, one message one event, and what is down when a message comes."""

import base64
import hashlib
import hmac
import io
import json
import threading
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import fakes
import pytest
import sqlalchemy as sa
from conftest import AWA, rows
from fakes import text
from werkzeug.datastructures import MultiDict

from bot.channels import twilio
from bot.db import addresses, connect, conversations, events, now, received
from bot.services import connect_redis
from bot.web.app import create_app
from workers import schedule

DATA = Path(__file__).parent / "data"
VECTORS = json.loads((DATA / "signature.json").read_text())["signature"]
JSON_VECTORS = json.loads((DATA / "more.json").read_text())["signature_json"]
WHATSAPP, SMS = f"whatsapp:{AWA}", AWA
FORM = [("MessageSid", "SM" + "a" * 32), ("From", WHATSAPP), ("To", "whatsapp:+14155238886"), ("Body", "Bonjour"), ("NumMedia", "0")]
FORM_TYPE = "application/x-www-form-urlencoded"


def sign(url: str, form=(), token: str = "12345") -> str:
    """Twilio's algorithm as its documentation tells it, without its SDK."""
    said = url + "".join(key + value for key in sorted({k for k, _ in form}) for value in sorted({v for k, v in form if k == key}))
    return base64.b64encode(hmac.new(token.encode(), said.encode(), hashlib.sha1).digest()).decode()


def web(services, **settings):
    """A client of the application with other settings."""
    return create_app(replace(services, settings=replace(services.settings, **settings))).test_client()


def stored(services) -> list[dict]:
    """The payloads of all messages that were written down."""
    return [r.payload for r in rows(services, events, events.c.kind == "HumanInput")]


# -- signatures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: row["name"])
def test_signature_vectors(row, settings):
    """A form is accepted exactly when Twilio signed what our public address and the raw target say."""
    seen = urlsplit(row["server_sees_url"])
    ours = replace(settings, public_url=f"{seen.scheme}://{seen.netloc}", twilio_auth_token=row["token"])
    target = row["server_sees_url"].removeprefix(ours.public_url)

    assert sign(row["signed_url"], row["params"], row["token"]) == row["signature"]
    assert twilio.verified(ours, target, FORM_TYPE, MultiDict(row["server_sees_params"]), b"", row["signature"]) is row["valid"]


@pytest.mark.parametrize("row", JSON_VECTORS, ids=lambda row: row["name"])
def test_json_signature_vectors(row, settings):
    """B005: a JSON body is compared with the hash in its signed address."""
    seen = urlsplit(row["url"])
    ours = replace(settings, public_url=f"{seen.scheme}://{seen.netloc}")
    target = row["url"].removeprefix(ours.public_url)

    assert twilio.verified(ours, target, "application/json", MultiDict(), row["body"].encode(), row["signature"]) is row["valid"]


@pytest.mark.parametrize("row", [row for row in VECTORS if row["valid"]], ids=lambda row: row["name"])
def test_vectors_at_our_own_address(row, services):
    """The same forms, signed for our address, pass through the route; what they say is written down."""
    ours = web(services, public_url="https://bot.example.org")
    form = [(k, v) for k, v in row["params"]]
    answer = ours.post(
        twilio.MESSAGE, data=MultiDict(form), headers={"X-Twilio-Signature": sign("https://bot.example.org" + twilio.MESSAGE, form)}
    )

    assert answer.status_code == 200
    body = dict(form).get("Body")
    assert [p["text"] for p in stored(services)] == ([body.strip()] if body is not None else [])


ADDRESSES = {  # what an operator set as PUBLIC_URL, what our server sees, what Twilio signed, and whether it is genuine
    "B001 a proxy ends TLS": ("https://bot.example.org", twilio.MESSAGE, "https://bot.example.org" + twilio.MESSAGE, 200),
    "B003 Twilio signs the default port": ("https://bot.example.org", twilio.MESSAGE, "https://bot.example.org:443" + twilio.MESSAGE, 200),
    "B003 we set the default port": ("https://bot.example.org:443", twilio.MESSAGE, "https://bot.example.org" + twilio.MESSAGE, 200),
    "a port of our own": ("https://bot.example.org:8443", twilio.MESSAGE, "https://bot.example.org:8443" + twilio.MESSAGE, 200),
    "a proxy takes a prefix away": ("https://example.org/palabre", twilio.MESSAGE, "https://example.org/palabre" + twilio.MESSAGE, 200),
    "B016 the fragment of the configured address is not signed": (
        "https://bot.example.org",
        twilio.MESSAGE + "?m=42",
        "https://bot.example.org" + twilio.MESSAGE + "?m=42",
        200,
    ),
    "a query as it was sent": (
        "https://bot.example.org",
        twilio.MESSAGE + "?b=%c3%A9+1&a=2&a=1&empty=",
        "https://bot.example.org" + twilio.MESSAGE + "?b=%c3%A9+1&a=2&a=1&empty=",
        200,
    ),
    "percent signs in the other case": (
        "https://bot.example.org",
        twilio.MESSAGE + "?b=%C3%A9",
        "https://bot.example.org" + twilio.MESSAGE + "?b=%c3%a9",
        403,
    ),
    "the query got lost": ("https://bot.example.org", twilio.MESSAGE, "https://bot.example.org" + twilio.MESSAGE + "?tenant=ci", 403),
    "plain http was signed": ("https://bot.example.org", twilio.MESSAGE, "http://bot.example.org" + twilio.MESSAGE, 403),
    "another host was signed": ("https://bot.example.org", twilio.MESSAGE, "https://10.0.0.5:8000" + twilio.MESSAGE, 403),
    "another path was signed": ("https://bot.example.org", twilio.MESSAGE, "https://bot.example.org" + twilio.STATUS, 403),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_the_address_is_the_public_one(name, services):
    """The address that counts is PUBLIC_URL with the raw path and query, whatever the request says of itself."""
    public, target, signed, status = ADDRESSES[name]
    answer = web(services, public_url=public).post(
        target,
        data=MultiDict(FORM),
        base_url="http://10.0.0.5:8000",
        headers={
            "X-Twilio-Signature": sign(signed, FORM),
            "X-Forwarded-Proto": "http",
            "X-Forwarded-Host": "10.0.0.5:8000",
            "X-Forwarded-Prefix": "/x",
        },
    )

    assert (answer.status_code, len(stored(services))) == (status, 1 if status == 200 else 0)


@pytest.mark.parametrize(
    "change",
    [
        [("Digits", "5678"), ("Digits", "1234"), ("Digits", "1234")],
        [("FromCity", "")],
        [("Body2", "  bonjour \n")],
        [("Body2", "Réponse 3 : «ça» 2️⃣ ✓")],
        [("SomethingNew", "Twilio adds fields without notice")],
        [("bodySHA256", "x")],
    ],
    ids=[
        "B009 repeated fields",
        "empty values",
        "blanks at both ends",
        "letters beyond ASCII",
        "unknown fields",
        "a field like the query's",
    ],
)
def test_the_form_is_checked_as_it_came(change, services):
    """B009: no field of the form is dropped, joined or trimmed before its signature is checked."""
    form = FORM + change
    answer = web(services).post(
        twilio.MESSAGE, data=MultiDict(form), headers={"X-Twilio-Signature": sign("https://palabre.test" + twilio.MESSAGE, form)}
    )

    assert answer.status_code == 200 and len(stored(services)) == 1


def test_the_query_is_no_part_of_the_form(services):
    """A field in the query neither breaks the signature nor stands for the form's own field."""
    target = twilio.MESSAGE + "?From=%2B33600000000&Body=menti"
    answer = web(services).post(target, data=MultiDict(FORM), headers={"X-Twilio-Signature": sign("https://palabre.test" + target, FORM)})

    assert answer.status_code == 200 and [p["text"] for p in stored(services)] == ["Bonjour"]
    assert [a.address for a in rows(services, addresses)] == [WHATSAPP]


GENUINE = sign("https://palabre.test" + twilio.MESSAGE, FORM)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        " ",
        "x",
        GENUINE[:-1],
        GENUINE.lower(),
        GENUINE + "=",
        "é" * 28,
        "\x00",
        sign("https://palabre.test" + twilio.MESSAGE, FORM, "54321"),
        sign("https://palabre.test" + twilio.MESSAGE, FORM, ""),
    ],
    ids=["B007 missing", "empty", "blank", "short", "cut", "lower case", "longer", "no ASCII", "NUL", "another token", "no token"],
)
@pytest.mark.parametrize("route", [twilio.MESSAGE, twilio.STATUS])
def test_what_is_not_signed_is_refused(route, header, services):
    """B007: a request without Twilio's signature gets 403 and leaves nothing behind."""
    environ = {} if header is None else {"HTTP_X_TWILIO_SIGNATURE": header.encode().decode("latin-1")}
    answer = web(services).post(route, data=MultiDict(FORM), environ_overrides=environ)

    assert answer.status_code == 403 and not stored(services) and not rows(services, received) and b"palabre" not in answer.data


def test_one_changed_letter_is_refused(services):
    """A form that was changed on its way is not Twilio's any more."""
    for n, (key, value) in enumerate(FORM):
        changed = [*FORM[:n], (key, value + "x"), *FORM[n + 1 :]]
        assert web(services).post(twilio.MESSAGE, data=MultiDict(changed), headers={"X-Twilio-Signature": GENUINE}).status_code == 403
    assert not stored(services)


def test_no_token_means_nobody_is_believed(services):
    """An empty TWILIO_AUTH_TOKEN never means that signatures are not checked."""
    ours = web(services, twilio_auth_token="")
    for header in (sign("https://palabre.test" + twilio.MESSAGE, FORM, ""), GENUINE, ""):
        assert ours.post(twilio.MESSAGE, data=MultiDict(FORM), headers={"X-Twilio-Signature": header}).status_code == 403


def test_a_signature_with_a_shared_key_is_not_taken_for_one_with_our_token(services):
    """The newer SHA-256 signatures belong to a key that we do not have."""
    target = "https://palabre.test" + twilio.MESSAGE
    said = target + "".join(k + v for k, v in sorted(FORM))
    sha256 = base64.b64encode(hmac.new(b"12345", said.encode(), hashlib.sha256).digest()).decode()
    answer = web(services).post(
        twilio.MESSAGE,
        data=MultiDict(FORM),
        headers={"X-Twilio-Signature": sha256, "X-Twilio-Webhooks-Signature-Settings": "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256"},
    )
    assert answer.status_code == 403


BODY, OTHER = b'{"a":1}', b'{"a":2}'
HASH = hashlib.sha256(BODY).hexdigest()


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        (f"?bodySHA256={HASH}", BODY, 200),
        (f"?bodySHA256={HASH}", OTHER, 403),
        (f"?bodySHA256={HASH}", b"{}", 403),
        (f"?bodySHA256={HASH}", b"", 403),
        (f"?bodySHA256={HASH}", "é".encode("latin-1"), 403),
        ("", BODY, 403),
        ("", b"{}", 403),
        ("?bodySHA256=", b"{}", 403),
        ("?nobodySHA256=1", b"{}", 403),
        (f"?x=bodySHA256={HASH}", BODY, 403),
        (f"?bodySHA256={HASH.upper()}", BODY, 403),
    ],
    ids=[
        "genuine",
        "B005 another body",
        "an empty object",
        "no body",
        "not UTF-8",
        "B007 no hash",
        "B007 an empty object without hash",
        "an empty hash",
        "a name that ends like it",
        "a value that looks like it",
        "upper case",
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8"])
def test_json_is_only_believed_by_its_hash(query, body, status, kind, services):
    """B005, B007: a JSON request is genuine only when the signed address holds the hash of its very bytes."""
    target = twilio.MESSAGE + query
    answer = web(services).post(target, data=body, content_type=kind, headers={"X-Twilio-Signature": sign("https://palabre.test" + target)})

    assert answer.status_code == status and not stored(services)


def test_two_tokens_are_believed_while_one_takes_the_others_place(services):
    """TWILIO_AUTH_TOKEN may hold the old and the new token, so that no message is lost when they are changed."""
    ours = web(services, twilio_auth_token="12345, 54321")
    answers = [
        ours.post(
            twilio.MESSAGE, data=MultiDict(FORM), headers={"X-Twilio-Signature": sign("https://palabre.test" + twilio.MESSAGE, FORM, token)}
        )
        for token in ("12345", "54321", "12345, 54321", "")
    ]
    assert [a.status_code for a in answers] == [200, 200, 403, 403]


# -- forms ---------------------------------------------------------------------------------------------------------


def test_the_answer_is_an_empty_response(world):
    """Twilio gets an empty TwiML document as text/xml: text/plain would be sent to the person."""
    answer = world.post("Bonjour")
    assert (
        answer.status_code == 200 and answer.mimetype == "text/xml" and answer.text == '<?xml version="1.0" encoding="UTF-8"?><Response/>'
    )


LONG = "9" * 5000  # more digits than Python turns into a number
FORMS = {  # fields beside those of an ordinary message (None: left out), and the texts that are written down
    "B024 no Body": ({"Body": None}, [""]),
    "B024 an empty Body": ({"Body": ""}, [""]),
    "B024 neither Body nor NumMedia": ({"Body": None, "NumMedia": None}, [""]),
    "B024 an empty NumMedia": ({"NumMedia": ""}, ["Bonjour"]),
    "NumMedia in words": ({"NumMedia": "deux"}, ["Bonjour"]),
    "NumMedia below zero": ({"NumMedia": "-1"}, ["Bonjour"]),
    "NumMedia in Arabic digits": ({"NumMedia": "٣"}, ["Bonjour"]),
    "NumMedia that is no number though a digit": ({"NumMedia": "²"}, ["Bonjour"]),
    "NumMedia without end": ({"NumMedia": LONG}, ["Bonjour"]),
    "media that are not there": ({"NumMedia": "2"}, ["Bonjour"]),
    "no MessageSid": ({"MessageSid": None}, []),
    "an empty MessageSid": ({"MessageSid": ""}, []),
    "a MessageSid of nothing but NUL": ({"MessageSid": "\x00"}, []),
    "a MessageSid without end": ({"MessageSid": "SM" + "a" * 300}, ["Bonjour"]),
    "only SmsSid": ({"MessageSid": None, "SmsSid": "SM" + "b" * 32}, ["Bonjour"]),
    "no From": ({"From": None}, []),
    "an empty From": ({"From": "  "}, []),
    "a From of control characters": ({"From": "\x00\x01"}, []),
    "no To": ({"To": None}, ["Bonjour"]),
    "fields that Twilio adds": (
        {"ChannelMetadata": '{"a":', "FromCity": "", "Latitude": "x", "ReferralNumMedia": "0", "MessageType": "hologram"},
        ["Bonjour"],
    ),
    "B024 NUL": ({"Body": "a\x00b"}, ["ab"]),
    "control characters": ({"Body": "\x0bun\x1b[0m\x08 deux\x7f\x85"}, ["un[0m deux"]),
    "line breaks": ({"Body": "un\r\ndeux\rtrois\n"}, ["un\ndeux\ntrois"]),
    "joined emoji and accents": ({"Body": " 👩‍👩‍👧 e\u0301 2️⃣ "}, ["👩‍👩‍👧 e\u0301 2️⃣"]),
    "a lone surrogate": ({"Body": "a\ud800b"}, None),
    "NUL in fields beside": (
        {"MediaUrl0": "https://x\x00y", "NumMedia": "1", "MediaContentType0": "a\x00b", "OriginalRepliedMessageSid": "S\x00M"},
        ["Bonjour"],
    ),
    "a long Body": ({"Body": "é" * 5000}, ["é" * 5000]),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_every_kind(name, world):
    """B024: whatever fields are missing, empty, strange or new, Twilio gets its 200 and what can be read is written down."""
    fields, texts = FORMS[name]
    if texts is None:  # cannot be sent at all: UTF-8 knows no lone surrogate, so its bytes are what comes
        raw = urlencode([(k, v) for k, v in FORM if k != "Body"]) + "&Body=a%ED%A0%80b"
        assert world.web.post(twilio.MESSAGE, data=raw, content_type=FORM_TYPE, headers={"X-Twilio-Signature": "x"}).status_code == 403
        return
    assert world.post("Bonjour", **fields).status_code == 200
    assert [p["text"] for p in stored(world.services)] == texts
    assert "\x00" not in json.dumps([p for p in stored(world.services)], ensure_ascii=False)
    world.work()
    assert all(body.strip() for body in world.twilio.bodies())


def test_a_repeated_field_counts_once(world):
    """Of a field that stands twice in a form the first is read."""
    form = [*FORM, ("Body", "Encore"), ("From", "whatsapp:+33612345678")]
    answer = world.web.post(
        twilio.MESSAGE, data=MultiDict(form), headers={"X-Twilio-Signature": fakes.signature(world.settings, twilio.MESSAGE, form)}
    )
    assert answer.status_code == 200 and [p["text"] for p in stored(world.services)] == ["Bonjour"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("route", [twilio.MESSAGE, twilio.STATUS])
def test_other_methods(route, method, services):
    """Only POST means anything here; other methods are told so, or get nothing done."""
    answer = web(services).open(route, method=method, headers={"X-Twilio-Signature": GENUINE})
    assert answer.status_code in (403, 405) or method == "OPTIONS" and answer.status_code == 200
    assert not stored(services)


@pytest.mark.parametrize(
    "kind", [FORM_TYPE, "application/json", "text/plain", "multipart/form-data; boundary=x", "multipart/form-data", "", "a/b/c;="]
)
@pytest.mark.parametrize(
    "body", [b"", b"Body=%", b"\xff\xfe", b"[" * 60000, b"--x\r\n"], ids=["empty", "half a percent", "no UTF-8", "deep", "half a part"]
)
def test_bodies_that_are_no_form(kind, body, services):
    """A body that is no form is refused or ignored, never a crash, signed or not."""
    for header in ("x", sign("https://palabre.test" + twilio.MESSAGE)):
        answer = web(services).post(twilio.MESSAGE, data=body, content_type=kind, headers={"X-Twilio-Signature": header})
        assert answer.status_code in (200, 400, 403, 413, 415)
    assert not stored(services)


@pytest.mark.parametrize("simulator", [False, True], ids=["production", "with the simulator"])
@pytest.mark.parametrize("route", [twilio.MESSAGE, twilio.STATUS])
def test_a_body_over_64_kilobytes(route, simulator, services):
    """A body over 64 kB gets 413; one that does not say its length is not read to its end, so nobody's signature fits it."""
    ours = web(services, simulator=simulator)
    big = [*FORM[:3], ("Body", "a" * 70000)]
    signed = {"X-Twilio-Signature": sign("https://palabre.test" + route, big)}
    assert ours.post(route, data=MultiDict(big), headers=signed).status_code == 413
    chunked = {
        "wsgi.input": io.BytesIO(urlencode(big).encode()),
        "wsgi.input_terminated": True,
        "CONTENT_LENGTH": "",
        "CONTENT_TYPE": FORM_TYPE,
        "HTTP_TRANSFER_ENCODING": "chunked",
    }
    assert ours.open(route, method="POST", headers=signed, environ_overrides=chunked).status_code in (403, 413)
    assert not stored(services)


# -- one message, one event ----------------------------------------------------------------------------------------


def at_once(acts) -> list:
    """Call all *acts* in threads that begin together; returns their results, or raises what one of them raised."""
    barrier, results = threading.Barrier(len(acts)), [None] * len(acts)

    def run(n):
        barrier.wait(20)
        try:
            results[n] = acts[n]()
        except BaseException as problem:
            results[n] = problem

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def poster(world, *args, **fields):
    """A message to be posted by a client of its own."""
    from conftest import World  # its post method, with another client

    alone = object.__new__(World)
    alone.__dict__ = {**world.__dict__, "web": create_app(world.services).test_client()}
    return lambda: alone.post(*args, **fields).status_code


def test_the_same_message_in_eight_threads_is_one_event(world):
    """B012: of eight deliveries at the same moment one is written down, and all get 200."""
    sid = "SM" + "7" * 32
    assert at_once([poster(world, "Bonjour", MessageSid=sid) for _ in range(8)]) == [200] * 8
    assert len(stored(world.services)) == 1
    world.work()
    assert world.twilio.bodies() == ["D'accord."] and len(world.model.asked) == 1


def test_the_same_message_again_later_does_nothing(world):
    """B012: a delivery that comes again after the answer is not answered again."""
    world.post("Bonjour", MessageSid="SM" + "1" * 32)
    world.work()
    assert world.post("Bonjour", MessageSid="SM" + "1" * 32).status_code == 200
    assert world.post("Un autre texte", MessageSid="SM" + "1" * 32).status_code == 200
    world.work()
    assert world.twilio.bodies() == ["D'accord."] and world.kinds().count("HumanInput") == 1


def test_the_same_message_after_a_new_conversation_does_nothing(world):
    """A late second delivery does not speak into the conversation that NOUVEAU began."""
    world.post("Bonjour", MessageSid="SM" + "2" * 32)
    world.work()
    world.say("NOUVEAU")
    world.post("Bonjour", MessageSid="SM" + "2" * 32)
    world.work()
    assert world.kinds() == [] and len(world.model.asked) == 1


def test_a_new_person_who_sends_two_messages_at_once(world):
    """B020: a picture and a voice note in the same moment make one person, one conversation, two messages."""
    media = {"NumMedia": "1", "MediaUrl0": "https://api.twilio.com/x", "MediaContentType0": "image/jpeg"}
    assert at_once([poster(world, "", MessageSid=f"MM{n:032x}", **media) for n in range(4)]) == [200] * 4
    assert len(rows(world.services, addresses)) == len(rows(world.services, conversations)) == 1
    assert [e.seq for e in world.events()] == [1, 2, 3, 4]


def test_twenty_people_at_once(world):
    """B022: twenty people who write in the same moment get twenty answers, each to the number that wrote."""
    people = [f"whatsapp:+2250701{n:06d}" for n in range(20)]
    world.model.script = lambda body: text("Pour " + body["messages"][-1]["content"])
    assert at_once([poster(world, f"message {n}", sender) for n, sender in enumerate(people)]) == [200] * 20
    at_once([world.work, world.work])
    assert {m["to"]: m["body"] for m in world.twilio.sent} == {sender: f"Pour message {n}" for n, sender in enumerate(people)}
    assert len(world.twilio.sent) == 20


def test_the_webhook_does_not_think(world):
    """B010: a message is answered 200 before the model is asked, whatever the model does; then exactly one reply goes out."""
    asked_at_200 = []
    world.model.script = lambda body: text("Voilà.")
    assert world.post("Bonjour").status_code == 200
    asked_at_200.append(len(world.model.asked))
    world.work()
    assert asked_at_200 == [0] and world.twilio.bodies() == ["Voilà."]


# -- what is down --------------------------------------------------------------------------------------------------

DOWN = {
    "SQLite in a folder that is not there": "sqlite:////nowhere/at/all/palabre.db",
    "PostgreSQL that is not running": "postgresql+psycopg://palabre@127.0.0.1:1/palabre",
}


@pytest.mark.parametrize("name", DOWN)
@pytest.mark.parametrize("route", [twilio.MESSAGE, twilio.STATUS])
def test_the_database_is_down(name, route, world):
    """B014: a database that is down gives 503 at once, without TwiML or details; the same message is accepted when it is back."""
    form = [*FORM, ("MessageStatus", "delivered")]
    signed = {"X-Twilio-Signature": sign("https://palabre.test" + route, form)}
    dark, begun = create_app(replace(world.services, db=connect(DOWN[name]))).test_client(), time.monotonic()
    answer = dark.post(route, data=MultiDict(form), headers=signed)

    assert answer.status_code == 503 and answer.headers["Retry-After"] and time.monotonic() - begun < 3
    assert "palabre" not in answer.text and "sql" not in answer.text.lower()
    assert world.web.post(route, data=MultiDict(form), headers=signed).status_code == 200
    assert len(stored(world.services)) == (1 if route == twilio.MESSAGE else 0)


def test_a_database_that_dies_in_the_middle_leaves_nothing_half_written(world, monkeypatch):
    """B014: when the commit fails nothing is kept, and the same message is accepted later."""

    def dies(connection):
        raise sa.exc.OperationalError("commit", {}, Exception("gone"))

    with monkeypatch.context() as patch:
        patch.setattr(world.services.db.dialect, "do_commit", dies)
        assert world.post("Bonjour", MessageSid="SM" + "3" * 32).status_code == 503
    for table in (received, addresses, conversations, events):
        assert rows(world.services, table) == []

    assert world.post("Bonjour", MessageSid="SM" + "3" * 32).status_code == 200
    world.work()
    assert world.twilio.bodies() == ["D'accord."]


@pytest.mark.parametrize("url", ["unix:///nowhere/valkey.sock", "redis://127.0.0.1:1/0"])
def test_redis_is_down(url, world, monkeypatch):
    """B014: without Redis a message is stored and answered 200 at once; the clock finds it when Redis is back."""
    with monkeypatch.context() as patch:
        patch.setattr(world, "web", create_app(replace(world.services, redis=connect_redis(url))).test_client())
        begun = time.monotonic()
        assert world.post("Bonjour").status_code == 200 and time.monotonic() - begun < 1
    world.work()
    assert len(stored(world.services)) == 1 and world.twilio.bodies() == []

    monkeypatch.setattr(schedule, "FORGOTTEN", timedelta(seconds=1))
    with world.services.db.begin() as tx:
        tx.execute(conversations.update().values(awake_since=now() - timedelta(seconds=60)))
    assert schedule.sweep(world.services) == 1
    world.work()
    assert world.twilio.bodies() == ["D'accord."] and schedule.sweep(world.services) == 0


# -- who writes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sender",
    [
        "ORANGE",
        "Orange CI",
        "7878",
        "36105",
        "whatsapp:ORANGE",
        "whatsapp:",
        "+",
        "+123",
        "whatsapp:+225\x00",
        "whatsapp:C.1",
        "+2250701020304x",
    ],
)
def test_senders_that_are_no_person_are_never_answered(sender, world):
    """Names and short codes are carriers' robots: nothing is stored and nothing is sent to them."""
    assert world.post("Bonjour", sender).status_code == 200
    world.work()
    assert stored(world.services) == [] and world.twilio.sent == []


@pytest.mark.parametrize(
    ("sender", "fields"),
    [
        ("whatsapp:CI.1234567890", {"ExternalUserId": "whatsapp:CI.1234567890", "ProfileName": "A"}),
        ("whatsapp:SN.13491208655302741918", {"ProfileName": "Moussa", "ProfileUsername": "moussa"}),
        ("whatsapp:CM.13491208655302741918", {"WaId": ""}),
        ("whatsapp:CI.ENT.13491208655302741918", {}),
        (WHATSAPP, {"ExternalUserId": "foo_bar"}),
        (WHATSAPP, {"ExternalUserId": "CI.1234567890", "WaId": "2250701020304"}),
    ],
    ids=["B028", "B166", "B168", "a company's", "a bad id beside a number", "a number with its id"],
)
def test_people_without_a_number(sender, fields, world):
    """B028, B166, B168: a WhatsApp user id is an address like any other; the answer goes to exactly that address, without a plus."""
    assert world.say("Bonjour", sender, **fields) == ["D'accord."]
    assert [a.address for a in rows(world.services, addresses)] == [sender] and [m["to"] for m in world.twilio.sent] == [sender]


@pytest.mark.parametrize(
    ("account", "sender"),
    [
        ("+5541988887777", "whatsapp:+554188887777"),
        ("+2290197123456", "whatsapp:+22997123456"),
        ("+22997123456", "whatsapp:+2290197123456"),
        ("+525512345678", "whatsapp:+5215512345678"),
        ("+5491123456789", "whatsapp:+541123456789"),
        ("+24166123456", "whatsapp:+241066123456"),
        ("+2290197123456", "+22997123456"),
    ],
    ids=["B030 Brazil", "B032 Benin, old form", "B032 Benin, new form", "Mexico", "Argentina", "Gabon", "Benin by SMS"],
)
def test_other_forms_of_a_number_are_the_same_person(account, sender, world):
    """B030, B032: WhatsApp may write a number in an old form: it is the same account, and the answer goes to the form that wrote."""
    world.account(account)
    world.say("Bonjour", sender)
    assert "tools" in world.model.asked[0] and [m["to"] for m in world.twilio.sent] == [sender]


def test_a_whatsapp_sender_without_its_prefix(world):
    """B026: a sender without `whatsapp:` on our WhatsApp number wrote on WhatsApp."""
    world.post("Bonjour", AWA, To=world.settings.twilio_whatsapp_from)
    assert [(a.address, a.channel) for a in rows(world.services, addresses)] == [(WHATSAPP, "whatsapp")]


# -- what a message says -------------------------------------------------------------------------------------------

CHOICES = {  # fields of a press or choice on WhatsApp, and what it says
    "B026 a quiz button": ({"ButtonText": "Confirmer", "ButtonPayload": "quiz:12:2"}, "2"),
    "B026 a button with text": ({"ButtonText": "Confirmer", "ButtonPayload": "other"}, "Confirmer"),
    "a row of a list": ({"ListId": "quiz:call_1_0:3", "ListTitle": "1/8"}, "3"),
    "a row with its title": ({"ListId": "row", "ListTitle": "Les fractions"}, "Les fractions"),
    "an empty button": ({"ButtonText": "", "ButtonPayload": ""}, "Msg"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_buttons_and_lists(name, world):
    """B026: on WhatsApp a pressed button or a chosen row is what the person says; on SMS the text is."""
    fields, said = CHOICES[name]
    world.post("Msg", WHATSAPP, **fields), world.post("Msg", SMS, **fields)
    assert [p["text"] for p in stored(world.services)] == [said, "Msg"]


def test_a_button_answers_the_quiz(world):
    """B026: the payload of a quiz button is an answer like a number that was typed."""
    world.account()
    world.model.script = [
        fakes.call("interactive_quiz", {"question": "1/2 + 1/4 ?", "options": ["2/6", "3/4"], "correct_index": 1, "explanation": "Oui."}),
        text("Bravo !"),
    ]
    world.say("Un quiz")
    assert "Juste" in world.say("3/4", ButtonPayload="quiz:call_1_0:2", ButtonText="3/4")[0]


def test_media_are_written_down(world):
    """The media of a message are kept with their type, at most those that are there."""
    world.post(
        "Regarde", NumMedia="2", MediaUrl0="https://api.twilio.com/a", MediaContentType0="image/jpeg", MediaUrl1="https://api.twilio.com/b"
    )
    [payload] = stored(world.services)
    assert [(m["url"], m["type"]) for m in payload["media"]] == [
        ("https://api.twilio.com/a", "image/jpeg"),
        ("https://api.twilio.com/b", ""),
    ]


@pytest.mark.parametrize(("kind", "said"), [("STOP", True), ("START", False)])
def test_what_twilio_has_already_understood(kind, said, world):
    """OptOutType says that Twilio took a message for STOP or START, in whatever words; the address is opted out, or in again."""
    world.say("Bonjour", SMS)
    if kind == "START":
        world.say("STOP", SMS)
    world.say("Laissez-moi", SMS, OptOutType=kind)
    assert [a.opted_out for a in rows(world.services, addresses)] == [said]
