"""
What to do when the model fails: one table from the kind of failure to the reaction.

    Auth, Billing      no retry: the person and the operator are told (a 402 that names affordable tokens: once more with fewer)
    RateLimit          wait as asked (5 s by default, 60 at most), once more, then the fallback models
    Timeout, Network,  wait 2 s, once more, then the fallback models
    ServerError,
    Malformed
    NotFound           the fallback models at once
    ContextOverflow    once more with half of the context
    BadRequest         once more with plain options
    Unknown            no retry
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from bot.errors import ModelError

KINDS = (
    "Auth",
    "Billing",
    "RateLimit",
    "Timeout",
    "Network",
    "ServerError",
    "NotFound",
    "BadRequest",
    "ContextOverflow",
    "Malformed",
    "Unknown",
)
STATUS = {
    400: "BadRequest",
    401: "Auth",
    402: "Billing",
    403: "Auth",
    404: "NotFound",
    408: "Timeout",
    413: "ContextOverflow",
    422: "BadRequest",
    429: "RateLimit",
    500: "ServerError",
    502: "ServerError",
    503: "ServerError",
    504: "ServerError",
    520: "ServerError",
    521: "ServerError",
    522: "ServerError",
    523: "ServerError",
    524: "Timeout",
    529: "ServerError",
}
TRANSIENT = ("Timeout", "Network", "ServerError", "Malformed")
OVERFLOW = re.compile(
    r"context.{0,20}(length|window|size|limit)|maximum context|too many tokens|prompt is too long|exceed.{0,30}context", re.I
)
AFFORD = re.compile(r"can only afford (\d+)")
PAUSE, RATE_PAUSE, LONGEST_PAUSE = 2.0, 5.0, 60.0  # seconds
FEWEST_TOKENS = 512
DETAIL = 300  # bytes of a provider's words that are kept


@dataclass(frozen=True)
class Try:
    """The next request: to which model, after how long, with what left out. changes: keys of the request that differ."""

    model: str
    wait: float = 0.0
    changes: Mapping = field(default_factory=dict)
    plain: bool = False
    halved: bool = False


@dataclass(frozen=True)
class Stop:
    """reason: a key of the message catalogue's [stopped]; alert: the operator must do something."""

    reason: str
    alert: bool = False


def plan(failures: Sequence[Mapping], models: Sequence[str]) -> Try | Stop:
    """
    What comes after *failures* (of this answer, oldest first: {"error", "model", "retry_after", "affordable_tokens"}), with *models*
    the chosen one and then its fallbacks.
    """
    if not failures:
        return Try(models[0])
    last = failures[-1]
    kind, here = last["error"], last.get("model", models[0])
    same = [f["error"] for f in failures if f.get("model", models[0]) == here]
    first = here == models[0] and len(same) == 1
    rest = [m for m in models if m not in {f.get("model", models[0]) for f in failures}]
    match kind:
        case "Billing" if first and (last.get("affordable_tokens") or 0) >= FEWEST_TOKENS:
            return Try(here, changes={"max_tokens": max(last["affordable_tokens"] - 100, FEWEST_TOKENS)})
        case "Auth" | "Billing":
            return Stop("model_closed", alert=True)
        case "RateLimit" if first:
            return Try(here, wait=min(RATE_PAUSE if last.get("retry_after") is None else last["retry_after"], LONGEST_PAUSE))
        case "ContextOverflow" if same.count(kind) == 1:
            return Try(here, halved=True)
        case "BadRequest" if same.count(kind) == 1:
            return Try(here, plain=True)
        case _ if kind in TRANSIENT and first:
            return Try(here, wait=PAUSE)
        case _ if kind in (*TRANSIENT, "RateLimit", "NotFound") and rest:
            return Try(rest[0])
        case _:
            return Stop("model_failed", alert=kind in ("NotFound", "BadRequest", "Unknown"))


def from_response(status: int, body: str, headers: Mapping[str, str]) -> ModelError:
    """The error behind an HTTP answer that is not 200."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = {}
    content = content if isinstance(content, dict) else {}
    error = content.get("error") if isinstance(content.get("error"), dict) else {}
    message = str(error.get("message") or content.get("message") or body)
    kind = STATUS.get(status, "Unknown")
    if kind == "BadRequest" and OVERFLOW.search(message):
        kind = "ContextOverflow"
    found = AFFORD.search(message)
    return ModelError(
        kind,
        shortened(f"{status}: {message}"),
        status,
        retry_after(headers, content) if status == 429 else None,
        int(found[1]) or None if found and status == 402 else None,
    )


def from_error_object(error) -> ModelError:
    """The error inside an answer that said 200."""
    error = error if isinstance(error, dict) else {"message": str(error)}
    code = error.get("code")
    status = int(code) if isinstance(code, int) or isinstance(code, str) and code.isdecimal() else None
    if status in STATUS:
        return from_response(status, json.dumps({"error": error}), {})
    return ModelError("Malformed", shortened(str(error.get("message") or error)))


def retry_after(headers: Mapping[str, str], body: Mapping) -> float | None:
    """Seconds to wait: from the Retry-After header (seconds or a date), or the body's retry_after, rounded up."""
    value = headers.get("Retry-After") or headers.get("retry-after")
    if value:
        try:
            return max(0.0, float(value)) if math.isfinite(float(value)) else None
        except ValueError:
            try:
                return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
            except (TypeError, ValueError):
                return None
    error = body.get("error") if isinstance(body.get("error"), dict) else {}
    asked = error.get("retry_after", body.get("retry_after"))
    return float(math.ceil(asked)) if isinstance(asked, int | float) and not isinstance(asked, bool) and 0 <= asked < 1e9 else None


def shortened(text: str) -> str:
    """At most DETAIL bytes and "...", cut between characters."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= DETAIL else data[:DETAIL].decode("utf-8", "ignore") + "..."
