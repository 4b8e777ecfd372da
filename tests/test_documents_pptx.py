"""Presentations, opened again with python-pptx."""

import io
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook
from pptx import Presentation

from bot.documents.pptx import render_pptx
from bot.errors import DocumentError

CHART = {
    "type": "bar",
    "title": "Ventes",
    "x": "Région",
    "y": ["T1"],
    "columns": ["Région", "T1"],
    "rows": [["Abidjan", "12 500"], ["Bouaké", None]],
}


def opened(slides, title="Exposé", **more):
    return Presentation(io.BytesIO(render_pptx(title, slides, **more)))


def words(slide):
    return "\n".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)


def tables(slide):
    return [shape.table for shape in slide.shapes if shape.has_table]


def test_a_slide_holds_title_bullets_table_and_notes():
    """All of them on one slide when they fit."""
    made = opened([{"title": "Le Nil", "bullets": ["long", "fertile"], "notes": "parler fort", "table": [["a", "b"], ["1", "2"]]}])
    cover, slide = made.slides
    assert "Exposé" in words(cover) and "Le Nil" in words(slide) and "fertile" in words(slide)
    assert tables(slide)[0].cell(1, 1).text == "2" and tables(slide)[0].first_row
    assert slide.notes_slide.notes_text_frame.text == "parler fort"
    assert round(made.slide_width / made.slide_height, 2) == 1.78


def test_the_cover_has_the_subtitle():
    """Without one its place is not left empty."""
    assert "Classe de CM2" in words(opened([], subtitle="Classe de CM2").slides[0])
    assert len(opened([]).slides[0].placeholders) == 1


def test_bullets_are_read_as_markdown_with_levels():
    """Signs the model wrote itself are not doubled."""
    frame = opened([{"title": "t", "bullets": ["- **gras** et $x^2$", "  - dessous", "-5 degrés"]}]).slides[1].placeholders[1].text_frame
    assert [(p.text, p.level) for p in frame.paragraphs] == [("gras et x²", 0), ("dessous", 1), ("-5 degrés", 0)]
    assert frame.paragraphs[0].runs[0].font.bold


def test_bullets_that_do_not_fit_go_on_to_the_next_slide():
    """Letters stay large enough to be read, and nothing is lost."""
    made = opened([{"title": "Long", "bullets": [f"Une phrase assez longue numéro {n} qui occupe sa place" for n in range(40)]}])
    slides = list(made.slides)[1:]
    assert len(slides) > 2 and f"Long (1/{len(slides)})" in words(slides[0])
    everything = "\n".join(map(words, slides))
    assert all(f"numéro {n} " in everything for n in range(40))
    sizes = {r.font.size.pt for s in slides for p in s.placeholders[1].text_frame.paragraphs for r in p.runs}
    assert min(sizes) >= 18


def test_one_endless_bullet_is_cut_between_words():
    """5,000 words go over several slides."""
    slides = list(opened([{"title": "t", "bullets": [" ".join(f"m{n}" for n in range(5000))]}]).slides)[1:]
    found = " ".join(words(s) for s in slides).split()
    assert [w for w in found if w.startswith("m")] == [f"m{n}" for n in range(5000)]


def test_a_long_table_repeats_its_header():
    """Each part has the header and the rows go on in order."""
    slides = list(opened([{"title": "Bilan", "table": [["Compte", "Débit"], *[[str(n), "12 500"] for n in range(60)]]}]).slides)[1:]
    assert len(slides) > 2 and all(tables(s)[0].cell(0, 0).text == "Compte" for s in slides)
    assert [row.cells[0].text for s in slides for row in list(tables(s)[0].rows)[1:]] == [str(n) for n in range(60)]


@pytest.mark.parametrize("kind", ["bar", "line", "pie"])
def test_a_chart_holds_its_numbers(kind):
    """Numbers written as text are read; an empty cell is a gap."""
    (chart,) = [s.chart for s in opened([{"title": "t", "chart": CHART | {"type": kind}}]).slides[1].shapes if s.has_chart]
    assert list(chart.plots[0].categories) == ["Abidjan", "Bouaké"]
    assert list(chart.plots[0].series[0].values) == [12500, None]
    assert chart.chart_title.text_frame.text == "Ventes"


