"""Cases that people of other projects reported, each named by its number; those that are not here stand in the tests of their part."""

import io
import json
import threading
import unicodedata
from datetime import timedelta
from pathlib import Path

import pytest
import responses
from conftest import AWA, rows
from fakes import call, text
from pypdf import PdfReader
from rq.worker import SimpleWorker
from test_delivery import callback, later
from test_webhook import at_once, poster

from bot import queues, valkey
from bot import services as outside
from bot.channels import numbers, segments, sms, whatsapp
from bot.db import attempts, conversations, files, now, outbox, writing
from bot.documents.names import safe_filename
from bot.documents.pdf import render_pdf
from bot.learners import choices
from bot.services import connect_redis
from bot.web.app import create_app
from workers import schedule, serve, turn

WHATSAPP, SMS = f"whatsapp:{AWA}", AWA
QUIZ = {"question": "Combien font 1/2 + 1/4 ?", "options": ["2/6", "3/4", "1/8"], "correct_index": 1, "explanation": "1/2 vaut 2/4."}
PLACE = "https://api.twilio.com/2010-04-01/Accounts/AC" + "0" * 32 + "/Messages/MM1/Media/ME1"


# -- several messages, several people ------------------------------------------------------------------------------


def test_b018_two_answers_in_a_breath(world):
    """B018: of two answers to one question the first is judged; the second is not judged, nor taken for a question never shown."""
    world.account()
    world.model.script = [call("interactive_quiz", QUIZ), text("On continue ?")]
    world.say("Un quiz")
    sids = iter(["SM" + "1" * 32, "SM" + "2" * 32])
    for said in ("1", "2"):
        world.post(said, MessageSid=next(sids))
    world.work()
    kinds = world.kinds()
    assert kinds.count("QuizAnswered") == 1 and [a.correct for a in rows(world.services, attempts)] == [False]
    assert [e.event.choice for e in world.events() if type(e.event).__name__ == "QuizAnswered"] == [0]


def test_b018_two_answers_in_the_same_moment(world):
    """B018: the same when both come at the very same moment and two workers are at hand."""
    world.account()
    world.model.script = lambda body: call("interactive_quiz", QUIZ) if len(world.model.asked) == 1 else text("On continue ?")
    world.say("Un quiz")
    at_once([poster(world, "1", MessageSid="SM" + "1" * 32), poster(world, "2", MessageSid="SM" + "2" * 32)])
    at_once([world.work, world.work])
    assert world.kinds().count("QuizAnswered") == 1 and len(rows(world.services, attempts)) == 1


@pytest.mark.parametrize(
    ("raw", "region", "wanted"),
    [
        ("97 12 34 56", "BJ", "+2290197123456"),
        ("+229 97123456", None, "+2290197123456"),
        ("01 97 12 34 56", "BJ", "+2290197123456"),
        ("+2290197123456", None, "+2290197123456"),
        ("+229 01 97 12 34 56", None, "+2290197123456"),
        ("+2252721234567", None, "+2252721234567"),
        ("+22527200000", None, None),
        ("+22507010203", None, None),
    ],
    ids=["B032", "B032 with its code", "B032 new", "B032 whole", "B034", "B036 a landline", "B036 short", "B036 an old form"],
)
def test_b032_b034_b036_numbers(raw, region, wanted):
    """B032, B034, B036: Benin's new numbers are one person's in every form; a digit is never put in where it would be a guess."""
    assert numbers.normalise(raw, region) == wanted
    assert wanted is None or numbers.country(wanted) == ("BJ" if "229" in raw or region else "CI")


# -- what is sent in -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("declared", "extension"), [("application/pdf", "pdf"), ("image/jpeg", "pdf"), ("", "pdf")])
def test_b037_b041_a_document_is_what_its_bytes_say(declared, extension, world):
    """B037, B041: Twilio's store is asked with our credentials, and a PDF is a PDF whatever it was called."""
    world.account()
    responses.get(PLACE, body=render_pdf("Devoir", "# Un"), content_type=declared or "application/octet-stream")
    world.say("Lis ceci", NumMedia="1", MediaUrl0=PLACE, MediaContentType0=declared)
    asked = next(c.request for c in responses.calls if c.request.url == PLACE)
    assert asked.headers["Authorization"].startswith("Basic ")
    assert [(f.filename.rsplit(".")[-1], f.media_type) for f in rows(world.services, files)] == [(extension, "application/pdf")]


