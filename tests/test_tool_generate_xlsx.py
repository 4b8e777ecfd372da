"""generate_xlsx: sheets in, a workbook in the person's library."""

import io

import openpyxl
import pytest
from conftest import rows

from bot.db import files
from bot.errors import ToolError
from bot.learners import files as library
from tools.generate_xlsx import generate_xlsx
from tools.offered import check

SHEET = {
    "name": "Ventes",
    "columns": ["Mois", "FCFA"],
    "rows": [["Janvier", 12500], ["Février", 8000], ["Total", {"formula": "=SUM(B2:B3)"}]],
}


def made(services, context, sheets):
    check("generate_xlsx", {"title": "Bilan", "sheets": sheets})
    generate_xlsx(context, "Bilan", sheets, key="c1")
    context.tx.commit()
    return openpyxl.load_workbook(io.BytesIO(library.path(services.settings, rows(services, files)[0]).read_bytes()))


def test_a_workbook_has_its_columns_in_row_one_and_formulas_that_compute(services, make_context):
    sheet = made(services, make_context(), [SHEET])["Ventes"]
    assert [c.value for c in sheet[1]] == ["Mois", "FCFA"]
    assert (sheet["B2"].value, sheet["B4"].value) == (12500, "=SUM(B2:B3)")


def test_it_is_handed_over_and_can_be_read_again(services, make_context):
    context = make_context()
    result = generate_xlsx(context, "Bilan", [SHEET], filename="bilan", key="c1")
    context.tx.commit()
    [row] = rows(services, files)
    assert result == {"file_id": row.id, "filename": "bilan.xlsx", "url": library.url(services.settings, row)}
    assert context.made == [row.id]
    assert "Janvier | 12500" in row.text and "=SUM(B2:B3)" in row.text


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+225 07", "-5 degrés", "@import"])
def test_a_text_that_begins_like_a_formula_stays_text(services, make_context, text):
    cell = made(services, make_context(), [SHEET | {"rows": [[text, 1]]}])["Ventes"]["A2"]
    assert cell.data_type == "s"
    assert str(cell.value).lstrip("'").startswith(text[:1])


def test_a_chart_is_drawn(services, make_context):
    sheet = SHEET | {"rows": SHEET["rows"][:2], "chart": {"type": "bar", "x": "Mois", "y": ["FCFA"], "title": "Ventes"}}
    assert len(made(services, make_context(), [sheet])["Ventes"]._charts) == 1


def test_the_same_call_twice_makes_one_file(services, make_context):
    context = make_context()
    assert generate_xlsx(context, "B", [SHEET], key="c1") == generate_xlsx(context, "B", [SHEET], key="c1")
    context.tx.commit()
    assert len(rows(services, files)) == 1


@pytest.mark.parametrize(
    "sheets",
    [
        pytest.param([SHEET | {"name": "Ventes / 2026 : [janvier] et tout ce qui suit jusqu'à la fin"}], id="impossible sheet name"),
        pytest.param([SHEET, SHEET], id="two sheets of one name"),
        pytest.param([SHEET | {"rows": [["a"], ["b", 1, 2, 3]]}], id="ragged rows"),
        pytest.param([SHEET | {"rows": []}], id="no rows"),
        pytest.param([SHEET | {"rows": [["a\x00\x0b\ud800", 1]]}], id="characters that XML forbids"),
        pytest.param([SHEET | {"rows": [["a", float("nan")]]}], id="a number that is none"),
        pytest.param([SHEET | {"chart": {"type": "pie", "x": "Année", "y": ["FCFA"]}}], id="a chart of a column that is not there"),
        pytest.param([SHEET | {"columns": [], "rows": []}], id="nothing at all"),
    ],
)
def test_odd_sheets_make_a_workbook_or_a_clear_error(services, make_context, sheets):
    try:
        assert made(services, make_context(), sheets).sheetnames
    except ToolError as problem:
        assert len(str(problem)) > 20


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"title": "x"}, id="no sheets"),
        pytest.param({"title": "x", "sheets": []}, id="an empty list of sheets"),
        pytest.param({"title": "x", "sheets": [{"name": "a", "columns": ["b"]}]}, id="no rows"),
        pytest.param({"title": "x", "sheets": [SHEET | {"rows": [[["list"]]]}]}, id="a list in a cell"),
        pytest.param({"title": "x", "sheets": [SHEET | {"rows": [[{"value": 1}]]}]}, id="another object in a cell"),
        pytest.param({"title": "x", "sheets": [SHEET | {"chart": {"type": "radar", "x": "Mois", "y": ["FCFA"]}}]}, id="an unknown chart"),
    ],
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("generate_xlsx", arguments)
