"""The bank of school topics: one TOML file for each, in topics/. See `Topic` for what a file holds."""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from bot.demo import exercises
from bot.demo.exercises import Exercise
from bot.demo.language import plain

FOLDER = Path(__file__).parent / "topics"


@dataclass(frozen=True)
class Topic:
    """
    *words* holds, for each language, a title, a label (the title in the middle of a sentence), an explanation of at most 700
    characters and a brief one for SMS. *keywords* are plain (no accents, lower case) beginnings of words or phrases; *exercises* are
    kinds of `exercises.KINDS`; *questions* and *statements* are in French.
    """

    name: str
    subject: str
    difficulty: str  # easy, medium or hard
    words: dict[str, dict[str, str]]
    keywords: tuple[str, ...]
    exercises: tuple[str, ...]
    questions: tuple[Exercise, ...]
    statements: tuple[Exercise, ...]

    def title(self, language: str) -> str:
        return self.words[language]["title"]

    def label(self, language: str) -> str:
        return self.words[language]["label"]

    def explanation(self, language: str, brief: bool = False) -> str:
        return self.words[language]["brief" if brief else "explanation"].strip()

    def lesson(self, language: str, brief: bool = False) -> str:
        """The explanation under its title, by which a later message recognises it."""
        return f"**{self.title(language)}**\n{self.explanation(language, brief)}"


@cache
def bank() -> dict[str, Topic]:
    """Every topic by its name, in the order of the file names."""
    return {path.stem: _load(path) for path in sorted(FOLDER.glob("*.toml"))}


def _load(path: Path) -> Topic:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Topic(
        name=path.stem,
        subject=data["subject"],
        difficulty=data["difficulty"],
        words={"fr": {name: data[name] for name in ("title", "label", "explanation", "brief")}, "en": data["en"]},
        keywords=tuple(plain(k) for k in data["keywords"]),
        exercises=tuple(data.get("exercises", ())),
        questions=tuple(Exercise(q["question"], tuple(q["options"]), q["answer"], q["why"]) for q in data.get("questions", ())),
        statements=tuple(Exercise(s["text"], (), 0, s["why"], s["true"]) for s in data.get("statements", ())),
    )


def find(text: str) -> Topic | None:
    """The topic the text speaks of: the one with the longest keyword in it."""
    flat = plain(text)
    found = [
        (len(keyword), topic.name)
        for topic in bank().values()
        for keyword in topic.keywords
        if re.search(rf"(?<![a-z]){re.escape(keyword)}", flat)
    ]
    return bank()[max(found)[1]] if found else None


def named_in(text: str) -> Topic | None:
    """The topic whose title stands in a text of ours."""
    found = [
        (text.rfind(title), topic.name) for topic in bank().values() for language in topic.words if (title := topic.title(language)) in text
    ]
    return bank()[max(found)[1]] if found else None


def seed_of(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256("\x00".join(map(str, parts)).encode()).digest()[:8], "big")


def exercise(topic: Topic, seed: int, language: str, statements: bool) -> Exercise:
    """A question on the topic; with *statements*, it may be a statement to judge true or false."""
    random = Random(seed)
    stored = topic.questions + (topic.statements if statements else ())
    choices = [*topic.exercises] * 2 + ([*stored] if language == "fr" or not topic.exercises else [])  # the stored ones are in French
    chosen = random.choice(choices)
    return exercises.make(chosen, seed, language) if isinstance(chosen, str) else _shuffled(chosen, random)


def _shuffled(question: Exercise, random: Random) -> Exercise:
    """The options of a stored question in another order."""
    options = list(question.options)
    random.shuffle(options)
    index = options.index(question.options[question.correct_index]) if options else 0
    return Exercise(question.question, tuple(options), index, question.explanation, question.truth)
