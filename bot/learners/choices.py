"""Quiz prompts with numbers, and what people type to answer them."""

import unicodedata
from collections.abc import Sequence

import regex

from bot.texts import say

LETTERS = "abcdefgh"  # a quiz has at most four options; a few more letters are still read as an answer, out of range
BEFORE = frozenset(
    "c est cest ce sera serait la le l les ma mon reponse rep option choix numero num no n lettre je j dis choisis prends pense crois "  # noqa: SIM905
    "que qu moi donc alors bien euh ok oui it s is its the my answer choice number letter i think say choose pick".split()
)
BEHIND = frozenset(
    {
        "reponse",
        "option",
        "choix",
        "answer",
        "je",
        "crois",
        "pense",
        "moi",
        "stp",
        "svp",
        "merci",
        "s",
        "il",
        "te",
        "vous",
        "plait",
        "please",
        "i",
        "think",
    }
)
ORDINALS = {
    "un": 0,
    "une": 0,
    "one": 0,
    "premier": 0,
    "premiere": 0,
    "first": 0,
    "deux": 1,
    "two": 1,
    "deuxieme": 1,
    "second": 1,
    "seconde": 1,
    "trois": 2,
    "three": 2,
    "troisieme": 2,
    "third": 2,
    "quatre": 3,
    "four": 3,
    "quatrieme": 3,
    "fourth": 3,
}
KEYCAP = regex.compile("[\ufe0f\u20e3]")
BARE_NUMBER = regex.compile(r"[\s(\[#]*(\d{1,3})[\s)\].:!?;,°-]*")
POWER = regex.compile(r"[^\s²³¹⁰-⁹][⁰-⁹²³¹]|[½¼¾⅐-⅞]")  # 2² and 1½ are no positions, though NFKC writes them with plain digits
AROUND = regex.compile(r"^[\s*_~`\"«“\[]+|[\s*_~`\"»”\]]+$")
CALCULATION = regex.compile(r"[+−*/×÷^=<>%€$√]\s*\d|\d\s*[+−*/×÷^=<>%€$]|(?<!\w\s?)-\s*\d|\d\s*[-.,:]\s*\d")  # or an amount, an hour
TRUE = frozenset({"vrai", "vraie", "v", "true", "t", "oui", "o", "yes", "juste"})
FALSE = frozenset({"faux", "fausse", "f", "false", "non", "no", "n"})
ARGUED = regex.compile(r"(?:c'est )?(vrai|faux|true|false) ?[,.;:!]")  # "Vrai, parce que…"


def _folded(text: str) -> str:
    """NFKC, lower case, no accents, single blanks; digits of any script as ASCII."""
    text = KEYCAP.sub("", text.replace("🔟", "10"))
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold().replace("œ", "oe").replace("æ", "ae"))
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text if not unicodedata.combining(c))
    return " ".join(text.replace("’", "'").split())


def _words(text: str) -> list[str]:
    return regex.findall(r"[^\W_]+", _folded(text))


def _core(words: list[str]) -> list[str]:
    """The words without the phrase around them: "je pense que c'est la 2" is ["2"]."""
    start, end = 0, len(words)
    while start < end - 1 and words[start] in BEFORE:
        start += 1
    while end - 1 > start and words[end - 1] in BEHIND:
        end -= 1
    return words[start:end]


READINGS = (  # from the strictest to the freest way of comparing an answer with an option
    lambda text: " ".join(unicodedata.normalize("NFC", text).casefold().split()),
    lambda text: _folded(text).replace(" ", ""),
    lambda text: "".join(_words(text)),
    lambda text: "".join(_core(_words(text))),
)


def _own_text(text: str, options: Sequence[str]) -> int | None:
    """The option that *text* repeats, if it is exactly one; signs count before they are ignored ("-2" is not "2")."""
    for reading in READINGS:
        said = reading(text)
        found = [n for n, option in enumerate(options) if said and reading(option) == said]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def read_choice(text: str, options: Sequence[str]) -> int | None:
    """
    The zero-based index of the choice in *text*, as typed: it may lie outside the options ("7" of 3 is 6, "0" is -1).
    None when the text is no answer. A bare number within 1..n is the position, even when an option has that text.
    """
    if POWER.search(text):
        return _own_text(text, options)
    folded = AROUND.sub("", _folded(text))
    number = BARE_NUMBER.fullmatch(folded)
    if number and 1 <= int(number[1]) <= len(options):
        return int(number[1]) - 1
    own = _own_text(text, options)
    if own is not None:
        return own
    if number:
        return int(number[1]) - 1
    if CALCULATION.search(folded):
        return None
    words = _core(_words(text))
    if len(words) == 1:
        return _position(words[0], len(options))
    position = _position(words[0], len(options)) if words and words[0] not in ORDINALS else None
    if position is not None and 0 <= position < len(options) and _words(options[position]) == words[1:]:
        return position  # "2. Yamoussoukro"
    return None


def _position(word: str, count: int) -> int | None:
    if regex.fullmatch(r"\d{1,3}", word):
        return int(word) - 1
    if len(word) == 1 and word in LETTERS + "ijklmnopqrstuvwxyz"[: max(0, count - len(LETTERS))]:
        return ord(word) - ord("a")
    return ORDINALS.get(word)


def read_truth(text: str) -> bool | None:
    """True or False for an answer to a true/false question (also by the number or letter of the prompt), None when it is none."""
    words = _core(_words(text))
    if (argued := ARGUED.match(_folded(text))) and not {argued[1], *words[1:]} >= {"vrai", "faux"}:
        words = [argued[1]]
    if len(words) == 2 and words[0] in ("pas", "not"):
        words, negated = words[1:], True
    else:
        negated = False
    if len(words) == 1 and words[0] in TRUE | FALSE:
        return (words[0] in TRUE) != negated
    position = None if negated else read_choice(text, ["vrai", "faux"])
    return {0: True, 1: False}.get(position)


def _list(numbers: Sequence[str], language: str) -> str:
    return ", ".join(numbers[:-1]) + say(language, "quiz.or") + numbers[-1] if len(numbers) > 1 else numbers[0]


def numbered(question: str, options: Sequence[str], language: str) -> str:
    """The prompt of a question: its text, one line for each option, all alike, and how to answer. Markdown, for the channel to dress."""
    lines = [f"{n}) {' '.join(option.split())}" for n, option in enumerate(options, 1)]
    how = say(language, "quiz.how", numbers=_list([str(n) for n in range(1, len(options) + 1)], language))
    return "\n".join([question.strip(), *lines, how])


def true_false_prompt(statement: str, language: str) -> str:
    """The prompt of a true/false question, numbered in the same way."""
    question = f"{say(language, 'quiz.true_or_false')}\n{statement.strip()}"
    return numbered(question, [say(language, "quiz.true"), say(language, "quiz.false")], language)
