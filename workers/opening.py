"""Open a turn: look once at who is there and whether the model may be asked, and write that down."""

import sqlalchemy as sa

from bot.channels import numbers
from bot.conversation import log
from bot.conversation.events import TurnStarted
from bot.conversation.fold import Conversation
from bot.db import count_today, counted_today, now, writing
from bot.learners import accounts, credits, memories
from workers.context import Turn

DAYS = ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche")


def open_turn(turn: Turn, state: Conversation, at: int) -> None:
    settings, row = turn.services.settings, turn.row
    with writing(turn.services.db) as tx:
        person = accounts.person(tx, row.address)
        if person.learner and not state.forked:
            credits.refill(tx, person.learner, settings.free_credits_per_day, person.today())
        refused = None if state.forked else _refusal(tx, person, settings)
        if refused and not any(not i["command"] for i in state.inbox):
            refused = "quiet"  # only a quiz was answered: the verdict went out, there is nothing to refuse aloud
        if not log.append(tx, turn.conversation, [TurnStarted(str(at), _profile(tx, person, settings), refused)], caused_by=at):
            return
        if not refused and person.learner is None and not state.forked:
            count_today(tx, person.address, "answers", person.today())


def _refusal(tx: sa.Connection, person: accounts.Person, settings) -> str | None:
    if person.opted_out:
        return "opted_out"
    if counted_today(tx, person.owner, "tokens", now().date()) >= settings.day_tokens:
        return "day_limit"
    if person.learner:
        return "no_credits" if credits.balance(tx, person.learner.id) < credits.TURN_PRICE else None
    answered = counted_today(tx, person.address, "answers", person.today())
    return "guest_limit" if answered >= settings.guest_messages_per_day else None


def _profile(tx: sa.Connection, person: accounts.Person, settings) -> dict:
    """What the prompt is made of: kept in the log, so that the prompt can be made again years later."""
    learner, moment = person.learner, person.local(now())
    found = {
        "mode": person.mode,
        "language": person.language,
        "country": numbers.country(person.address),
        "today": f"{DAYS[moment.weekday()]} {moment.date().isoformat()}",
        "weekday": moment.weekday(),
        "hour": moment.hour,
        "limits": {
            "iterations": settings.max_iterations,
            "extended": settings.max_iterations_extended,
            "context": settings.context_tokens,
            "tokens": settings.turn_tokens,
        },
        "owner": person.owner,
        "name": learner and learner.name,
        "grade": learner and learner.grade,
        "facts": [row.fact for row in memories.facts(tx, person.owner)] if learner else [],
    }
    return {key: value for key, value in found.items() if value not in (None, "", [])}
