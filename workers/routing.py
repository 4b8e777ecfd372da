"""Which model answers: a pure function of what the person wrote."""

import re
import unicodedata
from dataclasses import dataclass

from bot.config import Settings
from bot.conversation import prompt
from bot.conversation.fold import Conversation

LONG, QUESTIONS = 500, 3  # bytes; question marks
GREETINGS = {
    *("salut", "bonjour", "bonsoir", "coucou", "hello", "hi", "hey", "merci", "thanks", "ok", "okay", "oui", "non", "yes", "no", "super"),
    *("cool", "bien", "daccord", "bye", "merci beaucoup", "bonne nuit", "bonne journee", "a demain", "ca va", "thank you", "good morning"),
    "au revoir",
}
HARD = (
    "explique pas a pas",
    "etape par etape",
    "step by step",
    "demontre",
    "demonstration",
    "prouve",
    "prove",
    "redige",
    "dissertation",
    "commentaire compose",
    "analyse",
    "analyze",
    "compare",
    "bilan",
    "syscohada",
    "ohada",
    "rapport",
    "report",
    "plan detaille",
    "programme",
    "algorithme",
    "algorithm",
    "integrale",
    "derivee",
    "equation differentielle",
    "recurrence",
    "corrige mon",
    "write an essay",
)
LOOK_UP = ("quelle heure", "quel jour", "c'est quoi", "qui est", "what is", "who is", "define", "definis")


@dataclass(frozen=True)
class Route:
    """reason goes into the log, beside the request."""

    model: str
    reason: str


def route(settings: Settings, state: Conversation) -> Route:
    """The tier for the newest message: vision for a picture, fast for a greeting, smart for hard work, primary for the rest."""
    last = [e for e in state.view if e["is"] == "human"][-1:]
    if any(prompt.is_picture(m) for e in last for m in e["media"]):
        return Route(settings.model_vision, "picture")
    if settings.model_fast == settings.model_primary == settings.model_smart:
        return Route(settings.model_primary, "one model")
    tier, reason = complexity(last[0]["text"] if last else "")
    return Route({"fast": settings.model_fast, "primary": settings.model_primary, "smart": settings.model_smart}[tier], reason)


def complexity(text: str) -> tuple[str, str]:
    """("fast", "primary" or "smart", why)."""
    bare = plain(text)
    if "```" in text:
        return "smart", "code"
    if len(text.encode()) > LONG:
        return "smart", "long"
    if text.count("?") >= QUESTIONS:
        return "smart", "several questions"
    if word := next((h for h in HARD if re.search(rf"(?<!\w){re.escape(h)}(?!\w)", bare)), None):
        return "smart", word
    if re.sub(r"[^\w\s]", "", bare).strip() in GREETINGS:
        return "fast", "greeting"
    if bare.startswith(LOOK_UP) and len(bare.split()) <= 6:
        return "fast", "look-up"
    return "primary", "ordinary"


def plain(text: str) -> str:
    """Small letters without accents, single blanks, straight apostrophes."""
    letters = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return " ".join("".join(c for c in letters if not unicodedata.combining(c)).split())
