"""The services of the application that serves the present request."""

from flask import current_app

from bot.services import Services


def services() -> Services:
    return current_app.extensions["palabre"]
