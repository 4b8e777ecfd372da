"""The arrows of the house: workers -> tools -> bot, and inside bot only downwards."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDER = [  # from the bottom to the top; a room may import those before it, and those beside it on one line
    {"bot.errors", "bot.logs"},
    {"bot.texts"},
    {"bot.config", "bot.db"},
    {"bot.services", "bot.valkey", "bot.supervisor", "bot.public_address", "bot.sandbox"},
    {"bot.queues", "bot.migrate", "bot.migrations"},
    {"bot.conversation", "bot.documents"},
    {"bot.channels"},
    {"bot.learners"},
    {"bot.demo"},
    {"bot.web", "bot.doctor", "bot.embedded"},
    {"bot.cli"},
    {"tools"},
    {"workers"},
]
ROOMS = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
LAZY = {("bot.services", "bot.channels.twilio")}
"""Imports inside a function that reach upwards: the Twilio client is made by the services on first use."""
PURE = {"bot/conversation/fold.py", "bot/conversation/prompt.py", "bot/conversation/truncation.py", "workers/pacing.py"}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[0] if parts[0] in ROOMS else ".".join(parts[:2])


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{a.name}" for a in node.names} if node.module == "bot" else {node.module}
            found |= inner
    return {m for m in found if m.split(".")[0] in ("bot", "tools", "workers")}


def modules() -> list[Path]:
    return [
        p
        for folder in ("bot", "tools", "workers")
        for p in sorted((ROOT / folder).rglob("*.py"))
        if p.name != "__init__.py" and "versions" not in p.parts
    ]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_downwards(path):
    """A module imports only what stands below its own room."""
    here = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    level = ROOMS[room_of(here)]
    wrong = {m for m in imports(path) if ROOMS[room_of(m)] > level and (here, m) not in LAZY}
    assert not wrong


@pytest.mark.parametrize("path", sorted(PURE))
def test_the_heart_is_pure(path):
    """The fold and the prompt know no clock, database, network or chance."""
    tree = ast.parse((ROOT / path).read_text())
    names = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    assert not names & {"time", "random", "secrets", "uuid", "os", "sqlalchemy", "requests", "redis", "socket", "bot.db", "bot.services"}
    assert not any(isinstance(n, ast.Attribute) and n.attr in ("now", "today", "utcnow") for n in ast.walk(tree))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_is_called_utils(path):
    """A room is found by its name."""
    assert path.stem not in ("utils", "helpers", "misc", "common")
