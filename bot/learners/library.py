"""Reading and searching a person's files. What was read once is kept beside the file's row."""

import time

import sqlalchemy as sa

from bot.config import Settings
from bot.db import files as table
from bot.db import reading
from bot.errors import ToolError
from bot.learners import extraction, files, passages
from bot.services import Services

SEARCHED_FILES, SEARCHED_CHARACTERS = 100, 2_000_000
READING_SECONDS = 15  # for files that are read for the first time during a search


def read(services: Services, tx, owner: str, file_id: str) -> tuple[sa.Row, str]:
    """The row and the whole text of a file. Raises ToolError when there is no such file or nothing can be read in it."""
    with reading(services.db) as connection:
        row = next(iter(files.owned(connection, owner, [file_id])), None)
    if row is None:
        raise ToolError(f"The person has no file {file_id!r}. Take file_id from list_user_files.")
    return row, row.text or _extract(services.settings, tx, row)


def search(services: Services, tx, owner: str, query: str, limit: int) -> dict:
    """{"query", "results": [{file_id, filename, offset, passage, found_by, score}], "not_searched": [{file_id, filename, reason}]}."""
    with reading(services.db) as connection:
        rows = {r.id: r for r in files.newest(connection, owner, limit=SEARCHED_FILES)}
    texts, fresh, unread, until, room = {}, {}, [], time.monotonic() + READING_SECONDS, SEARCHED_CHARACTERS
    for id, row in rows.items():
        try:
            if room <= 0:
                raise ToolError("Only the newest files were searched; read this one with read_user_file.")
            text = row.text or fresh.setdefault(id, _read_bytes(services.settings, row, until))
            texts[id] = text[:room]
            room -= len(text)
        except ToolError as problem:
            unread.append({"file_id": id, "filename": row.filename, "reason": str(problem)})
    found = passages.rank(query, texts, limit)
    for id, text in fresh.items():
        _remember(tx, id, text)
    return {
        "query": query,
        "results": [
            {
                "file_id": id,
                "filename": rows[id].filename,
                "offset": passage.offset,
                "passage": passage.text,
                "found_by": how,
                "score": score,
            }
            for id, passage, score, how in found
        ],
        "not_searched": unread,
    }


def _extract(settings: Settings, tx, row: sa.Row) -> str:
    text = _read_bytes(settings, row, time.monotonic() + READING_SECONDS)
    _remember(tx, row.id, text)
    return text


def _read_bytes(settings: Settings, row: sa.Row, until: float) -> str:
    if time.monotonic() > until:
        raise ToolError("There was no time left to read this file; read it with read_user_file.")
    try:
        data = files.path(settings, row).read_bytes()
    except OSError as problem:
        raise ToolError("The file is not on the disk any more.") from problem
    return extraction.text_of(data)


def _remember(tx, id: str, text: str) -> None:
    tx.execute(table.update().where(table.c.id == id).values(text=text))
