"""What people send besides plain text reaches the model in words, pictures or files."""

import base64
import io
import json

import pytest
import responses
from conftest import rows
from PIL import Image

from bot.db import files

ACCOUNT = "AC" + "0" * 32
PLACE = f"https://api.twilio.com/2010-04-01/Accounts/{ACCOUNT}/Messages/MM1/Media/ME1"


def picture(size: int = 10, kind: str = "PNG") -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (size, size), "red").save(made, kind)
    return made.getvalue()


def sent(world, data: bytes, declared: str, body: str = "Regarde") -> list[str]:
    """A message with one file, kept at Twilio behind a redirect to a signed store."""
    responses.get(PLACE, status=307, headers={"Location": "https://93.184.216.34/store?signature=x"})
    responses.get("https://93.184.216.34/store", body=data)
    return world.say(body, NumMedia="1", MediaUrl0=PLACE, MediaContentType0=declared)


def last(world):
    return world.model.asked[-1]["messages"][-1]["content"]


def test_a_photo_is_seen_by_the_vision_model(world):
    """The picture itself goes to MODEL_VISION as a data URL, and into the person's library."""
    world.account()
    sent(world, picture(), "image/png")
    assert world.model.asked[0]["model"] == "test/vision"
    text, image = last(world)
    assert "Regarde" in text["text"] and image["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(picture()).decode()
    assert [f.origin for f in rows(world.services, files)] == ["uploaded"]


def test_a_large_photo_is_made_smaller(world):
    """A photo of many pixels is bounded before it costs tokens."""
    world.account()
    sent(world, picture(3000, "JPEG"), "image/jpeg")
    data = base64.b64decode(last(world)[1]["image_url"]["url"].split(",")[1])
    assert max(Image.open(io.BytesIO(data)).size) == 1600


def test_the_store_behind_the_redirect_sees_no_credentials(world):
    """Basic authentication goes to api.twilio.com and is dropped at the redirect."""
    world.account()
    sent(world, picture(), "image/png")
    asked = {c.request.url.split("/")[2]: c.request.headers.get("Authorization") for c in responses.calls if c.request.method == "GET"}
    assert asked["api.twilio.com"].startswith("Basic ") and asked["93.184.216.34"] is None


@pytest.mark.parametrize(
    "url",
    [
        "https://attacker.example/x",
        "https://api.twilio.com.attacker.example/x",
        "https://api.twilio.com@attacker.example/x",
        "http://api.twilio.com/x",
        "https://api.twilio.com:8443/x",
        "file:///etc/passwd",
        "https://user:pass@api.twilio.com/x",
        "https://[::1/x",
    ],
    ids=str,
)
def test_a_forged_address_is_not_asked(world, url):
    """B039: only Twilio's own host over https is asked for files; the message is answered all the same."""
    world.account()
    assert world.say("Regarde", NumMedia="1", MediaUrl0=url, MediaContentType0="image/png") == ["D'accord."]
    assert not [c for c in responses.calls if c.request.method == "GET"] and "pas pu être ouvert" in last(world)


@pytest.mark.parametrize("inside", ["http://127.0.0.1/x", "http://169.254.169.254/latest", "http://10.0.0.1/x"])
def test_a_redirect_inside_is_not_followed(world, inside):
    """A redirect to a private address ends there."""
    world.account()
    responses.get(PLACE, status=307, headers={"Location": inside})
    world.say("Regarde", NumMedia="1", MediaUrl0=PLACE, MediaContentType0="image/png")
    assert "pas pu être ouvert" in last(world)


@pytest.mark.parametrize("data", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + b"\0" * 50], ids=["nothing", "text", "a damaged picture"])
def test_what_is_not_a_picture_breaks_nothing(world, data):
    """A file that is not what it says is answered in words."""
    world.account()
    assert sent(world, data, "image/png") == ["D'accord."]


def test_a_voice_note_is_heard(world):
    """What was said stands in the prompt, marked as a transcript."""
    world.account()
    object.__setattr__(world.settings, "transcription_url", "https://speech.test/v1")
    responses.post("https://speech.test/v1/audio/transcriptions", json={"text": "Explique-moi les fractions"})
    sent(world, b"OggS" + b"\0" * 100, "audio/ogg", body="")
    assert "Explique-moi les fractions" in last(world) and "J'ai entendu" in last(world)


@pytest.mark.parametrize(
    "answer", [{"status": 500}, {"json": {"text": " "}}, {"body": "<html>"}, {"json": []}], ids=["down", "silence", "HTML", "a list"]
)
def test_a_voice_note_that_cannot_be_heard(world, answer):
    """Without a transcript the model is told so, and the person is answered."""
    world.account()
    object.__setattr__(world.settings, "transcription_url", "https://speech.test/v1")
    responses.post("https://speech.test/v1/audio/transcriptions", **answer)
    assert sent(world, b"OggS" + b"\0" * 100, "audio/ogg", body="") == ["D'accord."]
    assert "n'est pas possible" in last(world)


def test_a_document_goes_to_the_library(world):
    """Its kind is read from its content, its name is ours, and the model gets its file_id."""
    world.account()
    sent(world, b"%PDF-1.4 ...", "application/octet-stream")
    [row] = rows(world.services, files)
    assert row.filename.endswith(".pdf") and row.media_type == "application/pdf" and f"file_id {row.id}" in last(world)


def test_a_guests_files_are_not_fetched(world):
    """A guest has words only."""
    assert world.say("Regarde", NumMedia="1", MediaUrl0=PLACE, MediaContentType0="image/png") == ["D'accord."]
    assert not [c for c in responses.calls if c.request.method == "GET"] and "compte" in last(world)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"Latitude": "5.35", "Longitude": "-4.01", "Label": "Marché", "Body": ""}, "Marché (5.35, -4.01)"),
        ({"MessageType": "reaction", "Body": "👍"}, "[réaction à un message] 👍"),
        ({"MessageType": "unsupported", "Body": ""}, "ne peut pas être lu"),
        ({"MessageType": "contacts", "Body": ""}, "contact partagé"),
        ({"Body": ""}, "(message vide)"),
        ({"Forwarded": "true"}, "untrusted"),
    ],
)
def test_other_kinds_of_messages(world, fields, said):
    """Locations, reactions and the rest are described to the model; forwarded text is marked as data from outside."""
    assert world.say("Bonjour", **fields) == ["D'accord."]
    assert said in last(world)


def test_a_quoted_message_is_in_the_prompt(world):
    """An answer to an older message comes with that message's words."""
    world.say("Bonjour")
    world.say("Explique ça", OriginalRepliedMessageSid=world.twilio.sent[0]["sid"])
    assert last(world) == "[en réponse à : « D'accord. »]\nExplique ça"


def test_the_log_holds_no_picture(world):
    """Pictures lie in the media folder; the log knows their id only."""
    world.account()
    sent(world, picture(), "image/png")
    assert "base64" not in json.dumps([repr(e) for e in world.events()])


def test_whatever_the_picture_library_raises_the_turn_goes_on(world, monkeypatch):
    """A damaged picture that makes the library fail in an unforeseen way is answered in words, and so is the next message."""
    world.account()
    monkeypatch.setattr("bot.learners.uploads.ImageOps.exif_transpose", lambda picture: {}["damaged"])
    assert sent(world, picture(3000, "JPEG"), "image/jpeg") == ["D'accord."]
    assert "pas pu être ouvert" in last(world) and world.say("Et sinon ?") == ["D'accord."]
