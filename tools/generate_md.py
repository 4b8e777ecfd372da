"""A Markdown file."""

from tools import making
from tools.context import Context

SCHEMA = {
    "name": "generate_md",
    "description": "Make a plain Markdown file. A link to it is sent with your answer.",
    "parameters": making.parameters(),
}


def generate_md(context: Context, title: str, content: str, *, filename: str = "", key: str) -> dict:
    """Raises DocumentError for content that cannot be kept in a file."""
    from bot.documents import markdown_file  # a heavy library behind it

    data = markdown_file.render_md(title, content)
    return making.keep(context, data, extension="md", title=title, filename=filename, text=f"# {title}\n\n{content}", key=key)
