"""Excel workbooks, opened again with openpyxl."""

import io
import math
import time
import tracemalloc
from datetime import datetime
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from bot.documents.xlsx import render_xlsx
from bot.errors import DocumentError

FORMULAS = st.builds(lambda f: {"formula": f}, st.text(alphabet="=SUM(A1:B2)+-*/;,\"' 3", max_size=12))


def book(sheets, title="Notes", results=False):
    return load_workbook(io.BytesIO(render_xlsx(title, sheets)), data_only=results)


def one(rows, columns=("a", "b"), **more):
    return [{"name": "F", "columns": list(columns), "rows": rows, **more}]


def column(sheet, letter="A"):
    return [cell.value for cell in sheet[letter]][1:]


def test_cells_keep_their_kind():
    """Numbers, booleans, nothing and formulas are themselves; names stand in row 1, which is frozen."""
    sheet = book(one([["Awa", 14], ["Ali", 12.5], [None, {"formula": "=SUM(B2:B3)"}], [True, False]])).worksheets[0]
    assert [c.value for c in sheet[1]] == ["a", "b"] and sheet.freeze_panes == "A2" and sheet["A1"].font.bold
    assert [sheet[c].data_type for c in ("A2", "B2", "B3", "B4", "A5")] == ["s", "n", "n", "f", "b"]
    assert sheet["A4"].value is None


@pytest.mark.parametrize("text", ["=1+1", "+225 07", "-5", "@SUM(A1)", "\t=1", "=cmd|'/c calc'!A0", '=HYPERLINK("http://x")'])
def test_text_that_looks_like_a_formula_stays_text(text):
    """Nobody's note runs in an accountant's Excel."""
    cell = book(one([[text]])).worksheets[0]["A2"]
    assert (cell.value, cell.data_type) == (text, "s")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(math.nan, "nan", id="NaN"),
        pytest.param(-math.inf, "-inf", id="infinity"),
        pytest.param([1, 2], "[1, 2]", id="list"),
        pytest.param({"x": 1}, "{'x': 1}", id="object"),
        pytest.param("a\x0bb\x00\ud800\uffff", "ab", id="control characters"),
        pytest.param(10**20, "1" + "0" * 20, id="more digits than a number holds"),
        pytest.param("2026-13-45", "2026-13-45", id="no date"),
        pytest.param("07 01 02 03 04", "07 01 02 03 04", id="telephone"),
        pytest.param("$\\frac{1}{2}$", "1/2", id="formula of mathematics"),
        pytest.param("**Gras**", "Gras", id="Markdown"),
    ],
)
def test_what_a_cell_cannot_hold_becomes_text(value, shown):
    """It is readable and the workbook opens."""
    cell = book(one([[value]])).worksheets[0]["A2"]
    assert (cell.value, cell.data_type) == (shown, "s")


def test_iso_dates_are_dates_and_amounts_are_numbers():
    """They can be sorted, filtered and added up."""
    sheet = book(one([["2026-11-30", "12 500 FCFA"], ["2026-11-30T08:15:00Z", "-1.250.000 F CFA"]])).worksheets[0]
    assert column(sheet) == [datetime(2026, 11, 30), datetime(2026, 11, 30, 8, 15)]
    assert sheet["A2"].number_format == "dd/mm/yyyy" and sheet["A3"].number_format == "dd/mm/yyyy hh:mm"
    assert column(sheet, "B") == [12500, -1250000]


@pytest.mark.parametrize(
    ("name", "values", "form"),
    [
        pytest.param("Montant", [12500, 3], "#,##0", id="whole numbers"),
        pytest.param("Note", [14, 12.5], "#,##0.0", id="as many decimals as the longest"),
        pytest.param("Prix", ["12 500 FCFA"], '#,##0" FCFA"', id="with the currency"),
        pytest.param("Année", [2026], "0", id="years"),
        pytest.param("", [2025, 2026], "0", id="years without a name"),
        pytest.param("N° de compte", [601100], "0", id="account numbers"),
    ],
)
def test_a_column_of_numbers_has_one_format(name, values, form):
    """Thousands apart where they count something, never in a year or an account number."""
    sheet = book(one([[v] for v in values], [name])).worksheets[0]
    assert {cell.number_format for cell in sheet["A"][1:]} == {form}


def test_columns_are_as_wide_as_their_numbers():
    """No ### where a number should stand."""
    sheet = book(one([["x", 123456789012], ["mot " * 100, "12 500 000 FCFA"]])).worksheets[0]
    assert sheet.column_dimensions["B"].width >= 15
    assert sheet.column_dimensions["A"].width <= 62 and sheet["A3"].alignment.wrap_text and sheet.row_dimensions[3].height > 60


