"""
What each tool call does.

When a tool fails in production, find its name below. Its case shows what it is given, what it may touch, and how it bears
repetition: a case without *key* only reads; with *key* it writes once for each key; a tool in ONCE can be neither, so it is logged
before it begins and never begun again.
"""

from typing import Any

from bot.errors import ToolError
from tools.award_bonus_credits import award_bonus_credits
from tools.bash_execute import bash_execute
from tools.browse_url import browse_url
from tools.buy_credits import buy_credits
from tools.context import Context
from tools.create_task import create_task
from tools.draft_email import draft_email
from tools.generate_docx import generate_docx
from tools.generate_html import generate_html
from tools.generate_md import generate_md
from tools.generate_pdf import generate_pdf
from tools.generate_pptx import generate_pptx
from tools.generate_xlsx import generate_xlsx
from tools.interactive_quiz import interactive_quiz
from tools.list_user_files import list_user_files
from tools.read_user_file import read_user_file
from tools.report_bug import report_bug
from tools.report_exercise_result import report_exercise_result
from tools.save_memory import save_memory
from tools.search_user_files import search_user_files
from tools.send_email_to_user import send_email_to_user
from tools.send_sms_to_user import send_sms_to_user
from tools.send_whatsapp_to_user import send_whatsapp_to_user
from tools.true_false_quiz import true_false_quiz
from tools.web_search import web_search

ONCE = {"send_email_to_user", "bash_execute", "report_bug"}


def run_tool(name: str, args: dict, context: Context, key: str) -> Any:
    """Make one call whose arguments were checked. Raises ToolError."""
    match name:
        case "generate_xlsx":
            return generate_xlsx(context, **args, key=key)

        case "generate_pdf":
            return generate_pdf(context, **args, key=key)

        case "generate_pptx":
            return generate_pptx(context, **args, key=key)

        case "generate_docx":
            return generate_docx(context, **args, key=key)

        case "generate_html":
            return generate_html(context, **args, key=key)

        case "generate_md":
            return generate_md(context, **args, key=key)

        case "send_email_to_user":
            return send_email_to_user(context, **args)

        case "draft_email":
            return draft_email(context, **args, key=key)

        case "send_sms_to_user":
            return send_sms_to_user(context, **args, key=key)

        case "send_whatsapp_to_user":
            return send_whatsapp_to_user(context, **args, key=key)

        case "list_user_files":
            return list_user_files(context, **args)

        case "read_user_file":
            return read_user_file(context, **args)

        case "search_user_files":
            return search_user_files(context, **args)

        case "save_memory":
            return save_memory(context, **args, key=key)

        case "bash_execute":
            return bash_execute(context, **args)

        case "web_search":
            return web_search(context.settings, **args)

        case "browse_url":
            return browse_url(context.services, **args)

        case "interactive_quiz":
            return interactive_quiz(context, **args, key=key)

        case "true_false_quiz":
            return true_false_quiz(context, **args, key=key)

        case "award_bonus_credits":
            return award_bonus_credits(context, **args, key=key)

        case "report_exercise_result":
            return report_exercise_result(context, **args, key=key)

        case "create_task":
            return create_task(context, **args, key=key)

        case "buy_credits":
            return buy_credits(context, **args, key=key)

        case "report_bug":
            return report_bug(context, **args)

        case _:
            raise ToolError(f"There is no tool named {name!r}.")
