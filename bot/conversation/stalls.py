"""
Is the model going round in circles? Pure, judged from what happened since the person last spoke.

Two calls are the same when name and arguments are, whatever the order of keys, blanks and case. Doing the same again is
progress only if something else comes back. (Thresholds: three for one call, two rounds for two calls in turn, as long-running agents
have found to be late enough not to hurt and early enough to save money.)
"""

import json
from dataclasses import dataclass

HARMLESS = ("request_more_iterations",)  # it is bounded by itself
SAME, ROUND, UNKNOWN, REPEATED = 3, 4, 3, 3


@dataclass(frozen=True)
class Done:
    """A call that was answered. what: name and arguments in one normal form; came: what came back."""

    name: str
    what: str
    came: str
    ok: bool
    unknown: bool


def since(view: tuple[dict, ...], spoken: int) -> tuple[list[Done], list[str]]:
    """(calls answered, texts said beside calls) since the person spoke at seq *spoken*, oldest first."""
    replies = [e for e in view if e["is"] == "reply" and e["read"] >= spoken]
    results = {e["id"]: e for e in view if e["is"] == "result"}
    calls = [
        Done(x["name"], normal(x), r["text"], r["ok"], r.get("unknown", False))
        for e in replies
        for x in e["calls"]
        if (r := results.get(x["id"])) and x["name"] not in HARMLESS
    ]
    return calls, [e["text"] for e in replies if e["text"] and e["calls"]]


def normal(call: dict) -> str:
    return f"{call['name']} {json.dumps(_plain(call['arguments']), ensure_ascii=False, sort_keys=True)}"


def _plain(value):
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


def stalled(view: tuple[dict, ...], spoken: int) -> str | None:
    """Why the turn should be stopped (a key of the catalogue's [stopped]), or None."""
    calls, texts = since(view, spoken)
    if sum(c.unknown for c in calls) >= UNKNOWN:
        return "stalled"
    last = calls[-SAME:]
    if len(last) == SAME and len({c.what for c in last}) == 1 and (len({c.came for c in last}) == 1 or not any(c.ok for c in last)):
        return "stalled"
    pair = calls[-ROUND:]
    if len(pair) == ROUND and pair[0].what != pair[1].what and _same(pair[0], pair[2]) and _same(pair[1], pair[3]):
        return "stalled"
    if len(texts) >= REPEATED and len({" ".join(t.casefold().split()) for t in texts[-REPEATED:]}) == 1:
        return "stalled"
    return None


def _same(one: Done, other: Done) -> bool:
    return one.what == other.what and one.came == other.came


def failing_again(view: tuple[dict, ...], spoken: int) -> str | None:
    """The name of the tool whose same call has just failed for the second time in a row: the model is told so once."""
    calls, _ = since(view, spoken)
    last = calls[-2:]
    if len(last) == 2 and last[0].what == last[1].what and not any(c.ok for c in last):
        return last[0].name
    return None


def done_and_not(view: tuple[dict, ...], spoken: int) -> tuple[list[str], list[str]]:
    """(names of tools that did their work, names of those that did not) since the person spoke, each once, in order."""
    calls, _ = since(view, spoken)
    good = list(dict.fromkeys(c.name for c in calls if c.ok))
    return good, [n for n in dict.fromkeys(c.name for c in calls if not c.ok and not c.unknown) if n not in good]
