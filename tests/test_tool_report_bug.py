"""report_bug: the team hears of it by e-mail and WhatsApp, the person gets a reference."""

import re
from dataclasses import replace

import pytest
from conftest import rows
from mail_server import running

from bot.channels.twilio import Inbound
from bot.db import outbox, writing
from bot.errors import ToolError
from bot.learners import reports
from tools.offered import check
from tools.report_bug import report_bug


def with_settings(services, context, **changed):
    return replace(context, services=replace(services, settings=replace(services.settings, **changed)))


def report(context, title="Le PDF est vide", description="La page 2 manque.", **more):
    result = report_bug(context, title, description, **more)
    context.tx.commit()
    return result["reference"]


def test_the_team_gets_a_mail_and_a_whatsapp_message_with_the_same_reference(services, make_context):
    with running() as (keeper, address):
        context = with_settings(services, make_context("child"), smtp_url=f"smtp://{address}")
        reference = report(context, severity="high")
    assert re.fullmatch(r"P\d{6}-[2-9A-Z]{5}", reference)
    [message], [row] = keeper.inbox, rows(services, outbox)
    text = message.get_body(("plain",)).get_content()
    assert message["To"] == "equipe@palabre.test" and message["Subject"] == f"[{reference}] high: Le PDF est vide"
    for part in (reference, context.conversation, "La page 2 manque.", "Derniers événements"):
        assert part in text
    assert row.address == "whatsapp:+2250700009999" and row.conversation_id is None
    for part in (reference, context.conversation, "La page 2 manque.", "high"):
        assert part in row.body


def test_the_last_events_are_named_without_what_was_said(services, make_context):
    from bot.channels import inbox

    context = make_context()
    with writing(services.db) as tx:
        inbox.receive(tx, Inbound(id="SM1", address=context.person.address, text="secret de famille", channel="whatsapp", media=()))
    report(context)
    [path] = (services.settings.home / "mail").glob("*.eml")
    text = path.read_text()
    assert "1 HumanInput" in text and "secret" not in text


@pytest.mark.parametrize(
    "personal",
    [
        "+225 07 01 02 03 04",
        "+2250701020304",
        "0701020304",
        "07.01.02.03.04",
        "00225 07-01-02-03-04",
        "07\u202f01\u202f02\u202f03\u202f04",
        "(225) 07010203",
        "awa.kone+ecole@exemple.ci",
        "whatsapp:+2250701020304",
    ],
)
def test_numbers_and_addresses_are_left_out(services, make_context, personal):
    report(make_context(), f"Bug de {personal}", f"Son contact est {personal}, merci. Erreur 404 à 16:30 le 12/05.")
    body = rows(services, outbox)[0].body
    digits = re.sub(r"\D", "", personal)
    assert personal not in body and "exemple.ci" not in body
    assert not digits or digits not in re.sub(r"\D", "", body.partition("Titre")[2])
    assert "Erreur 404 à 16:30 le 12/05." in body


def test_the_mail_alone_is_enough(services, make_context):
    report(with_settings(services, make_context(), team_whatsapp=""))
    assert rows(services, outbox) == []
    assert len(list((services.settings.home / "mail").glob("*.eml"))) == 1


def test_whatsapp_alone_is_enough_even_without_its_prefix(services, make_context):
    report(with_settings(services, make_context(), team_email="", team_whatsapp="+2250700009999"))
    assert [r.address for r in rows(services, outbox)] == ["whatsapp:+2250700009999"]
    assert not (services.settings.home / "mail").exists()


@pytest.mark.parametrize("broken", ["not set", "mail server away"])
def test_when_nobody_can_be_told_it_is_logged_and_kept_in_a_file(services, make_context, caplog, broken):
    with running() as (_, address):
        pass
    settings = {"team_email": ""} if broken == "not set" else {"smtp_url": f"smtp://{address}"}
    reference = report(with_settings(services, make_context(), team_whatsapp="", **settings))
    assert any(record.levelname == "ERROR" and reference in record.getMessage() for record in caplog.records)
    assert "La page 2 manque." in (services.settings.home / "reports" / f"{reference}.md").read_text("utf-8")


def test_there_is_a_limit_for_each_day(services, make_context):
    context = make_context()
    for _ in range(reports.PER_DAY):
        report(context)
    with pytest.raises(ToolError, match="nothing was sent"):
        report(context)
    assert len(rows(services, outbox)) == reports.PER_DAY


def test_every_report_has_its_own_reference(services, make_context):
    context = make_context()
    assert len({report(context) for _ in range(4)}) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "x"},
        {"description": "x"},
        {"title": "", "description": "x"},
        {"title": "x", "description": "y", "severity": "fatal"},
        {"title": "x", "description": "y", "email": "z"},
    ],
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("report_bug", arguments)
