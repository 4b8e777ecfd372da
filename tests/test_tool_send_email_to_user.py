"""send_email_to_user: to the person's own verified address, through a real SMTP server."""

import shutil
import unicodedata
from dataclasses import replace
from email import message_from_bytes, policy

import pytest
from conftest import rows
from hypothesis import given
from hypothesis import strategies as st
from mail_server import running, self_signed

from bot.db import daily, learners, writing
from bot.errors import ToolError
from bot.learners import accounts, files, mail
from tools.offered import check
from tools.send_email_to_user import MAILS_PER_DAY, send_email_to_user

EVIL = [
    pytest.param("Fiche\nmaths", id="line break"),
    pytest.param("Bonjour\r\nBcc: x@example.org", id="header after a line break"),
    pytest.param("=?UTF-8?Q?a=0ABcc:_x@example.org?=", id="line break in an encoded word"),
    pytest.param("=?UTF-8?B?YQ0KQmNjOiB4QGV4YW1wbGUub3Jn?=", id="the same in base64"),
    pytest.param("=?UTF-8?Q?=3D=3FUTF-8=3FQ=3Fa=3D0ABcc=3A=5Fx=40example=2Eorg=3F=3D?=", id="encoded word in an encoded word"),
    pytest.param("=?UTF-8?Q?a=E2=80=A8Bcc:_x@example.org?=", id="line separator"),
    pytest.param("=?utf-7?Q?+AAo-Bcc:_x@example.org?=", id="utf-7"),
    pytest.param("=?latin-1?Q?a=85Bcc:_x@example.org?=", id="next line of latin-1"),
    pytest.param("a\x00b\x0bBcc: x@example.org\x0c", id="control characters"),
    pytest.param("\ud800 a", id="half a character"),
    pytest.param("x" * 300, id="long"),
]


@pytest.fixture
def server(services, make_context):
    """(keeper, context of a professional whose mail goes to it)."""
    with running() as (keeper, address):
        yield keeper, smtp(services, make_context("pro"), f"smtp://{address}")


def smtp(services, context, url):
    return replace(context, services=replace(services, settings=replace(services.settings, smtp_url=url)))


def keep_file(services, context, name="fiche.pdf", data=b"%PDF-1.4 x", key="f1", owner=None):
    with writing(services.db) as tx:
        return files.save(
            services.settings, tx, key=key, owner=owner or context.person.owner, origin="generated", filename=name, data=data
        ).id


def test_the_mail_has_a_text_and_an_html_part_and_the_files(services, server):
    keeper, context = server
    id = keep_file(services, context)
    result = send_email_to_user(context, "Ta fiche d'été", "Bonjour **Awa**,\n\nvoici :\n\n- un\n- deux", attachment_file_ids=[id, id])
    assert result == {"success": True, "to": "awa@exemple.ci", "attachments": ["fiche.pdf"]}
    [message] = keeper.inbox
    assert keeper.recipients == [["awa@exemple.ci"]]
    assert (message["To"], message["From"], message["Subject"]) == ("awa@exemple.ci", "palabre@palabre.test", "Ta fiche d'été")
    assert message.get_body(("plain",)).get_content().startswith("Bonjour **Awa**,")
    page = message.get_body(("html",)).get_content()
    assert "<strong>Awa</strong>" in page and "<li>deux</li>" in page
    [attached] = message.iter_attachments()
    assert (attached.get_filename(), attached.get_content_type(), attached.get_content()) == ("fiche.pdf", "application/pdf", b"%PDF-1.4 x")
    assert message["Message-ID"].endswith("@palabre.test>") and message["Date"]


@pytest.mark.parametrize("subject", EVIL)
def test_no_header_can_be_slipped_in_by_the_subject(server, subject):
    keeper, context = server
    send_email_to_user(context, subject, "corps")
    [message] = keeper.inbox
    assert keeper.recipients == [["awa@exemple.ci"]]
    assert message["Bcc"] is None and message["Cc"] is None
    assert sorted(set(message.keys())) == sorted(
        ["From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type"]
    )
    assert "\n" not in message["Subject"]


