"""`palabre doctor`: what is missing or wrong in the settings, and whether every configured service can be reached."""

from dataclasses import dataclass

import redis
import requests
import sqlalchemy as sa

from bot import services as outside
from bot.config import Settings, require_service
from bot.db import reading
from bot.errors import PalabreError
from bot.learners import credits
from bot.migrate import pending, prepare_home

SECONDS = 8


@dataclass(frozen=True)
class Finding:
    """said: when something is wrong, the cause and the cure."""

    what: str
    fine: bool
    said: str


def examine(settings: Settings) -> list[Finding]:
    """Every check is made, whatever the others say."""
    checks = [("réglages / settings", _settings), ("PALABRE_HOME", _home), ("base de données / database", _database),
              ("comptes / ledger", _ledger), ("Redis", _redis), ("Twilio", _twilio), ("modèle / model", _model), ("web_search", _tavily),
              ("e-mail", _mail), ("bash_execute", _sandbox)]
    return [_checked(what, check, settings) for what, check in checks]


def _checked(what: str, check, settings: Settings) -> Finding:
    try:
        fine, said = True, check(settings)
    except (PalabreError, sa.exc.SQLAlchemyError, redis.RedisError, requests.RequestException, OSError) as problem:
        fine, said = False, str(problem).splitlines()[0][:300] or type(problem).__name__
    return Finding(what, fine, said)


def _settings(settings: Settings) -> str:
    require_service(settings)
    return "complete"


def _home(settings: Settings) -> str:
    prepare_home(settings)
    return str(settings.home)


def _database(settings: Settings) -> str:
    if settings.database_url.startswith("sqlite:///") and not settings.home.exists():
        raise PalabreError("there is no database yet: run `palabre migrate`")
    if pending(settings):
        raise PalabreError("migrations are missing: run `palabre migrate`")
    return "reachable and up to date"


def _ledger(settings: Settings) -> str:
    with reading(outside.build(settings).db) as connection:
        if wrong := credits.discrepancies(connection):
            raise PalabreError("; ".join(wrong))
    return "adds up to zero"


def _redis(settings: Settings) -> str:
    if not settings.redis_url:
        raise PalabreError("REDIS_URL is not set; only `palabre start` brings a Valkey of its own")
    info = outside.connect_redis(settings.redis_url).info("server")
    return f"version {info.get('valkey_version') or info.get('redis_version')}"


def _twilio(settings: Settings) -> str:
    from bot.channels import twilio
    from bot.errors import SendError

    if not settings.twilio_account_sid:
        raise PalabreError("TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN are not set; `palabre start` brings a simulator instead")
    try:
        twilio.reach(outside.build(settings))
    except SendError as refused:
        raise PalabreError(f"{refused}: check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN") from refused
    return f"reachable; webhook address to enter at Twilio: {settings.public_url}{twilio.MESSAGE}#rc=3&rp=all"


def _model(settings: Settings) -> str:
    headers = {"Authorization": f"Bearer {settings.model_key}"} if settings.model_key else {}
    answer = requests.get(f"{settings.model_url}/models", headers=headers, timeout=SECONDS)
    if answer.status_code in (401, 403):
        raise PalabreError("the model server refuses the key: check OPENROUTER_API_KEY")
    answer.raise_for_status()
    return f"{settings.model_url} is reachable"


def _tavily(settings: Settings) -> str:
    return "a key is set" if settings.tavily_key else "TAVILY_API_KEY is not set: the model is told that it cannot search"


def _mail(settings: Settings) -> str:
    return "SMTP_URL is set" if settings.smtp_url else f"SMTP_URL is not set: mails are written to {settings.home}/mail"


def _sandbox(settings: Settings) -> str:
    from bot import sandbox

    reason = sandbox.availability()
    return "isolated" if reason is None else f"refused, because {reason}"
