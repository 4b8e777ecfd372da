"""Right-to-left text for a page that only knows left to right: letters joined, words reordered line by line.

The direction of a word is that of its letters; digits and other scripts inside a right-to-left line keep their own order.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby
from typing import TypeVar

from arabic_reshaper import ArabicReshaper
from bidi.algorithm import get_display

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]")
RESHAPER = ArabicReshaper({"delete_harakat": False, "support_ligatures": True, "ARABIC LIGATURE ALLAH": False})
Word = TypeVar("Word")


def is_right_to_left(text: str) -> bool:
    """Whether the first letter of *text* that has a direction runs from right to left (Unicode rule P2)."""
    for char in text:
        direction = unicodedata.bidirectional(char)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def joined_letters(text: str) -> str:
    """Arabic letters in the shapes they take beside each other."""
    return RESHAPER.reshape(text)


def visual_order(words: Iterable[tuple[str, Word]], right_to_left: bool) -> list[tuple[str, Word]]:
    """One line's (text, anything) pairs from the order of reading to the order of drawing."""
    groups = []
    for turned, group in groupby(words, lambda w: bool(RIGHT_TO_LEFT.search(w[0]))):
        drawn = list(group)
        if turned:  # a full stop after the last word belongs to the line, one between two words to them
            bases = ["R"] * (len(drawn) - 1) + ["R" if right_to_left else "L"]
            drawn = [(get_display(text, base_dir=base), other) for (text, other), base in zip(drawn, bases, strict=True)][::-1]
        groups.append(drawn)
    return [pair for group in (groups[::-1] if right_to_left else groups) for pair in group]
