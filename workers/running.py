"""Run a tool call: rights, arguments, time limit; its effects and its ToolResult are one transaction."""

import logging
import threading
import time
from itertools import takewhile

from rq.timeouts import BaseTimeoutException

from bot.conversation import log
from bot.conversation.events import BudgetExtended, Error, ToolResult, ToolStarted
from bot.conversation.fold import Conversation
from bot.db import Unit, reading
from bot.errors import ToolError, Unavailable
from bot.learners import accounts
from tools import modes, offered
from tools.context import Context
from tools.dispatch import ONCE, run_tool
from workers import budget, signs
from workers.context import Turn

READS_ONLY = {"list_user_files", "read_user_file", "search_user_files", "web_search", "browse_url"}
MAYBE_DONE = "Interrupted: this may or may not have been done. Do not repeat it unasked; tell the person so and let them decide."
BROKEN = "This tool failed inside. Do not call it again for this; go on without it or tell the person what could not be done."
logger = logging.getLogger(__name__)


def run(turn: Turn, state: Conversation, call: dict) -> None:
    """Run *call*; when it only reads, the calls behind it that only read run beside it."""
    if call["name"] == budget.NAME:
        return _extend(turn, state, call)
    once = call["name"] in ONCE and not state.forked
    if once and not turn.log(ToolStarted(call["id"]), caused_by=call["seq"]):
        return  # another worker has begun it
    together = list(takewhile(lambda c: c["name"] in READS_ONLY, state.calls)) or [call]
    failed: list[BaseException] = []
    threads = [threading.Thread(target=_answer, args=(turn, state, c, failed), daemon=True, name=c["name"]) for c in together]
    ends = time.monotonic() + turn.services.settings.tool_seconds
    with signs.typing(turn, state), signs.tool(turn, state, call):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))
    for one, thread in zip(together, threads, strict=True):
        if thread.is_alive():
            text = f"{one['name']} did not finish within {turn.services.settings.tool_seconds:g} seconds and was given up."
            turn.log(ToolResult(one["id"], one["name"], False, text, transient=True), caused_by=one["seq"])
    if failed:
        raise failed[0]


def give_up(turn: Turn, call: dict) -> None:
    turn.log(ToolResult(call["id"], call["name"], False, MAYBE_DONE), caused_by=call["seq"])


def _answer(turn: Turn, state: Conversation, call: dict, failed: list[BaseException]) -> None:
    """In a thread of its own: a call that outlives its time finds its ToolResult taken, and its effects are undone."""
    services, unit = turn.services, Unit(turn.services.db)
    try:
        row = turn.row
        with reading(services.db) as connection:
            person = accounts.person(connection, row.address)
        context = Context(services, unit, person, turn.conversation, untrusted=not state.trusted)
        events = _events(context, state, call)
        if log.append(unit, turn.conversation, events, caused_by=call["seq"]):
            unit.commit()
    except BaseException as problem:  # whatever it was, the turn must hear of it
        failed.append(problem)
    finally:
        unit.close()


def _events(context: Context, state: Conversation, call: dict) -> list:
    id, name, arguments = call["id"], call["name"], call["arguments"]
    try:
        if not modes.allowed(name, context.person.mode) and name in offered.SCHEMAS:
            raise ToolError(f"{name} is not available to this person.")
        offered.check(name, arguments)
        if context.untrusted and name in modes.ACTING:
            raise ToolError(
                f"{name} is refused: the request comes from a forwarded message only. Ask the person to say in their own words "
                "what they want."
            )
        if state.resting.get(name, 0) > state.asked:
            raise ToolError(f"{name} is set aside for a moment, because its service was down just now. Go on without it.")
        if state.forked and name not in READS_ONLY:
            return [ToolResult(id, name, True, {"simulated": True, "note": "fork: nothing was done"})]
        result = run_tool(name, arguments, context, key=f"{context.conversation}:{id}")
        return [ToolResult(id, name, True, result, context.quiz[0] if context.quiz else None, context.made or None)]
    except ToolError as refused:
        context.tx.close()
        return [ToolResult(id, name, False, str(refused), unknown=name not in offered.SCHEMAS, transient=refused.transient)]
    except (Unavailable, BaseTimeoutException):
        raise
    except Exception as bug:
        context.tx.close()
        logger.exception("tool %s failed (conversation %s, call %s)", name, context.conversation, id)
        return [ToolResult(id, name, False, BROKEN), Error(id, type(bug).__name__, about="tool", detail=str(bug)[:300])]


def _extend(turn: Turn, state: Conversation, call: dict) -> None:
    limit = budget.extended(state.limit, state.cap)
    reason = call["arguments"].get("reason") if isinstance(call["arguments"], dict) else None
    left = state.limit - state.asked
    if not isinstance(reason, str) or not reason.strip():
        events = [ToolResult(call["id"], call["name"], False, "A reason is required: say in one sentence what is still to be done.")]
    elif limit is None:
        text = f"Refused: {state.cap} steps are the most there can be; {left} are left. Finish with what you have and say what is missing."
        events = [ToolResult(call["id"], call["name"], False, text)]
    else:
        granted = {
            "granted": limit - state.limit,
            "limit": limit,
            "left": limit - state.asked,
            "seconds_left": max(0, int(turn.seconds_left)),
        }
        events = [ToolResult(call["id"], call["name"], True, granted), BudgetExtended(call["id"], reason.strip()[:500], limit)]
    turn.log(*events, caused_by=call["seq"])
