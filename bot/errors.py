"""
Everything that can go wrong on purpose. An error carries the decision its catcher must make.

    PalabreError
    ├── SettingsError        the process cannot start; the text names every setting that is missing or wrong
    ├── Unavailable          the database or Redis is away: answer 503, try again later
    ├── WrongUsage           a person at the command line or the API asked for something that is not there
    ├── ToolError            the call cannot succeed as made; the text is read by the model (`transient`: later it may)
    │   └── DocumentError    what should go into the document cannot be put there
    ├── ModelError           the language model gave no usable answer (`kind` says which way)
    └── SendError            the provider refused a message (`code`, `retryable`, `ambiguous`)
"""


class PalabreError(Exception):
    pass


class SettingsError(PalabreError):
    pass


class Unavailable(PalabreError):
    pass


class WrongUsage(PalabreError):
    pass


class ToolError(PalabreError):
    """The text is shown to the model, so it says in plain words what to change."""

    def __init__(self, text: str, transient: bool = False):
        super().__init__(text)
        self.transient = transient


class DocumentError(ToolError):
    pass


class ModelError(PalabreError):
    """*kind* is one of workers.recovery.KINDS; *retry_after* is in seconds, when the provider named it."""

    def __init__(
        self, kind: str, text: str, status: int | None = None, retry_after: float | None = None, affordable_tokens: int | None = None
    ):
        super().__init__(text)
        self.kind, self.status, self.retry_after, self.affordable_tokens = kind, status, retry_after, affordable_tokens


class SendError(PalabreError):
    """*ambiguous*: the message may have gone out although no answer came; *retryable*: it has not, and may go later."""

    def __init__(
        self, text: str, code: int | None = None, retryable: bool = False, ambiguous: bool = False, retry_after: float | None = None
    ):
        super().__init__(text)
        self.code, self.retryable, self.ambiguous, self.retry_after = code, retryable, ambiguous, retry_after
