"""Who may call what: a child 22 tools, a professional all 24, a guest none."""

ADULT = {"bash_execute", "draft_email"}
ACTING = {
    "send_email_to_user",
    "send_sms_to_user",
    "send_whatsapp_to_user",
    "draft_email",
    "bash_execute",
    "buy_credits",
    "report_bug",
    "award_bonus_credits",
}  # send, spend or execute: not in a turn that the person did not begin


def allowed(name: str, mode: str) -> bool:
    return mode == "pro" or mode == "child" and name not in ADULT
