"""A Markdown file: the text as written, with its title above when it has none."""

from bot.documents.clean import clean, clean_line
from bot.documents.size import checked_size


def render_md(title: str, content: str) -> bytes:
    """*content*, cleaned of what no file should hold, as UTF-8. DocumentError when it is too big."""
    text, title = clean(content).strip("\n"), clean_line(title)
    if title and not text.lstrip().startswith("#"):
        text = f"# {title}\n\n{text}"
    return checked_size((text.rstrip() + "\n").encode())
