"""Write down whether an exercise went well; the learner is not told."""

from bot.learners import progress
from tools.context import Context

SCHEMA = {
    "name": "report_exercise_result",
    "description": "Silently record whether the learner solved an exercise or quiz, for the progress page.",
    "parameters": {
        "type": "object",
        "properties": {
            "subject": {"type": "string", "minLength": 1, "maxLength": 100, "description": "School subject, e.g. maths"},
            "correct": {"type": "boolean"},
            "topic": {"type": "string", "maxLength": 200, "description": "e.g. fractions"},
            "difficulty": {"type": "string", "enum": ["easy", "medium", "hard"]},
        },
        "required": ["subject", "correct"],
        "additionalProperties": False,
    },
}


def report_exercise_result(context: Context, subject: str, correct: bool, *, topic: str = "", difficulty: str = "", key: str) -> dict:
    progress.record(
        context.tx,
        key=f"exercise:{key}",
        owner=context.person.owner,
        kind="exercise",
        correct=correct,
        subject=subject,
        topic=topic,
        difficulty=difficulty,
    )
    return {"success": True}
