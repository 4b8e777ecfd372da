"""What an error code brings about: one table, for refusals of the API and for status callbacks alike."""

from datetime import timedelta

import fakes
import pytest
from conftest import AWA, rows
from fakes import call, text

from bot.channels import outbox, reactions, twilio
from bot.db import addresses, now, writing
from bot.db import outbox as table
from workers import delivery

WHATSAPP, SMS = f"whatsapp:{AWA}", AWA


def failed(world, code: int, row=None) -> None:
    """Twilio's signed callback: this message failed with *code*."""
    row = row or rows(world.services, table)[-1]
    target, form = (
        f"{twilio.STATUS}?m={row.token}",
        [("MessageSid", row.provider_sid), ("MessageStatus", "failed"), ("ErrorCode", str(code))],
    )
    world.web.post(target, data=dict(form), headers={"X-Twilio-Signature": fakes.signature(world.settings, target, form)})
    world.work()


def due_now(world) -> None:
    with writing(world.services.db) as tx:
        tx.execute(table.update().where(table.c.state == "waiting").values(due_at=now() - timedelta(seconds=9)))


def silent_for(world, hours: float) -> None:
    with writing(world.services.db) as tx:
        tx.execute(addresses.update().values(heard_at=now() - timedelta(hours=hours)))


def deliver(world, *bodies: str, to: str = WHATSAPP) -> None:
    conversation = world.conversation()
    with writing(world.services.db) as tx:
        outbox.put(tx, to, f"x{bodies}", [(b, None) for b in bodies], conversation)
    delivery.deliver_now(world.services, to)


def test_every_code_has_one_reaction():
    """No code stands in two rows, and every alert says a cure or where to look."""
    codes = [c for kind in reactions.CODES.values() for c in kind]
    assert len(codes) == len(set(codes)) and set(reactions.CURES) <= set(codes)


@pytest.mark.parametrize("code", reactions.CODES["opt_out"])
def test_opted_out(world, code):
    """Whoever blocked us or said STOP to the network gets nothing more."""
    world.say("Bonjour")
    failed(world, code)
    assert world.say("Encore ?") == []


@pytest.mark.parametrize("code", reactions.CODES["no_whatsapp"])
def test_not_on_whatsapp(world, code):
    """The text goes by SMS, once, however often Twilio says so."""
    world.say("Bonjour")
    first = rows(world.services, table)[0]
    failed(world, code, first), failed(world, code, first)
    deliver(world, to=SMS)
    assert world.twilio.bodies(SMS) == ["D'accord."]


def test_outside_the_window_the_text_waits(world):
    """After 24 hours of silence nothing is sent freely; what is held goes out when the person writes."""
    world.say("Bonjour")
    silent_for(world, 25)
    deliver(world, "Ton bilan est prêt.")
    assert world.twilio.bodies() == ["D'accord."] and rows(world.services, table)[-1].state == "held"
    assert world.say("Me revoici") == ["Ton bilan est prêt.", "D'accord."]


def test_a_template_says_that_an_answer_waits(world):
    """With a template the person is told once a day, by ContentSid and without a body."""
    object.__setattr__(world.settings, "twilio_whatsapp_template_sid", "HX" + "a" * 32)
    world.say("Bonjour")
    silent_for(world, 25)
    deliver(world, "Un."), deliver(world, "Deux.")
    templates = [m for m in world.twilio.sent if m["content"]]
    assert [m["body"] for m in templates] == [""] and world.twilio.bodies()[0] == "D'accord."
    assert world.say("Me revoici")[:2] == ["Un.", "Deux."]


def test_63016_is_believed(world):
    """When Twilio says that the window is closed, the text waits for the person's next message."""
    world.say("Bonjour")
    failed(world, 63016)
    assert world.say("Tu es là ?") == ["D'accord.", "D'accord."]


@pytest.mark.parametrize("code", reactions.CODES["media"])
def test_a_refused_file_goes_as_a_link(world, code):
    """The text comes once more with the file's address in it."""
    world.account()
    world.model.script = [call("generate_pdf", {"title": "Fiche", "content": "# Un"}), text("Voici.")]
    world.say("Un PDF")
    failed(world, code, row=next(r for r in rows(world.services, table) if r.media_url))
    deliver(world)
    assert world.twilio.bodies()[-1].startswith("https://palabre.test/media/") and not world.twilio.sent[-1]["media"]


@pytest.mark.parametrize("code", reactions.CODES["later"])
def test_what_may_pass_is_tried_once_more(world, code):
    """A passing trouble brings one more try, after a while, and not a third."""
    world.say("Bonjour")
    failed(world, code)
    assert rows(world.services, table)[-1].due_at > now() + timedelta(seconds=30)
    due_now(world)
    deliver(world)
    failed(world, code)
    due_now(world)
    deliver(world)
    assert world.twilio.bodies() == ["D'accord."] * 2


@pytest.mark.parametrize("code", reactions.CODES["alert"])
def test_ours_to_put_right(world, code, caplog):
    """Configuration errors are told to the operator with the code, and nothing is sent again."""
    world.say("Bonjour")
    failed(world, code)
    due_now(world)
    assert str(code) in caplog.text and world.twilio.bodies() == ["D'accord."] and AWA not in caplog.text
