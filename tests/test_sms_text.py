"""One Markdown answer as a feature phone shows it, and what it costs."""

import json
import re
import unicodedata
from pathlib import Path

import pytest
import regex
from answers import ANSWER, PIECES, words
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels import sms
from bot.channels.segments import encoding, fits, segments
from bot.channels.transliteration import EMOJI, transliterate
from bot.texts import say

OUTSIDE = json.loads(Path(__file__).with_name("data").joinpath("more.json").read_text(encoding="utf-8"))["gsm_outside_french"]
SENTENCES = ". ".join(" ".join(f"mot{i:04d}" for i in range(n, n + 10)) for n in range(0, 600, 10))
TABLE = """
| Pays | Capitale | Population |
|:---|:---:|---:|
| **CI** | Yamoussoukro | 29 M |
| SN | `Dakar` | 18 M |
| BJ | Porto-Novo |
"""
FILL = "Les élèves révisent à la maison avec une méthode très sûre. "  # holds û: two segments as it is, one in GSM-7


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**Règle** : ~~faux~~ `x=1` ```py\na**b\n```", "Règle : faux x=1 py\na**b"),
        ("2 * 3 = 6 et 5 * 4 = 20", "2 * 3 = 6 et 5 * 4 = 20"),
        ("a_b_c", "a_b_c"),
        ("f(x)=x^2 < 5 & y > 3", "f(x)=x^2 < 5 & y > 3"),
        ("2*3*4", "2*3*4"),
        ("x**2 + y**2", "x**2 + y**2"),
        ("500 F*", "500 F*"),
        ("Le chat ____ la souris", "Le chat ____ la souris"),
        ("# Titre\n\n**gras** *ital* ~~barré~~ ***deux***", "Titre\n\ngras ital barré deux"),
        ("je parl**e**", "je parle"),
        ("* un\n* deux\n  * trois mots", "- un\n- deux\n - trois mots"),
        ("> cité\n>> encore", "cité\nencore"),
        ("1. **un**\n2. deux", "1. un\n2. deux"),
        ("```py\nx = 2**3\n  y\n```", "x = 2**3\n  y"),
        ("```markdown\n# T\n- **a**\n```", "T\n- a"),
        ("[ici](https://a.org/b_c) et <https://d.org>", "ici (https://a.org/b_c) et https://d.org"),
        ("  12\n+ 15\n----\n  27", "  12\n+ 15\n----\n  27"),
        ("avant\n\n---\n\naprès", "avant\n\naprès"),
        ("a  \nb\t\nc", "a\nb\nc"),
        ("a\r\nb", "a\nb"),
        ("e\u0301le\u0300ve", "élève"),
        ("a<br>b &amp; c", "a\nb & c"),
        ("$x^2 \\le 5$", "x² ≤ 5"),
        ("`$x$`", "$x$"),
        ("", ""),
        ("\n", ""),
        ("a\x00b", "ab"),
        ("un | deux", "un | deux"),
        (
            TABLE,
            "Pays: CI; Capitale: Yamoussoukro; Population: 29 M\nPays: SN; Capitale: Dakar; Population: 18 M\n"
            "Pays: BJ; Capitale: Porto-Novo; Population: -",
        ),
        ("| | Sing. | Plur. |\n|---|---|---|\n| 1re | suis | sommes |", "1re; Sing.: suis; Plur.: sommes"),
        ("| x | 1 | 2 | 3 |\n|---|---|---|---|\n| 1 | 1 | 2 | 3 |", "x 1 2 3\n1 1 2 3"),
        ("| A | B |\n|---|---|", "A; B"),
    ],
    ids=lambda text: ascii(text)[1:40],
)
def test_markdown_becomes_plain_text(markdown, shown):
    assert sms.dress(markdown) == shown
    assert sms.pages(markdown) == (((shown,),) if shown else ())


@pytest.mark.parametrize(
    "text", ["Ça va ?", "L’élève a gagné… « bravo » → 5 × 3 = 15 ²", "œuvre ç ê ô û", "Très bien 😀", "30 °C", "a\u00a0b", "5 ≤ x"]
)
def test_a_short_text_keeps_its_letters_because_nothing_is_saved(text):
    assert sms.dress(text) == text


