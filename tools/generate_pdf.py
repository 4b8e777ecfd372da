"""A PDF from Markdown."""

from tools import making
from tools.context import Context

SCHEMA = {
    "name": "generate_pdf",
    "description": "Make a PDF to read or print (lesson, letter, report, exercise sheet) from Markdown: headings, lists, tables, code, "
    "LaTeX maths. It is sent with your answer.",
    "parameters": making.parameters(
        author={"type": "string", "maxLength": 120}, landscape={"type": "boolean", "description": "For wide tables"}
    ),
}


def generate_pdf(
    context: Context, title: str, content: str, *, author: str = "", landscape: bool = False, filename: str = "", key: str
) -> dict:
    """Raises DocumentError for content that cannot be put on paper."""
    from bot.documents import pdf  # a heavy library behind it

    data = pdf.render_pdf(title, content, author=author, landscape=landscape)
    return making.keep(context, data, extension="pdf", title=title, filename=filename, text=f"# {title}\n\n{content}", key=key)
