"""Files by link: an unguessable, expiring token; served as it is stored, with ranges, to anyone who has the link."""

from flask import Blueprint, Response, abort, send_file

from bot.db import reading
from bot.learners import files
from bot.web.context import services

DAY = 86400
blueprint = Blueprint("media", __name__)


@blueprint.get("/media/<token>/<filename>")
def media(token: str, filename: str) -> Response:
    with reading(services().db) as connection:
        row = files.by_link(connection, token, filename)
    if row is None or not (path := files.path(services().settings, row)).exists():
        abort(404)
    response = send_file(path, mimetype=row.media_type, download_name=row.filename, conditional=True, max_age=DAY, etag=True)
    response.headers["Content-Disposition"] = f'inline; filename="{row.filename}"'
    if row.media_type == "text/html":  # a page that the model wrote must not act as one of ours
        response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return response
