"""Which delimiters of a line belong together. A sign of calculation, a blank to fill in or a power is never a mark."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import regex


@dataclass(frozen=True)
class Code:
    text: str


@dataclass(frozen=True)
class Link:
    children: tuple
    url: str


@dataclass(frozen=True)
class Mark:
    """*kind* is "bold", "italic" or "strike"; *inside* says that it touches a letter outside, as in "parl**e**"."""

    kind: str
    children: tuple
    inside: bool = False
    depth: int = 1


@dataclass
class Run:
    """Some delimiters in a row, with what stands before and behind them; used up from the inside as pairs are found."""

    sign: str
    count: int
    before: str
    behind: str
    text: str = field(init=False)

    def __post_init__(self):
        self.text = self.sign * self.count


Inline = str | Code | Link | Mark
DEEPEST = 8  # marks inside marks; deeper ones are an accident
ENDING = r"\p{L}{2}$|(?<!\w)\d+$"  # what a marked ending hangs on: parl**ons**, 1**er**


def paired(nodes: list) -> tuple[Inline, ...]:
    """The runs that belong together become marks, the others text again; a lone ** or ~~ at the edge of a word is dropped."""
    at = 0
    while at < len(nodes):
        closer = nodes[at]
        if isinstance(closer, Run) and closer.count and _closes(closer) and (start := _opener(nodes, at)) is not None:
            opener = nodes[start]
            size = 2 if min(opener.count, closer.count) >= 2 else 1
            kind = "strike" if closer.sign == "~" else ("", "italic", "bold")[size]
            children = _settled(nodes[start + 1 : at])
            apart = closer.behind.isalnum() and not _flat(children)[-1].isalnum()  # "**Note :**text" lacks a blank
            touching = opener.before.isalnum() or (closer.behind.isalnum() and not apart)
            nodes[at + 1 : at + 1] = [" "] * apart
            nodes[start + 1 : at] = [Mark(kind, children, touching, _depth(children) + 1)]
            opener.count -= size
            closer.count -= size
            at = start + 2
            if not closer.count:
                at += 1
        else:
            at += 1
    return _settled(nodes)


def _opens(run: Run) -> bool:
    if not run.behind or run.behind.isspace():
        return False
    if run.sign == "*" and run.before.isalnum() and run.behind.isalpha():
        return True  # perhaps an ending: _fits looks at the content
    return not run.before.isalnum() and not (run.text == "*" and run.before and run.before in ")]}")


def _closes(run: Run) -> bool:
    if not run.before or run.before.isspace():
        return False
    if run.behind.isalnum():
        return run.sign == "*" and len(run.text) > 1 and run.behind.isalpha()
    return not (run.text == "*" and run.behind and run.behind in "([{")


def _flat(nodes: list) -> str:
    """About the text of *nodes*, enough to judge what surrounds a pair."""
    texts = [n if isinstance(n, str) else n.text if isinstance(n, Run | Code) else _flat(n.children) or "x" for n in nodes]
    return "".join(texts)


def _fits(opener: Run, closer: Run, content: str, before: str, behind: str) -> bool:
    """Whether the two runs are a pair of marks around *content*, and not arithmetic, blanks to fill in or powers."""
    if not content.strip():
        return False
    if opener.sign == "~":
        return opener.count == closer.count <= 2
    inside = opener.before.isalnum(), closer.behind.isalnum()
    if inside[0] and not (regex.fullmatch(r"[\p{L}'’-]+", content) and regex.search(ENDING if len(content) > 1 else r"\p{L}{2}$", before)):
        return False
    if inside == (False, True) and opener.sign == "_":
        return False
    if opener.sign == "_" and (content[0] in ")]},.;:!?»" or content[-1] in "([{«,"):
        return False
    digits = regex.search(r"[\d)]\s*$", before) and regex.match(r"\s*[\d(]", content)
    return not (digits and regex.search(r"[\d)]\s*$", content) and regex.match(r"\s*[\d(]", behind))


def _opener(nodes: list, at: int) -> int | None:
    """The place of the run that the one at *at* closes: among the nearest that could be it, the first that fits."""
    closer = nodes[at]

    def could(run) -> bool:
        return isinstance(run, Run) and run.sign == closer.sign and run.count > 0 and {run.count, closer.count} != {1, 2} and _opens(run)

    for start in islice((n for n in range(at - 1, max(-1, at - 400), -1) if could(nodes[n])), 4):
        run = nodes[start]
        before, behind = _flat(nodes[max(0, start - 8) : start]), _flat(nodes[at + 1 : at + 9])
        if _depth(nodes[start + 1 : at]) < DEEPEST and _fits(run, closer, _flat(nodes[start + 1 : at]), before, behind):
            return start
    return None


def _depth(nodes: Sequence) -> int:
    return max((n.depth for n in nodes if isinstance(n, Mark)), default=0)


def _settled(nodes: list) -> tuple[Inline, ...]:
    out = []
    for node in nodes:
        if isinstance(node, Run):
            stray = node.sign in "*~" and node.count == 2 == len(node.text) and _edge(node)
            node = "" if stray else node.sign * node.count
        if node != "":
            if isinstance(node, str) and out and isinstance(out[-1], str):
                out[-1] += node
            else:
                out.append(node)
    return tuple(out)


def _edge(run: Run) -> bool:
    """At the beginning or the end of a word: a mark whose partner is missing. Between two blanks or two letters it is a sign."""
    before, behind = not run.before or run.before.isspace(), not run.behind or run.behind.isspace()
    return before != behind or (not before and not run.before.isalnum()) != (not behind and not run.behind.isalnum())