@pytest.mark.parametrize(
    "url",
    [
        "https://attacker.example/x",
        "https://api.twilio.com.attacker.example/x",
        "https://api.twilio.com@attacker.example/",
        "http://api.twilio.com/x",
        "https://api.twilio.com:444/x",
        "https://x:y@api.twilio.com/x",
        "https://API.TWILIO.COM.attacker.example/x",
        "file:///etc/passwd",
        "",
        "https://[",
    ],
)
def test_b039_a_forged_address_learns_nothing(url, world):
    """B039: an address that is not Twilio's own is not asked at all; the message is answered all the same."""
    world.account()
    assert world.say("Regarde", NumMedia="1", MediaUrl0=url, MediaContentType0="image/jpeg") == ["D'accord."]
    assert {c.request.url.split("/")[2] for c in responses.calls} == {"model.test", "api.twilio.com"}
    assert all("Messages.json" in c.request.url for c in responses.calls if "twilio" in c.request.url)


# -- quizzes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digit", ["٢", "۲", "２"])
def test_b078_other_digits(digit, world):
    """B078: a 2 is a 2 in Arabic, Persian and full-width digits."""
    world.account()
    world.model.script = [call("interactive_quiz", QUIZ), text("Bravo !")]
    world.say("Un quiz")
    assert "Juste" in world.say(digit)[0]


@pytest.mark.parametrize("sender", [WHATSAPP, SMS])
def test_b080_a_number_means_the_option_that_was_shown(sender, world):
    """B080: on both channels the number that stands before an option chooses that option."""
    world.account()
    world.model.script = [call("interactive_quiz", QUIZ | {"correct_index": 2}), text("Bravo !")]
    [prompt] = world.say("Un quiz", sender)
    shown = next(line[0] for line in prompt.splitlines() if "1/8" in line)
    assert shown == "3" and "Juste" in world.say(shown, sender)[0]


def test_b082_the_latest_open_question(world):
    """B082: an answer counts for the newest open question; a message that Twilio delivers again counts for none; 7 of 3 is asked again."""
    world.account()
    other = QUIZ | {"question": "Combien font 2 x 3 ?", "options": ["6", "5"], "correct_index": 0}
    world.model.script = [call("interactive_quiz", QUIZ), call("interactive_quiz", other), text("Bravo !")]
    world.say("Un quiz")
    first = "SM" + "1" * 32
    world.say("Encore un quiz", MessageSid=first)
    again = world.say("7")[0]
    assert "de 1 à 2" in again and "2 x 3" in again and rows(world.services, attempts) == []
    assert world.say("1", MessageSid=first) == []  # delivered again: an old message
    assert "6" in world.say("1")[0] and [a.correct for a in rows(world.services, attempts)] == [True]


@pytest.mark.parametrize("said", ["2 pommes + 3 pommes ?", "3e", "1984 de Orwell", "1 et 3"])
def test_b084_talk_is_no_answer(said, world):
    """B084: a text that merely begins with a number is talk; the quiz stays open."""
    assert choices.read_choice(said, QUIZ["options"]) is None
    world.account()
    world.model.script = [call("interactive_quiz", QUIZ), text("Je t'explique."), text("Bravo !")]
    world.say("Un quiz")
    assert world.say(said) == ["Je t'explique."] and "Juste" in world.say("2")[0]


# -- how it looks --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**Règle** : ~~faux~~ `x=1`", "*Règle* : ~faux~ `x=1`"),
        ("```py\na**b\n```", "```\na**b\n```"),
        ("2 * 3 = 6 et 5 * 4 = 20", "2 * 3 = 6 et 5 * 4 = 20"),
        ("a_b_c", "a_b_c"),
        ("f(x)=x^2 < 5 & y > 3", "f(x)=x^2 < 5 & y > 3"),
        ("```markdown\n**Oui**\n```", "*Oui*"),
        ("Vrai | faux", "Vrai | faux"),
    ],
    ids=["B085 marks", "B085 code", "B089 arithmetic", "B089 underscores", "B089 signs", "B087 a wrapper", "B087 a bar"],
)
def test_b085_b087_b089_whatsapps_marks(markdown, shown):
    """B085, B087, B089: marks become WhatsApp's, code and arithmetic stay as they are, a fence around all of it goes."""
    assert whatsapp.dress(markdown) == shown


