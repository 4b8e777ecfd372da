"""A statement that is true or false; the answer stays here until the learner has chosen."""

from bot.learners import quizzes
from tools.context import Context

SCHEMA = {
    "name": "true_false_quiz",
    "description": "Ask the learner whether a statement is true or false. It is sent as a numbered message. Use it after an explanation, "
    "one to three quizzes in a conversation, never in the very first answer unless asked for. It ends your turn: you get the learner's "
    "answer later.",
    "parameters": {
        "type": "object",
        "properties": {
            "statement": {"type": "string", "minLength": 1, "maxLength": 600},
            "correct_answer": {"type": "boolean", "description": "Whether the statement is true"},
            "explanation": {"type": "string", "minLength": 1, "maxLength": 900, "description": "Shown after the learner has answered"},
        },
        "required": ["statement", "correct_answer", "explanation"],
        "additionalProperties": False,
    },
}


def true_false_quiz(context: Context, *, key: str, **arguments) -> dict:
    """Store the quiz and return what may be shown."""
    return quizzes.pose(context.services, key, SCHEMA["name"], arguments, context.quiz)
