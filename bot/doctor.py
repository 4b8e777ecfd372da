"""`palabre doctor`: what is missing or wrong in the settings, and whether every configured service can be reached."""

from dataclasses import dataclass
from types import SimpleNamespace

import requests

from bot import services as outside
from bot.config import Settings, require_service
from bot.db import connect, reading
from bot.errors import PalabreError
from bot.learners import credits
from bot.migrate import prepare_home, require_current

SECONDS = 8
DOWN = (500, 502, 503, 504)  # whatever else a model server says of /models, it is there: some do not have it


@dataclass(frozen=True)
class Finding:
    """said: when something is wrong, the cause and the cure."""

    what: str
    fine: bool
    said: str


def examine(settings: Settings) -> list[Finding]:
    """Every check is made, whatever the others say."""
    checks = [
        ("réglages / settings", _settings),
        ("PALABRE_HOME", _home),
        ("base de données / database", _database),
        ("comptes / ledger", _ledger),
        ("Redis", _redis),
        ("Twilio", _twilio),
        ("modèle / model", _model),
        ("web_search", _tavily),
        ("e-mail", _mail),
        ("bash_execute", _sandbox),
    ]
    return [_checked(what, check, settings) for what, check in checks]


def _checked(what: str, check, settings: Settings) -> Finding:
    try:
        fine, said = True, check(settings)
    except Exception as problem:  # one check's failure is its finding, not the end of the others
        fine, said = False, (str(problem).splitlines() or [""])[0][:300] or type(problem).__name__
    return Finding(what, fine, said)


def _settings(settings: Settings) -> str:
    require_service(settings)
    return "complete"


def _home(settings: Settings) -> str:
    prepare_home(settings)
    return str(settings.home)


def _database(settings: Settings) -> str:
    require_current(settings)
    return "reachable and up to date"


def _ledger(settings: Settings) -> str:
    require_current(settings)
    with reading(connect(settings.database_url)) as connection:
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
        twilio.reach(SimpleNamespace(twilio=twilio.client(settings)))
    except SendError as refused:
        raise PalabreError(f"{refused}: check TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN") from refused
    return f"reachable; webhook address to enter at Twilio: {settings.public_url}{twilio.MESSAGE}#rc=3&rp=all"


def _model(settings: Settings) -> str:
    headers = {"Authorization": f"Bearer {settings.model_key}"} if settings.model_key else {}
    with requests.Session() as session:
        session.trust_env = False  # as in bot/services.py
        try:
            answer = session.get(f"{settings.model_url}/models", headers=headers, timeout=SECONDS)
        except requests.RequestException as problem:
            raise PalabreError(f"{settings.model_url} cannot be reached ({type(problem).__name__})") from problem
    if answer.status_code in (401, 403):
        raise PalabreError("the model server refuses the key: check OPENROUTER_API_KEY")
    if answer.status_code in DOWN:
        raise PalabreError(f"{settings.model_url} answers {answer.status_code}")
    return f"{settings.model_url} is reachable"


def _tavily(settings: Settings) -> str:
    return "a key is set" if settings.tavily_key else "TAVILY_API_KEY is not set: the model is told that it cannot search"


def _mail(settings: Settings) -> str:
    return "SMTP_URL is set" if settings.smtp_url else f"SMTP_URL is not set: mails are written to {settings.home}/mail"


def _sandbox(settings: Settings) -> str:
    from bot import sandbox

    reason = sandbox.availability()
    return "isolated" if reason is None else f"refused, because {reason}"
