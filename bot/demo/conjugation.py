"""Regular French verbs of the first two groups (-er, and -ir like finir), in four tenses, with the spelling changes of -ger, -cer…"""

import re

PRONOUNS = ("je", "tu", "il", "nous", "vous", "ils")
TENSES = ("présent", "imparfait", "futur", "passé composé")
IRREGULAR_ER = frozenset(("aller", "envoyer", "renvoyer"))
# -ir verbs that do not follow finir, and -oir verbs, are left out rather than got wrong
IRREGULAR_IR = re.compile(
    r"(.*(tenir|venir|courir|mourir|quérir|vrir|frir|voir|oir|dormir|servir|bouillir|faillir|saillir)"
    r"|(re|res)?(sentir|sortir|partir|mentir)|consentir|pressentir|démentir|cueillir|accueillir|recueillir|fuir|vêtir|revêtir|gésir|ouïr|haïr)$"
)
WITH_BE = frozenset(("arriver", "entrer", "rentrer", "monter", "rester", "retourner", "tomber", "passer"))
VOWELS = "aeiouyhéèêàâîïôûœ"
BANK = (
    "parler",
    "chanter",
    "travailler",
    "cultiver",
    "jouer",
    "manger",
    "commencer",
    "voyager",
    "danser",
    "préparer",
    "finir",
    "choisir",
    "grandir",
    "réussir",
    "nourrir",
    "remplir",
    "obéir",
    "bâtir",
)
ENDINGS = {
    ("er", "présent"): ("e", "es", "e", "ons", "ez", "ent"),
    ("ir", "présent"): ("is", "is", "it", "issons", "issez", "issent"),
    ("er", "imparfait"): ("ais", "ais", "ait", "ions", "iez", "aient"),
    ("ir", "imparfait"): ("issais", "issais", "issait", "issions", "issiez", "issaient"),
    "futur": ("ai", "as", "a", "ons", "ez", "ont"),
}
HAVE = ("ai", "as", "a", "avons", "avez", "ont")
BE = ("suis", "es", "est", "sommes", "êtes", "sont")


def is_regular(verb: str) -> bool:
    if verb.endswith("er") and len(verb) > 3:
        return verb not in IRREGULAR_ER and not _changes_its_root(verb)
    return verb.endswith("ir") and len(verb) > 3 and not IRREGULAR_IR.match(verb)


def _changes_its_root(verb: str) -> bool:
    """appeler, acheter, espérer, nettoyer…: the root itself changes; not in this bank."""
    return bool(re.search(r"(e([bcdflmnprstvz]|vr)|é([bcdfgjlmnprstvz]|[bcdfgptv][rl]|ch|gn|gu|qu)|[oua]y)er$", verb))


def conjugate(verb: str, tense: str, person: int) -> str:
    """The form without its pronoun; *person* 0..5 stands for PRONOUNS. The verb is regular, the tense one of TENSES."""
    group, root = verb[-2:], verb[:-2]
    if tense == "futur":
        return verb + ENDINGS["futur"][person]
    if tense == "passé composé":
        participle = root + ("é" if group == "er" else "i")
        if verb in WITH_BE:
            return f"{BE[person]} {participle}{'s' if person > 2 else ''}"
        return f"{HAVE[person]} {participle}"
    ending = ENDINGS[group, tense][person]
    if group == "er" and ending[0] in "ao":
        root = root + "e" if root.endswith("g") else root[:-1] + "ç" if root.endswith("c") else root
    return root + ending


def with_pronoun(form: str, person: int) -> str:
    pronoun = PRONOUNS[person]
    return f"j'{form}" if pronoun == "je" and form[0] in VOWELS else f"{pronoun} {form}"


def table(verb: str, tense: str) -> list[str]:
    return [with_pronoun(conjugate(verb, tense, person), person) for person in range(6)]
