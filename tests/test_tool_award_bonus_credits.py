"""award_bonus_credits: one to five, in the ledger, with a limit for each day."""

import pytest
from conftest import rows

from bot.db import learners, ledger
from bot.errors import ToolError
from tools.award_bonus_credits import award_bonus_credits


@pytest.mark.parametrize(("asked", "given"), [(-3, 1), (0, 1), (1, 1), (5, 5), (10**9, 5)])
def test_clamped(make_context, services, asked, given):
    """Any integer is clamped to 1..5."""
    context = make_context("child")
    assert award_bonus_credits(context, credits=asked, reason="bravo", key="k1")["credits_awarded"] == given
    context.tx.commit()
    assert rows(services, learners)[0].credits == 100 + given
    assert sum(r.amount for r in rows(services, ledger)) == 0


def test_once_for_a_call(make_context, services):
    """The same call twice gives once."""
    context = make_context("child")
    for _ in range(2):
        award_bonus_credits(context, credits=2, reason="bravo", key="k1")
        context.tx.commit()
    assert rows(services, learners)[0].credits == 102


def test_the_day_has_a_limit(make_context, services):
    """When the bonus of the day is used up, the model is told to praise in words."""
    context = make_context("child")
    for n in range(services.settings.bonus_credits_per_day // 5):
        award_bonus_credits(context, credits=5, reason="bravo", key=f"k{n}")
    with pytest.raises(ToolError, match="used up"):
        award_bonus_credits(context, credits=1, reason="bravo", key="last")
