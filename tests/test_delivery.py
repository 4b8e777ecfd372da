"""The way out: what is sent once, what again, what never; what Twilio's callbacks say; who wants no messages any more."""

import itertools
import re
import threading
from collections.abc import Sequence
from datetime import timedelta

import fakes
import pytest
import requests
import responses
from conftest import AWA, rows
from fakes import call, calls, text

from bot.channels import inbox, outbox, segments, twilio
from bot.db import addresses, files, learners, now, writing
from bot.db import outbox as table
from workers import delivery, schedule, turn

WHATSAPP, SMS = f"whatsapp:{AWA}", AWA
QUIZ = {"question": "Combien font 1/2 + 1/4 ?", "options": ["2/6", "3/4", "1/8"], "correct_index": 1, "explanation": "1/2 vaut 2/4."}
PARTS = "\n\n".join(" ".join([f"mot{n}"] * 230) for n in range(3))  # three WhatsApp messages


def later(world) -> None:
    """What is due some time from now, is due now, and a worker is at it."""
    with writing(world.services.db) as tx:
        tx.execute(table.update().where(table.c.state.in_(("waiting", "sending"))).values(due_at=now() - timedelta(seconds=60)))
    for address in {r.address for r in rows(world.services, table)}:
        delivery.deliver_now(world.services, address)


def heard(world) -> None:
    """The person has written just now: WhatsApp lets us answer freely."""
    with writing(world.services.db) as tx:
        inbox.open_address(tx, WHATSAPP)
        tx.execute(addresses.update().values(heard_at=now()))


def states(world) -> list[tuple[str, int | None]]:
    return [(r.state, r.error_code) for r in sorted(rows(world.services, table), key=lambda r: r.id)]


def first_words(bodies: list[str]) -> list[str]:
    """The first word of each message, behind its (1/3)."""
    return [re.sub(r"^\(\d/\d\)", "", body).split()[0] for body in bodies]


def callback(world, status: str | None, code: int | str | None = None, row=None, target: str | None = None, sid: str | None = None):
    """Twilio's signed news about a message, by default the first one."""
    row = row or rows(world.services, table)[0]
    target = target or f"{twilio.STATUS}?m={row.token}"
    form = {
        "MessageSid": sid or row.provider_sid or "SM" + "9" * 32,
        "To": row.address,
        "MessageStatus": status,
        "ErrorCode": code,
        "AccountSid": "AC0",
    }
    form = [(k, str(v)) for k, v in form.items() if v is not None]
    answer = world.web.post(target, data=dict(form), headers={"X-Twilio-Signature": fakes.signature(world.settings, target, form)})
    assert answer.status_code == 200 and answer.mimetype == "text/xml"


# -- what is sent, and how often -----------------------------------------------------------------------------------


def test_parts_leave_in_order(world):
    """B053: the parts of a long answer are sent one after another, in the order in which they are read."""
    world.model.script = [text(PARTS)]
    sent = world.say("Bonjour")
    assert len(sent) == 3 and first_words(sent) == ["mot0", "mot1", "mot2"]


@pytest.mark.parametrize(
    "fault", [(429, 20429), (503, 20500), "lost", requests.ConnectTimeout("no route"), requests.ReadTimeout("silence")], ids=str
)
def test_a_part_that_is_held_up_holds_up_what_is_behind_it(fault, world):
    """B053: while the first part waits, no later part overtakes it; then all go out once, in order."""
    world.model.script = [text(PARTS), text("Et voilà.")]
    world.twilio.faults = [fault]
    world.say("Bonjour")
    assert len(world.twilio.sent) == (1 if fault == "lost" else 0)
    world.say("Et ensuite ?")
    assert len(world.twilio.sent) == (1 if fault == "lost" else 0)
    later(world)
    assert first_words(world.twilio.bodies()) == ["mot0", "mot1", "mot2", "Et"]
    assert states(world) == [("accepted", None)] * 4


