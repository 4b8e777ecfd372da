"""request_more_iterations: the loop's own tool, offered beside the twenty-four."""

NAME = "request_more_iterations"
STEP = 10
SCHEMA = {
    "name": NAME,
    "description": "Ask for 10 more steps when a clear plan needs more than are left (25 in all at most). Say what is left to do.",
    "parameters": {
        "type": "object",
        "properties": {"reason": {"type": "string", "minLength": 1, "maxLength": 500, "description": "What is still to be done"}},
        "required": ["reason"],
        "additionalProperties": False,
    },
}
TOOL = {"type": "function", "function": SCHEMA}


def extended(limit: int, cap: int) -> int | None:
    """The new limit, or None when it cannot be raised any more."""
    return min(limit + STEP, cap) if limit < cap else None
