"""Reports of faults to the team: by e-mail and WhatsApp, or, when neither is set, to the log and a file."""

import logging
import re
import secrets

from bot.channels import outbox
from bot.conversation import log
from bot.db import count_today, now, reading, writing
from bot.documents.clean import clean
from bot.errors import ToolError
from bot.learners import mail
from bot.learners.accounts import Person
from bot.services import Services

PER_DAY = 5
LAST_EVENTS = 10
LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is mistaken for another
MAIL = re.compile(r"[^\s@<>()\[\],;:]+@[^\s@<>()\[\],;:]+\.[^\s@<>()\[\],;:]+")
NUMBER = re.compile(r"(?:\+|00)?\(?\d(?:[\s().\-/\u00a0\u202f\u2010-\u2013]{0,2}\d){7,}")  # eight digits or more, however they are grouped
logger = logging.getLogger(__name__)


def masked(text: str) -> str:
    """*text* without e-mail addresses and telephone numbers."""
    return NUMBER.sub("[…]", MAIL.sub("[…]", clean(text)))


def send(services: Services, tx, person: Person, conversation: str, title: str, description: str, severity: str) -> str:
    """Report a fault and return its reference number. Raises ToolError at the limit of the day."""
    settings, reference = services.settings, f"P{now():%y%m%d}-{''.join(secrets.choice(LETTERS) for _ in range(5))}"
    with writing(services.db) as counting:
        if count_today(counting, person.owner, "report", person.today()) > PER_DAY:
            raise ToolError(f"This person has reported {PER_DAY} faults today already; nothing was sent. The team reads those first.")
    subject = f"[{reference}] {severity}: {masked(title)}"
    facts = [
        f"Référence : {reference}",
        f"Gravité : {severity}",
        f"Conversation : {conversation}",
        f"Canal : {person.channel}",
        f"Titre : {masked(title)}",
    ]
    text = "\n\n".join(["\n".join(facts), masked(description), "Derniers événements :", _last_events(services, conversation)])
    reached = _by_mail(services, subject, text)
    if settings.team_whatsapp:
        address = f"whatsapp:{settings.team_whatsapp.removeprefix('whatsapp:')}"
        outbox.put(tx, address, f"report:{reference}", [("\n".join([*facts, "", masked(description)])[:1500], None)])
        reached = True
    if not reached:
        logger.error("fault report %s (%s), conversation %s: nobody of the team could be told", reference, severity, conversation)
        folder = settings.home / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{reference}.md").write_text(f"# {subject}\n\n{text}\n", encoding="utf-8")
    return reference


def _by_mail(services: Services, subject: str, text: str) -> bool:
    if not services.settings.team_email:
        return False
    try:
        mail.send(services.settings, services.settings.team_email, subject, text)
    except ToolError as problem:
        logger.error("a fault report could not be mailed: %s", problem)
        return isinstance(problem, mail.MaybeSent)
    return True


def _last_events(services: Services, conversation: str) -> str:
    """Number, kind and tool of the last events: enough to find them in the log, nothing of what was said."""
    with reading(services.db) as connection:
        last = log.read(connection, conversation)[-LAST_EVENTS:]
    return "\n".join(f"- {e.seq} {type(e.event).__name__} {getattr(e.event, 'name', '')}".rstrip() for e in last) or "-"
