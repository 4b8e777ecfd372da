"""Markdown as blocks, and the cleaning before it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.documents.blocks import LONGEST, Code, Formula, Heading, Listing, Paragraph, Quote, Rule, Run, Table, parse, plain
from bot.documents.clean import clean, clean_line
from bot.documents.signs import drawable
from bot.errors import DocumentError


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        pytest.param("a\x0bb\x00\x1fc", "abc", id="control characters"),
        pytest.param("\x1b[0mrouge\x1b[31m", "rouge", id="terminal colours"),
        pytest.param("a\ud800b", "ab", id="lone surrogate"),
        pytest.param("a\ufffe\uffff\U0001fffeb", "ab", id="non-characters"),
        pytest.param("\ufeffa", "a", id="byte order mark"),
        pytest.param("a\r\nb\rc\u2028d", "a\nb\nc\nd", id="line ends"),
        pytest.param("e\u0301", "é", id="composed accents"),
        pytest.param("a\tb", "a\tb", id="tabs stay"),
        pytest.param("\x0crac{1}{2} \x08eta 3\times4", r"\frac{1}{2} \beta 3\times4", id="backslashes that JSON ate"),
        pytest.param(None, "", id="none"),
        pytest.param(12, "12", id="a number"),
    ],
)
def test_text_is_cleaned_of_what_no_file_can_hold(dirty, cleaned):
    """Nothing visible is lost."""
    assert clean(dirty) == cleaned


def test_a_clean_line_is_one_line():
    """Titles and names have no breaks and no space around."""
    assert clean_line("  a\n b\t c ") == "a b c"


def test_markdown_becomes_blocks():
    """Headings, lists in lists, tables, code, quotes, rules and formulas, in order."""
    blocks = parse("# T\n\n1. un\n   - deux\n2. trois\n\n| a | b |\n|:-:|--|\n| 1 |\n\n```py\nx\n```\n\n> q\n\n---\n\n$$x^2$$")
    assert [type(b) for b in blocks] == [Heading, Listing, Table, Code, Quote, Rule, Formula]
    numbered = blocks[1]
    assert numbered.start == 1 and isinstance(numbered.items[0][1], Listing) and numbered.items[0][1].start is None
    assert blocks[2].aligns == ["center", ""] and [plain(c) for c in blocks[2].rows[0]] == ["1", ""]
    assert blocks[3] == Code("x") and blocks[6] == Formula("x²")


def test_runs_carry_their_style():
    """Bold, italic, code, struck out and linked text are told apart."""
    (paragraph,) = parse("a **b** *c* `d` ~~e~~ [f](https://x.org) ***g***")
    styled = {r.text: r for r in paragraph.runs}
    assert styled["b"].bold and styled["c"].italic and styled["d"].code and styled["e"].strike
    assert styled["f"].link == "https://x.org" and styled["g"] == Run("g", bold=True, italic=True)


@pytest.mark.parametrize(
    "text", ["f(x)<g(x)>0 et List<String>", "a<br>b", "<b>non fermé", "AT&T, 5 < 7", "<script>x</script>", "5 $ et 10 $"]
)
def test_tags_and_signs_are_text(text):
    """What looks like HTML is printed as written."""
    assert parse(text) == [Paragraph([Run(text)])]


def test_a_line_break_in_a_cell_is_a_line_break():
    """Markdown has no other way to write it there."""
    (table,) = parse("|a|\n|-|\n|1<br>2|")
    assert plain(table.rows[0][0]) == "1\n2"


def test_short_lines_end_where_they_were_ended():
    """Writers who do not wrap mean the end of a short line; a long line was wrapped."""
    (verse,), (prose,) = parse("Nom :\nClasse :"), parse("mot " * 15 + "fin\nsuite")
    assert "\n" in plain(verse.runs)
    assert "\n" not in plain(prose.runs)


def test_dangerous_links_are_no_links():
    """Only addresses of the web, of mail and of telephones can be tapped."""
    (paragraph,) = parse("[a](data:text/html,x) [b](file:///etc/passwd) https://c.org/d.")
    assert [r.link for r in paragraph.runs if r.link] == ["https://c.org/d"]


def test_a_first_heading_that_repeats_the_title_is_left_out():
    """The title stands above already."""
    assert parse("# Le  Nil\n\nx", "le nil") == [Paragraph([Run("x")])]
    assert isinstance(parse("# Le Nil 2\n\nx", "le nil")[0], Heading)


@pytest.mark.parametrize(
    "deep", ["\n".join("  " * i + f"- n{i}" for i in range(80)), ">" * 200 + " n79", "- " * 200 + "n79"], ids=["list", "quote", "one line"]
)
def test_nothing_is_lost_in_deep_nesting(deep):
    """The parser stops looking at some depth; the text is kept all the same."""
    assert "n79" in str(parse(deep))


def test_a_text_without_end_is_refused():
    """The error says what to do."""
    with pytest.raises(DocumentError, match="split it"):
        parse("x" * (LONGEST + 1))


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("#*_`$|-> \n\\[]()<>1.ab~!\t\x00é"), max_size=120))
def test_any_text_can_be_parsed(text):
    """Whatever a model writes is some list of blocks."""
    assert isinstance(parse(text), list)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("Bravo 👍🏽", "Bravo ✔", id="skin tones go"),
        pytest.param("❤️", "❤", id="variation selectors go"),
        pytest.param("2️⃣", "2", id="keycaps are digits"),
        pytest.param("🇨🇮", "CI", id="flags are their letters"),
        pytest.param("🍎 + 🍎", "[pomme] + [pomme]", id="things to count are words"),
        pytest.param("𝑥", "x", id="mathematical letters are letters"),
        pytest.param("中", "(U+4E2D)", id="a letter of another script is told by its number"),
    ],
)
def test_signs_without_a_glyph_are_told_in_others(text, told):
    """No emoji is left for the font to draw as a box."""
    assert drawable(text, lambda c: c < "\u2f00") == told
