"""generate_pptx: slides in, a presentation in the person's library."""

import pptx
import pytest
from conftest import rows

from bot.db import files
from bot.errors import ToolError
from bot.learners import files as library
from tools.generate_pptx import generate_pptx
from tools.offered import check

SLIDES = [
    {"title": "Plan", "bullets": ["Un", "Deux"], "notes": "Parler lentement"},
    {"title": "Chiffres", "table": [["Mois", "FCFA"], ["Janvier", 12500]]},
    {
        "title": "Courbe",
        "chart": {"type": "line", "x": "Mois", "y": ["FCFA"], "columns": ["Mois", "FCFA"], "rows": [["Janvier", 1], ["Février", 2]]},
    },
]


def made(services, context, slides):
    check("generate_pptx", {"title": "Exposé", "slides": slides})
    generate_pptx(context, "Exposé", slides, subtitle="Classe de CM2", key="c1")
    context.tx.commit()
    return pptx.Presentation(library.path(services.settings, rows(services, files)[0]))


def test_a_presentation_has_its_title_bullets_table_chart_and_notes(services, make_context):
    slides = list(made(services, make_context(), SLIDES).slides)
    text = "\n".join(s.text_frame.text for slide in slides for s in slide.shapes if s.has_text_frame)
    for wanted in ("Exposé", "Classe de CM2", "Plan", "Deux"):
        assert wanted in text
    assert any(s.has_table for slide in slides for s in slide.shapes)
    assert any(s.has_chart for slide in slides for s in slide.shapes)
    assert any("Parler lentement" in slide.notes_slide.notes_text_frame.text for slide in slides if slide.has_notes_slide)


def test_it_is_handed_over_and_can_be_read_again(services, make_context):
    context = make_context()
    result = generate_pptx(context, "Exposé", SLIDES, key="c1")
    context.tx.commit()
    [row] = rows(services, files)
    assert result == {"file_id": row.id, "filename": "Expose.pptx", "url": library.url(services.settings, row)}
    for wanted in ("## Plan", "- Deux", "Janvier | 12500", "Février | 2", "Parler lentement"):
        assert wanted in row.text


def test_the_same_call_twice_makes_one_file(services, make_context):
    context = make_context()
    assert generate_pptx(context, "E", SLIDES, key="c1") == generate_pptx(context, "E", SLIDES, key="c1")
    context.tx.commit()
    assert len(rows(services, files)) == 1


@pytest.mark.parametrize(
    "slides",
    [
        pytest.param([{"title": "a\x00\x0b\ud800"}], id="characters that XML forbids"),
        pytest.param([{"title": "t", "table": [["a"], ["b", "c"]]}], id="a ragged table"),
        pytest.param([{"title": "t", "table": []}], id="an empty table"),
        pytest.param([{"title": "t", "bullets": ["mot " * 2000]}], id="a bullet without end"),
        pytest.param([{"title": "t", "chart": SLIDES[2]["chart"] | {"y": ["Autre"]}}], id="a chart of a column that is not there"),
    ],
)
def test_odd_slides_make_a_presentation_or_a_clear_error(services, make_context, slides):
    try:
        assert len(made(services, make_context(), slides).slides) >= 1
    except ToolError as problem:
        assert len(str(problem)) > 20


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "x"},
        {"title": "x", "slides": []},
        {"title": "x", "slides": [{"bullets": ["a"]}]},
        {"title": "x", "slides": [{"title": "a", "bullets": "b"}]},
        {"title": "x", "slides": [{"title": "a", "chart": {"type": "bar", "x": "a", "y": ["b"]}}]},
    ],
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("generate_pptx", arguments)
