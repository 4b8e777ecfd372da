"""The sandbox's payment page: no money moves, so it exists only where PAYMENT_GATEWAY is `sandbox`."""

from flask import Blueprint, abort, render_template

from bot.db import reading, writing
from bot.learners import payments
from bot.web.context import services

blueprint = Blueprint("pay", __name__)


@blueprint.get("/pay/<id>")
def show(id: str):
    return render_template("pay.html", payment=_payment(id))


@blueprint.post("/pay/<id>")
def confirm(id: str):
    _payment(id)
    with writing(services().db) as tx:
        payments.confirm(tx, id)
    return render_template("pay.html", payment=_payment(id))


def _payment(id: str):
    if services().settings.payment_gateway != "sandbox":
        abort(404)
    with reading(services().db) as connection:
        return payments.by_id(connection, id) or abort(404)