def test_b087_a_table_can_be_read():
    """B087: a table becomes lines of label and value."""
    found = whatsapp.dress("| Nom | Ville |\n|---|---|\n| Awa | Man |\n| Koffi | Bouaké |")
    assert "*Nom:* Awa" in found and "*Ville:* Bouaké" in found and "|" not in found


def test_b089_no_mark_by_sms():
    """B089: by SMS every mark is gone and arithmetic is whole."""
    [[found]] = sms.pages("**2 * 3** = 6, `a_b`, ~~non~~")
    assert found == "2 * 3 = 6, a_b, non"


def test_b057_accents_that_stand_alone():
    """B057: a text in pieces is put together before it is counted, so that it stays in the cheap alphabet."""
    [[found]] = sms.pages(unicodedata.normalize("NFD", "élève " * 16))
    assert segments.segments(found) == 1 and found == unicodedata.normalize("NFC", found)


@pytest.mark.parametrize(("words", "cost"), [("a" * 160, 1), ("a" * 161, 2), ("ç" * 70, 1), ("ç" * 71, 2)])
def test_b059_what_an_sms_costs(words, cost):
    """B059: one sign too many is a second segment, in both alphabets."""
    assert segments.segments(words) == cost


# -- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["f(x)<g(x)>0", "List<String>", "<b>non fermé", "a<br>b", "AT&T", "x<5 et y>3", "→ ≤ √ œ ɛ ŋ ɔ ẹ"])
def test_b134_b136_what_is_written_is_printed(wanted):
    """B134, B136: text with signs like tags, and letters of African languages, stand in the PDF as they were written."""
    found = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(render_pdf("Leçon", wanted))).pages)
    assert unicodedata.normalize("NFKC", wanted).replace(" ", "") in unicodedata.normalize("NFKC", found).replace(" ", "").replace("\n", "")


@pytest.mark.parametrize("content", ["😀", "العربية", "| a |\n|---|", "|a|b|\n|-|-|\n|1|\n|1|2|3|", "", " ", "#"], ids=ascii)
def test_b136_b141_nothing_is_a_black_square_or_a_crash(content):
    """B136, B141: emoji, empty tables, ragged rows and an empty title still make a document without boxes."""
    found = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(render_pdf("", content or "x"))).pages)
    assert "■" not in found and "\ufffd" not in found


def test_b043_a_file_that_twilio_could_not_fetch(world, caplog):
    """B043: a file message that failed with 63019 is marked so, and its address comes once as text, however often Twilio says it."""
    world.account()
    world.model.script = [call("generate_pdf", {"title": "Fiche", "content": "# Un"}), text("Voici.")]
    world.say("Une fiche")
    row = next(r for r in rows(world.services, outbox) if r.media_url)
    for _ in range(3):
        callback(world, "undelivered", 63019, row=row)
        world.work()
        later(world)
    [link] = world.twilio.sent[2:]
    assert (
        row.media_url in link["body"]
        and link["media"] == []
        and ("failed", 63019) in [(r.state, r.error_code) for r in rows(world.services, outbox)]
    )


@pytest.mark.parametrize(
    ("extension", "size", "media"),
    [("png", 6, False), ("png", 5, True), ("jpg", 6, False), ("pdf", 17, False), ("pdf", 16, True), ("md", 0, False)],
)
def test_b049_what_is_too_large_goes_as_a_link(extension, size, media, world):
    """B049: a picture over 5 MB or a document over 16 MB goes as a link in the text, everything else as media."""
    world.account()

    def heavier(body):
        if len(world.model.asked) == 2:
            with writing(world.services.db) as tx:
                tx.execute(files.update().values(filename=f"f.{extension}", size=size * 1024 * 1024))
        return [call("generate_pdf", {"title": "Fiche", "content": "# Un"}), text("Voici.")][len(world.model.asked) - 1]

    world.model.script = heavier
    world.say("Une fiche")
    assert [bool(m["media"]) for m in world.twilio.sent] == ([False, True] if media else [False])
    assert ("/media/" in world.twilio.sent[0]["body"]) is not media


NAMES = [
    "../../etc/passwd",
    "..\\..\\x.pdf",
    "/etc/x",
    "",
    ".",
    "a\x00.pdf",
    "CON",
    "é" * 300 + ".pdf",
    "../static/js/app.js",
    "a\nb",
    "%2e%2e%2f",
    "..",
    "x.pdf.js",
]


