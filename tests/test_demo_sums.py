"""The demo model works out typed sums exactly, and takes nothing else for a sum."""

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.demo.brain import answer
from bot.demo.expressions import NotASum, parse, steps


def ask(text):
    return answer([{"role": "user", "content": text}], [])


SUMS = [
    ("3/4 + 1/6", "= 11/12"),
    ("Combien font 1/2 + 1/3 ?", "= 5/6"),
    ("1/3 - 1/2", "= -1/6"),
    ("2/3 x 9/4", "= 3/2"),
    ("3/4 ÷ 1/2", "= 3/2"),
    ("12/18", "= 2/3"),
    ("simplifie 35/49", "= 5/7"),
    ("7/9", "déjà irréductible"),
    ("compare 2/3 et 3/5", "2/3 > 3/5"),
    ("laquelle est la plus grande, 1/2 ou 4/8 ?", "1/2 = 4/8"),
    ("25 % de 12000", "**3000**"),
    ("25% de 12 000", "**3000**"),
    ("un pagne de 8000 F avec une réduction de 15%", "8000 - 1200 = **6800**"),
    ("le riz à 20000 augmente de 5 %", "20 000 + 1000 = **21 000**"),
    ("7,5 % de 400", "**30**"),
    ("2x + 3 = 11", "**x = 4**"),
    ("5x - 4 = 2x + 8", "**x = 4**"),
    ("3(x+2)=15", "**x = 3**"),
    ("résous 2x = 7", "**x = 7/2 (= 3,5)**"),
    ("x/3 + 1 = 5", "**x = 12**"),
    ("4y - 1 = 7", "**x = 2**"),
    ("-2x + 6 = 0", "**x = 3**"),
    ("x + 1 = x + 2", "pas de solution"),
    ("2(x + 1) = 2x + 2", "tous les nombres"),
    ("7 x 8", "**7 × 8 = 56**"),
    ("(2+3) x 4,5 - 1/2", "= 22**"),
    ("2 + 3 × 4", "= 14**"),
    ("2,5 + 3,75", "= 6,25**"),
    ("12 : 4", "= 3**"),
    ("10 - 2 - 3", "= 5**"),
    ("2^10", "= 1024**"),
    ("table de 7", "7 × 9 = 63"),
    ("3 mangues coûtent 450 F, combien coûtent 5 mangues ?", "**750**"),
    ("j'ai payé 600 F pour 4 oranges, combien pour 7 oranges ?", "**1050**"),
    ("5/0", "diviser par zéro"),
    ("4 / (2 - 2)", "diviser par zéro"),
    ("conjugue manger au présent", "nous mangeons"),
    ("conjugue commencer à l'imparfait", "je commençais"),
    ("conjugue grandir au futur", "ils grandiront"),
    ("conjugue obéir au passé composé", "nous avons obéi"),
    ("conjugue arriver au passé composé", "ils sont arrivés"),
    ("How much is 15% of 20000?", "**3,000**"),
    ("Solve 4x - 7 = 9", "Put the x on one side"),
]


@pytest.mark.parametrize(("text", "expected"), SUMS, ids=[s[0] for s in SUMS])
def test_a_typed_sum_is_worked_out_exactly(text, expected):
    assert expected in ask(text).text


@pytest.mark.parametrize(
    "text",
    ["rendez-vous le 12/10/2026", "appelle le +2250701020304", "à 12:30 ce soir", "x² + 1 = 5", "3 + abc", "9^99", "J'ai 3 - euh - amis"],
)
def test_what_is_not_a_sum_is_not_calculated(text):
    assert "**" not in ask(text).text.replace("**encore**", "").replace("**PDF**", "")


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 99)), min_size=1, max_size=6), st.integers(0, 99))
def test_sums_of_whole_numbers_agree_with_python(parts, first):
    text = str(first) + "".join(f" {sign} {n}" for sign, n in parts)
    assert steps(parse(text))[-1] == eval(text)


@given(st.text(alphabet="0123456789+-*/x()., ^²=", max_size=40))
def test_no_jumble_of_signs_breaks_the_calculator(text):
    with contextlib.suppress(NotASum, ZeroDivisionError):
        assert isinstance(steps(parse(text))[-1], Fraction)
    assert ask(text or "?").text
