"""Markdown inside a line: what is surely a mark becomes structure, everything else stays as it was written.

Not CommonMark on purpose: ``2*3*4``, ``x**2 + y**2``, ``a_b_c``, ``____`` and ``5 < x`` are school, not marks; "parl**e**" has one.
"""

import html

import regex

from bot.channels.emphasis import Code, Inline, Link, Mark, Run, paired
from bot.documents.maths import formula_at, to_unicode

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
    return paired(nodes)


def _next(text: str, at: int, references: dict[str, str]) -> tuple[Inline | Run, int]:
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
    if sign in "hw" and not text[max(0, at - 1) : at].isalnum() and (found := URL.match(text, at)):
        url = found[0]
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1]
        return Link((), url), at + len(url)
    if sign == "_" and (found := DUNDER.match(text, at)):
        return found[0], found.end()
    if sign in "*_~":
        end = RUN.match(text, at).end()
        return (Run(sign, end - at, text[max(0, at - 1) : at], text[end : end + 1]) if end - at <= 3 else text[at:end]), end
    end = PLAIN.match(text, at).end()
    return text[at:end], end


def code_span(text: str, at: int) -> tuple[Inline, int]:
    """A code span is closed by as many backticks as opened it. Three or more that are never closed are dropped."""
    opened = TICKS.match(text, at)
    for closed in TICKS.finditer(text, opened.end()):
        if len(closed[0]) == len(opened[0]):
            return Code(text[opened.end() : closed.start()]), closed.end()
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
    content = text[tag.end() : close.start()]
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