@pytest.mark.parametrize("wanted", NAMES, ids=ascii)
def test_b160_b162_names_stay_where_they_belong(wanted, world):
    """B160, B162: whatever name the model wants, the file stays in its folder, is called .pdf, and its link cannot be guessed."""
    assert len(safe_filename(wanted, "pdf", fallback="document")) <= 24
    world.account()
    world.model.script = [call("generate_pdf", {"title": "Fiche", "content": "# Un", "filename": wanted[:120]}), text("Voici.")]
    world.say("Une fiche")
    [row] = rows(world.services, files)
    assert (
        row.filename.endswith(".pdf") and row.filename.isascii() and not {"/", "\\", "\0", "%"} & set(row.filename) and len(row.token) >= 20
    )
    assert {p.name for p in Path(world.settings.media_folder).iterdir()} == {row.id}
    target = world.twilio.sent[-1]["media"][0].removeprefix("https://palabre.test")
    assert world.web.get(target).status_code == 200 and world.web.get(target.replace(row.token, "x" * len(row.token))).status_code == 404


# -- workers -------------------------------------------------------------------------------------------------------


def test_b119_a_job_that_vanished_with_its_worker(world, monkeypatch):
    """B119: a turn whose job disappeared and whose lease ran out is taken up again by the clock, once."""
    world.post("Bonjour")
    world.services.queue(queues.CHAT).empty()
    world.services.redis.set(f"lease:turn:{world.conversation()}", "dead", px=1)
    with writing(world.services.db) as tx:
        tx.execute(conversations.update().values(awake_since=now() - timedelta(seconds=60)))
    while world.services.redis.exists(f"lease:turn:{world.conversation()}"):
        pass
    assert schedule.sweep(world.services) == 1 and schedule.sweep(world.services) == 0
    world.work()
    assert world.twilio.bodies() == ["D'accord."]


def test_b119_while_somebody_is_at_it_the_clock_keeps_away(world):
    """B119: a turn under way is not given to another worker, however long it takes."""
    world.post("Bonjour")
    with writing(world.services.db) as tx:
        tx.execute(conversations.update().values(awake_since=now() - timedelta(seconds=60)))
    with world.services.redis.lock(f"lease:turn:{world.conversation()}", timeout=30):
        assert schedule.sweep(world.services) == 0


def test_b125_workers_outlive_redis(tmp_path, monkeypatch):
    """B125: a worker whose Redis goes away and comes back takes jobs again."""
    took = threading.Event()
    monkeypatch.setattr(turn, "take_turn", lambda id: took.set())
    monkeypatch.setattr(serve.process, "stopping", threading.Event())
    server, url = valkey.start(tmp_path, durable=False)
    worker = threading.Thread(target=serve._work, args=("chat", url), daemon=True)
    worker.start()
    try:
        for _ in range(2):
            took.clear()
            client = connect_redis(url)
            client.ping()
            serve.Queue("chat", connection=client).enqueue("workers.turn.take_turn", "x", job_timeout=30, result_ttl=0)
            assert took.wait(20)
            client.close()
            server.kill()
            server.wait()
            server, again = valkey.start(tmp_path, durable=False)
            assert again == url
    finally:
        serve.process.stopping.set()
        server.kill()
        server.wait()


def test_b127_nothing_is_connected_before_a_fork(settings):
    """B127: building the services and the application opens no HTTP session, no Twilio client and no database connection."""
    built = outside.build(settings)
    create_app(built)
    assert "http" not in built.__dict__ and "twilio" not in built.__dict__ and built.db.pool.checkedin() == 0
    assert built.http is built.http and built.twilio is built.twilio


@pytest.mark.parametrize("queue", [queues.CHAT, queues.BACKGROUND])
def test_b129_every_job_has_its_limit(queue, world):
    """B129: a job's own limit is above that of the turn inside it, and it is never without one."""
    queues.wake(world.services, "x", queue)
    queues.deliver(world.services, WHATSAPP)
    [job], [delivery] = world.services.queue(queue).jobs, world.services.queue(queues.DELIVERY).jobs
    inner = world.settings.background_seconds if queue == queues.BACKGROUND else world.settings.turn_seconds
    assert job.timeout > inner > 0 and delivery.timeout > 60
    assert issubclass(serve.ThreadWorker, SimpleWorker)


def test_the_cases_are_named():
    """Every reported case that concerns what exists is named in some test."""
    told = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    wanted = json.loads((Path(__file__).parent / "data" / "cases.json").read_text())
    assert [id for id in wanted if id not in told] == []
