"""
Every setting, read once from the environment, and refused all together when something is missing or half given.

`palabre start` (the embedded default) fills in what a newcomer does not have: see bot/embedded.py.
"""

import ipaddress
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import sqlalchemy as sa

from bot.errors import SettingsError

OPENROUTER = "https://openrouter.ai/api/v1"
NUMBERS = {  # name in the environment: (field, default, smallest value)
    "TURN_SECONDS": ("turn_seconds", 180, 1),
    "BACKGROUND_SECONDS": ("background_seconds", 1800, 1),
    "TOOL_SECONDS": ("tool_seconds", 60, 1),
    "MAX_ITERATIONS": ("max_iterations", 10, 1),
    "MAX_ITERATIONS_EXTENDED": ("max_iterations_extended", 25, 1),
    "MAX_TOKENS": ("max_tokens", 2000, 16),
    "CONTEXT_TOKENS": ("context_tokens", 24000, 1000),
    "TURN_TOKENS": ("turn_tokens", 200_000, 1000),
    "DAY_TOKENS": ("day_tokens", 1_000_000, 1000),
    "QUIZ_TTL_SECONDS": ("quiz_ttl_seconds", 86400, 1),
    "QUIZ_FOLLOW_UP": ("quiz_follow_up", 1, 0),
    "DEBOUNCE_SECONDS": ("debounce_seconds", 1.0, 0),
    "GUEST_MESSAGES_PER_DAY": ("guest_messages_per_day", 10, 0),
    "FREE_CREDITS_PER_DAY": ("free_credits_per_day", 0, 0),
    "BONUS_CREDITS_PER_DAY": ("bonus_credits_per_day", 20, 0),
    "MEDIA_DAYS": ("media_days", 30, 1),
    "WORKER_THREADS": ("worker_threads", 8, 1),
}
TEXTS = {  # name in the environment: (field, default)
    "PUBLIC_URL": ("public_url", "http://127.0.0.1:8000"),
    "LOCAL_URL": ("local_url", ""),
    "SECRET_KEY": ("secret_key", ""),
    "REDIS_URL": ("redis_url", ""),
    "TWILIO_ACCOUNT_SID": ("twilio_account_sid", ""),
    "TWILIO_AUTH_TOKEN": ("twilio_auth_token", ""),
    "TWILIO_WHATSAPP_FROM": ("twilio_whatsapp_from", ""),
    "TWILIO_SMS_FROM": ("twilio_sms_from", ""),
    "TWILIO_MESSAGING_SERVICE_SID": ("twilio_messaging_service_sid", ""),
    "TWILIO_BASE_URL": ("twilio_base_url", ""),
    "TWILIO_WHATSAPP_TEMPLATE_SID": ("twilio_whatsapp_template_sid", ""),
    "TWILIO_OTP_TEMPLATE_SID": ("twilio_otp_template_sid", ""),
    "OPENROUTER_API_KEY": ("model_key", ""),
    "OPENROUTER_BASE_URL": ("model_url", OPENROUTER),
    "MODEL_FAST": ("model_fast", "google/gemini-2.5-flash-lite"),
    "MODEL_PRIMARY": ("model_primary", "deepseek/deepseek-chat-v3.1"),
    "MODEL_SMART": ("model_smart", "anthropic/claude-sonnet-4.5"),
    "MODEL_VISION": ("model_vision", "google/gemini-2.5-flash"),
    "TRANSCRIPTION_BASE_URL": ("transcription_url", ""),
    "TRANSCRIPTION_API_KEY": ("transcription_key", ""),
    "TRANSCRIPTION_MODEL": ("transcription_model", "whisper-1"),
    "TAVILY_API_KEY": ("tavily_key", ""),
    "TAVILY_BASE_URL": ("tavily_url", ""),
    "JINA_API_KEY": ("jina_key", ""),
    "JINA_BASE_URL": ("jina_url", "https://r.jina.ai"),
    "SMTP_URL": ("smtp_url", ""),
    "MAIL_FROM": ("mail_from", "palabre@localhost"),
    "MEDIA_URL": ("media_url", ""),
    "OPERATOR_TOKEN": ("operator_token", ""),
    "TEAM_EMAIL": ("team_email", ""),
    "TEAM_WHATSAPP": ("team_whatsapp", ""),
    "PAYMENT_GATEWAY": ("payment_gateway", ""),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of one process. Times are in seconds, addresses carry no trailing slash."""

    home: Path
    database_url: str
    simulator: bool = False  # no Twilio account: the two phones of /simulator stand for it
    demo: bool = False  # no model key: the demo model answers
    model_fallbacks: tuple[str, ...] = ()
    public_url: str = ""
    local_url: str = ""  # where our own web server listens; the simulator posts there
    secret_key: str = field(default="", repr=False)
    redis_url: str = ""
    twilio_account_sid: str = ""
    twilio_auth_token: str = field(default="", repr=False)
    twilio_whatsapp_from: str = ""
    twilio_sms_from: str = ""
    twilio_messaging_service_sid: str = ""
    twilio_base_url: str = ""
    twilio_whatsapp_template_sid: str = ""
    twilio_otp_template_sid: str = ""
    model_key: str = field(default="", repr=False)
    model_url: str = OPENROUTER
    model_fast: str = ""
    model_primary: str = ""
    model_smart: str = ""
    model_vision: str = ""
    transcription_url: str = ""
    transcription_key: str = field(default="", repr=False)
    transcription_model: str = ""
    tavily_key: str = field(default="", repr=False)
    tavily_url: str = ""
    jina_key: str = field(default="", repr=False)
    jina_url: str = ""
    smtp_url: str = field(default="", repr=False)
    mail_from: str = ""
    media_url: str = ""
    operator_token: str = field(default="", repr=False)
    team_email: str = ""
    team_whatsapp: str = ""
    payment_gateway: str = ""
    turn_seconds: float = 180
    background_seconds: float = 1800
    tool_seconds: float = 60
    max_iterations: int = 10
    max_iterations_extended: int = 25
    max_tokens: int = 2000  # of one answer of the model
    context_tokens: int = 24000  # of what the model is sent, estimated
    turn_tokens: int = 200_000  # of all requests of one turn, as the provider counts; then the model must answer
    day_tokens: int = 1_000_000  # of one person in a day; then the model is not asked any more
    quiz_ttl_seconds: int = 86400
    quiz_follow_up: int = 1
    debounce_seconds: float = 1.0
    guest_messages_per_day: int = 10
    free_credits_per_day: int = 0
    bonus_credits_per_day: int = 20
    media_days: int = 30  # how long a link to a file works
    worker_threads: int = 8  # turns that one worker process carries at the same time

    @property
    def media_folder(self) -> Path:
        return Path(self.media_url.removeprefix("file://"))


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings. Raises SettingsError when a value cannot be understood."""
    home = Path(environ.get("PALABRE_HOME") or "./var").absolute()
    problems, values = [], {}
    for name, (attribute, default) in TEXTS.items():
        values[attribute] = environ.get(name, "").strip() or default
    for name, (attribute, default, least) in NUMBERS.items():
        try:
            values[attribute] = type(default)(environ.get(name, "").strip() or default)
            if not least <= values[attribute] < math.inf:
                raise ValueError
        except ValueError:
            problems.append(f"{name} must be a number of at least {least}, not {environ.get(name)!r}")
    for attribute in ("public_url", "local_url", "twilio_base_url", "model_url", "transcription_url", "tavily_url", "jina_url"):
        values[attribute] = values[attribute].rstrip("/")
    values["media_url"] = values["media_url"] or f"file://{home}/media"
    if not values["media_url"].startswith("file://"):
        problems.append("MEDIA_URL must begin with file:// (a folder that web and workers share)")
    database_url = environ.get("DATABASE_URL", "").strip() or f"sqlite:///{home}/palabre.db"
    database_url = re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", database_url)  # as hosting services hand it out
    try:
        known = sa.make_url(database_url).drivername in ("sqlite", "postgresql+psycopg")
    except (ValueError, sa.exc.ArgumentError):
        known = False
    if not known:
        problems.append("DATABASE_URL must be an address such as sqlite:////folder/file.db or postgresql+psycopg://user:password@host/name")
    if values["redis_url"] and not values["redis_url"].startswith(("redis://", "rediss://", "unix://", "redis+sentinel://")):
        problems.append("REDIS_URL must begin with redis://, rediss://, unix:// or redis+sentinel://")
    if problems:
        raise SettingsError("; ".join(problems))
    return Settings(
        home=home,
        database_url=database_url,
        simulator=environ.get("PALABRE_SIMULATOR") == "1",
        demo=environ.get("PALABRE_DEMO") == "1",
        model_fallbacks=tuple(m.strip() for m in environ.get("MODEL_FALLBACKS", "").split(",") if m.strip()),
        **values,
    )


def require_service(settings: Settings) -> Settings:
    """What `web`, `worker` and `clock` need; names everything that is missing in one message."""
    missing = [
        name
        for name in ("REDIS_URL", "SECRET_KEY", "OPERATOR_TOKEN", "TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN")
        if not getattr(settings, TEXTS[name][0])
    ]
    if not settings.twilio_messaging_service_sid:
        missing += [n for n in ("TWILIO_WHATSAPP_FROM", "TWILIO_SMS_FROM") if not getattr(settings, TEXTS[n][0])]
    problems = [f"{name} is not set" for name in missing]
    if not settings.model_key and settings.model_url == OPENROUTER:
        problems.append("OPENROUTER_API_KEY is not set (or OPENROUTER_BASE_URL for a model server of your own)")
    problems += public_address_problems(settings)
    if problems:
        raise SettingsError(
            "Palabre cannot start: "
            + "; ".join(problems)
            + ". `palabre start` needs none of these: it brings its own Valkey, a simulator and a demo model."
        )
    return settings


def public_address_problems(settings: Settings) -> list[str]:
    """With a real Twilio account, Twilio must be able to reach us: PUBLIC_URL is https and not a private address."""
    url = urlsplit(settings.public_url)
    if url.scheme not in ("http", "https") or not url.hostname:
        return [f"PUBLIC_URL must be an address such as https://bot.example.org, not {settings.public_url!r}"]
    if not settings.twilio_account_sid or settings.twilio_base_url:
        return []
    try:
        private = not ipaddress.ip_address(url.hostname).is_global
    except ValueError:
        private = url.hostname == "localhost" or "." not in url.hostname
    if private or url.scheme != "https":
        return [f"PUBLIC_URL must be a public https address that Twilio can reach, not {settings.public_url}"]
    return []
