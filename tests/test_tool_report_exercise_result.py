"""report_exercise_result: a line in the learner's progress."""

from conftest import rows

from bot.db import attempts
from bot.learners import progress
from tools.report_exercise_result import report_exercise_result


def test_kept_once_for_a_call(make_context, services):
    """The result is written once however often the call is repeated, with its subject and topic."""
    context = make_context("child")
    for _ in range(2):
        assert report_exercise_result(context, "maths", True, topic="fractions", difficulty="easy", key="k1") == {"success": True}
        context.tx.commit()
    report_exercise_result(context, "maths", False, key="k2")
    context.tx.commit()
    assert [(r.subject, r.topic, r.correct) for r in rows(services, attempts)] == [("maths", "fractions", True), ("maths", None, False)]
    with services.db.connect() as connection:
        assert progress.tally(connection, context.person.owner) == (2, 1)
