"""
Which pieces the system message is made of. Pure: from the profile, the moment the turn began, and what the person wrote.

Each piece is a text file in prompts/. What never changes comes first, so that a provider can keep it in its cache.
"""

import re
import unicodedata

STAGES = {
    "grade_primary": ("CP1", "CP2", "CE1", "CE2", "CM1", "CM2"),
    "grade_middle": ("6e", "5e", "4e", "3e"),
    "grade_high": ("2nde", "1re", "Tle"),
}
SUBJECTS = {  # whole words, without accents
    "subject_maths": """maths mathematiques calcul fraction fractions equation equations geometrie triangle pythagore thales pourcentage
        pourcentages derivee integrale fonction fonctions algebre probabilites vecteur vecteurs multiplication division addition
        soustraction theoreme""",
    "subject_physics": """physique chimie vitesse energie electrique circuit tension ohm newton atome molecule reaction acide optique
        lentille""",
    "subject_biology": "svt biologie cellule digestion respiration photosynthese adn genetique paludisme microbe ecosysteme",
    "subject_history": "histoire geographie geo colonisation independance empire royaume guerre climat population relief",
    "subject_english": "anglais english vocabulary tense preterit grammar",
    "subject_philosophy": "philosophie philo dissertation kant platon descartes conscience liberte",
    "subject_accounting": """comptabilite comptable syscohada ohada bilan amortissement amortissements tva tresorerie fiscal fiscale
        facture""",
    "subject_french": """francais conjugaison conjugue grammaire orthographe dictee redaction accord participe verbe verbes subjonctif
        poesie""",
}
WORDS = {word: layer for layer, words in SUBJECTS.items() for word in words.split()}
EXAMS = {"bac", "baccalaureat", "bepc", "bfem", "cepe", "cfee", "brevet", "examen", "examens", "concours", "probatoire", "composition"}
LOOK_BACK = 3  # of the person's newest messages
SCHOOL_DAYS, SCHOOL_HOURS = range(0, 5), range(8, 17)


def chosen(profile: dict, channel: str, said: list[str]) -> list[str]:
    """The names of the layers, in order; *said*: what the person wrote, oldest first."""
    mode = profile.get("mode", "guest")
    names = ["tutor", f"mode_{mode}", f"channel_{channel or 'whatsapp'}"]
    names += [layer for layer, grades in STAGES.items() if profile.get("grade") in grades]
    words = [w for text in said[-LOOK_BACK:] for w in bare_words(text)]
    names += [subject] if (subject := _subject(words)) else []
    names += ["exam"] if EXAMS & set(words) else []
    names += ["school_hours"] if mode == "child" and _in_school(profile) else []
    return names


def bare_words(text: str) -> list[str]:
    letters = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[a-z]+", "".join(c for c in letters if not unicodedata.combining(c)))


def _subject(words: list[str]) -> str | None:
    """The subject that is named most often; of two that are named as often, the one named last."""
    found = [WORDS[w] for w in words if w in WORDS]
    return max(reversed(found), key=found.count) if found else None


def _in_school(profile: dict) -> bool:
    return profile.get("weekday") in SCHOOL_DAYS and profile.get("hour") in SCHOOL_HOURS
