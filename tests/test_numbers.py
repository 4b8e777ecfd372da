"""Telephone numbers and channel addresses."""

import json
from pathlib import Path

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.numbers import can_be_answered, channel_of, country, mask, normalise, of_address

DATA = Path(__file__).with_name("data")
PHONES = json.loads((DATA / "phone.json").read_text(encoding="utf-8"))["phone"]
EQUIVALENT = json.loads((DATA / "more.json").read_text(encoding="utf-8"))["wa_equivalence"]
CONVERTED = {"+22997123456": "+2290197123456", "+5215512345678": "+525512345678"}  # phonenumbers refuses them, we know their new form


@pytest.mark.parametrize("row", PHONES, ids=lambda row: ascii(row["raw"]))
def test_a_number_is_read_as_phonenumbers_reads_it_once_cleaned(row):
    assert normalise(row["raw"], row["region"]) == CONVERTED.get(row["raw"], row["e164"])


@pytest.mark.parametrize(("number", "variant", "note"), EQUIVALENT, ids=lambda value: value[:12])
def test_two_forms_of_one_number_are_the_same_unless_it_would_be_a_guess(number, variant, note):
    assert normalise(number) == number
    assert normalise(variant) == (None if "cannot be guessed" in note else number)
    assert of_address("whatsapp:" + variant) == normalise(variant)


@pytest.mark.parametrize(
    ("raw", "region", "expected"),
    [
        ("97 12 34 56", "BJ", "+2290197123456"),
        ("+229 97123456", None, "+2290197123456"),
        ("01 97 12 34 56", "BJ", "+2290197123456"),
        ("+2290197123456", None, "+2290197123456"),
        ("+229 01 97 12 34 56", None, "+2290197123456"),
        ("00229 97 12 34 56", None, "+2290197123456"),
        ("+554188887777", None, "+5541988887777"),
        ("+5541988887777", None, "+5541988887777"),
        ("+551133334444", None, "+551133334444"),  # a landline: nothing is put in
        ("+22527200000", None, None),
        ("+22507010203", None, None),
        ("07010203", "CI", None),
        ("+225 07\u202f01\u202f02\u202f03\u202f04", None, "+2250701020304"),
        ("\u202a+225\u00a007 01 02 03 04\u202c", None, "+2250701020304"),
        ("\u200e+2250701020304", None, "+2250701020304"),
        ("(+225) 07-01-02-03-04", None, "+2250701020304"),
        ("07.01.02.03.04", "CI", "+2250701020304"),
        ("002250701020304", None, "+2250701020304"),
        ("2250701020304", "CI", "+2250701020304"),
        ("\uff0b\uff12\uff12\uff15０７０１０２０３０４", None, "+2250701020304"),
        ("+۲۲۵۰۷۰۱۰۲۰۳۰۴", None, "+2250701020304"),
        ("+241066123456", None, "+24166123456"),
        ("066123456", "GA", "+24166123456"),
        ("+221 77 123 45 67", None, "+221771234567"),
        ("+33 (0)6 12 34 56 78", None, "+33612345678"),
        ("0701020304", None, None),
        ("701020304", "SN", "+221701020304"),
        ("", None, None),
        ("+", None, None),
        ("00", None, None),
        ("bonjour", None, None),
        ("+225", None, None),
        ("+2250701020304x", None, None),
        ("+225 07 01 02 03 04 ou 05", None, None),
        ("1" * 400, None, None),
        ("+999123456789", None, None),
        ("CI.13491208655302741918", None, None),
        ("\x00+2250701020304", None, "+2250701020304"),
        ("0701020304", "XX", None),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_number_is_normalised_or_refused(raw, region, expected):
    assert normalise(raw, region) == expected


@given(st.text(st.characters()) | st.text(st.sampled_from("+0123456789 ()-.٢\u202f\u200e")))
def test_normalising_never_fails_and_gives_valid_numbers_that_stay_as_they_are(raw):
    for region in (None, "CI", "BJ"):
        if (number := normalise(raw, region)) is not None:
            assert phonenumbers.is_valid_number(phonenumbers.parse(number)) and normalise(number) == number


@pytest.mark.parametrize(
    ("address", "channel", "number", "answered", "where"),
    [
        ("whatsapp:+2250701020304", "whatsapp", "+2250701020304", True, "CI"),
        ("+2250701020304", "sms", "+2250701020304", True, "CI"),
        ("whatsapp:+22997123456", "whatsapp", "+2290197123456", True, "BJ"),
        ("+2290197123456", "sms", "+2290197123456", True, "BJ"),
        ("whatsapp:+22507010203", "whatsapp", None, True, "CI"),  # an old form: its person is not known, but can be answered
        ("whatsapp:CI.13491208655302741918", "whatsapp", None, True, "CI"),
        ("whatsapp:SN.13491208655302741918", "whatsapp", None, True, "SN"),
        ("whatsapp:CM.ENT.13491208655302741918", "whatsapp", None, True, "CM"),
        ("ORANGE", "sms", None, False, None),
        ("MTN Info", "sms", None, False, None),
        ("98765", "sms", None, False, None),
        ("+98765", "sms", None, False, None),
        ("", "sms", None, False, None),
        ("whatsapp:", "whatsapp", None, False, None),
        ("CI.13491208655302741918", "sms", None, False, "CI"),
        ("whatsapp:foo_bar", "whatsapp", None, False, None),
        ("+14155550100", "sms", "+14155550100", True, "US"),
        ("+33612345678", "sms", "+33612345678", True, "FR"),
    ],
    ids=lambda value: str(value) or "empty",
)
def test_an_address_tells_its_channel_number_and_country_and_whether_it_can_be_answered(address, channel, number, answered, where):
    assert (channel_of(address), of_address(address), can_be_answered(address), country(address)) == (channel, number, answered, where)


@pytest.mark.parametrize(
    "address",
    [
        "whatsapp:+2250701020304",
        "+2250701020304",
        "+22997123456",
        "whatsapp:CI.13491208655302741918",
        "CI.1",
        "98765",
        "ORANGE",
        "",
        "+225",
    ],
)
def test_a_log_never_shows_a_whole_address(address):
    shown = mask(address)
    assert "…" in shown and (not address or address.removeprefix("whatsapp:") not in shown)
    assert sum(c.isdigit() for c in shown) <= 5


@given(st.text())
def test_any_text_can_be_looked_at_as_an_address(address):
    assert channel_of(address) in ("sms", "whatsapp") and isinstance(can_be_answered(address), bool)
    assert country(address) is None or len(country(address)) == 2
    assert len(mask(address)) <= 16 and (of_address(address) or "+")[0] == "+"
