"""send_whatsapp_to_user: to the person's own number, within WhatsApp's 24 hours."""

from datetime import timedelta

import pytest
from conftest import AWA, rows

from bot.channels import inbox
from bot.db import addresses, now, outbox, writing
from bot.db import files as table
from bot.errors import ToolError
from bot.learners import files, messages
from tools.offered import check
from tools.send_whatsapp_to_user import send_whatsapp_to_user

HERE = f"whatsapp:{AWA}"


@pytest.fixture
def heard(services, make_context):
    """heard(hours): a context of somebody who wrote so long ago on WhatsApp (None: never)."""

    def make(hours=1.0, mode="pro", address=HERE):
        context = make_context(mode, address)
        with writing(services.db) as tx:
            tx.execute(addresses.update().values(heard_at=now() - timedelta(hours=hours) if hours is not None else None))
        return context

    return make


def write(context, message="Voici **ta** fiche", key="c1", **more):
    try:
        result = send_whatsapp_to_user(context, message, key=key, **more)
        context.tx.commit()
    finally:
        context.tx.close()
    return result


def keep_file(services, context, name, owner=None):
    with writing(services.db) as tx:
        return files.save(
            services.settings, tx, key=name, owner=owner or context.person.owner, origin="generated", filename=name, data=b"x"
        )


def test_a_message_is_queued_in_whatsapps_own_marks(services, heard):
    context = heard(mode="child")
    assert write(context) == {"success": True, "status": "on its way", "messages": 1}
    [row] = rows(services, outbox)
    assert (row.address, row.body, row.media_url, row.conversation_id, row.key) == (
        HERE,
        "Voici *ta* fiche",
        None,
        context.conversation,
        "tool:c1:0",
    )


def test_files_follow_one_by_one_and_what_whatsapp_does_not_take_goes_as_a_link(services, heard):
    context = heard()
    pdf, page, sheet = (keep_file(services, context, n) for n in ("a.pdf", "b.html", "c.xlsx"))
    assert write(context, file_ids=[pdf.id, page.id, sheet.id, pdf.id])["messages"] == 3
    queued = rows(services, outbox)
    assert [(r.body, r.media_url) for r in queued[1:]] == [
        ("", files.url(services.settings, pdf)),
        ("", files.url(services.settings, sheet)),
    ]
    assert queued[0].body == f"Voici *ta* fiche\nb.html: {files.url(services.settings, page)}"


def test_a_link_that_had_expired_works_again(services, heard):
    context = heard()
    row = keep_file(services, context, "a.pdf")
    with writing(services.db) as tx:
        tx.execute(table.update().values(expires_at=now() - timedelta(days=1)))
    write(context, file_ids=[row.id])
    assert rows(services, table)[0].expires_at > now() + timedelta(days=29)


@pytest.mark.parametrize("hours", [24.1, None])
def test_outside_the_24_hours_it_is_an_error_that_says_so(services, heard, hours):
    with pytest.raises(ToolError, match="24 hours"):
        write(heard(hours))
    assert rows(services, outbox) == []


def test_who_writes_by_sms_is_reached_where_they_read_whatsapp(services, heard):
    context = heard(address=AWA)
    with writing(services.db) as tx:
        inbox.open_address(tx, HERE)
        tx.execute(addresses.update().where(addresses.c.address == HERE).values(heard_at=now()))
    write(context)
    assert rows(services, outbox)[0].address == HERE


def test_who_only_writes_by_sms_cannot_be_reached(services, heard):
    with pytest.raises(ToolError, match="24 hours"):
        write(heard(address=AWA))


def test_a_hidden_number_can_be_written_to(services, heard):
    hidden = "whatsapp:CI.13491208655302741918"
    write(heard(mode="guest", address=hidden))
    assert rows(services, outbox)[0].address == hidden


def test_the_same_call_twice_queues_it_once(services, heard):
    context = heard()
    assert write(context) == write(context)
    assert len(rows(services, outbox)) == 1


def test_a_file_of_somebody_else_is_not_sent(services, heard):
    context = heard()
    theirs = keep_file(services, context, "a.pdf", owner="learner:other")
    with pytest.raises(ToolError, match=theirs.id):
        write(context, file_ids=[theirs.id])
    assert rows(services, outbox) == []


def test_who_said_stop_gets_nothing(services, heard):
    context = heard()
    with writing(services.db) as tx:
        tx.execute(addresses.update().values(opted_out=True))
    with pytest.raises(ToolError, match="STOP"):
        write(context)


def test_there_is_a_limit_for_each_day(services, heard):
    context = heard()
    for n in range(messages.WHATSAPP_PER_DAY):
        write(context, key=f"c{n}")
    with pytest.raises(ToolError, match="used up"):
        write(context, key="more")
    assert len(rows(services, outbox)) == messages.WHATSAPP_PER_DAY


@pytest.mark.parametrize(("message", "said"), [("\x00 \n", "empty"), ("😀" * 801, "too long")])
def test_what_cannot_be_one_message_is_refused(services, heard, message, said):
    with pytest.raises(ToolError, match=said):
        write(heard(), message)


@pytest.mark.parametrize(
    "arguments", [{}, {"message": ""}, {"message": "x" * 1501}, {"message": "x", "file_ids": "f"}, {"message": "x", "to": "+225"}]
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("send_whatsapp_to_user", arguments)
