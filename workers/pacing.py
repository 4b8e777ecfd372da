"""How long to wait for more bubbles before the model is asked. Pure."""

from datetime import datetime, timedelta

from bot.conversation.fold import Conversation

EAGER, FLOOD = 6, 20  # turns in the last RECENT: from here on equal messages, from there on all messages are read more together
EAGER_FACTOR, FLOOD_FACTOR = 7, 12  # so many times the debounce
LONGEST, PATIENCE = 4.0, 8.0  # seconds of quiet that are waited for; and in all, however fast somebody goes on writing
PAUSES = 5  # so many pauses at most, too
RECENT = timedelta(seconds=30)


def pause(c: Conversation, debounce: float, now: datetime) -> float:
    """Seconds still to wait: until the person has been quiet for *debounce*, longer when turns follow each other like a flood."""
    unread = [i for i in c.inbox if not i["command"]]
    if not unread or c.asked:
        return 0.0
    length = min(debounce * _factor(c, unread, now), max(LONGEST, debounce))
    quiet = datetime.fromisoformat(unread[-1]["at"]) + timedelta(seconds=length)
    patience = datetime.fromisoformat(unread[0]["at"]) + timedelta(seconds=min(length * PAUSES, max(PATIENCE, length)))
    return max(0.0, (min(quiet, patience) - now).total_seconds())


def _factor(c: Conversation, unread: list[dict], now: datetime) -> int:
    recent = sum(datetime.fromisoformat(t) > now - RECENT for t in c.turns_at)
    if recent >= FLOOD:
        return FLOOD_FACTOR
    said = [e["text"] for e in c.view if e["is"] == "human"][-2:]
    return EAGER_FACTOR if recent >= EAGER and len(said) == 2 and said[0] == said[1] else 1