@pytest.mark.parametrize(
    ("sign", "plain"),
    [
        ("ç", "c"),
        ("ê", "e"),
        ("œ", "oe"),
        ("À", "A"),
        ("Ê", "E"),
        ("Œ", "OE"),
        ("î", "i"),
        ("ô", "o"),
        ("û", "u"),
        ("ë", "e"),
        ("ï", "i"),
        ("ÿ", "y"),
        ("â", "a"),
        ("È", "E"),
        ("« oui »", '"oui"'),
        ("«\u00a0oui\u202f»", '"oui"'),
        ("“oui”", '"oui"'),
        ("l’eau", "l'eau"),
        ("…", "..."),
        ("a – b — c", "a - b - c"),
        ("5 m²", "5 m2"),
        ("9,8 m/s²", "9,8 m/s2"),
        ("cm³", "cm3"),
        ("x² + 2x", "x^2 + 2x"),
        ("πr²", "pir^2"),
        ("4ab²", "4ab^2"),
        ("12 km²", "12 km2"),
        ("en m/s", "en m/s"),
        ("3² = 9", "3^2 = 9"),
        ("(a+b)²", "(a+b)^2"),
        ("10⁻³", "10^-3"),
        ("eˣ", "e^x"),
        ("xⁿ⁺¹", "x^(n+1)"),
        ("H₂O", "H2O"),
        ("xₙ", "x_n"),
        ("2 × 3", "2 x 3"),
        ("6 ÷ 2", "6 / 2"),
        ("a → b", "a -> b"),
        ("x ≤ 2", "x <= 2"),
        ("x ≥ 2", "x >= 2"),
        ("x ≠ 2", "x != 2"),
        ("½", "1/2"),
        ("2½", "2 1/2"),
        ("⅓", "1/3"),
        ("√2", "racine 2"),
        ("2√3", "2 racine 3"),
        ("π", "pi"),
        ("2π", "2pi"),
        ("90°", "90 deg"),
        ("30 °C", "30 degC"),
        ("n° 5", "no 5"),
        ("x ∈ ℝ", "x dans R"),
        ("A ∩ B", "A inter B"),
        ("−5", "-5"),
        ("± 2", "+/- 2"),
        ("a·b", "a*b"),
        ("• un", "- un"),
        ("✓ juste", "ok juste"),
        ("✅ Bravo", "ok Bravo"),
        ("❌ faux", "X faux"),
        ("2️⃣ deux", "2 deux"),
        ("🇨🇮", "CI"),
        ("12\u202f000\u00a0F", "12 000 F"),
        ("`", "'"),
        ("ɔ ɛ ŋ", "o e n"),
        ("ñ é è à ù ì ò Ç É", "ñ é è à ù ì ò Ç É"),
        ("ễ", "e"),
        ("ş", "s"),
        ("µm", "um"),
        ("∆", "Δ"),
        ("Bravo 🎉🎉 !", "Bravo !"),
        ("👨‍👩‍👧 famille", "famille"),
        ("∀x", "pour tout x"),
        ("AB ⊥ CD", "AB perp CD"),
    ],
    ids=lambda text: ascii(text)[1:30],
)
def test_a_sign_outside_the_alphabet_is_written_plainly_when_that_saves_a_segment(sign, plain):
    assert sms.dress(FILL + FILL + sign + " fin") == (FILL + FILL).replace("û", "u") + plain + " fin"


@pytest.mark.parametrize("letter", OUTSIDE)
def test_no_letter_or_sign_of_french_makes_a_long_text_expensive(letter):
    assert encoding(sms.dress("a" * 100 + letter + "b")) == "GSM-7"
    assert sms.dress("a" + letter + "b") == "a" + letter + "b"


def test_a_text_that_stays_outside_the_alphabet_keeps_all_its_letters():
    text = "Ça se dit مرحبا en arabe, où l’on écrit de droite à gauche, et c’est très beau à voir. " * 2
    assert sms.dress(text) == text.strip()


