"""Names of generated files."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.documents.names import safe_filename


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        pytest.param("fractions.pdf", "fractions.pdf", id="plain"),
        pytest.param("Leçon d'œuvre : été", "Lecon-d-oeuvre-ete.pdf", id="accents and ligatures become letters"),
        pytest.param("ɛ ɔ ŋ", "e-o-n.pdf", id="African letters become letters"),
        pytest.param("../../etc/passwd", "passwd.pdf", id="path upwards"),
        pytest.param("..\\..\\x.pdf", "x.pdf", id="Windows path"),
        pytest.param("/etc/x", "x.pdf", id="absolute path"),
        pytest.param("../static/js/app.js", "app.pdf", id="another extension is replaced"),
        pytest.param("x.pdf.exe", "x.pdf", id="two extensions"),
        pytest.param("a\0.pdf", "a.pdf", id="NUL"),
        pytest.param("CON", "CON_.pdf", id="device name"),
        pytest.param("nul.tar", "nul_tar.pdf", id="device name with an extension"),
        pytest.param("é" * 300 + ".pdf", "e" * 20 + ".pdf", id="300 letters"),
        pytest.param("...htaccess", "htaccess.pdf", id="leading dots"),
        pytest.param("-rf", "rf.pdf", id="leading hyphen"),
        pytest.param("", "fiche.pdf", id="empty"),
        pytest.param(".", "fiche.pdf", id="a dot"),
        pytest.param("العربية", "fiche.pdf", id="nothing that ASCII can say"),
        pytest.param(None, "fiche.pdf", id="none"),
    ],
)
def test_a_wanted_name_becomes_a_safe_one(wanted, name):
    """What was wanted is kept as far as it is harmless, and the extension is always the one of the type made."""
    assert safe_filename(wanted, "pdf", fallback="fiche") == name


def test_a_useless_fallback_is_made_safe_as_well():
    """The fallback goes through the same rules, and there is a last word after it."""
    assert safe_filename("", "xlsx", fallback="../é") == "e.xlsx"
    assert safe_filename("", ".XLSX", fallback="...") == "document.xlsx"


@settings(deadline=None)
@given(st.text(), st.text())
def test_every_name_is_short_plain_and_visible(wanted, fallback):
    """Whatever is asked for: ASCII, 1 to 20 characters before the extension, no dot or hyphen first, no device."""
    name = safe_filename(wanted, "pdf", fallback=fallback)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,19}\.pdf", name)
    assert ".." not in name
    assert not re.match(r"(con|prn|aux|nul|com\d|lpt\d)\.", name, re.I)
