"""Fetch what came with a message, once: into the person's library, a photo for the model to see, a voice note as text."""

import logging

from bot.channels import downloads
from bot.conversation import log
from bot.conversation.events import MediaRead
from bot.conversation.fold import Conversation
from bot.db import Unit, reading
from bot.learners import accounts, files, uploads
from workers import signs
from workers.context import Turn

logger = logging.getLogger(__name__)


def fetch(turn: Turn, state: Conversation, message: dict) -> None:
    services, unit = turn.services, Unit(turn.services.db)
    with reading(services.db) as connection:
        person = accounts.person(connection, turn.row.address)
    with signs.typing(turn, state):
        found = [_one(turn, person, message, n, media) for n, media in enumerate(message["media"])]
    try:
        read = [about if data is None else _kept(turn, unit, person, message, n, about, data) for n, (about, data) in enumerate(found)]
        if log.append(unit, turn.conversation, [MediaRead(message["id"], read)], caused_by=message["seq"]):
            unit.commit()
    finally:
        unit.close()


def _one(turn: Turn, person: accounts.Person, message: dict, number: int, media: dict) -> tuple[dict, tuple[bytes, str] | None]:
    """(what the prompt says of it, bytes and extension to keep). A guest's files are not fetched."""
    about = {"type": media.get("type", "")}
    if person.learner is None:
        return about | {"problem": "il faut un compte pour envoyer des fichiers"}, None
    try:
        data = downloads.fetch(turn.services, media["url"])
        extension = uploads.extension_of(data, media.get("type", ""))
        if uploads.kind_of(extension) == "image":
            data, extension = uploads.bounded_picture(data, extension)
    except (downloads.NotFetched, ValueError) as problem:
        logger.warning("a file that was sent is not used: %s (conversation %s)", problem, turn.conversation)
        return about | {"problem": "le fichier n'a pas pu être ouvert"}, None
    about = {"type": files.MEDIA_TYPES.get(extension, "application/octet-stream"), "name": uploads.name_for(extension, number + 1)}
    if uploads.kind_of(extension) == "audio":
        said = uploads.transcribed(turn.services.http, turn.services.settings, data, extension)
        about |= {"transcript": said} if said else {"problem": "la transcription des messages vocaux n'est pas possible ici"}
    return about, (data, extension)


def _kept(turn: Turn, unit: Unit, person: accounts.Person, message: dict, number: int, about: dict, data: tuple[bytes, str]) -> dict:
    row = files.save(
        turn.services.settings,
        unit,
        key=f"{message['id']}:{number}",
        owner=person.owner,
        origin="uploaded",
        filename=about["name"],
        data=data[0],
    )
    return about | {"file_id": row.id}
