"""End a turn that the model did not end, or move it to the background; the person is told what was done and what was not."""

from bot.conversation import stalls
from bot.conversation.events import MovedToBackground, TurnStopped
from bot.conversation.fold import Conversation
from bot.texts import say
from workers import signs
from workers.context import Turn


def stop(turn: Turn, state: Conversation, at: int, reason: str) -> None:
    if reason == "background":
        event = MovedToBackground(str(at))
        signs.may_tell(turn)  # the notice counts as the first progress line
    else:
        event = TurnStopped(str(at), reason, told(state))
    turn.log(event, caused_by=at)


def told(state: Conversation) -> dict:
    """The values of a stop text: {"report": a sentence on what was done and what was not}, in the person's language."""
    language = state.profile.get("language", "fr")
    done, undone = stalls.done_and_not(state.view, state.spoken)
    done, undone = ([say(language, f"did.{name}") for name in names] for names in (done, undone))
    parts = [say(language, "turn.done", what=", ".join(done))] if done else []
    parts += [say(language, "turn.not_done", what=", ".join(undone))] if undone else []
    return {"report": " ".join(parts) or say(language, "turn.nothing_done")}
