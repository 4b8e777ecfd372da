"""A link at which the person buys credits."""

from bot.learners import payments
from tools.context import Context

SCHEMA = {
    "name": "buy_credits",
    "description": "Give the person a link to buy credits, when they ask for it or have none left. Nothing is paid before they confirm.",
    "parameters": {
        "type": "object",
        "properties": {
            "pack": {
                "type": "string",
                "enum": ["petit", "moyen", "grand"],
                "description": "petit: 100 credits, 500 FCFA; moyen: 500, 2000 FCFA; grand: 1500, 5000 FCFA",
            }
        },
        "required": [],
        "additionalProperties": False,
    },
}


def buy_credits(context: Context, *, pack: str = "moyen", key: str) -> dict:
    """{"url", "credits", "amount", "currency"}. Raises ToolError when payment is not set up or the person has no account."""
    row = payments.create(context.settings, context.tx, context.person, pack, key=f"pay:{key}")
    return {"url": payments.url(context.settings, row), "credits": row.credits, "amount": row.amount, "currency": row.currency}
