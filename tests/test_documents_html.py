"""Web pages and Markdown files."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.documents.html import render_html
from bot.documents.markdown_file import render_md
from bot.errors import DocumentError


def body(content, title="Titre"):
    page = render_html(title, content).decode()
    return page[page.index("<body>") : page.index("</body>")]


def test_html_is_sanitised_and_kept():
    """Scripts and events are gone, words stay."""
    page = render_html("Page", "<h1>Été</h1><script>alert(1)</script><p onclick='x()'>texte</p>")
    assert b"<script" not in page and b"onclick" not in page and b"alert" not in page
    assert "<h1>Été</h1><p>texte</p>" in page.decode()


@pytest.mark.parametrize(
    "evil",
    [
        "<p><img src=http://x/y.png></p>",
        "<p><img src=x onerror=alert(1)></p>",
        "<p><a href='javascript:alert(1)'>x</a></p>",
        "<p><a href='data:text/html,<script>'>x</a></p>",
        "<div><iframe src='http://x'></iframe></div>",
        "<div><svg onload=alert(1)></svg></div>",
        "<p style='background:url(http://x)'>x</p>",
        "<div><form action='http://x'><input></form></div>",
        "<p>x</p><style>@import 'http://x'</style>",
        "<div><object data='http://x'></object><embed src='http://x'></div>",
        "<p><base href='http://x'><meta http-equiv=refresh content='0;http://x'>",
        '<p><img alt="x><script>alert(1)</script>"></p>',
        '<p><a title="$&quot; onmouseover=alert(1) x=&quot;$">x</a></p>',
        "<p><![CDATA[<script>alert(1)</script>]]>",
        "<p><scr<script>ipt>alert(1)</script>",
        "[x](javascript:alert(1))",
        "<p><math><mtext><style><img src=x onerror=alert(1)>",
    ],
)
def test_nothing_runs_and_nothing_is_fetched(evil):
    """Neither by tag nor by attribute, style or address; the policy forbids it once more."""
    page = body(evil)
    tags = re.findall(r"<(/?[a-zA-Z]+)([^<>]*)>", page)
    assert not {name.lower() for name, _ in tags} & {
        "script",
        "style",
        "iframe",
        "svg",
        "form",
        "input",
        "object",
        "embed",
        "base",
        "meta",
        "math",
    }
    for _, attributes in tags:
        bare = re.sub(r'"[^"]*"', '""', attributes)
        assert not re.search(r"\bon\w+=|style=|src=", bare)
        assert not re.search(r'href="(javascript|data):', attributes)
    assert b"default-src 'none'" in render_html("t", evil)


def test_a_picture_within_the_page_stays():
    """The page is one file."""
    assert 'src="data:image/png;base64,AAAA"' in body("<p><img src='data:image/png;base64,AAAA'></p>")


def test_markdown_becomes_a_page():
    """Headings, lists, tables, code and formulas; tags are printed as written."""
    page = body(
        "## Un\n\n- **a**\n  1. b\n\n|x|y|\n|-|-|\n|1|Awa|\n\n```\n<c>\n```\n\n$\\frac{1}{2}$ List<String> <b>non fermé"
        "\n\n> q\n\n[l](https://x.org?a=1&b=2)"
    )
    for piece in [
        '<h1 dir="auto">Titre</h1>',
        '<h2 id="s1" dir="auto">Un</h2>',
        "<strong>a</strong>",
        '<td class="right" dir="auto">1</td>',
        "<code>&lt;c&gt;</code>",
        "1/2 List&lt;String&gt; &lt;b&gt;non fermé",
        "<blockquote>",
        'href="https://x.org?a=1&amp;b=2"',
    ]:
        assert piece in page


def test_formulas_in_html_are_shown_except_in_code():
    """The text is the same as in Markdown."""
    assert body("<p>$a &lt; b^2$ <code>$x^2$</code></p>").endswith("<p>a &lt; b² <code>$x^2$</code></p>\n")


def test_the_page_is_made_for_a_phone():
    """It has its own style, the width of the screen and a language."""
    page = render_html("Le titre <1>", "x").decode()
    assert 'name="viewport" content="width=device-width' in page and "<title>Le titre &lt;1&gt;</title>" in page
    assert not re.search(r'(src|href)="?http', page)


def test_a_long_page_has_a_table_of_contents():
    """Its links lead to headings that are there."""
    page = body("".join(f"# Chapitre {n}\n\n" + "Texte. " * 600 + "\n\n" for n in range(6)))
    targets = re.findall(r'href="#(s\d+)"', page)
    assert len(targets) == 6 and all(f'id="{t}"' in page for t in targets)
    assert "<nav>" not in body("# a\n\n# b\n\n# c\n\n# d")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\x00\ud800\uffff",
        "<p>",
        "<p>a<p>b",
        "<div",
        "<!doctype html><html><body>x",
        "<p>" + "<" * 20_000,
        "<p>" + "<code" * 20_000,
        "<p>" + "$" * 20_000,
    ],
    ids=lambda c: repr(c[:12]),
)
def test_odd_content_still_makes_a_page(content):
    """Never a crash, and in no time."""
    started = time.process_time()
    assert render_html("", content).endswith(b"</html>\n")
    assert time.process_time() - started < 3


def test_tags_without_end_are_refused():
    """Sanitising a hundred thousand open tags would keep a worker busy."""
    with pytest.raises(DocumentError, match="300 tags"):
        render_html("t", "<div>" * 100_000)


def test_files_that_are_too_big_are_refused():
    """The model is told to split them."""
    with pytest.raises(DocumentError, match="split"):
        render_html("t", "<p>" + "x" * 2_100_000)
    with pytest.raises(DocumentError, match="split"):
        render_md("t", "x" * 5_100_000)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from("<>/=\"'& pdivscrtonlk$\\^#*\n"), max_size=120))
def test_no_text_brings_a_script_in(text):
    """Whatever is written, alone or inside a paragraph."""
    for content in (text, f"<p>{text}</p>"):
        assert not re.search(r"<script|<[^<>\"]*(\"[^\"]*\"[^<>\"]*)*\son\w+=", body(content))


@pytest.mark.parametrize(
    ("title", "content", "written"),
    [
        pytest.param("Note", "# Été\n\n- un", "# Été\n\n- un\n", id="as written"),
        pytest.param("Note", "un", "# Note\n\nun\n", id="with the title it lacks"),
        pytest.param("", "un\x0b\ud800", "un\n", id="cleaned"),
        pytest.param("", "", "\n", id="empty"),
        pytest.param("t", "# a\r\nb", "# a\nb\n", id="one kind of line end"),
    ],
)
def test_a_markdown_file_is_the_text(title, content, written):
    """Nothing is changed but what no file should hold."""
    assert render_md(title, content).decode() == written
