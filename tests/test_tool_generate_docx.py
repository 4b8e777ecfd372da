"""generate_docx: Markdown in, a Word document in the person's library."""

import docx
import pytest
from conftest import rows

from bot.db import files
from bot.errors import ToolError
from bot.learners import files as library
from tools.generate_docx import generate_docx
from tools.offered import check


def test_a_word_document_is_kept_and_handed_over(services, make_context):
    context = make_context()
    result = generate_docx(context, "Lettre", "Madame,\n\n- un\n- deux", key="c1")
    context.tx.commit()
    [row] = rows(services, files)
    assert result == {"file_id": row.id, "filename": "Lettre.docx", "url": library.url(services.settings, row)}
    assert context.made == [row.id]
    text = "\n".join(p.text for p in docx.Document(library.path(services.settings, row)).paragraphs)
    assert "Madame," in text and "deux" in text
    assert row.media_type.endswith("wordprocessingml.document")


def test_the_same_call_twice_makes_one_file(services, make_context):
    context = make_context()
    first = generate_docx(context, "Un", "Texte", key="c1")
    assert generate_docx(context, "Un", "Texte", key="c1") == first
    context.tx.commit()
    assert len(rows(services, files)) == 1


def test_characters_that_xml_forbids_do_no_harm(services, make_context):
    context = make_context()
    generate_docx(context, "A\x00\x0bB", "un\x1b\ufffe\ud800 deux", key="c1")
    context.tx.commit()
    assert any("deux" in p.text for p in docx.Document(library.path(services.settings, rows(services, files)[0])).paragraphs)


@pytest.mark.parametrize(
    "arguments", [{"content": "x"}, {"title": "x"}, {"title": "x", "content": "y", "sheets": []}, {"title": 3, "content": "y"}]
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("generate_docx", arguments)
