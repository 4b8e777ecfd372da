"""Word documents, opened again with python-docx."""

import io

import pytest
from docx import Document
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.documents.docx import render_docx
from bot.documents.docx_style import ORDER
from bot.errors import DocumentError


def opened(title, content):
    return Document(io.BytesIO(render_docx(title, content)))


def texts(document):
    return [p.text for p in document.paragraphs]


def test_text_bold_and_table_are_where_they_belong():
    """Control characters are gone, bold is bold and cells hold their text."""
    document = opened("Leçon", "# Un\n\nL'élève **relit**.\x0b\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert any("élève" in p.text and any(r.bold and r.text == "relit" for r in p.runs) for p in document.paragraphs)
    assert document.tables[0].cell(1, 1).text == "2"
    assert document.core_properties.title == "Leçon"


def test_styles_are_words_own():
    """A reader can restyle the document and walk through its headings."""
    document = opened("T", "# Un\n\n### Trois\n\n> q\n\n```\nc\n```\n\n$$x^2$$\n\n- l")
    assert [(p.style.name, p.text) for p in document.paragraphs] == [
        ("Title", "T"),
        ("Heading 1", "Un"),
        ("Heading 3", "Trois"),
        ("Quote", "q"),
        ("Code Block", "c"),
        ("Formula", "x²"),
        ("List Paragraph", "l"),
    ]


def test_each_numbered_list_counts_for_itself():
    """The second list begins again, at the number it was given."""
    document = opened("T", "1. a\n2. b\n\ntexte\n\n5. c\n")
    numbers = [p._p.pPr.numPr.numId.val for p in document.paragraphs if p._p.pPr is not None and p._p.pPr.numPr is not None]
    assert numbers[0] == numbers[1] != numbers[2]
    starts = {
        num.get(qn("w:numId")): num.find(".//" + qn("w:startOverride")).get(qn("w:val"))
        for num in document.part.numbering_part.element.findall(qn("w:num"))
        if num.find(".//" + qn("w:startOverride")) is not None
    }
    assert (starts[str(numbers[0])], starts[str(numbers[2])]) == ("1", "5")


def test_lists_in_lists_stand_deeper():
    """The level is the list's, not spaces."""
    document = opened("T", "- a\n  - b\n    1. c")
    assert [p._p.pPr.numPr.ilvl.val for p in document.paragraphs[1:]] == [0, 1, 2]


def test_the_header_row_is_repeated_and_numbers_stand_to_the_right():
    """As in a printed account."""
    table = opened("T", "|Poste|Montant|\n|-|-|\n|Loyer|12 500|\n|Total|12 500|").tables[0]
    assert table.rows[0]._tr.trPr.find(qn("w:tblHeader")) is not None
    assert table.cell(1, 1).paragraphs[0].alignment == 2 and table.cell(1, 0).paragraphs[0].alignment == 0
    assert all(run.bold for cell in table.rows[2].cells for run in cell.paragraphs[0].runs)


def test_links_are_links():
    """Their address is in the document's relations."""
    document = opened("T", "[site](https://example.org/a?b=c&d) et texte")
    assert "https://example.org/a?b=c&d" in {r.target_ref for r in document.part.rels.values() if r.is_external}
    assert document.paragraphs[1].text == "site et texte"


def test_the_foot_has_the_title_and_the_page():
    """Word fills in PAGE and NUMPAGES."""
    foot = opened("Mon titre", "x").sections[0].footer.paragraphs[0]
    assert "Mon titre" in foot.text
    assert [f.get(qn("w:instr")) for f in foot._p.iter(qn("w:fldSimple"))] == ["PAGE", "NUMPAGES"]


def test_a_long_document_has_a_table_of_contents():
    """It is a field that Word can update and lists the headings until then; a short document has none."""
    long = opened("T", "".join(f"# Chapitre {n}\n\n" + "Texte. " * 600 + "\n\n" for n in range(6)))
    assert [t.text for t in long.element.iter(qn("w:instrText"))] == ['TOC \\o "1-3" \\h \\z \\u']
    assert len([a for a in long.element.iter(qn("w:hyperlink")) if a.get(qn("w:anchor"))]) == 6
    assert not list(opened("T", "# a\n\n# b\n\n# c\n\n# d").element.iter(qn("w:instrText")))


def test_right_to_left_text_is_marked_as_such():
    """Word turns the paragraph and its runs."""
    (paragraph,) = opened("T", "السلام عليكم").paragraphs[1:]
    assert paragraph._p.pPr.find(qn("w:bidi")) is not None and paragraph.runs[0]._r.rPr.find(qn("w:rtl")) is not None


def test_properties_stand_in_the_order_of_the_standard():
    """Word calls a file damaged when they do not."""
    document = opened("T", "السلام `c` [a](https://b.c) **d** ~~e~~\n\n> q\n\n- [x] t\n\n|a|b|\n|-|-|\n|1|2|\n\n---\n\n```\nc\n```")
    for name, order in ORDER.items():
        rank = [qn(f"w:{child}") for child in order.split()]
        for root in (document.element, document.styles.element):
            for properties in root.iter(qn(f"w:{name}")):
                found = [rank.index(child.tag) for child in properties if child.tag in rank]
                assert found == sorted(found)


def test_the_same_call_gives_the_same_bytes():
    """No time of making is in the file."""
    assert render_docx("T", "# a\n\n[b](https://c.d)") == render_docx("T", "# a\n\n[b](https://c.d)")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "a\x0bb\x0cc \x1b[0m \ufffe\uffff \ud800",
        "| a |\n|---|",
        "|a|b|\n|-|-|\n|1|\n|1|2|3|",
        "mot " * 20_000,
        "\n".join("  " * i + f"- n{i}" for i in range(60)),
        "#\n\n##",
        "<w:p>&amp;</w:p>",
    ],
    ids=["empty", "control characters", "no rows", "ragged", "long", "deep", "empty headings", "markup"],
)
def test_odd_content_still_makes_a_document(content):
    """Never a crash."""
    assert opened(content[:50], content).paragraphs


def test_what_word_cannot_hold_is_refused():
    """63 columns are Word's own limit."""
    with pytest.raises(DocumentError, match="61 columns"):
        render_docx("t", "|" + "c|" * 61 + "\n|" + "-|" * 61)


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.sampled_from("#*_`$|-> \n\\[]()<>&1.abé~!\tس😀\x00\ud800"), max_size=150))
def test_any_text_makes_a_document(text):
    """Whatever a model writes can be opened."""
    assert opened(text, text).paragraphs
