"""A Word document from Markdown."""

from tools import making
from tools.context import Context

SCHEMA = {
    "name": "generate_docx",
    "description": "Make a Word document that the person can change, from Markdown. It is sent with your answer.",
    "parameters": making.parameters(),
}


def generate_docx(context: Context, title: str, content: str, *, filename: str = "", key: str) -> dict:
    """Raises DocumentError for content that cannot be put on paper."""
    from bot.documents import docx  # a heavy library behind it

    data = docx.render_docx(title, content)
    return making.keep(context, data, extension="docx", title=title, filename=filename, text=f"# {title}\n\n{content}", key=key)