def test_seven_hundred_french_characters_cost_at_most_five_segments():
    text = ("Où l’élève reçoit-il l’œuvre ? « Là-bas », répond le maître… Être prêt, c’est déjà réussir à moitié ! 🎉 " * 8)[:700]
    assert segments(text) > 10
    assert segments(sms.dress(text)) <= 5
    pages = sms.pages(text)
    assert len(pages) == 2 and all(len(page) == 1 and fits(page[0], 3) for page in pages)
    assert "SUITE" in pages[0][0] and "SUITE" not in pages[1][0]


def test_a_decomposed_text_costs_what_the_composed_one_does():
    assert sms.dress("e\u0301le\u0300ve " * 16) == ("élève " * 16).strip()
    assert segments(sms.dress("e\u0301le\u0300ve " * 16)) == 1


def bare(message):
    for language in ("fr", "en"):
        message = message.removesuffix("\n" + say(language, "channel.more"))
    return re.sub(r"^\(\d+/\d+\)\s", "", message)


def test_six_hundred_words_arrive_whole_in_order_in_at_most_fifteen_pages():
    pages = sms.pages(SENTENCES)
    assert re.findall(r"mot\d{4}", " ".join(m for page in pages for m in page)) == [f"mot{i:04d}" for i in range(600)]
    assert len(pages) <= 12 and {len(page) for page in pages} == {1}
    assert [m.startswith(f"({n}/{len(pages)}) ") for n, (m,) in enumerate(pages, 1)] == [True] * len(pages)
    assert ["SUITE" in m for (m,) in pages] == [True] * (len(pages) - 1) + [False]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_page_never_costs_more_segments_than_asked_for(n):
    for text in (SENTENCES, FILL * 20, "ç" * 900, "😀" * 300, "€[]" * 400, "مرحبا " * 200, "a" * 2000):
        assert all(fits(m, n) for page in sms.pages(text, segments_per_page=n) for m in page)


def test_exactly_three_segments_are_one_page_and_one_more_letter_is_two():
    assert [len(sms.pages("a" * n)) for n in (459, 460)] == [1, 2]
    assert [len(sms.pages("م" * n)) for n in (201, 202)] == [1, 2]


def test_a_page_is_filled_well():
    pages = sms.pages(FILL * 40)
    assert len(pages) <= -(-len(FILL * 40) // 380)


def skeleton(text):
    """What must arrive, whatever was transliterated: no blanks, plain letters, no pictures."""
    return re.sub(r"\s", "", transliterate(EMOJI.sub("", text)))


@given(st.lists(PIECES, max_size=200).map("".join))
@settings(max_examples=100, deadline=None)
def test_every_page_is_one_message_within_its_segments_and_nothing_but_blanks_is_lost(text):
    pages = sms.pages(text)
    assert all(len(page) == 1 and page[0].strip() and fits(page[0], 3) for page in pages)
    sent = "".join(bare(m) for page in pages for m in page)
    assert skeleton(sent) == skeleton(sms.dress(text))


@given(ANSWER)
@settings(max_examples=200, deadline=None)
def test_an_answer_loses_no_word_and_every_mark(markdown):
    shown = sms.dress(markdown)
    assert shown == unicodedata.normalize("NFC", shown) and not regex.search(r"[ \t]+$", shown, regex.M)
    expected, arrived = list(map(transliterate, words(markdown))), list(map(transliterate, words(shown)))
    assert set(arrived) == set(expected)
    assert arrived == expected or "|---" in markdown
    assert not regex.search(r"[*~`#|]|__|\]\(|^---", regex.sub(r"https://a.org/b_c", "", shown), regex.M), shown


@given(ANSWER)
@settings(max_examples=100, deadline=None)
def test_a_plain_text_stays_as_it_is(markdown):
    once = sms.dress(markdown)
    assert sms.dress(once) == once


@given(st.text())
@settings(max_examples=300)
def test_any_text_can_be_dressed_and_never_costs_more_than_untouched_letters(text):
    shown = sms.dress(text)
    shown.encode("utf-8")
    assert encoding(shown) == "UCS-2" or segments(shown) <= max(segments(text), segments(unicodedata.normalize("NFC", text))) + 1