@pytest.mark.parametrize(
    ("formula", "stored", "result"),
    [
        pytest.param("=SUM(A2:A4)", "=SUM(A2:A4)", 60, id="sum"),
        pytest.param("AVERAGE(A2:A4)", "=AVERAGE(A2:A4)", 20, id="without its sign"),
        pytest.param("=SOMME(A2;A3)", "=SUM(A2,A3)", 30, id="French"),
        pytest.param("=ARRONDI(A2*0,063;1)", "=ROUND(A2*0.063,1)", 0.6, id="French decimals"),
        pytest.param('=SI(A2>5;"oui";"non")', '=IF(A2>5,"oui","non")', "oui", id="condition"),
        pytest.param('=A2&";x"', '=A2&";x"', "10;x", id="quoted text is left alone"),
        pytest.param("=(A3-A2)/A2*100", "=(A3-A2)/A2*100", 100, id="arithmetic"),
        pytest.param("=-A2^2", "=-A2^2", 100, id="signs bind as in Excel"),
        pytest.param("=A2*18%", "=A2*18%", 1.8, id="percent"),
        pytest.param('=SUMIF(B2:B4,"x",A2:A4)', '=SUMIF(B2:B4,"x",A2:A4)', 40, id="sum with a condition"),
        pytest.param('=NB.SI(A2:A4;">=20")', '=COUNTIF(A2:A4,">=20")', 2, id="count with a condition"),
        pytest.param("='F'!A2+Autre!A2", "='F'!A2+Autre!A2", 17, id="other sheets"),
        pytest.param("=C2+1", "=C2+1", None, id="a circle"),
        pytest.param("=1/0", "=1/0", None, id="division by nothing"),
        pytest.param("=VLOOKUP(A2,A2:B4,2)", "=VLOOKUP(A2,A2:B4,2)", None, id="left to the spreadsheet program"),
    ],
)
def test_formulas_are_stored_as_files_want_them_and_worked_out(formula, stored, result):
    """Excel computes them again; the viewer of a phone shows the stored result."""
    sheets = [*one([[10, "x", {"formula": formula}], [20, "y"], [30, "x"]], "abc"), {"name": "Autre", "columns": ["a"], "rows": [[7]]}]
    assert book(sheets).worksheets[0]["C2"].value == stored
    assert book(sheets, results=True).worksheets[0]["C2"].value == (pytest.approx(result) if isinstance(result, float) else result)


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        pytest.param("=SUM(A1", "open bracket", id="open bracket"),
        pytest.param('="a', "quotation", id="open quotation"),
        pytest.param("", "empty", id="empty"),
        pytest.param('=WEBSERVICE("http://x")', "not allowed", id="fetches from the web"),
        pytest.param("=cmd|'/c calc'!A0", "not allowed", id="starts a program"),
        pytest.param("=[b.xlsx]F!A1", "not allowed", id="another workbook"),
    ],
)
def test_a_formula_that_cannot_be_is_refused_with_its_cell(formula, says):
    """The model is told which cell and why."""
    with pytest.raises(DocumentError, match=f"cell B3.*{says}"):
        render_xlsx("t", one([[1, 2], [1, {"formula": formula}]]))


def test_sheet_names_are_allowed_and_different():
    """31 characters, none of : \\ / ? * [ ], no two alike; a sheet without a name has the workbook's."""
    asked = ["Maths/3e: [été]", "x" * 40, "X" * 40, "", None, "'", "History", "📊" * 40]
    names = book([{"name": n, "columns": ["a"], "rows": []} for n in asked], title="Bilan").sheetnames
    assert names[:5] == ["Maths 3e été", "x" * 31, "X" * 24 + " (2)", "Bilan", "Bilan (2)"]
    assert len({n.casefold() for n in names}) == 8 and "history" not in {n.casefold() for n in names}
    assert all(len(n.encode("utf-16-le")) <= 62 for n in names)


def test_a_total_stands_out():
    """The last row is bold when it is one."""
    sheet = book(one([["Riz", 1], ["Total", {"formula": "=SUM(B2:B2)"}]])).worksheets[0]
    assert sheet["B3"].font.bold and not sheet["B2"].font.bold


@pytest.mark.parametrize("kind", ["bar", "line", "pie"])
def test_a_chart_shows_the_columns_it_names(kind):
    """The total is not one of its bars."""
    chart = {"type": kind, "title": "Ventes", "x": "mois", "y": ["Ventes"]}
    (drawn,) = book(one([["jan", 1], ["fév", 2], ["Total", 3]], ["Mois", "Ventes"], chart=chart)).worksheets[0]._charts
    (series,) = drawn.series
    assert series.val.numRef.f == "F!$B$2:$B$3" and (series.cat.strRef or series.cat.numRef).f == "F!$A$2:$A$3"


