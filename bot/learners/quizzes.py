"""
Quizzes: the question goes out, the answer stays here.

An open quiz lies in Redis with a time to live, one key for each conversation and call. What the event log holds of it is enough to
put it back when Redis has forgotten before its time.
"""

import contextlib
import json
from datetime import datetime, timedelta

import redis

from bot.db import now
from bot.errors import ToolError
from bot.learners import choices
from bot.services import Services

TRUTH = ("Vrai", "Faux")


def pose(services: Services, key: str, kind: str, arguments: dict, asked: list[dict]) -> dict:
    """
    Store a quiz under *key*, "<conversation>:<call>"; *asked* gets what may be shown of it: {"kind", "question", "options",
    "expires_at"}. Returns what the model is told. Raises ToolError.
    """
    sealed, ttl = seal(kind, arguments), services.settings.quiz_ttl_seconds
    shown = {
        "kind": kind,
        "question": sealed["question"],
        "options": sealed["options"],
        "expires_at": (now() + timedelta(seconds=ttl)).isoformat(),
    }
    with contextlib.suppress(redis.RedisError):  # the log can put it back: see recall
        services.redis.set(f"quiz:{key}", json.dumps(sealed, ensure_ascii=False), ex=ttl)
    asked.append(shown)
    return {"question": sealed["question"], "options": sealed["options"], "status": "envoyé, en attente de la réponse de l'élève"}


def seal(kind: str, arguments: dict) -> dict:
    """The quiz with its answer, in one form for both kinds: {"question", "options", "correct", "explanation"}."""
    if kind == "true_false_quiz":
        return {
            "question": arguments["statement"].strip(),
            "options": list(TRUTH),
            "correct": 0 if arguments["correct_answer"] else 1,
            "explanation": arguments["explanation"].strip(),
        }
    options = [str(o).strip() for o in arguments["options"]]
    if not 2 <= len(options) <= 4 or not all(options):
        raise ToolError("A quiz has two to four options, none of them empty.")
    if len({o.casefold() for o in options}) != len(options):
        raise ToolError("Two options are the same; make every option different.")
    if not 0 <= arguments["correct_index"] < len(options):
        raise ToolError(f"correct_index counts from 0 and must be below {len(options)}, not {arguments['correct_index']}.")
    return {
        "question": arguments["question"].strip(),
        "options": options,
        "correct": arguments["correct_index"],
        "explanation": arguments["explanation"].strip(),
    }


def recall(client: redis.Redis, conversation: str, quiz: dict, arguments: dict) -> dict | None:
    """The sealed quiz, or None when its time is over. *arguments*: of its call, in the log, for when Redis lost it."""
    try:
        if stored := client.get(_key(conversation, quiz["call"])):
            return json.loads(stored)
    except redis.RedisError:
        pass  # the log knows it too
    if datetime.fromisoformat(quiz["expires_at"]) <= now():
        return None
    return seal(quiz["kind"], arguments)


def forget(client: redis.Redis, conversation: str, call: str) -> None:
    with contextlib.suppress(redis.RedisError):  # its time to live ends it
        client.delete(_key(conversation, call))


def read(text: str, quiz: dict) -> int | None:
    """The choice (from 0, perhaps out of range) that *text* makes, or None when it is ordinary talk."""
    if quiz["kind"] == "true_false_quiz" and (truth := choices.read_truth(text)) is not None:
        return 0 if truth else 1
    return choices.read_choice(text, quiz["options"])


def prompt(quiz: dict, language: str) -> str:
    if quiz["kind"] == "true_false_quiz":
        return choices.true_false_prompt(quiz["question"], language)
    return choices.numbered(quiz["question"], quiz["options"], language)


def _key(conversation: str, call: str) -> str:
    return f"quiz:{conversation}:{call}"
