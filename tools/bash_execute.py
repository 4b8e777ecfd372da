"""A shell command in a box without network, secrets or memory of the call before."""

from bot import sandbox
from tools.context import Context

SCHEMA = {
    "name": "bash_execute",
    "description": "Run a bash command in a sandbox: no network, read-only system, an empty writable folder that is thrown away "
    "afterwards, 30 seconds. Good for computing (python3, awk, bc where installed). Files made there cannot be sent.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string", "minLength": 1, "maxLength": 20000}},
        "required": ["command"],
        "additionalProperties": False,
    },
}


def bash_execute(context: Context, command: str) -> dict:
    """Any exit code is a result. Raises ToolError when time runs out or no sandbox can be had here."""
    settings = context.settings
    return sandbox.run(command, hidden=[settings.home, settings.media_folder])
