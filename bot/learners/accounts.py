"""Who is who: accounts, and the address -> account link. A person without an account is a guest."""

import re
import unicodedata
import uuid
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

import sqlalchemy as sa

from bot.channels import numbers
from bot.db import addresses, insert_once, learners, now
from bot.errors import WrongUsage
from bot.learners import credits

MODES = ("child", "pro")
GRADES = ("CP1", "CP2", "CE1", "CE2", "CM1", "CM2", "6e", "5e", "4e", "3e", "2nde", "1re", "Tle")
GRADE_WORDS = {
    "sixieme": "6",
    "cinquieme": "5",
    "quatrieme": "4",
    "troisieme": "3",
    "seconde": "2",
    "premiere": "1",
    "terminale": "tle",
    "term": "tle",
}
ZONES = {  # where the day begins; everybody else is on Abidjan's time, which is UTC
    "BJ": "Africa/Porto-Novo",
    "BF": "Africa/Ouagadougou",
    "BI": "Africa/Bujumbura",
    "CM": "Africa/Douala",
    "CF": "Africa/Bangui",
    "TD": "Africa/Ndjamena",
    "KM": "Indian/Comoro",
    "CG": "Africa/Brazzaville",
    "CD": "Africa/Kinshasa",
    "CI": "Africa/Abidjan",
    "DJ": "Africa/Djibouti",
    "GA": "Africa/Libreville",
    "GN": "Africa/Conakry",
    "GQ": "Africa/Malabo",
    "MG": "Indian/Antananarivo",
    "ML": "Africa/Bamako",
    "MR": "Africa/Nouakchott",
    "NE": "Africa/Niamey",
    "RW": "Africa/Kigali",
    "SN": "Africa/Dakar",
    "TG": "Africa/Lome",
    "MA": "Africa/Casablanca",
    "DZ": "Africa/Algiers",
    "TN": "Africa/Tunis",
}


@dataclass(frozen=True)
class Person:
    """Whoever writes from an address. owner: under what files, memories and tasks are kept."""

    address: str
    channel: str
    opted_out: bool
    learner: sa.Row | None

    @property
    def owner(self) -> str:
        return f"learner:{self.learner.id}" if self.learner else self.address

    @property
    def mode(self) -> str:
        return self.learner.mode if self.learner else "guest"

    @property
    def language(self) -> str:
        return self.learner.language if self.learner else "fr"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(ZONES.get(numbers.country(self.address) or "", "Africa/Abidjan"))

    def today(self) -> date:
        return self.local(now()).date()

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(self.zone)


def person(connection: sa.Connection, address: str) -> Person:
    row = connection.execute(sa.select(addresses).where(addresses.c.address == address)).one_or_none()
    phone = row.phone if row else numbers.of_address(address)
    learner = connection.execute(sa.select(learners).where(learners.c.phone == phone)).one_or_none() if phone else None
    return Person(address, row.channel if row else numbers.channel_of(address), bool(row and row.opted_out), learner)


def add(
    tx: sa.Connection,
    phone: str,
    mode: str,
    *,
    grade: str | None = None,
    credits_given: int = 0,
    name: str | None = None,
    email: str | None = None,
) -> sa.Row:
    """A new account; the telephone number and the e-mail count as proven. Raises WrongUsage."""
    number = numbers.normalise(phone)
    if number is None:
        raise WrongUsage(f"{phone!r} is not a telephone number with its country code, such as +2250701020304")
    if mode not in MODES:
        raise WrongUsage(f"the mode is child or pro, not {mode!r}")
    if credits_given < 0:
        raise WrongUsage("credits cannot be negative")
    if email is not None and ("@" not in email or any(c.isspace() or c in ",;<>" for c in email)):
        raise WrongUsage(f"{email!r} is not an e-mail address")
    if len(name or "") > 200 or len(email or "") > 254:
        raise WrongUsage("a name has 200 characters at most, an e-mail address 254")
    id = uuid.uuid4().hex
    if not insert_once(
        tx,
        learners,
        id=id,
        phone=number,
        mode=mode,
        grade=grade_named(grade),
        name=name,
        email=email,
        email_verified=email is not None,
        language="fr",
        credits=0,
        created_at=now(),
    ):
        raise WrongUsage(f"there is an account with {number} already; nothing was changed")
    if credits_given:
        credits.move(tx, id, credits_given, key=f"grant:{id}", counterpart="grants", reason="users add")
    return tx.execute(sa.select(learners).where(learners.c.id == id)).one()


def grade_named(wanted: str | None) -> str | None:
    """The class that *wanted* names ("3ème", "terminale", "cm2"), or None for None. Raises WrongUsage."""
    if wanted is None:
        return None
    bare = "".join(c for c in unicodedata.normalize("NFKD", wanted.casefold()) if c.isalnum())
    bare = GRADE_WORDS.get(bare, re.sub(r"(?<=\d)(eme|ieme|ere|re|nde|er|e|de)?$", "", bare))
    found = next((g for g in GRADES if bare in (g.casefold(), g.casefold().rstrip("endr"))), None)
    if found is None:
        raise WrongUsage(f"{wanted!r} is not a class; the classes are {', '.join(GRADES)}")
    return found


def everybody(connection: sa.Connection) -> list[sa.Row]:
    return list(connection.execute(sa.select(learners).order_by(learners.c.created_at, learners.c.id)))
