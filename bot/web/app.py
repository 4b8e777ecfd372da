"""The web application, assembled. gunicorn calls create_app() in each of its workers."""

import logging

from flask import Flask, Response, abort, jsonify, redirect, request
from werkzeug.exceptions import HTTPException

from bot import config
from bot import services as outside
from bot.errors import Unavailable
from bot.services import Services
from bot.web import api, health, media, pay, webhooks

PATIENCE = 3  # seconds for the database: Twilio waits 15 in all and comes again after a 503
LARGEST_BODY = 64 * 1024  # bytes of a webhook or API request
LARGEST_UPLOAD = 6 * 1024 * 1024  # the simulator sends files
logger = logging.getLogger(__name__)


def create_app(services: Services | None = None) -> Flask:
    services = services or outside.build(config.require_service(config.load()), PATIENCE)
    app = Flask("bot.web")
    app.extensions["palabre"] = services
    app.config["MAX_CONTENT_LENGTH"] = LARGEST_UPLOAD if services.settings.simulator else LARGEST_BODY
    app.json.ensure_ascii = False
    app.json.sort_keys = False
    for blueprint in (webhooks.blueprint, media.blueprint, api.blueprint, health.blueprint, pay.blueprint):
        app.register_blueprint(blueprint)
    if services.settings.simulator:
        from bot.web import simulator

        app.register_blueprint(simulator.blueprint)
        app.add_url_rule("/", "home", lambda: redirect("/simulator"))
    if services.settings.demo:
        from bot.demo import server

        app.register_blueprint(server.blueprint)
    app.before_request(_without_nul)
    app.register_error_handler(Unavailable, _unavailable)
    app.register_error_handler(HTTPException, _http_error)
    app.after_request(_headers)
    return app


def _without_nul() -> None:
    """Nothing has NUL in its name, and PostgreSQL does not even compare with it."""
    if "\0" in request.path:
        abort(404)


def _unavailable(problem: Unavailable) -> Response:
    logger.error("%s", problem)
    return Response("temporarily unavailable\n", 503, {"Retry-After": "5"}, mimetype="text/plain")


def _http_error(problem: HTTPException):
    if request.path.startswith("/api/"):
        return jsonify(error=problem.description), problem.code
    return problem


def _headers(response: Response) -> Response:
    response.headers.setdefault("X-Content-Type-Options", "nosniff")
    response.headers.setdefault("Referrer-Policy", "no-referrer")
    if response.mimetype == "text/html" and request.blueprint != "media":
        response.headers.setdefault(
            "Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        )
    return response
