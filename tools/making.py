"""The last step of every tool that makes a document: keep the file, hand it over with the answer."""

from bot.documents import names
from bot.documents.clean import clean
from bot.learners import files
from tools.context import Context

LONGEST_TEXT = 400_000  # characters of a generated file that can be read again and searched


def keep(context: Context, data: bytes, *, extension: str, title: str, filename: str, text: str, key: str) -> dict:
    """
    Write *data* into the person's library once for each *key*; *text* is what read_user_file and search find in it.

    Returns {"file_id", "filename", "url"}.
    """
    name = names.safe_filename(filename or title, extension, fallback=extension)
    row = files.save(
        context.settings,
        context.tx,
        key=key,
        owner=context.person.owner,
        origin="generated",
        filename=name,
        data=data,
        text=clean(text)[:LONGEST_TEXT],
    )
    context.made.append(row.id)
    return {"file_id": row.id, "filename": row.filename, "url": files.url(context.settings, row)}
