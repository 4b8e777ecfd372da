"""The text of a web page, through Jina Reader. What comes back is data from outside, never instructions."""

import json
import time

import requests
import urllib3

from bot import public_address
from bot.documents.clean import clean
from bot.errors import ToolError
from bot.services import Services

SCHEMA = {
    "name": "browse_url",
    "description": "Read the text of a public web page (http or https).",
    "parameters": {
        "type": "object",
        "properties": {"url": {"type": "string", "minLength": 1, "maxLength": 2000}},
        "required": ["url"],
        "additionalProperties": False,
    },
}
SECONDS, SILENCE = 45, 35  # in all; without a byte
LARGEST = 3_000_000  # bytes of what Jina answers, inflated
LONGEST = 200_000  # characters of the page that are kept; the prompt gets fewer
AWAY = "The page reader does not answer. Do not try this page again now; search the web or answer from what you know."


def browse_url(services: Services, url: str) -> dict:
    """{"url", "title", "content"}. Raises ToolError for addresses that are not public and pages that cannot be had."""
    url = url.strip().partition("#")[0]
    public_address.check(url)
    try:
        status, body = _ask(services, url, time.monotonic() + SECONDS)
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as problem:
        raise ToolError(AWAY, transient=True) from problem
    if status in (401, 402, 403) and services.settings.jina_key:
        raise ToolError(
            "The page reader refuses this server's key or its credit is used up. Answer from what you know and say that you "
            "could not check."
        )
    if status == 429 or status >= 500:
        raise ToolError(AWAY, transient=True)
    if status != 200:
        raise ToolError(f"The page cannot be read (the page reader answers {status}). Check the address, or search for another page.")
    title, content = _page(body.decode("utf-8", "replace"))
    if not content:
        raise ToolError("The page has no text that can be read. Search the web for another page.")
    return {"url": url, "title": title[:300], "content": content[:LONGEST]}


def _ask(services: Services, url: str, deadline: float) -> tuple[int, bytes]:
    """Status and body; a body that is too long is cut, one that comes too slowly is an error."""
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
    if services.settings.jina_key:
        headers["Authorization"] = f"Bearer {services.settings.jina_key}"
    with services.http.get(
        f"{services.settings.jina_url}/{url}", headers=headers, timeout=(5, SILENCE), stream=True, allow_redirects=False
    ) as response:
        body = bytearray()
        while len(body) < LARGEST and (piece := response.raw.read1(65536, decode_content=True)):
            body += piece
            if time.monotonic() > deadline:
                raise requests.Timeout("the page reader is too slow")
        return response.status_code, bytes(body[:LARGEST])


def _page(text: str) -> tuple[str, str]:
    """Title and text of an answer in JSON, or of one that is only text (or JSON that was cut)."""
    try:
        data = json.loads(text)
    except ValueError:
        return "", clean(text).strip()
    found = data.get("data") if isinstance(data, dict) else None
    found = found if isinstance(found, dict) else {}
    return clean(found.get("title") or "").strip(), clean(found.get("content") or found.get("text") or "").strip()
