"""Bonus credits for an effort: one to five a time, with a limit for each day."""

from bot.db import count_today
from bot.errors import ToolError
from bot.learners import credits
from tools.context import Context

SCHEMA = {
    "name": "award_bonus_credits",
    "description": "Reward a real effort or a right answer with 1 to 5 bonus credits. There is a limit for each day.",
    "parameters": {
        "type": "object",
        "properties": {
            "credits": {"type": "integer", "description": "1 to 5"},
            "reason": {"type": "string", "minLength": 1, "maxLength": 200},
        },
        "required": ["credits", "reason"],
        "additionalProperties": False,
    },
}
SMALLEST, LARGEST = 1, 5


def award_bonus_credits(context: Context, *, key: str, **arguments) -> dict:
    """Any integer is taken and clamped to 1..5. Raises ToolError when the day's bonus is used up."""
    person, limit = context.person, context.settings.bonus_credits_per_day
    amount = min(max(arguments["credits"], SMALLEST), LARGEST)
    if count_today(context.tx, person.owner, "bonus", person.today(), add=amount) > limit:
        raise ToolError(f"The bonus of today ({limit} credits) is used up; praise the effort in words instead.")
    credits.move(context.tx, person.learner.id, amount, key=f"bonus:{key}", counterpart="bonus", reason=arguments["reason"])
    return {"success": True, "credits_awarded": amount, "balance": credits.balance(context.tx, person.learner.id)}
