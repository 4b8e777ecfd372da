"""buy_credits: a link at which credits are bought, in the sandbox."""

from dataclasses import replace

import pytest
from conftest import rows

from bot.db import ledger, payments, reading, writing
from bot.errors import ToolError
from bot.learners import credits
from bot.learners import payments as store
from tools.buy_credits import buy_credits
from tools.offered import check


def buy(context, key="c1", **arguments):
    result = buy_credits(context, key=key, **arguments)
    context.tx.commit()
    return result


@pytest.mark.parametrize(("pack", "bought", "amount"), [("petit", 100, 500), ("moyen", 500, 2000), ("grand", 1500, 5000)])
def test_a_pack_has_its_price(services, make_context, pack, bought, amount):
    result = buy(make_context(), pack=pack)
    [row] = rows(services, payments)
    assert result == {"url": f"https://palabre.test/pay/{row.id}", "credits": bought, "amount": amount, "currency": "XOF"}
    assert (row.state, row.credits, row.amount) == ("open", bought, amount)


@pytest.mark.parametrize(
    ("address", "currency"),
    [
        ("whatsapp:+2250701020304", "XOF"),
        ("whatsapp:+221771234567", "XOF"),
        ("whatsapp:+237699123456", "XAF"),
        ("whatsapp:+24177123456", "XAF"),
    ],
)
def test_the_currency_is_that_of_the_country(services, make_context, address, currency):
    assert buy(make_context(address=address))["currency"] == currency


def test_nothing_is_credited_before_it_is_paid_and_then_once(services, make_context):
    context = make_context()
    buy(context, pack="petit")
    [row] = rows(services, payments)
    learner = context.person.learner.id
    with reading(services.db) as connection:
        assert credits.balance(connection, learner) == 100
        assert store.by_id(connection, row.id).id == row.id
    for expected in (True, False):
        with writing(services.db) as tx:
            assert store.confirm(tx, row.id) is expected
    with reading(services.db) as connection:
        assert credits.balance(connection, learner) == 200
        assert credits.discrepancies(connection) == []
    assert [r.account for r in rows(services, ledger, ledger.c.key == f"payment:{row.id}")] == [f"learner:{learner}", "sales"]
    assert rows(services, payments)[0].state == "paid"


def test_an_unknown_payment_is_not_confirmed(services):
    with writing(services.db) as tx:
        assert store.confirm(tx, "p123") is False


def test_the_same_call_twice_makes_one_payment(services, make_context):
    context = make_context()
    assert buy(context) == buy(context)
    assert len(rows(services, payments)) == 1


def test_somebody_without_account_is_told_how_to_get_one(services, make_context):
    with pytest.raises(ToolError, match="INSCRIPTION"):
        buy(make_context("guest"))


@pytest.mark.parametrize("gateway", ["", "wave", "cinetpay"])
def test_a_gateway_that_is_not_set_up_says_so(services, make_context, gateway):
    context = make_context()
    with pytest.raises(ToolError, match="not set up"):
        buy(replace(context, services=replace(services, settings=replace(services.settings, payment_gateway=gateway))))
    assert rows(services, payments) == []


@pytest.mark.parametrize("arguments", [{"pack": "enorme"}, {"pack": 1}, {"credits": 100}])
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("buy_credits", arguments)
