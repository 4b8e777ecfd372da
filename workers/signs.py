"""
Signs of life while something slow runs: the typing indicator, progress lines of a background turn, and progress on Redis.

None of them may ever fail a turn, and none is shown to the model.
"""

import json
import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from bot.channels import outbox, twilio
from bot.conversation import log
from bot.conversation.events import ProgressTold
from bot.conversation.fold import Conversation
from bot.db import writing
from bot.errors import SendError
from bot.texts import say
from workers import delivery
from workers.context import Turn

TYPING_AFTER, TYPING_AGAIN = 0.6, 20.0  # seconds; the indicator lasts 25 s or until a message comes
PROGRESS_EVERY = 30  # seconds between two progress lines
logger = logging.getLogger(__name__)


@contextmanager
def typing(turn: Turn, state: Conversation) -> Iterator[None]:
    """Show on WhatsApp that an answer is being written, if it takes longer than a moment."""
    if state.channel != "whatsapp" or state.forked or not re.fullmatch("(SM|MM)[0-9a-f]{32}", state.last_id):
        yield
        return
    ended = threading.Event()
    threading.Thread(target=_type, args=(turn, state.last_id, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _type(turn: Turn, message: str, ended: threading.Event) -> None:
    wait = TYPING_AFTER
    while not ended.wait(wait):
        wait = TYPING_AGAIN
        try:
            twilio.show_typing(turn.services, message)
        except SendError as problem:
            logger.info("typing indicator: %s", problem)


@contextmanager
def tool(turn: Turn, state: Conversation, call: dict) -> Iterator[None]:
    """Tell what runs: tool_start and tool_end on Redis, a line to the person when the turn is in the background."""
    _publish(turn, "tool_start", call, state)
    if turn.background and not state.forked:
        _tell(turn, state, call)
    try:
        yield
    finally:
        _publish(turn, "tool_end", call, state)


def _publish(turn: Turn, kind: str, call: dict, state: Conversation) -> None:
    try:
        turn.services.redis.publish(
            f"job:{turn.conversation}:progress", json.dumps({"type": kind, "tool": call["name"], "step": state.asked})
        )
    except redis.RedisError as problem:
        logger.info("progress not published: %s", type(problem).__name__)


def _tell(turn: Turn, state: Conversation, call: dict) -> None:
    """One line about the step, every PROGRESS_EVERY seconds at most."""
    services, language = turn.services, state.profile.get("language", "fr")
    if not may_tell(turn):
        return
    text = say(language, "turn.progress", step=state.asked, what=say(language, f"did.{call['name']}"))
    row = turn.row
    with writing(services.db) as tx:
        if not log.append(tx, turn.conversation, [ProgressTold(call["id"], text)], caused_by=call["seq"]):
            return
        outbox.put(tx, row.address, f"{turn.conversation}:progress:{call['id']}", [(text, None)], turn.conversation)
    delivery.deliver_now(services, row.address)


def may_tell(turn: Turn) -> bool:
    """Whether a line may go out now; then none may for PROGRESS_EVERY seconds."""
    try:
        return bool(turn.services.redis.set(f"progress:{turn.conversation}", 1, nx=True, ex=PROGRESS_EVERY))
    except redis.RedisError:
        return False
