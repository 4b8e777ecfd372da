"""PDF files, opened again with pypdf."""

import io
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader

from bot.documents.bidi import is_right_to_left, visual_order
from bot.documents.pdf import render_pdf
from bot.errors import DocumentError

LESSON = """## Règle

Une fraction est **une part** d'un tout : l'élève a reçu ½ cœur d'ananas, ça fait π ≤ √16 et 3 × 4 → 12. En baoulé : ɛ ɔ ŋ.

| Nom | Part |
|---|---|
| Awa | 1/4 |

- f(x)<g(x)>0 et List<String>
- AT&T, 5 < 7, <b>non fermé
"""
CHAPTERS = "".join(f"# Chapitre {n} & <suite>\n\n## Section {n}\n\n" + ("Texte courant. " * 60 + "\n\n") * 6 for n in range(12))


def opened(data: bytes) -> PdfReader:
    assert data.startswith(b"%PDF-")
    return PdfReader(io.BytesIO(data))


def words(data: bytes) -> str:
    return re.sub(r"\s+", " ", "\n".join(page.extract_text() for page in opened(data).pages))


def test_a_lesson_holds_what_was_written_and_no_markdown():
    """Every letter can be searched and copied, tags are printed as written, and the marks of Markdown are gone."""
    text = words(render_pdf("Les fractions à l'école", LESSON))
    for piece in [
        "fractions à l'école",
        "Règle",
        "élève a reçu",
        "½",
        "cœur",
        "ça fait",
        "π ≤ √16",
        "3 × 4 → 12",
        "ɛ ɔ ŋ",
        "Awa",
        "1/4",
        "f(x)<g(x)>0",
        "List<String>",
        "AT&T",
        "5 < 7",
        "<b>non fermé",
    ]:
        assert piece in text
    assert "**" not in text and "|---" not in text and "##" not in text


def test_a_page_is_light():
    """People pay for every kilobyte."""
    assert len(render_pdf("Les fractions à l'école", LESSON)) < 60_000


def test_the_same_call_gives_the_same_bytes():
    """A call that is repeated after a crash makes the same file, also beside others."""
    with ThreadPoolExecutor(4) as pool:
        made = set(pool.map(lambda _: render_pdf("Leçon", LESSON + "`x` *y*", author="Mme Koné"), range(8)))
    assert len(made) == 1


def test_title_author_and_page_numbers_are_there():
    """They stand on the page and in the file's properties."""
    data = render_pdf("Bilan", "mot " * 1300, author="Mme Koné")
    reader = opened(data)
    assert (reader.metadata.title, reader.metadata.author) == ("Bilan", "Mme Koné")
    assert len(reader.pages) == 2
    assert re.search(r"2\s*/ 2", reader.pages[1].extract_text())


def test_an_item_that_begins_with_something_else_keeps_its_number():
    """A formula stands beside it; a list or code stands below it."""
    text = words(render_pdf("t", "1. a\n2. $$x^2$$\n3. - b\n4. ```\n   code\n   ```\n5.\n6. c"))
    for piece in ["1. a", "2. x²", "3.", "4.", "5.", "6. c"]:
        assert piece in text


def test_landscape_turns_the_page():
    """Wide tables have room."""
    box = opened(render_pdf("t", "x", landscape=True)).pages[0].mediabox
    assert box.width > box.height


def test_a_long_document_has_a_table_of_contents_with_the_right_pages():
    """Each entry names the page its heading stands on, and the outline lists it."""
    reader = opened(render_pdf("Un long document", CHAPTERS))
    first = re.sub(r"[\s.]+", " ", reader.pages[0].extract_text())
    for n in range(12):
        page = next(at for at, p in enumerate(reader.pages, 1) if at > 1 and f"Chapitre {n} & <suite>" in p.extract_text())
        assert f" {page} Chapitre {n} & <suite> {page} Section {n} " in first + " "
    assert [entry.title for entry in reader.outline if not isinstance(entry, list)] == [f"Chapitre {n} & <suite>" for n in range(12)]


def test_a_short_document_has_none():
    """Two pages need no table of contents."""
    assert words(render_pdf("t", "\n\n".join(f"# Chapitre {n}" for n in range(5)))).count("Chapitre 0") == 1


def test_the_header_row_is_repeated_on_every_page():
    """A table of 300 rows goes on under its header."""
    reader = opened(render_pdf("t", "|Compte|Solde|\n|-|-|\n" + "|601|12 500|\n" * 300))
    assert len(reader.pages) > 5
    assert all("Compte" in page.extract_text() for page in reader.pages)


def test_a_cell_longer_than_a_page_goes_on_over_pages():
    """5,000 words in one cell: all of them are printed."""
    text = words(render_pdf("t", "|a|b|\n|-|-|\n|x|" + " ".join(f"m{n}" for n in range(5000)) + "|\n|y|fin|"))
    assert "m4999" in text and "fin" in text
    assert len(re.findall(r"\bm\d+\b", text)) == 5000


def test_numbers_are_not_broken_in_narrow_columns():
    """The words make room for them."""
    row = "|21|Immobilisations incorporelles : logiciels et brevets acquis auprès de tiers" + "|48 750 000" * 5 + "|"
    lines = opened(render_pdf("t", "|N°|Libellé" + "|Amortissements (FCFA)" * 5 + "|\n" + "|-" * 7 + "|\n" + row)).pages[0].extract_text()
    assert lines.count("48 750 000") == 5


