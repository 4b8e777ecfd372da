"""send_sms_to_user: to the person's own number, through the outbox."""

import pytest
from conftest import AWA, rows

from bot.channels import inbox
from bot.db import addresses, outbox, writing
from bot.errors import ToolError
from bot.learners import messages
from tools.offered import check
from tools.send_sms_to_user import send_sms_to_user


def text(context, message="Révision à 16 h", key="c1"):
    try:
        result = send_sms_to_user(context, message, key=key)
        context.tx.commit()
    finally:
        context.tx.close()
    return result


def test_it_goes_to_the_persons_own_number_as_plain_text(services, make_context):
    context = make_context("child")
    assert text(context, "**Révision** à 16 h") == {"success": True, "status": "on its way"}
    [row] = rows(services, outbox)
    assert (row.address, row.body, row.state, row.conversation_id, row.key) == (
        AWA,
        "Révision à 16 h",
        "waiting",
        context.conversation,
        "tool:c1:0",
    )


def test_the_same_call_twice_queues_one_message(services, make_context):
    context = make_context()
    assert text(context) == text(context)
    assert len(rows(services, outbox)) == 1


def test_somebody_without_account_is_written_to_at_their_address(services, make_context):
    text(make_context("guest"))
    assert rows(services, outbox)[0].address == AWA


def test_a_hidden_number_is_an_error_that_says_so(services, make_context):
    with pytest.raises(ToolError, match="hides"):
        text(make_context("guest", address="whatsapp:CI.13491208655302741918"))
    assert rows(services, outbox) == []


def test_who_said_stop_to_sms_gets_none(services, make_context):
    context = make_context()
    with writing(services.db) as tx:
        inbox.open_address(tx, AWA)
        tx.execute(addresses.update().where(addresses.c.address == AWA).values(opted_out=True))
    with pytest.raises(ToolError, match="STOP"):
        text(context)
    assert rows(services, outbox) == []


def test_there_is_a_limit_for_each_day(services, make_context):
    context = make_context()
    for n in range(messages.SMS_PER_DAY):
        text(context, key=f"c{n}")
    with pytest.raises(ToolError, match="used up"):
        text(context, key="more")
    assert text(context, key="c0")["success"]  # a repetition is not counted
    assert len(rows(services, outbox)) == messages.SMS_PER_DAY


@pytest.mark.parametrize("message", ["学" * 202, "الدرس " * 40])
def test_a_text_of_too_many_segments_is_refused(services, make_context, message):
    with pytest.raises(ToolError, match="shorten"):
        text(make_context(), message)
    assert rows(services, outbox) == []


@pytest.mark.parametrize("message", [" \n", "\x00\x0b"])
def test_an_empty_text_is_refused(services, make_context, message):
    with pytest.raises(ToolError, match="empty"):
        text(make_context(), message)


@pytest.mark.parametrize(
    "arguments", [{}, {"message": ""}, {"message": "x" * 451}, {"message": "x", "to": "+2250701020305"}, {"message": 1}]
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("send_sms_to_user", arguments)
