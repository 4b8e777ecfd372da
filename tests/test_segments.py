"""What an SMS costs."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels import segments as gsm
from bot.channels import sms

VECTORS = json.loads(Path(__file__).with_name("data").joinpath("sms.json").read_text(encoding="utf-8"))["sms"]
MORE = json.loads(Path(__file__).with_name("data").joinpath("more.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: f"{row['text'][:8]}x{len(row['text'])}")
def test_a_text_costs_what_twilios_calculator_says(row):
    text = sms.dress(row["text"]) if row["smart_encoding"] else row["text"]
    assert (gsm.encoding(text), gsm.segments(text)) == (row["encoding"], row["segments"])


RAINBOW, FLAG, KEYCAP, ZALGO = "🏳️‍🌈", "🇮🇹", "2️⃣", "e\u0301\u0302\u0303"


@pytest.mark.parametrize(
    ("text", "alphabet", "cost"),
    [
        ("", "GSM-7", 1),
        ("a" * 160, "GSM-7", 1),
        ("a" * 161, "GSM-7", 2),
        ("a" * 306, "GSM-7", 2),
        ("a" * 307, "GSM-7", 3),
        ("😜" + "a" * 68, "UCS-2", 1),
        ("😜" + "a" * 69, "UCS-2", 2),
        ("😜" + "ç" * 132, "UCS-2", 2),
        ("😜" + "ç" * 133, "UCS-2", 3),
        (FLAG + "a" * 66, "UCS-2", 1),
        (FLAG + "a" * 67, "UCS-2", 2),
        (RAINBOW + "a" * 64, "UCS-2", 1),
        (RAINBOW + "a" * 65, "UCS-2", 2),
        *[(sign + "a" * n, "GSM-7", 1 + (n > 158)) for sign in "|^€{}[]~\\" for n in (158, 159)],
        *[(letter * n, "UCS-2", 1 + (n > 70)) for letter in "ÁÚúçíÍóÓ" for n in (70, 71)],
        ("😀" + "]" * 68, "UCS-2", 1),
        ("😀" + "]" * 69, "UCS-2", 2),
        ("\rabcde\r\n123", "GSM-7", 1),
        ("\nabcde\n\n123\n", "GSM-7", 1),
        (ZALGO + "a" * 66, "UCS-2", 1),
        (ZALGO + "a" * 67, "UCS-2", 2),
        ("a" * 159 + "ç", "UCS-2", 3),
        ("€" * 80, "GSM-7", 1),
        ("€" * 81, "GSM-7", 2),
        ("l’eleve " * 20, "UCS-2", 3),
        ("a" * 1600, "GSM-7", 11),
        ("ç" * 1600, "UCS-2", 24),
        ("a" * 161, "GSM-7", 2),
        ("ç" * 71, "UCS-2", 2),
        # a pair, a surrogate pair or a grapheme at the edge of a segment moves to the next one as a whole
        ("a" * 152 + "€" + "a" * 152, "GSM-7", 3),
        ("a" * 153 + "€" + "a" * 151, "GSM-7", 2),
        ("ç" * 66 + "😜" + "ç" * 66, "UCS-2", 3),
        ("ç" * 67 + "😜" + "ç" * 65, "UCS-2", 2),
        ("ç" * 65 + KEYCAP + "ç" * 66, "UCS-2", 3),
        ("ç" * 64 + KEYCAP + "ç" * 67, "UCS-2", 2),
        ("ç" * 66 + "\r\n" + "ç" * 66, "UCS-2", 2),
        ("a" + "\u0301" * 200, "UCS-2", 3),
    ],
    ids=lambda value: f"{value[:6]!r}x{len(value)}" if isinstance(value, str) and len(value) > 5 else None,
)
def test_segments_are_counted_as_carriers_fill_them(text, alphabet, cost):
    assert (gsm.encoding(text), gsm.segments(text)) == (alphabet, cost)
    assert gsm.fits(text, cost) and not gsm.fits(text, cost - 1)


@pytest.mark.parametrize("letter", MORE["gsm_inside_french"])
def test_letters_in_the_alphabet_stay_cheap(letter):
    assert gsm.encoding("a" + letter) == "GSM-7"


@pytest.mark.parametrize("letter", MORE["gsm_outside_french"])
def test_one_letter_outside_the_alphabet_turns_the_whole_text(letter):
    assert gsm.encoding("a" + letter) == "UCS-2"
    assert gsm.segments("a" * 159 + letter) == 3


@given(st.text())
def test_units_are_the_length_in_utf_16(text):
    assert gsm.units(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less_than_its_beginning(text, more):
    assert gsm.encoding(text) != gsm.encoding(text + more) or gsm.segments(text + more) >= gsm.segments(text)


@given(st.text(st.sampled_from("aé€ç😜\r\n\u0301")))
def test_the_segments_hold_the_text_and_waste_less_than_a_grapheme_each(text):
    alphabet = gsm.encoding(text)
    size = gsm.units(text) if alphabet == "UCS-2" else len(text) + sum(c in gsm.EXTENDED for c in text)
    assert size <= gsm.segments(text) * gsm.ONE[alphabet]
