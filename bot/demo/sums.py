"""A sum in a person's message, worked out exactly and explained step by step."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from bot.demo import conjugation
from bot.demo.expressions import NotASum, apply, contains_unknown, linear, parse, steps, written
from bot.demo.language import decimal, is_short, number, plain, say

NUMBER = r"(\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
FRACTION = re.compile(r"(?<![\d/])(\d{1,9})\s?/\s?(\d{1,9})(?![\d/])")
SUM = re.compile(r"[\d(\-−–√x][\d\s.,()+\-−–*/×x÷:·^²³\u00a0\u202f]*[\d)x²³]", re.IGNORECASE)
EQUATION = re.compile(r"[\dx(\-][\dx\s.,()+\-−–*/×÷·]*=[\dx\s.,()+\-−–*/×÷·]*[\dx)]", re.IGNORECASE)


@dataclass(frozen=True)
class Solution:
    text: str
    topic: str  # the name of a topic of the bank


def value(text: str) -> Fraction:
    return Fraction(text.replace(" ", "").replace(",", "."))


def solve(text: str, language: str) -> Solution | None:
    """The first kind of sum that is found in the text, or None."""
    text = text.replace("\u00a0", " ").replace("\u202f", " ")
    for attempt in ATTEMPTS:
        try:
            if found := attempt(text, language):
                return found
        except NotASum:
            continue
        except ZeroDivisionError:
            return Solution(say(language, "divide_by_zero"), "fractions")
    return None


# -- equations ----------------------------------------------------------------------------------------------------
def equation(text: str, language: str) -> Solution | None:
    found = EQUATION.search(re.sub(r"\b[yzntab]\b|(?<=\d)[yzntab]\b", "x", text) if "x" not in text.lower() else text)
    if not found or "x" not in found[0].lower():
        return None
    left, right = (parse(side) for side in found[0].split("="))
    if not (contains_unknown(left) or contains_unknown(right)):
        return None
    (a, b), (c, d) = linear(left), linear(right)
    lines = [f"**{written(left, _show(language))} = {written(right, _show(language))}**"]
    if a == c:
        return Solution("\n".join([*lines, say(language, "equation_all" if b == d else "equation_none")]), "equations")
    lines.append(say(language, "equation_group", left=_term(a - c, language), right=number(d - b, language)))
    x = (d - b) / (a - c)
    if a - c != 1:
        lines.append(
            say(language, "equation_divide", by=number(a - c, language), top=number(d - b, language), bottom=_in_brackets(a - c, language))
        )
    lines.append(f"**x = {_result(x, language)}**")
    lines.append(say(language, "equation_check", left=number(a * x + b, language), right=number(c * x + d, language)))
    return Solution("\n".join(lines), "equations")


def _term(a: Fraction, language: str) -> str:
    return {1: "x", -1: "-x"}.get(a, f"{_in_brackets(a, language) if a.denominator > 1 else number(a, language)}x")


def _in_brackets(a: Fraction, language: str) -> str:
    text = number(a, language)
    return f"({text})" if a < 0 or a.denominator > 1 else text


# -- percentages --------------------------------------------------------------------------------------------------
def percentage(text: str, language: str) -> Solution | None:
    flat = plain(text)
    rate = re.search(rf"{NUMBER}\s*(?:%|pour ?cents?|percent)", flat)
    if not rate:
        return None
    other = re.search(NUMBER, flat[: rate.start()] + " " * (rate.end() - rate.start()) + flat[rate.end() :])
    if not other:
        return None
    p, whole = value(rate[1]), value(other[0])
    part = apply("/", apply("*", p, whole), Fraction(100))
    lines = [
        say(
            language,
            "percent_of",
            p=decimal(p, language),
            whole=decimal(whole, language),
            product=decimal(p * whole, language),
            part=_result(part, language),
        )
    ]
    down = re.search(r"reduc|remise|baiss|solde|rabais|promo|moins|diminu|discount|off\b|reduc|less|decreas|cheaper", flat)
    up = re.search(r"augment|hausse|majoration|de plus|increas|raise|tva|interet|benefice", flat)
    if down or up:
        total = whole - part if down else whole + part
        lines.append(
            say(
                language,
                "percent_down" if down else "percent_up",
                whole=decimal(whole, language),
                part=_result(part, language),
                total=_result(total, language),
            )
        )
    return Solution("\n".join(lines), "pourcentages")


# -- fractions ----------------------------------------------------------------------------------------------------
def comparison(text: str, language: str) -> Solution | None:
    found = FRACTION.findall(text)
    if len(found) != 2 or not re.search(r"compar|plus grande?|plus petite?|larger|bigger|greater|smaller|range|order", plain(text)):
        return None
    (a, b), (c, d) = [(int(top), int(bottom)) for top, bottom in found]
    first, second = Fraction(a, b), Fraction(c, d)
    common = lcm(b, d)
    sign = "<" if first < second else ">" if first > second else "="
    return Solution(
        say(language, "compare", first=f"{a}/{b}", second=f"{c}/{d}", common=common, a=a * common // b, c=c * common // d, sign=sign),
        "fractions",
    )


def simplification(text: str, language: str) -> Solution | None:
    found = FRACTION.findall(text)
    asked = re.search(r"simplif|irreductible|reduis|reduire|reduce|lowest terms|simplest", plain(text))
    alone = FRACTION.fullmatch(text.strip(" ?!=."))
    if len(found) != 1 or not (asked or alone):
        return None
    a, b = map(int, found[0])
    result, shared = Fraction(a, b), gcd(a, b)
    if shared == 1:
        text = say(language, "already_simple", a=a, b=b)
    else:
        text = say(language, "simplify", a=a, b=b, shared=shared, result=number(result, language))
    return Solution(f"{text}\n{say(language, 'as_decimal', value=_approx(result, language))}", "fractions")


def fraction_pair(tree, language: str) -> str | None:
    """The school method for two fractions, when the sum is just that."""
    if not (isinstance(tree, tuple) and tree[0] in "+-*/" and all(isinstance(part, Fraction) for part in tree[1:])):
        return None
    operator, first, second = tree
    if first.denominator == second.denominator == 1 or min(first, second) <= 0:
        return None
    result = apply(operator, first, second)
    a, b, c, d = first.numerator, first.denominator, second.numerator, second.denominator
    if operator in "+-":
        common = lcm(b, d)
        left, right = a * common // b, c * common // d
        top = left + right if operator == "+" else left - right
        raw = f"{top}/{common}"
        text = say(
            language,
            "same_bottom" if b == d else "common_bottom",
            a=a,
            b=b,
            c=c,
            d=d,
            common=common,
            left=left,
            right=right,
            sign={"+": "+", "-": "-"}[operator],
            raw=raw,
        )
    else:
        top, bottom = (a * c, b * d) if operator == "*" else (a * d, b * c)
        raw = f"{top}/{bottom}"
        text = say(language, "fraction_times" if operator == "*" else "fraction_divided", a=a, b=b, c=c, d=d, raw=raw)
    if raw != number(result, language):
        text += "\n" + say(language, "simplified", raw=raw, result=number(result, language))
    return text


# -- everything with numbers and signs ----------------------------------------------------------------------------
def arithmetic(text: str, language: str) -> Solution | None:
    if re.search(r"\d{1,2}/\d{1,2}/\d{2,4}|\d{2,4}-\d{1,2}-\d{1,2}\b|\+\d{8,}", text):
        return None  # a date, a phone number
    for found in sorted(SUM.findall(text), key=len, reverse=True):
        if re.fullmatch(r"\s*\d{1,2}:\d{2}\s*", found) or not re.search(r"[-+*/×x÷:·^²³−–]", found.strip()[1:], re.IGNORECASE):
            continue
        tree = parse(found)
        if isinstance(tree, Fraction) or contains_unknown(tree):
            continue
        stages = steps(tree)
        decimals = bool(re.search(r"\d[.,]\d", found))
        show = _show(language, decimals)
        whole = all(n.denominator == 1 for n in _numbers(tree))
        topic = "tables" if whole and tree[0] == "*" else "decimaux" if decimals else "fractions"
        special = fraction_pair(tree, language) if not decimals else None
        result = stages[-1]
        shown = decimal(result, language) if decimals and is_short(result) else _result(result, language)
        end = f"**{written(stages[0], show)} = {shown}**"
        if special:
            return Solution(f"{special}\n{end}", topic)
        middle = [f"{'=' if n else ''} {written(stage, show)}".strip() for n, stage in enumerate(stages[:-1])] if len(stages) > 2 else []
        return Solution("\n".join([*middle, end]), topic)
    return None


def _numbers(tree) -> list[Fraction]:
    if isinstance(tree, Fraction):
        return [tree]
    return [n for part in tree[1:] for n in _numbers(part)] if isinstance(tree, tuple) else []


def _show(language: str, decimals: bool = False) -> Callable[[Fraction], str]:
    return lambda n: decimal(n, language) if decimals and is_short(n) else number(n, language)


def _approx(n: Fraction, language: str) -> str:
    return ("= " if is_short(n) else "≈ ") + decimal(n, language)


def _result(n: Fraction, language: str) -> str:
    """A result with, for a fraction, its decimal value beside it."""
    if n.denominator == 1:
        return number(n, language)
    if is_short(n) and n.denominator > 12:
        return decimal(n, language)
    return f"{number(n, language)} ({_approx(n, language)})"


# -- tables and verbs ---------------------------------------------------------------------------------------------
def times_table(text: str, language: str) -> Solution | None:
    flat = plain(text)
    found = re.search(r"tables? (?:de multiplication )?(?:de |des |du |d')?(\d{1,2})\b|(\d{1,2}) times? tables?", flat)
    if not found or not 1 <= (n := int(found[1] or found[2])) <= 20:
        return None
    rows = "\n".join(f"{n} × {k} = {n * k}" for k in range(1, 11))
    return Solution(f"{say(language, 'table', n=n)}\n{rows}", "tables")


def conjugated(text: str, language: str) -> Solution | None:
    if not re.search(r"conjug|au (present|futur|imparfait|passe)", plain(text)):
        return None
    lower = text.lower().replace("’", "'")
    verb = next(
        (
            w
            for w in re.findall(r"[a-zàâçéèêëîïôûœ]+", lower)
            if w.endswith(("er", "ir"))
            and conjugation.is_regular(w)
            and w not in ("conjuguer", "aider", "expliquer", "donner", "réviser", "préparer")
            or w in conjugation.BANK
        ),
        None,
    )
    if not verb:
        return None
    flat = plain(text)
    tense = next((t for t in conjugation.TENSES if plain(t) in flat), "présent")
    return Solution(say(language, "conjugation", verb=verb, tense=tense) + "\n" + "\n".join(conjugation.table(verb, tense)), "conjugaison")


def rule_of_three(text: str, language: str) -> Solution | None:
    """3 mangues coûtent 450 F, combien coûtent 5 mangues ?"""
    flat = plain(text)
    asks = re.search(r"combien|quel prix|how much|how many", flat)
    if "%" in flat or not asks or not re.search(r"cout|vaut|valent|pay|paie|prix|cost|price|pour\b|for\b", flat):
        return None
    found = re.findall(rf"{NUMBER}\s*([a-z]+)?", flat)
    if len(found) != 3:
        return None
    numbers, things = [value(n) for n, _ in found], [unit.rstrip("s") for _, unit in found]
    if things[0] == things[2] != things[1]:  # 3 mangoes cost 450 F, how much do 5 mangoes cost?
        count, cost, wanted = numbers
    elif things[1] == things[2] != things[0]:  # I paid 450 F for 3 mangoes, how much for 5 mangoes?
        cost, count, wanted = numbers
    elif things[0] == things[1] != things[2]:  # how much do 5 mangoes cost when 3 mangoes cost 450 F?
        wanted, count, cost = numbers
    else:
        return None
    one = apply("/", cost, count)
    return Solution(
        say(
            language,
            "rule_of_three",
            count=decimal(count, language),
            cost=decimal(cost, language),
            one=_result(one, language),
            wanted=decimal(wanted, language),
            total=_result(apply("*", one, wanted), language),
        ),
        "proportionnalite",
    )


ATTEMPTS = (conjugated, times_table, rule_of_three, percentage, equation, comparison, simplification, arithmetic)
