"""What our processes log. The text of an unforeseen error never stands there: it may quote a message or a telephone number."""

import logging
import traceback

OURS = ("bot", "tools", "workers", "__main__")


class Formatter(logging.Formatter):
    def formatException(self, info) -> str:
        """Where it happened and which error it was, with those that led to it first, but not what they say."""
        problem, parts = info[1], []
        while problem is not None:
            parts[:0] = [*traceback.format_tb(problem.__traceback__), f"{type(problem).__name__}\n"]
            problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
        return "".join(parts).rstrip()


def set_up(level: int) -> None:
    """To the standard error output: ours from *level* on, those of libraries from warnings on."""
    handler = logging.StreamHandler()
    handler.setFormatter(Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for name in OURS:
        logging.getLogger(name).setLevel(level)
