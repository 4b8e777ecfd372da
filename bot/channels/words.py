"""Control words: a message that is nothing but one of them is obeyed at once, without a model and without credits."""

import unicodedata
from dataclasses import dataclass

import regex

WORDS = {
    "help": "aide, help",
    "stop": "stop, stopall, stop all, arret, desabonner, se desabonner, desabonnement, unsubscribe",
    "start": "start, unstop, reprendre",
    "more": "suite, la suite, next, more",
    "status": "statut, status",
    "cancel": "annuler, cancel",
    "balance": "solde, balance, credit, credits",
    "buy": "acheter, buy",
    "files": "fichiers, fichier, files",
    "profile": "profil, profile",
    "grade": "classe, grade",
    "quiz": "quiz",
    "new": "nouveau, new",
    "tasks": "taches, tasks",
    "language": "langue, language",
    "signup": "inscription, signup, sign up",
    "login": "connexion, login, log in",
    "mydata": "mes donnees, my data",
    "forget": "oublie, forget",
    "delete": "supprimer, delete",
}
NAMES = {form: name for name, forms in WORDS.items() for form in forms.split(", ")}
CARRIERS = frozenset({"cancel", "end", "quit", "yes"})  # what carriers obey themselves on SMS; beside STOP and START never ours

NUMBERED = {"fait": "done", "done": "done", "envoyer": "send", "send": "send"}
GRADE = regex.compile(
    r"(?:la |en |de )?(?:cp ?[12]?|ce ?[12]|cm ?[12]|ci|sil|maternelle|[1-9](?:e|eme|er|ere|nde?|de|th|st|rd)?|1[0-3](?:e|eme|th)?"
    r"|tle|terminale|premiere|seconde|troisieme|quatrieme|cinquieme|sixieme)(?: ?[a-z][a-z0-9]?)?"
)
LANGUAGE = regex.compile(r"fr|francais|french|en|anglais|english")
NOT_A_MEMORY = regex.compile(r"(?:pas|jamais|ca|cela|it|that|about)\b")


@dataclass(frozen=True)
class Command:
    """*name* is one of WORDS or "done", "send"; *argument* is what stood behind the word, as typed, or "" when there was nothing."""

    name: str
    argument: str = ""


def _plain(text: str) -> str:
    """Lower case without accents, single blanks."""
    letters = unicodedata.normalize("NFKD", text).casefold()
    return " ".join("".join(c for c in letters if not unicodedata.combining(c)).split())


def _trimmed(text: str) -> str:
    """Without the blanks, punctuation, marks and emoji around it."""
    return regex.sub(r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$", "", text)


def command(text: str, channel: str = "whatsapp") -> Command | None:
    """The command that *text* is, or None when it is ordinary talk. On "sms" the words that carriers keep for themselves are never ours."""
    text = unicodedata.normalize("NFKC", text)
    said = _trimmed(text)
    if not said:
        return Command("help") if "?" in text else None
    word = _plain(said)
    if channel == "sms" and word in CARRIERS:
        return None
    if word in NAMES:
        return Command(NAMES[word])
    first, *behind = said.split(None, 1)
    argument = _trimmed(behind[0]) if behind else ""
    name, wanted = _plain(_trimmed(first)), _plain(argument)
    if not argument:
        return None
    if name in NUMBERED and regex.fullmatch(r"(?:(?:no?|n°|numero) ?)?(\d{1,9})", wanted):
        return Command(NUMBERED[name], str(int(regex.search(r"\d+", wanted)[0])))
    match NAMES.get(name):
        case "grade" if GRADE.fullmatch(wanted):
            return Command("grade", regex.sub(r"(?i)^(?:la|en|de)\s+", "", argument))
        case "language" if LANGUAGE.fullmatch(wanted):
            return Command("language", argument)
        case "forget" if len(wanted.split()) <= 8 and not NOT_A_MEMORY.match(wanted) and not set("?\n") & set(text.strip()):
            return Command("forget", argument)
    return None
