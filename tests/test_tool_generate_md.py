"""generate_md: a Markdown file in the person's library."""

import pytest
from conftest import rows

from bot.db import files
from bot.errors import ToolError
from bot.learners import files as library
from tools.generate_md import generate_md
from tools.offered import check


def test_a_markdown_file_is_kept_and_handed_over(services, make_context):
    context = make_context()
    result = generate_md(context, "Notes", "- un\n- deux", key="c1")
    context.tx.commit()
    [row] = rows(services, files)
    assert result == {"file_id": row.id, "filename": "Notes.md", "url": library.url(services.settings, row)}
    text = library.path(services.settings, row).read_text("utf-8")
    assert "Notes" in text and "- un\n- deux" in text


def test_the_same_call_twice_makes_one_file(services, make_context):
    context = make_context()
    assert generate_md(context, "Un", "Texte", key="c1") == generate_md(context, "Un", "Texte", key="c1")
    context.tx.commit()
    assert len(rows(services, files)) == 1


@pytest.mark.parametrize("arguments", [{"content": "x"}, {"title": "x"}, {"title": "x", "content": None}])
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("generate_md", arguments)
