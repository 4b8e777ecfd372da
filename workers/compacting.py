"""Have the older part of a long conversation summarised, by the fast model or, when that fails, without one."""

import logging

from bot.conversation import compaction
from bot.conversation.events import Compacted
from bot.conversation.fold import Conversation
from bot.errors import ModelError
from workers import model
from workers.context import Turn

TOKENS, SECONDS, LONGEST = 600, 30, 60_000  # of the summary; for it; characters that it is made from
logger = logging.getLogger(__name__)


def compact(turn: Turn, state: Conversation, cut: int) -> None:
    old = state.view[:cut]
    summary, name = _summary(turn, old), turn.services.settings.model_fast
    event = Compacted(str(state.view[cut]["seq"]), summary or compaction.plain(old), name if summary else None)
    turn.log(event, caused_by=state.heard)


def _summary(turn: Turn, old: tuple[dict, ...]) -> str | None:
    settings = turn.services.settings
    body = {
        "model": settings.model_fast,
        "max_tokens": TOKENS,
        "stream": True,
        "messages": [{"role": "system", "content": compaction.INSTRUCTION}, {"role": "user", "content": compaction.told(old)[-LONGEST:]}],
    }
    try:
        answer = model.complete(turn.services.http, settings.model_url, settings.model_key, body, max(1.0, min(SECONDS, turn.seconds_left)))
    except ModelError as failure:
        logger.warning("summary without a model: %s (conversation %s)", failure.kind, turn.conversation)
        return None
    return answer.text if answer else None
