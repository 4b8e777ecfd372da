"""How long to wait for more bubbles before the model is asked. Pure."""

from datetime import datetime, timedelta

from bot.conversation.fold import Conversation

BUSY = ((10, 4.0), (6, 2.0))  # so many turns in the last RECENT, and the pause is at least so many seconds
RECENT = timedelta(seconds=30)
PATIENCE = 5  # pauses after which even somebody who goes on writing is answered


def pause(c: Conversation, debounce: float, now: datetime) -> float:
    """Seconds still to wait: until the person has been quiet for *debounce*, longer when turns follow each other fast."""
    unread = [i for i in c.inbox if not i["command"]]
    if not unread or c.asked:
        return 0.0
    recent = sum(datetime.fromisoformat(t) > now - RECENT for t in c.turns_at)
    length = next((max(debounce, seconds) for turns, seconds in BUSY if recent >= turns), debounce)
    quiet = datetime.fromisoformat(unread[-1]["at"]) + timedelta(seconds=length)
    patience = datetime.fromisoformat(unread[0]["at"]) + timedelta(seconds=length * PATIENCE)
    return max(0.0, (min(quiet, patience) - now).total_seconds())
