"""Markdown inside a line: what is surely a mark becomes structure, everything else stays as it was written.

Not CommonMark on purpose: ``2*3*4``, ``x**2 + y**2``, ``a_b_c``, ``____`` and ``5 < x`` are school, not marks; "parl**e**" has one.
"""
import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import regex

from bot.documents.maths import formula_at, to_unicode


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
class _Run:
    """Some delimiters in a row, with what stands before and behind them; used up from the inside as pairs are found."""

    sign: str
    count: int
    before: str
    behind: str
    text: str = field(init=False)

    def __post_init__(self):
        self.text = self.sign * self.count


DEEPEST = 8  # marks inside marks; deeper ones are an accident
Inline = str | Code | Link | Mark
URL = regex.compile(r"(?:https?://|www\.)[^\s<>\"«»`]*[^\s<>\"«»`.,;:!?…'’*~]")
DUNDER = regex.compile(r"__(?:init|main|name|str|repr|len|file|doc|dict|class|call|iter|next|enter|exit|getitem|setitem|eq|add|new|all)__")
ADDRESS = r"\(\s*<?((?:[^\s()<>`]|\([^\s()<>`]*\))*)>?(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\s*\)"
LINK = regex.compile(r"!?\[((?:[^\[\]\\]|\\.|!?\[[^\[\]\n]*\](?:\([^()\s]*\))?)*)\]" + ADDRESS)
WHERE = regex.compile(r"(?i)$|[a-z]+:|www\.|[/#.]|[\w.-]+@|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}")  # f[i](x) and [0;1](ouvert) are no links
REFERENCE = regex.compile(r"!?\[([^\[\]\n]+)\]\[([^\[\]\n]*)\]")
AUTOLINK = regex.compile(r"<((?:https?://|mailto:)[^\s<>`]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>")
ENTITY = regex.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
TAG = regex.compile(r"(?i)<(b|strong|i|em|u|s|del|strike|sub|sup|p|div|span|center|small|big|mark|kbd|code)(?:\s[^<>\n]*)?>")
BREAK = regex.compile(r"(?i)<br\s*/?>\n?")
COMMENT = regex.compile(r"<!--.*?-->", regex.DOTALL)
ESCAPE = regex.compile(r"\\([!-/:-@\[-`{-~])")
TICKS = regex.compile(r"`+")
RUN = regex.compile(r"\*+|_+|~+")
PLAIN = regex.compile(r"[^\\`$<&\[!*_~hw]+|[hw!&]|.", regex.DOTALL)
LOOSE = regex.compile(r"^\*\* +([^*\n]*\p{L}{2}[^*\n]*?) *\*\*(?!\w)")  # "** Important **" at the beginning: bold in every reader's eyes
TAGGED = {"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "s": "strike", "del": "strike", "strike": "strike"}
ENDING = r"\p{L}{2}$|(?<!\w)\d+$"  # what a marked ending hangs on: parl**ons**, 1**er**
SUPER = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
SUB = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def inline(text: str, references: dict[str, str] | None = None) -> tuple[Inline, ...]:
    """*text* (a paragraph, a cell, a title) as plain strings, code, links and marks. Formulas are Unicode text already."""
    text = LOOSE.sub(r"**\1**", text)
    nodes, at = [], 0
    while at < len(text):
        node, at = _next(text, at, references or {})
        if isinstance(node, str) and nodes and isinstance(nodes[-1], str):
            nodes[-1] += node
        else:
            nodes.append(node)
    return _paired(nodes)


def _next(text: str, at: int, references: dict[str, str]) -> tuple[Inline | _Run, int]:
    """What begins at *at*, and where it ends."""
    sign = text[at]
    if sign in "$\\" and (formula := formula_at(text, at)):
        return to_unicode(formula[1]), formula[0]
    if sign == "\\":
        if text.startswith("\\\n", at):
            return "\n", at + 2
        if escaped := ESCAPE.match(text, at):
            return escaped[1], escaped.end()
    if sign == "`":
        return code_span(text, at)
    if sign in "[!" and (found := LINK.match(text, at)) and WHERE.match(found[2]):
        return Link(inline(found[1], references), found[2]), found.end()
    if sign in "[!" and (found := REFERENCE.match(text, at)) and (url := references.get((found[2] or found[1]).casefold())):
        return Link(inline(found[1], references), url), found.end()
    if sign == "<" and (found := _html(text, at, references)):
        return found
    if sign == "&" and (found := ENTITY.match(text, at)):
        return html.unescape(found[0]), found.end()
    if sign in "hw" and not text[max(0, at - 1):at].isalnum() and (found := URL.match(text, at)):
        url = found[0]
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1]
        return Link((), url), at + len(url)
    if sign == "_" and (found := DUNDER.match(text, at)):
        return found[0], found.end()
    if sign in "*_~":
        end = RUN.match(text, at).end()
        return (_Run(sign, end - at, text[max(0, at - 1):at], text[end:end + 1]) if end - at <= 3 else text[at:end]), end
    end = PLAIN.match(text, at).end()
    return text[at:end], end


def code_span(text: str, at: int) -> tuple[Inline, int]:
    """A code span is closed by as many backticks as opened it. Three or more that are never closed are dropped."""
    opened = TICKS.match(text, at)
    for closed in TICKS.finditer(text, opened.end()):
        if len(closed[0]) == len(opened[0]):
            return Code(text[opened.end():closed.start()]), closed.end()
    return ("" if len(opened[0]) > 2 else opened[0]), opened.end()


