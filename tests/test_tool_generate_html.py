"""generate_html: Markdown or HTML in, one harmless page in the person's library."""

import pytest
from conftest import rows

from bot.db import files
from bot.errors import ToolError
from bot.learners import files as library
from tools.generate_html import generate_html
from tools.offered import check


def page(services, context, content):
    generate_html(context, "Ma page", content, key="c1")
    context.tx.commit()
    return library.path(services.settings, rows(services, files)[0]).read_text("utf-8")


def test_a_page_is_kept_and_handed_over(services, make_context):
    context = make_context()
    result = generate_html(context, "Ma page", "**gras**", key="c1")
    context.tx.commit()
    [row] = rows(services, files)
    assert result == {"file_id": row.id, "filename": "Ma-page.html", "url": library.url(services.settings, row)}
    assert row.media_type == "text/html"
    assert "<strong>gras</strong>" in library.path(services.settings, row).read_text("utf-8")


@pytest.mark.parametrize(
    "content",
    [
        "<script>alert(1)</script><p>bon</p>",
        "<p onclick='alert(1)'>bon</p>",
        "<p>bon<iframe src='https://x.example'></iframe></p>",
        "[bon](javascript:alert(1))",
        "<p>bon</p><img src=x onerror=alert(1)>",
    ],
)
def test_what_acts_by_itself_is_taken_out(services, make_context, content):
    text = page(services, make_context(), content)
    assert "bon" in text
    for evil in ("<script>alert", "onclick=", "onerror=", "<iframe", 'href="javascript'):
        assert evil not in text


def test_the_same_call_twice_makes_one_file(services, make_context):
    context = make_context()
    assert generate_html(context, "Un", "Texte", key="c1") == generate_html(context, "Un", "Texte", key="c1")
    context.tx.commit()
    assert len(rows(services, files)) == 1


def test_what_can_be_read_again_is_what_is_seen(services, make_context):
    page(services, make_context(), "<style>p{color:red}</style><p>Le cours &amp; la suite</p>")
    text = rows(services, files)[0].text
    assert "Ma page" in text and "Le cours & la suite" in text
    assert "color" not in text and "<p>" not in text


@pytest.mark.parametrize("arguments", [{"content": "x"}, {"title": "x"}, {"title": "x", "content": "y", "author": "z"}])
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("generate_html", arguments)
