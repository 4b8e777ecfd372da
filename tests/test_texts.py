"""The message catalogue."""

import string
import tomllib
from pathlib import Path

import pytest

import bot.texts
from bot.texts import LANGUAGES, say

FOLDER = Path(bot.texts.__file__).parent


def entries(language):
    """Dotted keys and texts of a catalogue."""

    def walk(table, path):
        for key, value in table.items():
            yield from walk(value, [*path, key]) if isinstance(value, dict) else [(".".join([*path, key]), value)]

    return dict(walk(tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8")), []))


def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_catalogue_file_is_a_known_language():
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(LANGUAGES)


def test_both_languages_have_the_same_keys():
    assert set(entries("fr")) == set(entries("en"))


def test_a_text_has_the_same_placeholders_in_both_languages():
    french, english = entries("fr"), entries("en")
    assert {k: placeholders(v) for k, v in french.items()} == {k: placeholders(english[k]) for k in french}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_a_named_string_without_blanks_around_its_lines(language):
    for key, text in entries(language).items():
        assert isinstance(text, str) and text.strip(), key
        assert "" not in placeholders(text), key
        assert not any(line != line.rstrip() for line in text.split("\n")) or key == "quiz.or", key


def test_values_are_put_into_their_places():
    assert say("fr", "quiz.how", numbers="1 ou {2}") == "Réponds par 1 ou {2}."


@pytest.mark.parametrize("language", ["wo", "", None, "FR", "fr-CI", "fr_SN"])
def test_a_language_without_a_catalogue_falls_back_to_french(language):
    assert say(language, "channel.more") == entries("fr")["channel.more"]


@pytest.mark.parametrize("language", ["en", "EN", "en-GB", "en_NG"])
def test_a_region_does_not_matter(language):
    assert say(language, "channel.more") == entries("en")["channel.more"]


@pytest.mark.parametrize("key", ["channel", "channel.nothing", "nothing.more", "channel.more.more", "", "quiz.how"])
def test_an_unknown_key_or_a_missing_value_is_a_key_error(key):
    with pytest.raises(KeyError):
        say("fr", key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_footer_names_the_word_that_brings_the_rest(language):
    assert "SUITE" in say(language, "channel.more")
