"""A tool's name is its file, its function, its schema's name, its case and its test file; every event and text is used."""

import ast
import re
from pathlib import Path

import pytest

from bot.conversation.events import KINDS
from bot.texts import say
from tools import dispatch, modes, offered

ROOT = Path(__file__).parents[1]
TOOLS = set(offered.SCHEMAS)
NOT_TOOLS = {"__init__", "context", "dispatch", "modes", "offered", "making"}
TESTED_ELSEWHERE = {"interactive_quiz": "test_quiz", "true_false_quiz": "test_quiz"}


def cases(function: str) -> dict[str, ast.match_case]:
    tree = ast.parse((ROOT / "tools/dispatch.py").read_text())
    body = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function)
    return {
        c.pattern.value.value: c
        for n in ast.walk(body)
        if isinstance(n, ast.Match)
        for c in n.cases
        if isinstance(c.pattern, ast.MatchValue)
    }


def test_there_are_twenty_four_tools():
    """Files, schemas and cases name the same twenty-four tools."""
    files = {p.stem for p in (ROOT / "tools").glob("*.py")} - NOT_TOOLS
    assert len(TOOLS) == 24
    assert files == TOOLS == set(cases("run_tool"))
    assert dispatch.ONCE <= TOOLS and modes.ADULT <= TOOLS and modes.ACTING <= TOOLS


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_has_one_name_everywhere(name):
    """The file holds a SCHEMA and a function of its name, and a test file bears it too."""
    module = __import__(f"tools.{name}", fromlist=[name])
    assert module.SCHEMA["name"] == name and callable(getattr(module, name))
    assert (ROOT / "tests" / f"{TESTED_ELSEWHERE.get(name, f'test_tool_{name}')}.py").exists()


@pytest.mark.parametrize(("name", "case"), cases("run_tool").items())
def test_a_case_has_no_if(name, case):
    """A case shows what the tool is given, and decides nothing."""
    assert len(case.body) == 1 and isinstance(case.body[0], ast.Return)
    assert not any(isinstance(n, ast.If | ast.IfExp) for n in ast.walk(case))


def test_modes():
    """A child has 22 tools, a professional 24, a guest none."""
    assert [len(offered.to(mode)) for mode in ("child", "pro", "guest")] == [22, 24, 0]


def test_every_event_kind_is_folded():
    """The fold has a case for each kind of event."""
    source = (ROOT / "bot/conversation/fold.py").read_text()
    assert all(re.search(rf"\b{kind}\(\)", source) for kind in KINDS)


@pytest.mark.parametrize(
    "reason",
    sorted(
        set(
            re.findall(
                r'Stop\("(\w+)"|StopTurn\([^,]+, "(\w+)"\)',
                "".join((ROOT / f).read_text() for f in ("workers/recovery.py", "bot/conversation/fold.py")),
            )
        )
    ),
)
def test_every_reason_to_stop_has_a_text(reason):
    """Whatever ends a turn is said in French and in English."""
    key = f"stopped.{''.join(reason)}"
    assert say("fr", key) != say("en", key)