def test_a_table_and_a_chart_stand_on_slides_of_their_own():
    """Three things on one slide cannot be read."""
    made = opened([{"title": "t", "bullets": ["x"], "table": [["a"], ["1"]], "chart": CHART}])
    assert len(made.slides) == 4


@pytest.mark.parametrize(
    ("slides", "says"),
    [
        pytest.param("x", "slides must be a list", id="text"),
        pytest.param(["x"], "slide 1 must be an object", id="text in the list"),
        pytest.param([{"title": "t"}, {"bullets": "x"}], "slide 2: bullets must be a list", id="text as bullets"),
        pytest.param([{"table": [["a"], "b"]}], "slide 1: table", id="text as row"),
        pytest.param([{"table": [["c"] * 16]}], "16 columns", id="too wide"),
        pytest.param([{"table": [["a"], ["x " * 2000]]}], "generate_docx", id="a chapter in a cell"),
        pytest.param([{"chart": CHART | {"y": ["T9"]}}], "'T9'.*'Région', 'T1'", id="column that does not exist"),
        pytest.param([{"chart": CHART | {"rows": [["a", "beaucoup"]]}}], "needs numbers.*beaucoup", id="no number"),
        pytest.param([{"chart": CHART | {"rows": [["a", float("nan")]]}}], "needs numbers", id="NaN"),
        pytest.param([{"chart": CHART | {"rows": []}}], "chart.rows", id="no rows"),
        pytest.param([{"title": "t", "bullets": ["x"]}] * 501, "more than 500 slides", id="too many"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_its_slide(slides, says):
    """The model is told where and what to do instead."""
    with pytest.raises(DocumentError, match=says):
        render_pptx("t", slides)


@pytest.mark.parametrize(
    "slides",
    [
        [],
        [{}],
        [{"title": ""}],
        [{"title": "x\x0b\ud800", "bullets": ["a\x0bb\x00", "\ufffe"], "notes": "\uffff\x0b\nx"}],
        [{"title": "titre " * 300}],
        [{"table": [[]]}, {"table": [["a", "b"], [1]]}, {"table": [["a"]]}],
        [{"bullets": [1, None, {"a": 1}]}],
        [{"title": "مرحبا", "bullets": ["السلام عليكم"]}],
    ],
    ids=["none", "empty object", "no title", "control characters", "endless title", "odd tables", "no text", "right to left"],
)
def test_odd_slides_still_open(slides):
    """Never a crash."""
    assert len(opened(slides).slides) >= 1


def test_the_same_call_gives_the_same_bytes():
    """Neither the presentation nor the workbook in its chart holds the time of its making."""
    slides = [{"title": "t", "chart": CHART, "notes": "n"}]
    assert render_pptx("t", slides) == render_pptx("t", slides)


def test_labels_of_a_chart_never_run_as_formulas():
    """The workbook inside the chart holds them as text."""
    (chart,) = [s.chart for s in opened([{"title": "t", "chart": CHART | {"rows": [["=1+1", 2]]}}]).slides[1].shapes if s.has_chart]
    assert load_workbook(io.BytesIO(chart.part.chart_workbook.xlsx_part.blob)).worksheets[0]["A2"].data_type == "s"


def test_three_hundred_slides_take_seconds():
    """And stay under a megabyte."""
    started = time.process_time()
    data = render_pptx("t", [{"title": f"Diapo {n}", "bullets": ["a", "b"], "notes": "n"} for n in range(300)])
    assert time.process_time() - started < 20 and len(data) < 1_000_000
    assert len(Presentation(io.BytesIO(data)).slides) == 301


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=4), st.lists(st.lists(st.text(max_size=10), max_size=3), max_size=4))
def test_any_text_makes_a_presentation(bullets, table):
    """Whatever a model writes can be opened."""
    assert opened([{"title": "t", "bullets": bullets, "table": table}]).slides
