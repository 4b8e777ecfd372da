"""
A person's files: made by tools or sent in. The bytes lie in the media folder, the row in the database.

A file is made once for each key (the call that made it): repeated after a crash, the same row and link come back. A link is
an unguessable token that expires.
"""

import os
import secrets
import tempfile
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa

from bot.config import Settings
from bot.db import files, insert_once, now

MEDIA_TYPES = {
    "pdf": "application/pdf",
    "html": "text/html",
    "md": "text/markdown",
    "txt": "text/plain",
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "png": "image/png",
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "ogg": "audio/ogg",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
}
MB = 1024 * 1024
ATTACHABLE = {"pdf": 16 * MB, "xlsx": 16 * MB, "docx": 16 * MB, "pptx": 16 * MB, "png": 5 * MB, "jpg": 5 * MB}  # what WhatsApp takes


def save(settings: Settings, tx, *, key: str, owner: str, origin: str, filename: str, data: bytes, text: str = "") -> sa.Row:
    """Keep *data* as *filename* (already a safe name) and return its row. The bytes are on the disk before the row is there."""
    if row := tx.execute(sa.select(files).where(files.c.key == key)).one_or_none():
        return row
    id = f"f{secrets.token_hex(8)}"
    path = settings.media_folder / id
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as draft:
        draft.write(data)
    os.replace(draft.name, path)
    kind = MEDIA_TYPES.get(filename.rsplit(".", 1)[-1], "application/octet-stream")
    insert_once(
        tx,
        files,
        id=id,
        key=key,
        owner=owner,
        origin=origin,
        filename=filename,
        media_type=kind,
        size=len(data),
        token=secrets.token_urlsafe(15),
        text=text or None,
        expires_at=now() + timedelta(days=settings.media_days),
        created_at=now(),
    )
    return tx.execute(sa.select(files).where(files.c.key == key)).one()


def url(settings: Settings, row: sa.Row) -> str:
    return f"{settings.public_url}/media/{row.token}/{row.filename}"


def is_attachable(row: sa.Row) -> bool:
    """Whether WhatsApp takes the file as media; any other goes as a link."""
    return row.size <= ATTACHABLE.get(row.filename.rsplit(".", 1)[-1], -1)


def by_link(connection: sa.Connection, token: str, filename: str) -> sa.Row | None:
    """The file behind a link, or None when there is no such link or its time is over."""
    row = connection.execute(sa.select(files).where(files.c.token == token)).one_or_none()
    return row if row and row.filename == filename and row.expires_at > now() else None


def by_id(connection: sa.Connection, id: str) -> sa.Row | None:
    return connection.execute(sa.select(files).where(files.c.id == id)).one_or_none()


def owned(connection: sa.Connection, owner: str, ids: list[str]) -> list[sa.Row]:
    """The rows of *ids* that belong to *owner*, in the order asked."""
    found = {r.id: r for r in connection.execute(sa.select(files).where(files.c.owner == owner, files.c.id.in_(ids)))}
    return [found[i] for i in ids if i in found]


def renew(settings: Settings, tx, row: sa.Row) -> None:
    """Let the link of a file that is sent again work for as long as a new one."""
    tx.execute(files.update().where(files.c.id == row.id).values(expires_at=now() + timedelta(days=settings.media_days)))


def newest(connection: sa.Connection, owner: str, origin: str | None = None, limit: int = 20) -> list[sa.Row]:
    query = sa.select(files).where(files.c.owner == owner).order_by(files.c.created_at.desc(), files.c.id).limit(limit)
    return list(connection.execute(query if origin is None else query.where(files.c.origin == origin)))


def path(settings: Settings, row: sa.Row) -> Path:
    return settings.media_folder / row.id
