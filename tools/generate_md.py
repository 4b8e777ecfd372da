"""A Markdown file."""

from tools import making
from tools.context import Context

SCHEMA = {
    "name": "generate_md",
    "description": "Make a plain Markdown file. A link to it is sent with your answer.",
    "parameters": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 200},
            "content": {"type": "string", "minLength": 1, "maxLength": 200000, "description": "Markdown"},
            "filename": {"type": "string", "maxLength": 120, "description": "A short name without extension"},
        },
        "required": ["title", "content"],
        "additionalProperties": False,
    },
}


def generate_md(context: Context, title: str, content: str, *, filename: str = "", key: str) -> dict:
    """Raises DocumentError for content that cannot be kept in a file."""
    from bot.documents import markdown_file  # a heavy library behind it

    data = markdown_file.render_md(title, content)
    return making.keep(context, data, extension="md", title=title, filename=filename, text=f"# {title}\n\n{content}", key=key)
