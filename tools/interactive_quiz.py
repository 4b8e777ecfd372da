"""A multiple-choice question, sent as a numbered prompt; the answer stays here until the learner has chosen."""

from bot.learners import quizzes
from tools.context import Context

SCHEMA = {
    "name": "interactive_quiz",
    "description": "Ask the learner a multiple-choice question. The choices are sent as a numbered message, so do not write them yourself. "
    "Use it after an explanation, one to three times in a conversation, never in the very first answer unless asked for. It ends "
    "your turn: you get the learner's answer later.",
    "parameters": {
        "type": "object",
        "properties": {
            "question": {"type": "string", "minLength": 1, "maxLength": 600, "description": "The question, without the choices"},
            "options": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 200},
                "minItems": 2,
                "maxItems": 4,
                "description": "Two to four different choices; the wrong ones are typical mistakes",
            },
            "correct_index": {"type": "integer", "minimum": 0, "maximum": 3, "description": "Which choice is right, counted from 0"},
            "explanation": {"type": "string", "minLength": 1, "maxLength": 900, "description": "Shown after the learner has answered"},
        },
        "required": ["question", "options", "correct_index", "explanation"],
        "additionalProperties": False,
    },
}


def interactive_quiz(context: Context, *, key: str, **arguments) -> dict:
    """Store the quiz and return what may be shown. Raises ToolError for options that cannot be asked."""
    return quizzes.pose(context.services, key, SCHEMA["name"], arguments, context.quiz)
