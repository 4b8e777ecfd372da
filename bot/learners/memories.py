"""Facts about a person that outlive a conversation. The same fact, whatever its case and blanks, is kept once."""

import hashlib
import unicodedata

import sqlalchemy as sa

from bot.db import insert_once, memories, now
from bot.documents.clean import clean_line
from bot.errors import ToolError

GENERAL = "divers"


def save(tx, owner: str, fact: str, category: str = "") -> bool:
    """Keep *fact*, or refresh it and move it to *category* if it is known; True when it is new. Raises ToolError."""
    fact, category = clean_line(fact), clean_line(category).casefold()[:60] or GENERAL
    if not fact:
        raise ToolError("The fact is empty; write one short sentence.")
    digest = hashlib.sha256(_folded(fact).encode()).hexdigest()
    same = (memories.c.owner == owner) & (memories.c.digest == digest)
    moved = tx.execute(memories.delete().where(same, memories.c.category != category)).rowcount
    new = insert_once(tx, memories, owner=owner, category=category, fact=fact, digest=digest, updated_at=now())
    if not new:
        tx.execute(memories.update().where(same, memories.c.category == category).values(fact=fact, updated_at=now()))
    return new and not moved


def facts(connection: sa.Connection, owner: str, limit: int | None = 20) -> list[sa.Row]:
    """The rows (`category`, `fact`), the newest first; all of them with limit None."""
    query = sa.select(memories).where(memories.c.owner == owner).order_by(memories.c.updated_at.desc(), memories.c.id.desc())
    return list(connection.execute(query.limit(limit)))


def forget(tx, owner: str, which: str = "") -> int:
    """Delete the fact of a number (its place in `facts`, from 1), those that contain a text (any case or accent), or all; says how many."""
    known, wanted = facts(tx, owner, None), _bare(which)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(known):
        chosen = [known[int(wanted) - 1].id]
    else:
        chosen = [row.id for row in known if wanted in _bare(row.fact)]
    return tx.execute(memories.delete().where(memories.c.owner == owner, memories.c.id.in_(chosen))).rowcount if chosen else 0


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _bare(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", _folded(text)) if not unicodedata.combining(c))
