"""Twilio's webhooks: verify, translate, write down, tell the queue, answer 200."""

import logging

import sqlalchemy as sa
from flask import Blueprint, Response, request

from bot import queues
from bot.channels import inbox, numbers, outbox, reactions, twilio
from bot.db import outbox as table
from bot.db import writing
from bot.web.context import services

EMPTY = '<?xml version="1.0" encoding="UTF-8"?><Response/>'
LARGEST = 64 * 1024
blueprint = Blueprint("webhooks", __name__)
logger = logging.getLogger(__name__)


@blueprint.post(twilio.MESSAGE)
def message() -> Response:
    if refused := _refused():
        return refused
    inbound = twilio.arrived(request.form)
    if inbound is None:
        logger.warning("a signed message without MessageSid or From was ignored")
    elif not numbers.can_be_answered(inbound.address):
        logger.info("a message from %s, which cannot be answered, was ignored", numbers.mask(inbound.address))
    else:
        with writing(services().db) as tx:
            conversation = inbox.receive(tx, inbound)
        if conversation:
            queues.wake(services(), conversation)
    return _empty()


@blueprint.post(twilio.STATUS)
def status() -> Response:
    """What became of a message. States move forward only; what is unknown is a quiet 200."""
    if refused := _refused():
        return refused
    news, token = twilio.reported(request.form), twilio.clean(request.args.get("m", ""))
    if news is None:
        logger.info("a message status without a known word was ignored")
        return _empty()
    where = (table.c.token == token) | (table.c.provider_sid == news.sid)
    with writing(services().db) as tx:
        if outbox.moved(tx, where, news.state, news.sid or None, news.code) and news.state == "failed":
            for row in tx.execute(sa.select(table).where(where)).all():
                reactions.react(tx, services().settings, row, news.code)
    return _empty()


def _refused() -> Response | None:
    request.max_content_length = LARGEST
    if (request.content_length or 0) > LARGEST:
        return Response("too large\n", 413, mimetype="text/plain")
    target = request.environ.get("RAW_URI") or request.environ.get("REQUEST_URI") or request.full_path.rstrip("?")
    raw = request.get_data(cache=True, parse_form_data=False) if request.mimetype == "application/json" else b""
    if twilio.verified(services().settings, target, request.mimetype or "", request.form, raw, request.headers.get("X-Twilio-Signature")):
        return None
    ours = services().settings.public_url
    logger.warning("unsigned or wrongly signed request refused; signatures are checked over %s%s", ours, request.path)
    return Response("invalid signature\n", 403, mimetype="text/plain")


def _empty() -> Response:
    return Response(EMPTY, mimetype="text/xml")
