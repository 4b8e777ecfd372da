"""generate_pdf: Markdown in, a PDF in the person's library."""

import io

import pytest
from conftest import rows
from pypdf import PdfReader

from bot.db import files
from bot.errors import ToolError
from bot.learners import files as library
from tools.generate_pdf import generate_pdf
from tools.offered import check


def test_a_pdf_is_kept_and_handed_over_with_the_answer(services, make_context):
    context = make_context("child")
    result = generate_pdf(
        context, "Les fractions", "## Définition\n\nUne part d'un tout.", author="Mme Koné", filename="Leçon n° 1", key="c1"
    )
    context.tx.commit()
    [row] = rows(services, files)
    assert result == {"file_id": row.id, "filename": "Lecon-n-1.pdf", "url": f"https://palabre.test/media/{row.token}/Lecon-n-1.pdf"}
    assert (row.owner, row.origin, row.media_type) == (context.person.owner, "generated", "application/pdf")
    assert context.made == [row.id]
    data = library.path(services.settings, row).read_bytes()
    reader = PdfReader(io.BytesIO(data))
    assert "Une part d" in "".join(page.extract_text() for page in reader.pages)
    assert reader.metadata.author == "Mme Koné"
    assert row.size == len(data)


def test_its_text_can_be_read_and_searched(services, make_context):
    context = make_context()
    generate_pdf(context, "Les fractions", "Une part d'un tout.", key="c1")
    context.tx.commit()
    assert rows(services, files)[0].text == "# Les fractions\n\nUne part d'un tout."


def test_a_wide_table_can_lie_on_its_side(services, make_context):
    context = make_context()
    generate_pdf(context, "Tableau", "| a | b |\n|---|---|\n| 1 | 2 |", landscape=True, key="c1")
    context.tx.commit()
    page = PdfReader(library.path(services.settings, rows(services, files)[0])).pages[0]
    assert page.mediabox.width > page.mediabox.height


def test_the_same_call_twice_makes_one_file(services, make_context):
    context = make_context()
    first = generate_pdf(context, "Un", "Texte", key="c1")
    context.tx.commit()
    assert generate_pdf(context, "Un", "Texte", key="c1") == first
    context.tx.commit()
    assert len(rows(services, files)) == 1
    assert len(list(services.settings.media_folder.iterdir())) == 1


@pytest.mark.parametrize(
    "wanted", ["../../etc/passwd", "..\\..\\x.pdf", "/etc/x", "", ".", "a\x00.pdf", "CON", "é" * 300 + ".pdf", "../static/js/app.js"]
)
def test_a_name_never_leaves_the_folder_and_is_always_a_pdf(services, make_context, wanted):
    context = make_context()
    result = generate_pdf(context, "Titre", "Texte", filename=wanted, key="c1")
    context.tx.commit()
    assert result["filename"].endswith(".pdf")
    assert not set(result["filename"]) & set("/\\\0 ")
    assert result["filename"] not in ("CON.pdf", ".pdf")
    assert len(result["filename"]) <= 24
    assert [p.parent for p in services.settings.media_folder.iterdir()] == [services.settings.media_folder]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"title": "Titre"}, id="no content"),
        pytest.param({"title": "", "content": "x"}, id="empty title"),
        pytest.param({"title": "Titre", "content": ["x"]}, id="content that is a list"),
        pytest.param({"title": "Titre", "content": "x", "landscape": "yes"}, id="a word for a yes or no"),
        pytest.param({"title": "Titre", "content": "x", "colour": "red"}, id="unknown argument"),
    ],
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("generate_pdf", arguments)


@pytest.mark.parametrize(
    "content", ["\x00\x0b\x1b\ud800\ufffe", "<b>ouvert", "$\\frac{1}{", "| a\n|---|---|---|", "[x](javascript:alert(1))", "```"]
)
def test_odd_content_makes_a_document_or_a_clear_error(services, make_context, content):
    context = make_context()
    try:
        generate_pdf(context, "Titre", content, key="c1")
    except ToolError as problem:
        assert len(str(problem)) > 20
    else:
        context.tx.commit()
        assert PdfReader(library.path(services.settings, rows(services, files)[0])).pages
