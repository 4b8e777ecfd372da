"""Control words about one's own things work without a model and without credits."""

import pytest
from conftest import AWA, rows

from bot.db import drafts, learners, memories, payments, tasks, writing
from bot.errors import WrongUsage
from bot.learners import accounts
from bot.learners import drafts as drafting
from bot.learners import memories as remembering
from bot.learners import tasks as tasking


@pytest.fixture
def awa(world):
    """A pupil without credits; world.owner is her key."""
    row = world.account(grade="CM2", name="Awa", credits_given=0, email="awa@exemple.ci")
    world.owner = f"learner:{row.id}"
    return world


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("AIDE", "Palabre"),
        ("solde", "0 crédits"),
        ("Acheter", "https://palabre.test/pay/"),
        ("FICHIERS", "pas encore de fichier"),
        ("profil", "élève, CM2"),
        ("CLASSE 3ème", "3e"),
        ("CLASSE terminale", "Tle"),
        ("CLASSE", "CLASSE CM2"),
        ("LANGUE EN", "English"),
        ("LANGUE", "LANGUE EN"),
        ("TÂCHES", "aucune tâche"),
        ("FAIT 3", "pas de tâche 3"),
        ("ENVOYER 2", "pas de brouillon 2"),
        ("MES DONNÉES", "Awa"),
        ("OUBLIE", "rien de tel"),
        ("QUIZ", "un quiz sur les fractions"),
        ("STATUT", "rien en cours"),
        ("SUITE", "pas de suite"),
        ("ANNULER", "rien à arrêter"),
        ("INSCRIPTION", "déjà un compte"),
        ("NOUVEAU", "repart à zéro"),
        ("SUPPRIMER", "AIDE"),
        ("CONNEXION", "AIDE"),
    ],
)
def test_a_word_is_answered_without_the_model(awa, word, said):
    """Each word brings its text at once."""
    [reply] = awa.say(word)
    assert said in reply and not awa.model.asked


@pytest.mark.parametrize("word", ["TACHES", "PROFIL", "ACHETER", "MES DONNEES", "FAIT 1", "CLASSE CM2"])
def test_a_guest_is_told_about_accounts(world, word):
    """What needs an account says so."""
    assert "INSCRIPTION" in world.say(word)[0] and not world.model.asked


def test_tasks_are_listed_and_ticked_off(awa):
    """TACHES lists by number, FAIT n finishes one."""
    with writing(awa.services.db) as tx:
        tasking.create(tx, key="k1", owner=awa.owner, title="Réviser")
    assert "1. Réviser" in awa.say("TACHES")[0]
    assert "Réviser" in awa.say("FAIT 1")[0] and rows(awa.services, tasks)[0].done_at
    assert "aucune tâche" in awa.say("TACHES")[0]


def test_a_draft_leaves_when_its_person_says_so(awa):
    """ENVOYER n sends a draft once."""
    with writing(awa.services.db) as tx:
        drafting.create(tx, key="k1", owner=awa.owner, to="prof@exemple.ci", subject="Bonjour", body="Texte", file_ids=[])
    assert "prof@exemple.ci" in awa.say("ENVOYER 1")[0] and rows(awa.services, drafts)[0].sent_at
    assert "déjà" in awa.say("ENVOYER 1")[0]


def test_memories_are_shown_and_forgotten(awa):
    """MES DONNEES shows what is known, OUBLIE and a word erases it."""
    with writing(awa.services.db) as tx:
        remembering.save(tx, awa.owner, "Awa aime les mangues")
    assert "mangues" in awa.say("MES DONNEES")[0]
    assert "oublié" in awa.say("OUBLIE mangues")[0] and not rows(awa.services, memories)


def test_the_bought_credits_arrive_once(awa):
    """The link of ACHETER credits once, however often it is confirmed."""
    link = awa.say("ACHETER")[0].rsplit(" ", 1)[1].removeprefix("https://palabre.test")
    assert "500" in awa.web.get(link).text
    assert [awa.web.post(link).status_code for _ in range(2)] == [200, 200]
    assert [r.credits for r in rows(awa.services, learners)] == [500] and rows(awa.services, payments)[0].state == "paid"


def test_new_begins_another_conversation(world):
    """After NOUVEAU the model knows nothing of what was said before."""
    world.say("Bonjour")
    world.say("NOUVEAU")
    world.say("Et alors ?")
    assert [m["content"] for m in world.model.asked[-1]["messages"][1:]] == ["Et alors ?"]


def test_stop_and_start(world):
    """After STOP nothing is answered or sent until START; on WhatsApp one word confirms it, on SMS the network does."""
    assert len(world.say("ARRÊT")) == 1 and world.say("Bonjour") == [] and world.say("AIDE") == []
    assert len(world.say("START")) == 1 and world.say("Bonjour") == ["D'accord."]
    assert world.say("STOP", AWA) == [] and world.say("Bonjour", AWA) == []
    assert len(world.say("START", AWA)) == 1


@pytest.mark.parametrize(
    ("written", "grade"),
    [
        ("cm2", "CM2"),
        ("3e", "3e"),
        ("3ème", "3e"),
        ("Troisième", "3e"),
        ("2nde", "2nde"),
        ("seconde", "2nde"),
        ("1ère", "1re"),
        ("Terminale", "Tle"),
        ("6EME", "6e"),
        ("CP 1", "CP1"),
    ],
)
def test_classes_in_many_forms(written, grade):
    """A class is understood as people write it."""
    assert accounts.grade_named(written) == grade


@pytest.mark.parametrize("written", ["", "7e", "CM3", "licence", "e"])
def test_what_is_no_class(written):
    """Something else is refused with the list of classes."""
    with pytest.raises(WrongUsage, match="CM2"):
        accounts.grade_named(written)


def test_a_word_in_a_fork_acts_on_nobody(world):
    """A fork at a STOP opts nobody out and sends nothing."""
    world.say("Bonjour")
    world.say("STOP")
    world.say("START")
    stop = next(e.seq for e in world.events() if getattr(e.event, "command", None) == "stop")
    before, headers = len(world.twilio.sent), {"Authorization": f"Bearer {world.settings.operator_token}"}
    assert world.web.post(f"/api/conversations/{world.conversation()}/fork", json={"at": stop}, headers=headers).status_code == 201
    world.work()
    assert len(world.twilio.sent) == before and world.say("Tu es là ?") == ["D'accord."]