@pytest.mark.parametrize("fault", ["lost", requests.ReadTimeout("silence"), requests.ConnectionError("reset")], ids=str)
def test_an_answer_that_got_lost_is_looked_for(fault, world):
    """B071: what Twilio accepted before its answer was lost is not sent twice; what it did not accept is sent once more."""
    world.twilio.faults = [fault]
    world.say("Bonjour")
    assert states(world) == [("sending", None)]
    later(world), later(world)
    assert world.twilio.bodies() == ["D'accord."] and states(world) == [("accepted", None)]
    assert rows(world.services, table)[0].provider_sid == world.twilio.sent[0]["sid"]


def test_the_same_words_twice_are_two_messages(world):
    """B071: an earlier message with the same words is not taken for the one whose answer was lost."""
    world.say("Un")
    world.twilio.faults = [(500, 20500)]
    world.say("Deux")
    later(world)
    assert world.twilio.bodies() == ["D'accord."] * 2
    assert len({r.provider_sid for r in rows(world.services, table)}) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_error_is_tried_again(status, world):
    """B071: after a 5xx Twilio's list is asked; a message that is not on it is sent once more."""
    world.twilio.faults = [(status, 20500)]
    world.say("Bonjour")
    assert world.twilio.bodies() == [] and states(world) == [("sending", None)]
    later(world), later(world)
    assert world.twilio.bodies() == ["D'accord."]


def test_the_list_is_asked_before_anything_is_sent_again(world):
    """B071: between two tries of an uncertain message there is always a look at Twilio's list."""
    world.twilio.faults = [(503, 20500)] * 2
    world.say("Bonjour")
    later(world), later(world)
    methods = [c.request.method for c in responses.calls if "twilio" in c.request.url]
    assert methods == ["POST", "GET", "POST", "GET", "POST"] and world.twilio.bodies() == ["D'accord."]


def test_the_list_that_does_not_answer_is_asked_again(world):
    """While Twilio's list cannot be read, an uncertain message stays where it is."""
    world.twilio.faults = ["lost"]
    world.say("Bonjour")
    url = f"https://api.twilio.com/2010-04-01/Accounts/{world.settings.twilio_account_sid}/Messages.json"
    responses.replace(responses.CallbackResponse(responses.GET, url, lambda request: (503, {}, "<html>")))
    later(world), later(world)
    assert states(world) == [("sending", None)] and len(world.twilio.sent) == 1
    responses.replace(responses.CallbackResponse(responses.GET, url, world.twilio._list))
    later(world)
    assert states(world) == [("accepted", None)] and len(world.twilio.sent) == 1


def test_trying_ends(world):
    """A message that Twilio never takes is given up after some tries, and what is behind it goes out."""
    world.model.script = [text(PARTS)]
    world.twilio.faults = [(503, 20500)] * 6
    world.say("Bonjour")
    for _ in range(8):
        later(world)
    assert [s for s, _ in states(world)] == ["failed", "accepted", "accepted"]
    assert first_words(world.twilio.bodies()) == ["mot1", "mot2"]


@pytest.mark.parametrize(
    ("fault", "most"), [((429, 20429), 60), ((400, 63018), 60), ((400, 63017), 60), (requests.ConnectTimeout("x"), 60)], ids=str
)
def test_what_was_not_processed_goes_later(fault, most, world):
    """A rate limit or a connection that was never made is no answer: the message goes a little later, without asking the list."""
    world.twilio.faults = [fault]
    world.say("Bonjour")
    [row] = rows(world.services, table)
    assert row.state == "waiting" and timedelta(seconds=1) < row.due_at - now() < timedelta(seconds=most)
    world.work()
    assert world.twilio.sent == []
    later(world)
    assert world.twilio.bodies() == ["D'accord."] and not [c for c in responses.calls if c.request.method == "GET"]


def test_twilio_says_when_to_come_back(world):
    """A 429 that names its time is tried again at that time."""
    url = f"https://api.twilio.com/2010-04-01/Accounts/{world.settings.twilio_account_sid}/Messages.json"
    answers = iter([(429, {"Retry-After": "45"}, '{"code": 20429, "message": "Too Many Requests", "status": 429}')])
    real = world.twilio._create
    responses.replace(responses.CallbackResponse(responses.POST, url, lambda request: next(answers, None) or real(request)))
    world.say("Bonjour")
    assert timedelta(seconds=30) < rows(world.services, table)[0].due_at - now() < timedelta(seconds=46)


