"""The schemas of the tools, as the model is offered them, and the check of what it sends back."""

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from bot.errors import ToolError
from tools import (
    award_bonus_credits,
    bash_execute,
    browse_url,
    buy_credits,
    create_task,
    draft_email,
    generate_docx,
    generate_html,
    generate_md,
    generate_pdf,
    generate_pptx,
    generate_xlsx,
    interactive_quiz,
    list_user_files,
    modes,
    read_user_file,
    report_bug,
    report_exercise_result,
    save_memory,
    search_user_files,
    send_email_to_user,
    send_sms_to_user,
    send_whatsapp_to_user,
    true_false_quiz,
    web_search,
)

SCHEMAS = {
    m.SCHEMA["name"]: m.SCHEMA
    for m in (
        generate_xlsx,
        generate_pdf,
        generate_pptx,
        generate_docx,
        generate_html,
        generate_md,
        send_email_to_user,
        draft_email,
        send_sms_to_user,
        send_whatsapp_to_user,
        list_user_files,
        read_user_file,
        search_user_files,
        save_memory,
        bash_execute,
        web_search,
        browse_url,
        interactive_quiz,
        true_false_quiz,
        award_bonus_credits,
        report_exercise_result,
        create_task,
        buy_credits,
        report_bug,
    )
}


@cache
def to(mode: str) -> tuple[dict, ...]:
    """The function tools that a person of *mode* has, in one fixed order."""
    return tuple({"type": "function", "function": schema} for name, schema in SCHEMAS.items() if modes.allowed(name, mode))


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[name]["parameters"])


def check(name: str, arguments: Any) -> None:
    """Raise a ToolError that says, for the model, what is wrong with a call."""
    if name not in SCHEMAS:
        raise ToolError(f"There is no tool named {name!r}. Use one of the tools offered, or answer in words.")
    if not isinstance(arguments, dict):
        raise ToolError("The arguments are not a JSON object (perhaps they were cut off). Nothing was done; send the call again, complete.")
    problems = sorted(_validator(name).iter_errors(arguments), key=lambda e: list(map(str, e.absolute_path)))
    if problems:
        said = "; ".join(f"{'/'.join(map(str, p.absolute_path)) or 'arguments'}: {p.message[:200]}" for p in problems[:5])
        raise ToolError(f"The call was not made, its arguments do not fit the schema: {said}")