def _html(text: str, at: int, references: dict[str, str]) -> tuple[Inline, int] | None:
    """The few tags that models mix into Markdown. Any other < is a sign like others."""
    if found := AUTOLINK.match(text, at):
        return Link((), found[1]), found.end()
    if found := BREAK.match(text, at):
        return "\n", found.end()
    if found := COMMENT.match(text, at):
        return "", found.end()
    tag = TAG.match(text, at)
    if not tag:
        return None
    name = tag[1].lower()
    close = regex.compile(rf"(?i)</{name}\s*>").search(text, tag.end())
    if not close:
        return None
    content = text[tag.end():close.start()]
    if name == "code":
        return Code(html.unescape(content)), close.end()
    if name in ("sub", "sup"):
        return _raised(content, SUPER if name == "sup" else SUB, "^" if name == "sup" else "_"), close.end()
    return Mark(TAGGED.get(name, "none"), inline(content, references)), close.end()


def _raised(content: str, table: dict, sign: str) -> str:
    content = content.strip()
    if content and all(ord(c) in table for c in content):
        return content.translate(table)
    if content in ("e", "er", "re", "ère", "nd", "nde", "ème", "th", "st", "rd", "o"):  # 1<sup>er</sup>
        return content
    return f"{sign}{content}" if len(content) < 2 else f"{sign}({content})"


# -- pairs of delimiters --------------------------------------------------------------------------------------------

def _opens(run: _Run) -> bool:
    if not run.behind or run.behind.isspace():
        return False
    if run.sign == "*" and run.before.isalnum() and run.behind.isalpha():
        return True  # perhaps an ending: _fits looks at the content
    return not run.before.isalnum() and not (run.text == "*" and run.before and run.before in ")]}")


def _closes(run: _Run) -> bool:
    if not run.before or run.before.isspace():
        return False
    if run.behind.isalnum():
        return run.sign == "*" and len(run.text) > 1 and run.behind.isalpha()
    return not (run.text == "*" and run.behind and run.behind in "([{")


def _flat(nodes: list) -> str:
    """About the text of *nodes*, enough to judge what surrounds a pair."""
    texts = [n if isinstance(n, str) else n.text if isinstance(n, _Run | Code) else _flat(n.children) or "x" for n in nodes]
    return "".join(texts)


def _fits(opener: _Run, closer: _Run, content: str, before: str, behind: str) -> bool:
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


def _paired(nodes: list) -> tuple[Inline, ...]:
    """The runs that belong together become marks, the others text again; a lone ** or ~~ at the edge of a word is dropped."""
    at = 0
    while at < len(nodes):
        closer = nodes[at]
        if isinstance(closer, _Run) and closer.count and _closes(closer) and (start := _opener(nodes, at)) is not None:
            opener = nodes[start]
            size = 2 if min(opener.count, closer.count) >= 2 else 1
            kind = "strike" if closer.sign == "~" else ("", "italic", "bold")[size]
            children = _settled(nodes[start + 1:at])
            apart = closer.behind.isalnum() and not _flat(children)[-1].isalnum()  # "**Note :**text" lacks a blank
            touching = opener.before.isalnum() or (closer.behind.isalnum() and not apart)
            nodes[at + 1:at + 1] = [" "] * apart
            nodes[start + 1:at] = [Mark(kind, children, touching, _depth(children) + 1)]
            opener.count -= size
            closer.count -= size
            at = start + 2
            if not closer.count:
                at += 1
        else:
            at += 1
    return _settled(nodes)


def _opener(nodes: list, at: int) -> int | None:
    """The place of the run that the one at *at* closes: among the nearest that could be it, the first that fits."""
    closer = nodes[at]

    def could(run) -> bool:
        return isinstance(run, _Run) and run.sign == closer.sign and run.count > 0 and {run.count, closer.count} != {1, 2} and _opens(run)
    for start in islice((n for n in range(at - 1, max(-1, at - 400), -1) if could(nodes[n])), 4):
        run = nodes[start]
        before, behind = _flat(nodes[max(0, start - 8):start]), _flat(nodes[at + 1:at + 9])
        if _depth(nodes[start + 1:at]) < DEEPEST and _fits(run, closer, _flat(nodes[start + 1:at]), before, behind):
            return start
    return None


def _depth(nodes: Sequence) -> int:
    return max((n.depth for n in nodes if isinstance(n, Mark)), default=0)


def _settled(nodes: list) -> tuple[Inline, ...]:
    out = []
    for node in nodes:
        if isinstance(node, _Run):
            stray = node.sign in "*~" and node.count == 2 == len(node.text) and _edge(node)
            node = "" if stray else node.sign * node.count
        if node != "":
            if isinstance(node, str) and out and isinstance(out[-1], str):
                out[-1] += node
            else:
                out.append(node)
    return tuple(out)


def _edge(run: _Run) -> bool:
    """At the beginning or the end of a word: a mark whose partner is missing. Between two blanks or two letters it is a sign."""
    before, behind = not run.before or run.before.isspace(), not run.behind or run.behind.isspace()
    return before != behind or (not before and not run.before.isalnum()) != (not behind and not run.behind.isalnum())