@pytest.mark.parametrize("code", [21211, 21612, 21614, 63003])
def test_an_address_that_cannot_be_reached_is_closed(code, world):
    """What else waits for an address that cannot be reached is not sent, until somebody writes from there."""
    world.model.script = [text(PARTS), text("Te revoilà.")]
    world.twilio.faults = [(400, code)]
    world.say("Bonjour")
    later(world)
    assert [s for s, _ in states(world)][:3] == ["failed"] * 3 and world.twilio.bodies(WHATSAPP) == []
    assert len(world.twilio.bodies(AWA)) == (1 if code == 63003 else 0)  # not on WhatsApp: the message goes by SMS, once
    assert world.say("Je suis là") == ["Te revoilà."]


@pytest.mark.parametrize("code", [21408, 21602, 21603, 21606, 21617, 21655, 63007, 20003])
def test_a_refusal_is_final(code, world, caplog):
    """B052: a message that Twilio refuses is not sent again; its code is kept and logged; what is behind it goes out."""
    world.model.script = [text(PARTS)]
    world.twilio.faults = [(400, code)]
    world.say("Bonjour")
    later(world), later(world)
    assert states(world) == [("failed", code), ("accepted", None), ("accepted", None)] and len(world.twilio.sent) == 2
    assert str(code) in caplog.text and AWA not in caplog.text and "mot0" not in caplog.text


ODD_ANSWERS = {  # what Twilio answers to a message, and what becomes of the message
    "401 that is no JSON": ((401, "<html>no</html>"), "failed"),
    "503 that is no JSON": ((503, "<html>no</html>"), "sending"),
    "400 in the newer form": ((400, '{"type": "x", "title": "no", "status": 400, "code": 21211}'), "failed"),
    "500 in the newer form": ((500, '{"type": "x", "title": "no", "status": 500, "code": 20500}'), "sending"),
    "400 without a code": ((400, '{"message": "no"}'), "failed"),
    "201 that is no JSON": ((201, "<html>"), "sending"),
    "201 without a sid": ((201, "{}"), "accepted"),
    "404": ((404, '{"code": 20404, "message": "no", "status": 404}'), "failed"),
}


@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_odd_answers_of_twilio(name, world):
    """Answers without JSON, without a code or without a sid crash nothing: each leaves its message in a clear state."""
    (status, body), state = ODD_ANSWERS[name]
    url = f"https://api.twilio.com/2010-04-01/Accounts/{world.settings.twilio_account_sid}/Messages.json"
    responses.replace(responses.Response(responses.POST, url, status=status, body=body))
    world.say("Bonjour")
    assert [s for s, _ in states(world)] == [state]


def test_twilio_is_given_ten_seconds(world):
    """B073: every call of the SDK has a time limit of ten seconds; the SDK by itself would wait for ever."""
    limits = []
    url = f"https://api.twilio.com/2010-04-01/Accounts/{world.settings.twilio_account_sid}/Messages.json"
    real = world.twilio._create

    def create(request):
        limits.append(request.req_kwargs["timeout"])
        return real(request)

    responses.replace(responses.CallbackResponse(responses.POST, url, create))
    world.say("Bonjour")
    assert limits == [10]


def test_a_job_that_runs_twice_sends_once(world):
    """B123: jobs that come again after the answer was sent send nothing."""
    world.say("Bonjour")
    for _ in range(3):
        delivery.deliver(WHATSAPP)
    assert world.twilio.bodies() == ["D'accord."]