def test_a_table_too_wide_for_paper_is_refused_with_advice():
    """The model is told how many columns fit and what to use instead."""
    render_pdf("t", "|" + "c|" * 30 + "\n|" + "-|" * 30)
    with pytest.raises(DocumentError, match="31 columns.*generate_xlsx"):
        render_pdf("t", "|" + "c|" * 31 + "\n|" + "-|" * 31)


def test_no_sign_becomes_a_box():
    """Emoji, flags and letters of other scripts are told in signs and words; pypdf finds no black square and no missing glyph."""
    text = words(render_pdf("📚 Leçon", "👍🏽 ✅ 🍎 🇨🇮 😀 1️⃣ 中 ɓ ẹ́ ☑ “a” … €"))
    assert not re.search("[■□▯�]", text)
    for piece in ["✔", "[pomme]", "CI", "☺", "(U+4E2D)", "ɓ", "ẹ́", "☑", "“a”", "…", "€"]:
        assert piece in text


def test_french_signs_are_never_alone_on_a_line():
    """The space before them does not break, and is found as a space."""
    for width in range(20, 40):
        text = opened(render_pdf("t", "mot " * width + "fin ! 12 500 FCFA")).pages[0].extract_text()
        assert not re.search(r"\n\s*(!|500|FCFA)", text)
        assert "fin !" in text and "12 500 FCFA" in text


def test_arabic_is_joined_and_runs_to_the_left():
    """Letters take their joined shapes and the last word is drawn first."""
    text = words(render_pdf("t", "السلام عليكم"))
    assert "ﻋﻠﻴﻜﻢ ﺍﻟﺴﻼﻡ" in text or "ﺍﻟﺴﻼﻡ ﻋﻠﻴﻜﻢ" in text
    assert [t for t, _ in visual_order([("ﺃ", 1), ("2025", 2), ("ﺏ", 3)], True)] == ["ﺏ", "2025", "ﺃ"]
    assert [t for t, _ in visual_order([("un", 1), ("ﺃ", 2), ("ﺏ", 3), ("deux", 4)], False)] == ["un", "ﺏ", "ﺃ", "deux"]
    assert is_right_to_left("« سلام » dit-il") and not is_right_to_left("il dit سلام")


@pytest.mark.parametrize(
    ("title", "content"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("\x00", "\x0b\ufffe", id="nothing printable"),
        pytest.param("a\x0bb\ud800", "a\x0bb \x1b[0m \uffff \ud800 x", id="control characters and surrogates"),
        pytest.param("t", "| a |\n|---|", id="table without rows"),
        pytest.param("t", "|a|b|\n|-|-|\n|1|\n|1|2|3|\n||", id="ragged rows"),
        pytest.param("t", "m" * 20_000, id="a word longer than a page"),
        pytest.param("t", "|a|\n|-|\n|" + "m" * 20_000 + "|", id="a word longer than a page in a cell"),
        pytest.param("titre " * 300, "# " + "titre " * 2000, id="endless titles"),
        pytest.param("t", "#\n\n##\n\n-\n\n1.\n\n>\n\n```\n```", id="empty blocks"),
        pytest.param("t", "```\n" + "x = 1\n" * 500 + "y" * 3000 + "\n```", id="long code"),
        pytest.param("t", "> " + "mot " * 3000, id="long quote"),
        pytest.param("t", "- " + "mot " * 3000, id="long item"),
        pytest.param("t", "- x\n\n  |a|b|\n  |-|-|\n  |1|" + "mot " * 2000 + "|", id="long cell of a table in a list"),
        pytest.param("t", "\n".join("  " * i + f"- n{i}" for i in range(60)), id="60 levels"),
        pytest.param("t", "###### a\n# b\n#### c", id="headings that skip levels"),
        pytest.param(
            "t",
            '<para><font color="red">x</font> &nbsp; <img src="http://x/y"/> [a"b](https://x.y/?a="b"&c)',
            id="the markup of the library",
        ),
        pytest.param("مرحبا " * 40, "|الاسم|b|\n|-|-|\n|" + "سلام " * 900 + "|**x** سلام|", id="right to left everywhere"),
        pytest.param("t", "$$" + "x+" * 1500 + "1$$", id="long formula"),
        pytest.param("t", "99999999. a\n1. b", id="large numbers"),
    ],
)
def test_odd_content_still_makes_a_document(title, content):
    """Never a crash: an odd text makes an odd document."""
    assert len(opened(render_pdf(title, content)).pages) >= 1


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from("#*_`$|-> \n\\[]()<>&1.abé~!\tس😀\x00\ud800"), max_size=200))
def test_any_text_makes_a_document(text):
    """Whatever a model writes can be opened."""
    assert opened(render_pdf(text, text)).pages


def test_two_thousand_rows_take_seconds():
    """A worker is not kept busy by a long table."""
    started = time.process_time()
    render_pdf("t", "|a|b|c|\n|-|-|-|\n" + "|un|deux mots|12 500|\n" * 2000)
    assert time.process_time() - started < 15