@given(st.text(max_size=200) | st.text("=?UTF-8BQqutf_0AaDd:\r\n ", max_size=80))
def test_a_header_is_always_one_line_that_stays_as_it_is(text):
    line = mail.header(text)
    assert not {unicodedata.category(c) for c in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert len(line.splitlines()) <= 1
    assert "=?" not in line
    assert mail.header(line) == line


def test_raw_html_and_pictures_of_the_body_do_not_reach_the_reader(server):
    keeper, context = server
    send_email_to_user(context, "s", "<script>alert(1)</script> ![x](https://spy.example/a.png) [y](javascript:alert(1)) \x00\x0b\ud800fin")
    page = keeper.inbox[0].get_body(("html",)).get_content()
    assert "<script" not in page and "<img" not in page and 'href="javascript' not in page
    assert "fin" in page


def test_without_a_server_the_mail_lies_in_a_folder(services, make_context):
    send_email_to_user(make_context(), "Objet", "corps")
    [path] = (services.settings.home / "mail").glob("*.eml")
    message = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert (message["To"], message["Subject"]) == ("awa@exemple.ci", "Objet")


@pytest.mark.parametrize(("account", "said"), [({"email": None}, "no e-mail address"), ({}, "not verified")])
def test_without_a_verified_address_nothing_is_sent_and_the_way_to_one_is_told(services, make_context, account, said):
    context = make_context(**account)
    with writing(services.db) as tx:
        tx.execute(learners.update().values(email_verified=False))
        context = replace(context, person=accounts.person(tx, context.person.address))
    with pytest.raises(ToolError, match=said) as problem:
        send_email_to_user(context, "s", "b")
    assert "https://palabre.test/me" in str(problem.value)
    assert not (services.settings.home / "mail").exists()


def test_a_file_of_somebody_else_is_not_sent(services, make_context):
    context = make_context()
    theirs = keep_file(services, context, owner="learner:other")
    with pytest.raises(ToolError, match=theirs):
        send_email_to_user(context, "s", "b", attachment_file_ids=[theirs])
    assert not (services.settings.home / "mail").exists()


def test_a_file_that_is_gone_from_the_disk_is_an_error(services, make_context):
    context = make_context()
    id = keep_file(services, context)
    shutil.rmtree(services.settings.media_folder)
    with pytest.raises(ToolError, match="not on the disk"):
        send_email_to_user(context, "s", "b", attachment_file_ids=[id])


def test_files_that_are_too_big_together_are_refused(services, make_context):
    context = make_context()
    ids = [keep_file(services, context, key=f"f{n}", data=b"x" * (mail.LARGEST // 2 + 1)) for n in range(2)]
    with pytest.raises(ToolError, match="15 MB"):
        send_email_to_user(context, "s", "b", attachment_file_ids=ids)


def test_there_is_a_limit_for_each_day(services, make_context):
    context = make_context()
    for _ in range(MAILS_PER_DAY):
        send_email_to_user(context, "s", "b")
    with pytest.raises(ToolError, match="used up"):
        send_email_to_user(context, "s", "b")
    assert len(list((services.settings.home / "mail").glob("*.eml"))) == MAILS_PER_DAY
    assert [r.count for r in rows(services, daily, daily.c.what == "mail")] == [MAILS_PER_DAY]


def test_starttls_and_a_login_are_used(services, make_context, tmp_path):
    with running(tls=self_signed(tmp_path), auth=True) as (keeper, address):
        send_email_to_user(smtp(services, make_context(), f"smtp://awa%40x:p%40ss@{address}"), "s", "b")
    assert keeper.logins == [("awa@x", "p@ss")]
    assert len(keeper.inbox) == 1


def test_a_wrong_password_is_a_clear_error(services, make_context, tmp_path):
    with running(tls=self_signed(tmp_path), auth=True) as (keeper, address), pytest.raises(ToolError, match="nothing was sent"):
        send_email_to_user(smtp(services, make_context(), f"smtp://awa:wrong@{address}"), "s", "b")
    assert keeper.inbox == []


def test_a_password_is_never_sent_in_clear_to_another_machine(monkeypatch, services, make_context):
    with running(auth=True) as (keeper, address):
        monkeypatch.setattr(mail, "_is_here", lambda host: False)
        with pytest.raises(ToolError, match="nothing was sent"):
            send_email_to_user(smtp(services, make_context(), f"smtp://awa:p%40ss@{address}"), "s", "b")
    assert keeper.logins == []


def test_a_certificate_that_nobody_vouches_for_gets_no_password(monkeypatch, services, make_context, tmp_path):
    with running(tls=self_signed(tmp_path), auth=True) as (keeper, address):
        monkeypatch.setattr(mail, "_is_here", lambda host: False)
        with pytest.raises(ToolError, match="nothing was sent"):
            send_email_to_user(smtp(services, make_context(), f"smtp://awa:p%40ss@{address}"), "s", "b")
    assert keeper.logins == []


def test_a_server_that_is_away_is_an_error_that_may_pass(services, make_context):
    with running() as (_, address):
        pass
    with pytest.raises(ToolError, match="nothing was sent") as problem:
        send_email_to_user(smtp(services, make_context(), f"smtp://{address}"), "s", "b")
    assert problem.value.transient


def test_a_mail_the_server_refuses_was_not_sent(server):
    keeper, context = server
    keeper.answer = "554 spam"
    with pytest.raises(ToolError, match="nothing was sent") as problem:
        send_email_to_user(context, "s", "b")
    assert not isinstance(problem.value, mail.MaybeSent)


def test_a_recipient_the_server_refuses_is_told(services, make_context):
    with running() as (keeper, address), pytest.raises(ToolError, match="refuses the recipient"):
        send_email_to_user(smtp(services, make_context(email="refuse@exemple.ci"), f"smtp://{address}"), "s", "b")


def test_a_server_that_breaks_off_leaves_it_open_whether_it_was_sent(server):
    keeper, context = server
    keeper.answer = None
    with pytest.raises(mail.MaybeSent, match="may or may not"):
        send_email_to_user(context, "s", "b")


@pytest.mark.parametrize(
    "arguments",
    [
        {"subject": "s"},
        {"body": "b"},
        {"subject": "", "body": "b"},
        {"subject": "s", "body": "b", "to": "x@example.org"},
        {"subject": "s", "body": "b", "attachment_file_ids": "f1"},
        {"subject": "s", "body": "b", "attachment_file_ids": [1]},
    ],
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("send_email_to_user", arguments)
