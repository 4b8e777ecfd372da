"""Every text a person reads, by language and key: ``fr.toml`` first, ``en.toml`` with the same keys."""

import tomllib
from functools import cache
from pathlib import Path

DEFAULT = "fr"
LANGUAGES = ("fr", "en")


@cache
def _catalogue(language: str) -> dict:
    return tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8"))


def say(language: str | None, key: str, **values: object) -> str:
    """
    The text at the dotted *key* ("channel.more") with *values* put into its ``{placeholders}``.

    A language without a catalogue falls back to French; "en-GB" is read as "en". KeyError for an unknown key or a missing value.
    """
    tag = (language or DEFAULT).replace("_", "-").split("-")[0].lower()
    found: object = _catalogue(tag if tag in LANGUAGES else DEFAULT)
    for name in key.split("."):
        if not isinstance(found, dict) or name not in found:
            raise KeyError(key)
        found = found[name]
    if not isinstance(found, str):
        raise KeyError(key)
    return found.format(**values)
