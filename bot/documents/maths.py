"""LaTeX as a phone can show it: readable Unicode text. Pure, and cheap to import; the channels use it too.

A formula stands between ``$…$``, ``$$…$$``, ``\\(…\\)`` or ``\\[…\\]``, or in a bare ``\\begin{align}…\\end{align}``.
Prices are not formulas.
"""

import re

from bot.documents.latex import to_unicode

__all__ = ["Formula", "formula_at", "replace_maths", "to_unicode"]

DELIMITERS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)", "$": "$"}
ENVIRONMENT = re.compile(r"\\begin\{((?:align|equation|gather|eqnarray|multline|cases|[bpvBV]?matrix|array)\*?)\}")
OPENERS = re.compile(r"\$|\\[\[(]|\\begin\{|`")
CODE = re.compile(r"(?s)(`{3,})(?!`).*?(?:\1|\Z)|(`{1,2})(?!`).+?(?<!`)\2(?!`)")
LONGEST = 4000  # characters of one formula; beyond it a stray sign has met another one far away

Formula = tuple[int, str, bool]  # where it ends in the text, the LaTeX between its signs, whether it stands on a line of its own


def _is_price(text: str, start: int, end: int, latex: str) -> bool:
    """Whether the single dollars at *start* and before *end* are money or plain signs. pandoc's rule: no space inside (unless it is
    clearly LaTeX), no digit beside; and one more for "entre $5 et 10$": several words and no sign of calculation are prose."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before.isalnum() or before == "\\" or after.isalnum() or "\n\n" in latex:
        return True
    if latex[0].isspace() or latex[-1].isspace():
        return not re.search(r"\\[A-Za-z]|[\^_=]", latex)
    return not re.search(r"[\\^_=<>+*/|(){}≤≥×÷−-]", latex) and " " in latex


def formula_at(text: str, start: int) -> Formula | None:
    """The formula whose first sign stands at *start*, or None when no formula begins there."""
    if opened := ENVIRONMENT.match(text, start):
        close = f"\\end{{{opened[1]}}}"
        end = text.find(close, start, start + LONGEST)
        return (end + len(close), text[start : end + len(close)], True) if end > 0 else None
    sign = next((s for s in DELIMITERS if text.startswith(s, start)), None)
    if sign is None or (start and text[start - 1] == "\\" and sign[0] == "\\"):
        return None
    inside = start + len(sign)
    close = text.find(DELIMITERS[sign], inside, inside + LONGEST)
    while sign == "$" and close > 0 and text[close - 1] == "\\":
        close = text.find("$", close + 1, inside + LONGEST)
    if close < 0:
        return None
    end, latex = close + len(DELIMITERS[sign]), text[inside:close]
    if not latex.strip() or (sign == "$" and _is_price(text, start, end, latex)):
        return None
    return end, latex.strip(), sign in ("$$", "\\[")


def replace_maths(text: str) -> str:
    """*text* with every formula as Unicode; code between backticks and prices ("5 $ et 10 $") stay as they are."""
    parts, done, at = [], 0, 0
    while sign := OPENERS.search(text, at):
        at = sign.start()
        if sign[0] == "`":
            code = CODE.match(text, at)
            at = code.end() if code else at + len(re.match("`+", text[at:])[0])
        elif found := formula_at(text, at):
            end, latex, _ = found
            parts += [text[done:at], to_unicode(latex)]
            done = at = end
        else:
            at += 2 if text.startswith("$$", at) else 1
    return "".join(parts) + text[done:]
