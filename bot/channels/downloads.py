"""
Fetch what a person sent from where Twilio keeps it.

Credentials go to Twilio's own host over https and nowhere else; they are dropped at the redirect to the signed store behind it. An address
that is not Twilio's is not asked at all: whoever can forge a form must not learn our token or make us call other machines.
"""

import ipaddress
import time
from urllib.parse import urljoin, urlsplit, urlunsplit

import requests

from bot import public_address
from bot.channels import twilio
from bot.errors import ToolError
from bot.services import Services

HOST = "api.twilio.com"
LARGEST = 16 * 1024 * 1024  # bytes; WhatsApp sends no more
SECONDS, REDIRECTS, TRIES, PAUSE = 20, 3, 3, 0.5


class NotFetched(Exception):
    """The file could not be had; the text says why, for the log."""


def fetch(services: Services, url: str) -> bytes:
    """The bytes behind a MediaUrl. Raises NotFetched."""
    place = _own_place(services, url)
    for n in range(TRIES):
        try:
            return _read(services, place)
        except _NotThereYet:
            if n + 1 < TRIES:
                time.sleep(PAUSE * (n + 1))
        except requests.RequestException as problem:
            raise NotFetched(type(problem).__name__) from problem
    raise NotFetched("404")


class _NotThereYet(Exception):
    """Twilio answers 404 for a moment after a message came."""


def _own_place(services: Services, url: str) -> str:
    """The address to ask, with TWILIO_BASE_URL in place of Twilio's host. Raises NotFetched for any other host."""
    try:
        parts = urlsplit(url)
        own = parts.scheme == "https" and parts.hostname == HOST and parts.port in (None, 443) and not parts.username and not parts.password
    except ValueError:
        own = False
    if not own:
        raise NotFetched("not an address of Twilio's")
    if not services.settings.twilio_base_url:
        return url
    base = urlsplit(services.settings.twilio_base_url)
    return urlunsplit((base.scheme, base.netloc, base.path + parts.path, parts.query, ""))


def _read(services: Services, url: str) -> bytes:
    credentials = (services.settings.twilio_account_sid, twilio.tokens(services.settings)[0])
    for _ in range(REDIRECTS + 1):
        with services.http.get(url, auth=credentials, stream=True, timeout=(5, SECONDS), allow_redirects=False) as answer:
            if answer.is_redirect:
                url, credentials = urljoin(url, answer.headers["Location"]), None
                _may_follow(services, url)
                continue
            if answer.status_code == 404:
                raise _NotThereYet
            if answer.status_code != 200:
                raise NotFetched(str(answer.status_code))
            return _bounded(answer)
    raise NotFetched("too many redirects")


def _may_follow(services: Services, url: str) -> None:
    """Redirects lead to public addresses; on loopback only where TWILIO_BASE_URL is on loopback itself."""
    if _is_loopback(services.settings.twilio_base_url) and _is_loopback(url):
        return
    try:
        public_address.check(url)
    except ToolError as refused:
        raise NotFetched(str(refused)) from refused


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bounded(answer: requests.Response) -> bytes:
    data, ends = bytearray(), time.monotonic() + SECONDS
    for chunk in answer.iter_content(65536):
        data += chunk
        if len(data) > LARGEST or time.monotonic() > ends:
            raise NotFetched("too large" if len(data) > LARGEST else "too slow")
    return bytes(data)
