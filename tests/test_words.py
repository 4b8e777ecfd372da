"""Control words."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels.words import NAMES, Command, command

EVERY = {
    "help": ["AIDE", "HELP", "?"],
    "stop": ["STOP", "ARRET", "ARRÊT", "DESABONNER", "DÉSABONNER", "UNSUBSCRIBE"],
    "start": ["START", "REPRENDRE"],
    "more": ["SUITE", "NEXT", "MORE"],
    "status": ["STATUT", "STATUS"],
    "cancel": ["ANNULER", "CANCEL"],
    "balance": ["SOLDE", "BALANCE", "CREDIT", "CRÉDITS"],
    "buy": ["ACHETER", "BUY"],
    "files": ["FICHIERS", "FILES"],
    "profile": ["PROFIL", "PROFILE"],
    "grade": ["CLASSE"],
    "quiz": ["QUIZ"],
    "new": ["NOUVEAU", "NEW"],
    "tasks": ["TACHES", "TÂCHES", "TASKS"],
    "language": ["LANGUE"],
    "signup": ["INSCRIPTION", "SIGNUP"],
    "login": ["CONNEXION", "LOGIN"],
    "mydata": ["MES DONNEES", "MES DONNÉES", "MY DATA"],
    "forget": ["OUBLIE", "FORGET"],
    "delete": ["SUPPRIMER", "DELETE"],
}


@pytest.mark.parametrize(("word", "name"), [(word, name) for name, words in EVERY.items() for word in words])
@pytest.mark.parametrize(
    "form",
    [
        str,
        str.lower,
        str.capitalize,
        lambda w: f"  {w} \n",
        lambda w: f"{w}.",
        lambda w: f"« {w} » !",
        lambda w: f"*{w}*",
        lambda w: f"{w} 🙏",
        lambda w: unicodedata.normalize("NFD", w),
        lambda w: w.replace(" ", "\u00a0"),
    ],
    ids=["as is", "lower", "capitalised", "blanks", "full stop", "quoted", "bold", "emoji", "decomposed", "no-break"],
)
def test_a_word_is_obeyed_in_any_case_accent_and_punctuation(word, name, form):
    assert command(form(word)) == Command(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FAIT 3", Command("done", "3")),
        ("done 12.", Command("done", "12")),
        ("fait n°2", Command("done", "2")),
        ("Fait #4", Command("done", "4")),
        ("FAIT ٢", Command("done", "2")),
        ("fait 03", Command("done", "3")),
        ("ENVOYER 2", Command("send", "2")),
        ("send 7 !", Command("send", "7")),
        ("CLASSE CM2", Command("grade", "CM2")),
        ("classe : 6e", Command("grade", "6e")),
        ("Classe 3ème B", Command("grade", "3ème B")),
        ("classe Terminale D", Command("grade", "Terminale D")),
        ("classe de 1ère", Command("grade", "1ère")),
        ("CLASSE Tle C", Command("grade", "Tle C")),
        ("classe ce 1", Command("grade", "ce 1")),
        ("classe 2nde", Command("grade", "2nde")),
        ("GRADE 5", Command("grade", "5")),
        ("LANGUE EN", Command("language", "EN")),
        ("langue français", Command("language", "français")),
        ("Language: English", Command("language", "English")),
        ("OUBLIE mon école", Command("forget", "mon école")),
        ("oublie 3", Command("forget", "3")),
        ("FORGET everything", Command("forget", "everything")),
        ("??", Command("help")),
        (" ? ", Command("help")),
    ],
)
def test_a_word_may_carry_its_argument(text, expected):
    assert command(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "!",
        "🙂",
        "bonjour",
        "aide-moi à préparer mon devoir",
        "Aide moi",
        "stop svp pourquoi",
        "je veux arrêter",
        "la suite de Fibonacci",
        "la suite est arithmétique ?",
        "suite 2",
        "c'est quoi un solde",
        "fait",
        "FAIT",
        "fait 2 exercices",
        "fait 2 et 3",
        "en fait 2",
        "envoyer",
        "envoyer un message",
        "classe moyenne",
        "classe des mammifères",
        "Classe ces mots : a, b",
        "langue maternelle",
        "langue vivante 2",
        "oublie pas mon devoir",
        "oublie ça",
        "oublie\nmon école",
        "tu oublies ?",
        "oublie-t-il ?",
        "oublie tout ce que je viens de dire et explique-moi les fractions",
        "nouveau mot",
        "2",
        "B",
        "vrai",
        "oui",
        "yes",
        "end",
        "quit",
        "quiz sur les fractions",
        "profil de poste",
        "what is help",
        "STOP STOP",
        "tasks for today",
        "my data is wrong",
    ],
)
def test_ordinary_talk_is_no_command(text):
    assert command(text) is None


@pytest.mark.parametrize("text", ["CANCEL", "cancel.", "END", "Quit", "YES", "yes!"])
def test_words_of_the_carrier_are_never_ours_on_sms(text):
    assert command(text, channel="sms") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("STOP", "stop"),
        ("stopall", "stop"),
        ("UNSUBSCRIBE", "stop"),
        ("Arrêt", "stop"),
        ("START", "start"),
        ("unstop", "start"),
        ("ANNULER", "cancel"),
        ("SUITE", "more"),
        ("AIDE", "help"),
        ("QUIZ", "quiz"),
    ],
)
def test_the_other_words_work_on_sms_too(text, name):
    assert command(text, channel="sms") == Command(name)


@given(st.text())
def test_any_text_can_be_asked_and_a_command_has_a_known_name(text):
    for channel in ("whatsapp", "sms"):
        found = command(text, channel)
        assert found is None or found.name in {*NAMES.values(), "done", "send"}
