"""A web page in one file, from Markdown or HTML."""

from bot.learners.visible import visible
from tools import making
from tools.context import Context

SCHEMA = {
    "name": "generate_html",
    "description": "Make a web page in one self-contained file, readable on a phone. Scripts and outside resources are removed. "
    "A link to it is sent with your answer.",
    "parameters": making.parameters("Markdown or HTML"),
}


def generate_html(context: Context, title: str, content: str, *, filename: str = "", key: str) -> dict:
    """Raises DocumentError for content that cannot be put on a page."""
    from bot.documents import html  # a heavy library behind it

    data = html.render_html(title, content)
    return making.keep(context, data, extension="html", title=title, filename=filename, text=visible(data.decode()), key=key)
