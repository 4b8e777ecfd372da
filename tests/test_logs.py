"""What goes into the logs."""

import io
import logging

import pytest

from bot.logs import Formatter


@pytest.mark.parametrize("how", ["from another", "by itself"])
def test_an_error_is_told_without_its_text(how):
    """A traceback shows where it happened and which errors they were, but not what they say of people."""
    number, text = "de +2250701020304", "J'ai peur"
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Formatter("%(levelname)s %(message)s"))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    try:
        try:
            int(number)
        except ValueError as problem:
            raise LookupError(text) from (problem if how == "from another" else None)
    except LookupError:
        logger.exception("a turn failed")

    said = written.getvalue()
    assert said.startswith("ERROR a turn failed\n") and "test_logs.py" in said and said.endswith("LookupError\n")
    assert "0701020304" not in said and "peur" not in said
    assert ("ValueError" in said) == (how == "from another")