@pytest.mark.parametrize(
    ("chart", "says"),
    [
        pytest.param({"type": "bar", "x": "a", "y": ["z"]}, "'z'.*the columns are: 'a', 'b'", id="column that does not exist"),
        pytest.param({"type": "radar", "x": "a", "y": ["b"]}, "bar, line or pie", id="unknown type"),
        pytest.param({"type": "bar", "x": "a"}, "needs x", id="nothing to show"),
        pytest.param("bar", "must be an object", id="a word"),
    ],
)
def test_a_chart_that_cannot_be_is_refused(chart, says):
    """The model is told which columns there are."""
    with pytest.raises(DocumentError, match=says):
        render_xlsx("t", one([[1, 2]], chart=chart))


@pytest.mark.parametrize(
    ("sheets", "says"),
    [
        ([], "sheets is empty"),
        ("x", "sheets is empty"),
        (["x"], "sheet 1 must be an object"),
        (one([{"a": 1}]), "sheet 1, row 2"),
        ([{"name": "a", "columns": "x", "rows": []}], "must be lists"),
        (one([["x" * 40_000]]), "cell A2.*32767"),
        ([{"columns": ["a"] * 501}], "501 columns"),
        ([{}] * 101, "101 sheets"),
    ],
    ids=["none", "text", "text in the list", "object as row", "text as columns", "too long", "too wide", "too many"],
)
def test_what_is_no_workbook_is_refused_in_words(sheets, says):
    """Each error names its place and the limit."""
    with pytest.raises(DocumentError, match=says):
        render_xlsx("t", sheets)


@pytest.mark.parametrize(
    "sheets",
    [one([]), [{"name": "a", "columns": [], "rows": []}], [{}], one([[], [1], [1, 2, 3, 4]]), one([["mot " * 5000]])],
    ids=["no rows", "no columns", "nothing", "ragged", "5,000 words"],
)
def test_odd_tables_still_open(sheets):
    """An empty table is a table."""
    assert book(sheets).worksheets


def test_the_same_call_gives_the_same_bytes():
    """No time of making is in the file, nor in that of a chart."""
    sheets = one([["a", 1]], chart={"type": "bar", "x": "a", "y": ["b"]})
    assert render_xlsx("t", sheets) == render_xlsx("t", sheets)


def test_fifty_thousand_rows_take_seconds_and_little_memory():
    """The workbook is far smaller than what is allowed and its total is right."""
    rows = [[f"nom {i}", i, "2026-01-01"] for i in range(50_000)] + [["Total", {"formula": "=SUM(B2:B50001)"}]]
    started = time.process_time()
    data = render_xlsx("t", one(rows, "abc"))
    assert time.process_time() - started < 20 and len(data) < 2_000_000
    tracemalloc.start()
    render_xlsx("t", one(rows[:10_000], "abc"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000
    sheet = load_workbook(io.BytesIO(data), data_only=True, read_only=True).worksheets[0]
    assert [row[1].value for row in sheet.iter_rows(min_row=50_002)] == [sum(range(50_000))]


@pytest.mark.parametrize(
    "formula",
    ["=SUM(A$2:A{row})", "=B{next}+1", "=SUM(ROUND(IF(1,B{next},2),0),B{next},(((B{next}))))"],
    ids=["running total", "chain", "chain of nested calls"],
)
def test_formulas_over_formulas_take_seconds(formula):
    """Beyond a budget their results are left to the spreadsheet program."""
    started = time.process_time()
    render_xlsx("t", one([[i, {"formula": formula.format(row=i + 2, next=i + 3)}] for i in range(8_000)]))
    assert time.process_time() - started < 15


def test_a_workbook_too_big_to_send_is_refused():
    """5 MB are the most; a million cells are counted before anything is made."""
    with pytest.raises(DocumentError, match="MB"):
        render_xlsx("t", one([[sha256(bytes([c, i % 256, i // 256])).hexdigest() for c in range(4)] for i in range(50_000)], "abcd"))
    with pytest.raises(DocumentError, match="1000001 cells"):
        render_xlsx("t", one([[1] * 1000] * 1000 + [[1]]))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=8), FORMULAS), max_size=4), max_size=4
    )
)
def test_any_cells_make_a_workbook_or_a_clear_error(rows):
    """Whatever JSON holds, the file opens or the model is told the cell."""
    try:
        data = render_xlsx("t", one(rows))
    except DocumentError as error:
        assert "cell" in str(error)
    else:
        assert load_workbook(io.BytesIO(data)).worksheets
