"""
When a conversation outgrows what the model can read, its older part is told in a summary. Pure.

Nothing is deleted: the summary is an event, and the view takes it in place of what it tells. The newest entries stay as they are, cut
where the person began to speak, so no call is parted from its result.
"""

FULL, KEPT = 0.75, 16  # share of the context from which on it is done; entries that stay at least
INSTRUCTION = (
    "Résume cette conversation entre Palabre et une personne, pour que Palabre puisse continuer sans l'avoir lue : ce que la personne "
    "veut, ce qu'elle sait et ne sait pas encore, ce qui a été fait, décidé ou promis, les nombres et noms utiles. "
    "Au plus 250 mots, sans commentaire."
)
HEAD = "[Résumé de la conversation jusqu'ici]"
PIECE = 600  # characters of an entry that the summary is made from


def cut_at(view: tuple[dict, ...], context_tokens: int) -> int | None:
    """Where the older part ends (an index into *view*), or None while there is room."""
    if context_tokens <= 0 or sum(size(e) for e in view) < FULL * context_tokens:
        return None
    starts = [n for n, e in enumerate(view) if e["is"] == "human" and 1 < n <= len(view) - KEPT]
    return starts[-1] if starts else None


def size(entry: dict) -> int:
    """Tokens, about: French takes one for three characters."""
    return 4 + (len(entry["text"]) + sum(len(str(c["arguments"])) for c in entry.get("calls", ()))) // 3


def told(entries: tuple[dict, ...]) -> str:
    """The older part as text, for whoever summarises it."""
    names = {"human": "Personne", "reply": "Palabre", "note": "Note", "result": "Résultat"}
    return "\n".join(f"{names[e['is']]} : {e['text'][:PIECE]}" for e in entries if e["text"])


def plain(entries: tuple[dict, ...]) -> str:
    """A summary without a model: the beginnings of what the person said."""
    said = [e["text"] for e in entries if e["is"] == "human" and e["text"]]
    return "La personne a dit, entre autres : " + " / ".join(t[:100] for t in [*said[:2], *said[-8:]])
