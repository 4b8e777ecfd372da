"""Dress a reply for its channel and hand it to the outbox, in one transaction with its event and its price."""

from collections.abc import Callable

import sqlalchemy as sa

from bot.channels import outbox, sms, whatsapp
from bot.conversation import log
from bot.conversation.events import Event, ReplyQueued
from bot.conversation.fold import Conversation
from bot.db import reading, writing
from bot.learners import credits, files, quizzes
from bot.texts import say
from workers.context import Turn

CHANNELS = {"whatsapp": whatsapp, "sms": sms}


def queue(turn: Turn, state: Conversation, reply: dict) -> None:
    """Queue a reply that the fold says is waiting."""
    send(
        turn,
        state,
        reply["key"],
        text_of(turn, state, reply),
        reply["cause"],
        final=reply.get("final", False),
        attach=not reply["key"].startswith("reply:") or reply.get("final", False),
    )


def text_of(turn: Turn, state: Conversation, reply: dict) -> str:
    language = state.profile.get("language", "fr")
    if "quiz" in reply:
        return quizzes.prompt(reply["quiz"], language)
    if "say" in reply:
        return say(language, reply["say"], **reply.get("values", {}))
    return reply["text"]


def send(
    turn: Turn,
    state: Conversation,
    key: str,
    text: str,
    cause: int,
    *,
    also: tuple[Event, ...] = (),
    final: bool = False,
    attach: bool = False,
    continues: bool = False,
    pages: list | None = None,
    effect: Callable | None = None,
) -> bool:
    """
    Log *also* and the ReplyQueued *key*, and put its first page into the outbox; False if it was queued before.

    final: the answer of a turn, which costs a credit. attach: send the files made in this turn along. pages: already dressed ones.
    effect(tx): what else is written in the same transaction.
    """
    services, row, language = turn.services, turn.row, state.profile.get("language", "fr")
    owner = state.profile.get("owner", row.address)
    attached = _made(turn, owner, state.files) if attach and state.files else []
    shown, media = _with_files(services.settings, row.channel, text, attached)
    pages = pages if pages is not None else [list(p) for p in CHANNELS[row.channel].pages(shown, language)]
    price = credits.TURN_PRICE if final and owner.startswith("learner:") and not state.forked else 0
    event = ReplyQueued(key, text, pages[0] if pages else [], pages[1:], [f.id for f in attached], price, continues)
    with writing(services.db) as tx:
        if not log.append(tx, turn.conversation, [*also, event], caused_by=cause):
            return False
        if not state.forked:
            if effect:
                effect(tx)
            _hand_over(tx, turn.conversation, row.address, key, event, media)
            if price:
                credits.move(
                    tx, owner.removeprefix("learner:"), -price, key=f"turn:{turn.conversation}:{key}", counterpart="usage", reason="answer"
                )
    return True


def _made(turn: Turn, owner: str, ids: tuple[str, ...]) -> list[sa.Row]:
    with reading(turn.services.db) as connection:
        return files.owned(connection, owner, list(ids))


def _hand_over(tx: sa.Connection, conversation: str, address: str, key: str, event: ReplyQueued, media: list[str]) -> None:
    messages = [(part, None) for part in event.parts] + [("", url) for url in media]
    outbox.put(tx, address, f"{conversation}:{key}", messages, conversation)


def _with_files(settings, channel: str, text: str, attached: list[sa.Row]) -> tuple[str, list[str]]:
    """The text with the links that must be in it, and the addresses that go as media: WhatsApp takes some kinds, SMS none."""
    urls = {f.id: files.url(settings, f) for f in attached}
    media = [f.id for f in attached if channel == "whatsapp" and files.is_attachable(f)]
    links = [urls[f.id] for f in attached if f.id not in media and urls[f.id] not in text]
    return "\n".join([text, *links]) if text else "\n".join(links), [urls[i] for i in media]