def test_two_workers_send_once(world):
    """Two workers that deliver to one person at the same moment send each message once, in order."""
    heard(world)
    for n in range(6):
        with writing(world.services.db) as tx:
            outbox.put(tx, WHATSAPP, f"x:{n}", [(f"message {n}", None)])
    threads = [threading.Thread(target=delivery.deliver_now, args=(world.services, WHATSAPP)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert world.twilio.bodies() == [f"message {n}" for n in range(6)]


def test_the_clock_finds_what_should_have_left(world):
    """A message whose job got lost is found by the clock."""
    heard(world)
    with writing(world.services.db) as tx:
        outbox.put(tx, WHATSAPP, "x", [("Bonjour", None)])
        tx.execute(table.update().values(due_at=now() - timedelta(seconds=60)))
    assert schedule.sweep(world.services) == 1
    world.work()
    assert world.twilio.bodies() == ["Bonjour"]


def test_one_person_who_cannot_be_reached_holds_up_nobody(world):
    """B022: messages to others go out while those to one person wait."""
    world.twilio.faults = [(429, 20429)]
    world.say("Bonjour")
    assert world.say("Bonjour", "whatsapp:+2250701020305") == ["D'accord."] and len(world.twilio.sent) == 1


# -- how it is cut -------------------------------------------------------------------------------------------------

CODE = "```python\n" + "\n".join(f"print({n})  # ligne" for n in range(50)) + "\n```"
LENGTHS = {
    "1600": "é" * 1600,
    "1601": "a" * 1601,
    "3200": "mot " * 800,
    "6000": "Une phrase. " * 500,
    "emoji": "😀 👩‍👩‍👧 " * 400,
    "code": "Voici :\n\n" + "mot " * 300 + "\n\n" + CODE + "\n\n" + "fin " * 300,
}


@pytest.mark.parametrize("name", LENGTHS)
def test_no_message_is_longer_than_twilio_takes(name, world):
    """B050: every part has 1 to 1,600 UTF-16 units; three go at once, SUITE brings the rest; no word is lost."""
    world.model.script = [text(LENGTHS[name])]
    sent = world.say("Raconte")
    assert len(sent) <= 3
    for _ in range(10):
        more = world.say("SUITE")
        if "pas de suite" in more[0]:
            break
        assert len(more) <= 3
        sent += more
    assert all(1 <= len(s.encode("utf-16-le")) // 2 <= 1600 and s.strip() for s in sent)
    words = [w for s in sent for w in re.sub(r"^\(\d/\d\)|Écris SUITE pour la suite\.|```", " ", s).split()]
    assert "".join(words) == "".join(LENGTHS[name].replace("```python", " ").replace("```", " ").split())


def test_sms_is_one_page_of_three_segments(world):
    """B055: a long answer by SMS is one message of at most three segments that says how to get the rest."""
    world.model.script = [text("L'élève révise ses leçons avec plaisir et sérieux ; c'est très bien. " * 10)]
    [sent] = world.say("Raconte", SMS)
    assert segments.segments(sent) <= 3 and "SUITE" in sent
    assert [r.segments for r in rows(world.services, table)] == [segments.segments(sent)]


def test_sms_may_go_through_a_messaging_service(world):
    """Without a number of its own a channel is sent through the messaging service."""
    object.__setattr__(world.settings, "twilio_sms_from", "")
    object.__setattr__(world.settings, "twilio_messaging_service_sid", "MG" + "0" * 32)
    world.say("Bonjour", SMS)
    assert world.twilio.sent[0]["from"] is None and "MessagingServiceSid=MG" in responses.calls[-1].request.body


# -- files ---------------------------------------------------------------------------------------------------------

DOCUMENTS = calls(
    call("generate_pdf", {"title": "Fiche", "content": "# Un"}), call("generate_docx", {"title": "Devoir", "content": "Deux"})
)


def test_one_message_for_each_file(world):
    """B047: on WhatsApp the text goes first and then one message for each file; on SMS the links are in the text."""
    world.account()
    world.model.script = [DOCUMENTS, text("Voici tes fiches."), DOCUMENTS, text("Voici tes fiches.")]
    world.say("Des fiches")
    made = rows(world.services, files)
    assert [(m["body"], len(m["media"])) for m in world.twilio.sent] == [("Voici tes fiches.", 0), ("", 1), ("", 1)]
    assert [m["media"][0].rsplit("/", 2)[1] for m in world.twilio.sent[1:]] == [f.token for f in made]

    world.say("Des fiches", SMS)
    [message] = world.twilio.sent[3:]
    assert message["media"] == [] and message["body"].count("https://palabre.test/media/") == 2


def test_a_link_works_as_often_as_twilio_asks(world):
    """B045: Twilio asks for a file by HEAD and GET, and WhatsApp again, anonymously, for days."""
    world.account()
    world.model.script = [DOCUMENTS, text("Voici.")]
    world.say("Une fiche")
    target = world.twilio.sent[1]["media"][0].removeprefix("https://palabre.test")
    for method in ("HEAD", "GET", "HEAD", "GET"):
        answer = world.web.open(target, method=method)
        assert answer.status_code == 200 and answer.content_type == "application/pdf" and "location" not in answer.headers
        assert int(answer.headers["Content-Length"]) > 500 and "Set-Cookie" not in answer.headers
        assert answer.headers["Content-Disposition"].isascii() and answer.headers["Content-Disposition"].startswith("inline")
    assert world.web.get(target, headers={"Range": "bytes=0-4"}).data == b"%PDF-"
    assert all(f.expires_at > now() + timedelta(hours=24) for f in rows(world.services, files))


@pytest.mark.parametrize(
    "target",
    [
        "/media/x/x.pdf",
        "/media/%00/x.pdf",
        "/media/x/%00",
        "/media/../x",
        "/media/" + "x" * 3000 + "/x.pdf",
        "/media//x.pdf",
        "/media/%2e%2e/x",
    ],
)
def test_a_link_that_was_never_made(target, world):
    """What is no link of ours is not found, whatever it looks like."""
    assert world.web.get(target).status_code in (308, 404)


def test_a_file_message_whose_answer_was_lost(world):
    """B071: a message that is nothing but a file is found on Twilio's list too, and is not sent twice."""
    world.account()
    world.model.script = [DOCUMENTS, text("Voici.")]
    world.twilio.faults = [None, "lost"]
    world.say("Une fiche")
    later(world)
    assert [len(m["media"]) for m in world.twilio.sent] == [0, 1, 1] and len({m["media"][0] for m in world.twilio.sent[1:]}) == 2


# -- what became of it ---------------------------------------------------------------------------------------------

STORIES: dict[str, tuple[Sequence, tuple[str, int | None]]] = {  # what the callbacks say, and what is true in the end
    "the ordinary way": (["sending", "sent", "delivered", "read"], ("read", None)),
    "B060 backwards": (["delivered", "sent", "queued"], ("delivered", None)),
    "B060 read, then delivered": (["read", "delivered"], ("read", None)),
    "B060 read after delivered": (["delivered", "read"], ("read", None)),
    "each one twice": (["sent", "sent", "delivered", "delivered"], ("delivered", None)),
    "B060 failed is final": ([("failed", 63016), "sent", "delivered"], ("failed", 63016)),
    "B060 delivered, then failed": (["delivered", ("failed", 30008)], ("delivered", None)),
    "B062 the first code is kept": ([("failed", 63016), "failed"], ("failed", 63016)),
    "B062 another code later": ([("undelivered", 63016), ("failed", 30008)], ("failed", 63016)),
    "B062 the code comes late": (["failed", ("failed", 63016)], ("failed", 63016)),
    "B064 one segment fails, another arrives": ([("undelivered", 30005), "delivered"], ("failed", 30005)),
    "sent may be the last word": (["sent"], ("sent", None)),
    "a word nobody knows": (["sent", "teleported", "", None], ("sent", None)),
    "partially delivered": (["partially_delivered"], ("delivered", None)),
    "cancelled": (["canceled"], ("failed", None)),
    "capitals": (["DELIVERED"], ("delivered", None)),
    "a code that is no number": ([("failed", "n/a")], ("failed", None)),
    "a code without end": ([("failed", "9" * 5000)], ("failed", None)),
    "a code too large": ([("failed", "99999999999")], ("failed", None)),
    "an empty code": ([("failed", "")], ("failed", None)),
}


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("by", ["token", "sid"])
def test_states_move_forward_only(name, by, world):
    """Callbacks come in any order and number: a state never goes back, and the first reason is kept."""
    world.say("Bonjour")
    story, end = STORIES[name]
    for news in story:
        status, code = news if isinstance(news, tuple) else (news, None)
        callback(world, status, code, target=None if by == "token" else twilio.STATUS)
    assert states(world)[0] == end


@pytest.mark.parametrize("order", list(itertools.permutations(["sent", "delivered", "read"])), ids="-".join)
def test_any_order_ends_the_same(order, world):
    """Whatever the order of the callbacks, the furthest state stands."""
    world.say("Bonjour")
    for status in order:
        callback(world, status)
    assert states(world) == [("read", None)]


@pytest.mark.parametrize("target", ["?m=unknown", "?m=", "", "?m=%00", "?x=1", "?m=" + "x" * 500], ids=str)
def test_callbacks_about_something_unknown(target, world):
    """A callback about a message that nobody knows is a quiet 200 and changes nothing."""
    world.say("Bonjour")
    for sid in ("SM" + "f" * 32, "\x00", "x" * 300):
        callback(world, "delivered", target=twilio.STATUS + target, sid=sid)
        callback(world, "failed", 21610, target=twilio.STATUS + target, sid=sid)
    assert states(world) == [("accepted", None)] and [a.opted_out for a in rows(world.services, addresses)] == [False]


def test_a_token_that_got_lost_leaves_the_sid(world):
    """A callback whose own id is wrong is understood by its MessageSid."""
    world.say("Bonjour")
    callback(world, "delivered", target=twilio.STATUS + "?m=wrong")
    assert states(world) == [("delivered", None)]


@pytest.mark.parametrize(
    ("news", "end"),
    [(["delivered"], ("delivered", None)), ([("failed", 63024)], ("failed", 63024)), (["sent", "read"], ("read", None))],
    ids=str,
)
@pytest.mark.parametrize("lost", [False, True], ids=["the answer comes", "the answer is lost"])
def test_a_callback_before_twilios_own_answer(news, end, lost, world, monkeypatch):
    """What a callback says before the POST has returned is kept when it returns, and nothing is sent again."""
    send = twilio.send

    def slow(*args):
        sid = send(*args)
        for one in news:
            callback(world, *(one if isinstance(one, tuple) else (one,)), sid=sid)
        if lost:
            raise twilio.SendError("no answer", ambiguous=True)
        return sid

    monkeypatch.setattr(delivery.twilio, "send", slow)
    world.say("Bonjour")
    later(world)
    assert states(world)[0] == end and len(world.twilio.bodies(WHATSAPP)) == 1
    assert rows(world.services, table)[0].provider_sid == world.twilio.sent[0]["sid"]


def test_callbacks_at_the_same_moment(world):
    """Callbacks in parallel end in the furthest state."""
    from test_webhook import at_once

    world.say("Bonjour")
    row, form_of = rows(world.services, table)[0], {}
    target = f"{twilio.STATUS}?m={row.token}"
    for status in ("sent", "delivered", "read"):
        form_of[status] = {"MessageSid": row.provider_sid, "MessageStatus": status}

    def post(status):
        signed = {"X-Twilio-Signature": fakes.signature(world.settings, target, list(form_of[status].items()))}
        return world.web.application.test_client().post(target, data=form_of[status], headers=signed).status_code

    assert at_once([lambda s=s: post(s) for s in ["sent", "delivered", "read"] * 3]) == [200] * 9
    assert states(world) == [("read", None)]


# -- who wants no messages any more --------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [21610, 63014])
def test_a_refusal_that_means_no_more(code, world):
    """A code that says that this person does not want our messages opts the address out and drops what waits for it."""
    world.model.script = [text(PARTS)]
    world.twilio.faults = [(400, code)]
    world.say("Bonjour")
    later(world)
    assert [s for s, _ in states(world)] == ["failed"] * 3 and states(world)[0][1] == code and world.twilio.sent == []
    assert [a.opted_out for a in rows(world.services, addresses)] == [True]


def test_a_callback_that_means_no_more(world):
    """A callback with such a code does the same, once: after START a late second one changes nothing."""
    world.say("Bonjour")
    row = rows(world.services, table)[0]
    with writing(world.services.db) as tx:
        outbox.put(tx, WHATSAPP, "later", [("plus tard", None)])
        tx.execute(table.update().where(table.c.key == "later:0").values(due_at=now() + timedelta(hours=1)))
    callback(world, "failed", 21610, row=row)
    assert [s for s, _ in states(world)] == ["failed", "failed"] and [a.opted_out for a in rows(world.services, addresses)] == [True]
    world.say("START")
    callback(world, "failed", 21610, row=row)
    assert [a.opted_out for a in rows(world.services, addresses)] == [False] and "plus tard" not in world.twilio.bodies()


@pytest.mark.parametrize("word", ["STOP", "stop", "Arrêt", "ARRET", "desabonner", "Stop !"])
def test_stop_on_whatsapp(word, world):
    """B077: STOP in French or English is confirmed once in French; from then on nothing is sent, until START."""
    world.account()
    world.say("Bonjour")
    [farewell] = world.say(word)
    assert "START" in farewell and "je ne t'écrirai plus" in farewell
    assert world.say("Encore une question") == [] and world.say("SOLDE") == [] and world.say(word) == [] and len(world.model.asked) == 1
    assert [r.credits for r in rows(world.services, learners)] == [99]
    assert len(world.say("START")) == 1 and world.say("Et maintenant ?") == ["D'accord."]


def test_stop_on_sms(world):
    """B075: on SMS the network answers STOP by itself: we send nothing, and nothing after it until START."""
    world.say("Bonjour", SMS)
    assert world.say("STOP", SMS) == [] and world.say("Encore ?", SMS) == []
    assert len(world.say("START", SMS)) == 1 and world.say("Et maintenant ?", SMS) == ["D'accord."]


@pytest.mark.parametrize("sender", [WHATSAPP, SMS])
def test_stop_in_the_middle_of_a_quiz(sender, world):
    """B075: STOP is no answer to a quiz; the quiz waits, and START brings it back."""
    world.account()
    world.model.script = [call("interactive_quiz", QUIZ), text("Bravo !")]
    world.say("Un quiz", sender)
    world.say("STOP", sender)
    assert world.say("2", sender) == []
    world.say("START", sender)
    assert "Juste" in world.say("2", sender)[0]


def test_stop_is_for_one_address(world):
    """STOP on one channel leaves the other one open."""
    world.account()
    world.say("Bonjour"), world.say("Bonjour", SMS)
    world.say("STOP", SMS)
    assert world.say("Et ici ?") == ["D'accord."] and world.say("Et là ?", SMS) == []


def test_stop_while_the_model_thinks(world):
    """STOP during the model call stops the turn: its answer is neither sent nor charged."""
    world.account()

    def script(body):
        world.post("STOP")
        turn.take(world.services, world.conversation())  # another worker finds the word
        return text("Trop tard.")

    world.model.script = script
    sent = world.say("Bonjour")
    assert len(sent) == 1 and "START" in sent[0] and [r.credits for r in rows(world.services, learners)] == [100]


@pytest.mark.parametrize("state", ["waiting", "sending"])
def test_nothing_goes_to_an_address_that_opted_out(state, world):
    """Whatever put it there, a message to an address that opted out is closed instead of sent."""
    world.say("Bonjour")
    with writing(world.services.db) as tx:
        tx.execute(addresses.update().values(opted_out=True))
        outbox.put(tx, WHATSAPP, "reminder", [("Rappel", None)])
        tx.execute(table.update().where(table.c.key == "reminder:0").values(state=state))
    later(world)
    assert world.twilio.bodies() == ["D'accord."] and states(world)[1] == ("failed", 21610)


def test_a_message_put_off_for_hours_holds_up_nobody(world):
    """Behind a message that Twilio could not deliver (30003) later answers go out at once, and it goes when the person writes."""
    world.twilio.faults = [(400, 30003)]
    assert world.say("Bonjour") == []
    assert world.say("Tu es là ?") == ["D'accord.", "D'accord."]


def test_what_is_written_after_stop_is_not_taken_up(world):
    """After START the model does not see what was written while the person wanted no messages."""
    world.say("STOP"), world.say("3/4 + 1/6"), world.say("START"), world.say("Bonjour")
    assert world.model.asked[-1]["messages"][-1]["content"] == "Bonjour"
