"""Every exercise of the demo model has one right answer, worked out again here in another way."""

import re
from fractions import Fraction

import pytest

from bot.demo import conjugation, exercises, topics

SEEDS = range(200)


def numbers(text):
    return [int(n.replace(" ", "")) for n in re.findall(r"\d{1,3}(?: \d{3})+|\d+", text)]


def fractions(text):
    return [Fraction(f) for f in re.findall(r"\d+/\d+", text)]


def money(option):
    return numbers(option)[0]


def check_fraction_add(e):
    return {sum(fractions(e.question))}, [Fraction(o) for o in e.options]


def check_fraction_compare(e):
    first, second = fractions(e.question)
    return {max(first, second)}, [Fraction(o) if "/" in o else first == second for o in e.options]


def check_fraction_simplify(e):
    wanted = fractions(e.question)[0]
    return {wanted}, [Fraction(o) for o in e.options]


def check_table(e):
    a, b = numbers(e.question)
    return {a * b}, [int(o) for o in e.options]


def check_percent_discount(e):
    price, p = numbers(e.question)
    return {price - Fraction(price * p, 100)}, [money(o) for o in e.options]


def check_percent_of(e):
    p, price = numbers(e.question)
    return {Fraction(price * p, 100)}, [money(o) for o in e.options]


def check_proportion(e):
    n, price, m = numbers(e.question)
    return {Fraction(price, n) * m}, [money(o) for o in e.options]


def check_area(e):
    a, b = numbers(e.question)
    return {a * b}, [int(o.removesuffix(" m²")) for o in e.options]


def check_perimeter(e):
    a, b = numbers(e.question)
    return {2 * (a + b)}, [int(o.removesuffix(" m")) for o in e.options]


def check_pythagoras(e):
    a, b = numbers(e.question)
    return {a * a + b * b}, [int(o.removesuffix(" cm")) ** 2 for o in e.options]


def check_equation(e):
    a, sign, b, c = re.search(r"(\d+)x ([+-]) (\d+) = (-?\d+)", e.question).groups()
    return {int(c)}, [int(a) * Fraction(o) + int(sign + b) for o in e.options]


def decimals(text):
    return [Fraction(n.replace(",", ".")) for n in re.findall(r"\d+(?:,\d+)?", text)]


def check_decimal_add(e):
    return {sum(decimals(e.question))}, [decimals(o)[0] for o in e.options]


def check_decimal_compare(e):
    values = [decimals(o)[0] for o in e.options]
    return {max(values)}, values


def check_balance(e):
    assets, stock, cash, debts = numbers(e.question)
    return {assets + stock + cash - debts}, [money(o) for o in e.options]


FORMS = {  # written out by hand, independent of the rules
    "parler": {
        "présent": "parle parles parle parlons parlez parlent",
        "imparfait": "parlais parlais parlait parlions parliez parlaient",
        "futur": "parlerai parleras parlera parlerons parlerez parleront",
    },
    "manger": {
        "présent": "mange manges mange mangeons mangez mangent",
        "imparfait": "mangeais mangeais mangeait mangions mangiez mangeaient",
        "futur": "mangerai mangeras mangera mangerons mangerez mangeront",
    },
    "commencer": {
        "présent": "commence commences commence commençons commencez commencent",
        "imparfait": "commençais commençais commençait commencions commenciez commençaient",
        "futur": "commencerai commenceras commencera commencerons commencerez commenceront",
    },
    "finir": {
        "présent": "finis finis finit finissons finissez finissent",
        "imparfait": "finissais finissais finissait finissions finissiez finissaient",
        "futur": "finirai finiras finira finirons finirez finiront",
    },
}
CHECKS = {
    "fraction_add": check_fraction_add,
    "fraction_compare": check_fraction_compare,
    "fraction_simplify": check_fraction_simplify,
    "table": check_table,
    "percent_discount": check_percent_discount,
    "percent_of": check_percent_of,
    "proportion": check_proportion,
    "rectangle_area": check_area,
    "rectangle_perimeter": check_perimeter,
    "pythagoras": check_pythagoras,
    "equation": check_equation,
    "decimal_add": check_decimal_add,
    "decimal_compare": check_decimal_compare,
    "balance": check_balance,
}


def test_every_kind_of_exercise_is_checked_here():
    assert {*CHECKS, "conjugation"} == set(exercises.KINDS)
    assert {kind for topic in topics.bank().values() for kind in topic.exercises} == set(exercises.KINDS)


@pytest.mark.parametrize("kind", CHECKS)
def test_the_right_option_and_only_that_one_is_right(kind):
    for seed in SEEDS:
        exercise = exercises.make(kind, seed, "fr")
        right, values = CHECKS[kind](exercise)
        are_right = [value in right and value is not True for value in values]
        assert are_right == [n == exercise.correct_index for n in range(len(values))], exercise
        assert 3 <= len(exercise.options) == len(set(exercise.options)) <= 4, exercise


def test_the_right_answer_of_a_simplification_is_in_lowest_terms():
    for seed in SEEDS:
        exercise = exercises.make("fraction_simplify", seed, "fr")
        right = exercise.options[exercise.correct_index]
        assert right == f"{Fraction(right).numerator}/{Fraction(right).denominator}"


@pytest.mark.parametrize("verb", FORMS)
@pytest.mark.parametrize("tense", conjugation.TENSES[:3])
def test_regular_verbs_are_conjugated_as_in_the_book(verb, tense):
    assert [conjugation.conjugate(verb, tense, person) for person in range(6)] == FORMS[verb][tense].split()


def test_the_right_verb_form_is_the_only_one_that_fits_the_pronoun():
    for seed in SEEDS:
        exercise = exercises.make("conjugation", seed, "fr")
        tense, pronoun, verb = re.search(r"au (.+) : « (.+?) … » \(verbe (.+)\)", exercise.question).groups()
        person = 0 if pronoun == "j'" else conjugation.PRONOUNS.index(pronoun)
        fits = [option == conjugation.conjugate(verb, tense, person) for option in exercise.options]
        assert fits == [n == exercise.correct_index for n in range(len(fits))], exercise
        assert (pronoun == "j'") == (person == 0 and exercise.options[exercise.correct_index][0] in "aeiouéè"), exercise


@pytest.mark.parametrize(
    ("verb", "regular"),
    [
        ("chanter", True),
        ("étudier", True),
        ("chercher", True),
        ("rester", True),
        ("verser", True),
        ("prêter", True),
        ("finir", True),
        ("grossir", True),
        ("aller", False),
        ("envoyer", False),
        ("appeler", False),
        ("acheter", False),
        ("espérer", False),
        ("sécher", False),
        ("payer", False),
        ("venir", False),
        ("partir", False),
        ("dormir", False),
        ("ouvrir", False),
        ("voir", False),
        ("sentir", False),
        ("courir", False),
        ("cueillir", False),
    ],
)
def test_a_verb_that_changes_is_not_taken_for_a_regular_one(verb, regular):
    assert conjugation.is_regular(verb) is regular
