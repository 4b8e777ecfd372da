"""Exercises worked out from a seed: the question, the right answer, and the wrong ones that come from usual mistakes."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from random import Random

from bot.demo import conjugation
from bot.demo.language import decimal, grouped, number, say

TRIPLES = ((3, 4, 5), (6, 8, 10), (5, 12, 13), (8, 15, 17), (9, 12, 15), (7, 24, 25), (12, 16, 20), (20, 21, 29))


@dataclass(frozen=True)
class Exercise:
    """*options* holds the right answer once, at *correct_index*. A statement to judge has no options and *truth* instead."""

    question: str
    options: tuple[str, ...]
    correct_index: int
    explanation: str
    truth: bool | None = None


def make(kind: str, seed: int, language: str) -> Exercise:
    """The exercise of this kind (a key of KINDS) for this seed; the same one each time."""
    return KINDS[kind](Random(seed), language)


def _choose(random: Random, name: str, language: str, right: str, wrong: list[str], /, **values) -> Exercise:
    """Put three wrong options, the likeliest first in *wrong*, around the right one."""
    others = list(dict.fromkeys(w for w in wrong if w != right))[:3]
    options = [right, *others]
    random.shuffle(options)
    values["answer"] = right
    question, why = (say(language, f"{part}_{name}", **values) for part in ("ask", "why"))
    return Exercise(question, tuple(options), options.index(right), why)


# -- fractions ----------------------------------------------------------------------------------------------------
def fraction_add(random: Random, language: str) -> Exercise:
    b, d = random.sample((2, 3, 4, 5, 6, 8), 2)
    a, c = random.choice([n for n in range(1, b) if gcd(n, b) == 1]), random.choice([n for n in range(1, d) if gcd(n, d) == 1])
    right, common = Fraction(a, b) + Fraction(c, d), lcm(b, d)
    # added across; tops added over the product; tops added over the common bottom; one too many
    wrong = _fractions(right, [(a + c, b + d), (a + c, b * d), (a + c, common), (a * c, b * d), (right.numerator + 1, right.denominator)])
    return _choose(
        random,
        "fraction_add",
        language,
        number(right, language),
        wrong,
        a=a,
        b=b,
        c=c,
        d=d,
        common=common,
        left=a * common // b,
        right=c * common // d,
    )


def _fractions(right: Fraction, pairs: list[tuple[int, int]]) -> list[str]:
    """These fractions as text, without those that are worth as much as the right one or as one before."""
    seen, found = {right}, []
    for top, bottom in pairs:
        if top > 0 and bottom > 0 and Fraction(top, bottom) not in seen:
            seen.add(Fraction(top, bottom))
            found.append(f"{top}/{bottom}")
    return found


def fraction_compare(random: Random, language: str) -> Exercise:
    while True:
        b, d = random.sample(range(2, 10), 2)
        a, c = random.randrange(1, b), random.randrange(1, d)
        if gcd(a, b) == gcd(c, d) == 1 and Fraction(a, b) != Fraction(c, d):
            break
    first, second, common = f"{a}/{b}", f"{c}/{d}", lcm(b, d)
    right = first if Fraction(a, b) > Fraction(c, d) else second
    values = dict(a=a, b=b, c=c, d=d, common=common, left=a * common // b, right=c * common // d, answer=right)
    options = (first, second, say(language, "they_are_equal"))
    return Exercise(
        say(language, "ask_fraction_compare", **values),
        options,
        options.index(right),
        say(language, "why_fraction_compare", **{**values, "answer": f"{first} {'>' if right == first else '<'} {second}"}),
    )


def fraction_simplify(random: Random, language: str) -> Exercise:
    b = random.randrange(3, 10)
    a = random.choice([n for n in range(1, b) if gcd(n, b) == 1])
    shared = random.choice((2, 3, 4, 5, 6))
    # upside down; the same number taken away from both; only the top divided; only the bottom
    wrong = _fractions(
        Fraction(a, b), [(b, a), (a, b * shared), (a * shared, b), (abs(a * shared - shared) or 1, b * shared - shared), (a + 1, b)]
    )
    return _choose(random, "fraction_simplify", language, f"{a}/{b}", wrong, a=a * shared, b=b * shared, shared=shared)


# -- whole numbers, money and measures ----------------------------------------------------------------------------
def table(random: Random, language: str) -> Exercise:
    a, b = random.randrange(3, 13), random.randrange(3, 11)
    right = a * b
    wrong = [str(n) for n in ((a + 1) * b, a * (b - 1), right + random.choice((-2, 2, 10)), right + 1, a + b)]
    exercise = _choose(random, "table", language, str(right), wrong, a=a, b=b)
    if random.random() < 0.3:
        return Exercise(say(language, "ask_table_market", a=a, b=b), exercise.options, exercise.correct_index, exercise.explanation)
    return exercise


def percent_discount(random: Random, language: str) -> Exercise:
    p, price = random.choice((5, 10, 15, 20, 25, 30, 40)), random.randrange(10, 120) * 200
    part = price * p // 100
    right = price - part
    # the discount itself; added instead of taken away; the percentage taken away as francs; a little off
    return _choose(
        random,
        "percent_discount",
        language,
        _money(right, language),
        [_money(n, language) for n in (part, price + part, price - p, right - 100)],
        p=p,
        price=grouped(price, language),
        part=grouped(part, language),
    )


def percent_of(random: Random, language: str) -> Exercise:
    p, price = random.choice((5, 10, 20, 25, 30, 50, 75)), random.randrange(4, 60) * 100
    right = price * p // 100
    wrong = [grouped(n, language) for n in (price - right, price // p, right * 10, price - p, right + 10)]
    return _choose(random, "percent_of", language, grouped(right, language), wrong, p=p, price=grouped(price, language))


def proportion(random: Random, language: str) -> Exercise:
    n, m = random.sample(range(2, 11), 2)
    one = random.choice((50, 75, 100, 125, 150, 200, 250))
    price, right = n * one, m * one
    # so many more francs as mangoes; the price times the number; the price of one more or less
    wrong = [_money(w, language) for w in (price + m - n, price * m, right + one, right + 25)]
    return _choose(random, "proportion", language, _money(right, language), wrong, n=n, m=m, one=one, price=grouped(price, language))


def _money(amount: int, language: str) -> str:
    return f"{grouped(amount, language)} FCFA"


def rectangle_area(random: Random, language: str) -> Exercise:
    a, b = sorted(random.sample(range(4, 31), 2), reverse=True)
    wrong = [f"{n} m²" for n in (2 * (a + b), a + b, a * b // 2, a * b * 2)]
    return _choose(random, "rectangle_area", language, f"{a * b} m²", wrong, a=a, b=b)


def rectangle_perimeter(random: Random, language: str) -> Exercise:
    a, b = sorted(random.sample(range(4, 31), 2), reverse=True)
    wrong = [f"{n} m" for n in (a + b, a * b, 2 * a + b, 2 * (a + b) + 2)]
    return _choose(random, "rectangle_perimeter", language, f"{2 * (a + b)} m", wrong, a=a, b=b)


def pythagoras(random: Random, language: str) -> Exercise:
    a, b, c = random.choice(TRIPLES)
    wrong = [f"{n} cm" for n in (a + b, a * a + b * b, b - a, c + 1, c - 1) if n > 0]
    return _choose(random, "pythagoras", language, f"{c} cm", wrong, a=a, b=b, c=c, aa=a * a, bb=b * b, cc=c * c)


def equation(random: Random, language: str) -> Exercise:
    a, x = random.randrange(2, 10), random.randrange(1, 13)
    b, plus = random.randrange(1, 16), random.random() < 0.6
    c = a * x + (b if plus else -b)
    moved = a * x
    # the sign kept when the number crosses over; not divided; taken away instead of divided
    wrong = [number(Fraction(c + b if plus else c - b, a), language), str(moved), str(moved - a), str(x + 1), str(x - 1)]
    return _choose(random, "equation", language, str(x), wrong, a=a, b=b, c=c, x=x, sign="+" if plus else "-", moved=moved)


def decimal_add(random: Random, language: str) -> Exercise:
    a, b = random.randrange(11, 99), random.randrange(101, 999)  # tenths and hundredths
    a, b = a + (a % 10 == 0), b + (b % 10 == 0)
    right = Fraction(a, 10) + Fraction(b, 100)
    # the figures after the point added as whole numbers; lined up on the right; one figure off
    units, tail = divmod(a, 10), divmod(b, 100)
    wrong = [Fraction(units[0] + tail[0]) + Fraction(units[1] + tail[1], 100), Fraction(a + b, 100), right + Fraction(1, 10), right + 1]
    return _choose(
        random,
        "decimal_add",
        language,
        decimal(right, language),
        [decimal(w, language) for w in wrong],
        a=decimal(Fraction(a, 10), language),
        b=decimal(Fraction(b, 100), language),
    )


def decimal_compare(random: Random, language: str) -> Exercise:
    unit, tenth = random.randrange(1, 20), random.randrange(3, 10)
    right = Fraction(unit * 10 + tenth, 10)
    # longer is not larger: the others have more figures but fewer tenths
    wrong = [Fraction(unit * 100 + n, 100) for n in random.sample([n for n in range(11, tenth * 10) if n % 10], 2)]
    wrong.append(Fraction(unit * 1000 + random.choice([n for n in range(101, tenth * 100) if n % 10]), 1000))
    return _choose(random, "decimal_compare", language, decimal(right, language), [decimal(w, language) for w in wrong])


def balance(random: Random, language: str) -> Exercise:
    assets, stock, cash = (random.randrange(low, high) * 50_000 for low, high in ((10, 40), (4, 20), (2, 10)))
    total = assets + stock + cash
    debts = random.randrange(2, total // 100_000) * 50_000
    right = total - debts
    wrong = [_money(n, language) for n in (total + debts, total, total - 2 * cash, right + 50_000)]
    values = {name: grouped(n, language) for name, n in dict(assets=assets, stock=stock, cash=cash, debts=debts, total=total).items()}
    return _choose(random, "balance", language, _money(right, language), wrong, **values)


# -- verbs --------------------------------------------------------------------------------------------------------
def conjugate(random: Random, language: str) -> Exercise:
    verb, tense, person = random.choice(conjugation.BANK), random.choice(conjugation.TENSES[:3]), random.randrange(6)
    right = conjugation.conjugate(verb, tense, person)
    forms = [conjugation.conjugate(verb, tense, other) for other in range(6)]
    forms += [conjugation.conjugate(verb, other, person) for other in conjugation.TENSES[:3]]
    random.shuffle(forms)
    pronoun = "j'" if person == 0 and right[0] in conjugation.VOWELS else conjugation.PRONOUNS[person]
    return _choose(random, "conjugation", language, right, forms, verb=verb, tense=tense, pronoun=pronoun)


KINDS: dict[str, Callable[[Random, str], Exercise]] = {
    "fraction_add": fraction_add,
    "fraction_compare": fraction_compare,
    "fraction_simplify": fraction_simplify,
    "table": table,
    "percent_discount": percent_discount,
    "percent_of": percent_of,
    "proportion": proportion,
    "rectangle_area": rectangle_area,
    "rectangle_perimeter": rectangle_perimeter,
    "pythagoras": pythagoras,
    "equation": equation,
    "decimal_add": decimal_add,
    "decimal_compare": decimal_compare,
    "balance": balance,
    "conjugation": conjugate,
}
