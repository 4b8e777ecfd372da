"""The bank of school topics: found when named, short enough for a phone, each question with one answer."""

import pytest

from bot.demo import topics
from bot.demo.brain import answer

TOPICS = [
    ("C'est quoi une fraction ?", "fractions"),
    ("Explique-moi les pourcentages", "pourcentages"),
    ("je veux apprendre les tables de multiplication", "tables"),
    ("les équations du premier degré", "equations"),
    ("le théorème de Pythagore", "pythagore"),
    ("la proportionnalité svp", "proportionnalite"),
    ("aires et périmètres", "aires"),
    ("les nombres décimaux", "decimaux"),
    ("la conjugaison", "conjugaison"),
    ("l’accord du participe passé", "participe"),
    ("nature et fonction", "grammaire"),
    ("le cycle de l'eau", "eau"),
    ("la digestion", "digestion"),
    ("la photosynthèse", "photosynthese"),
    ("les etats de la matiere", "matiere"),
    ("parle-moi de la Côte d'Ivoire", "cotedivoire"),
    ("les indépendances africaines", "independances"),
    ("la respiration", "respiration"),
    ("les circuits électriques", "circuits"),
    ("le bilan SYSCOHADA", "bilan"),
]


def test_every_topic_is_asked_for_here():
    assert {name for _, name in TOPICS} == set(topics.bank())


@pytest.mark.parametrize(("text", "name"), TOPICS, ids=[name for _, name in TOPICS])
def test_a_topic_is_explained_when_it_is_named(text, name):
    assert topics.bank()[name].lesson("fr") in answer([{"role": "user", "content": text}], []).text


@pytest.mark.parametrize("name", [name for _, name in TOPICS])
def test_a_topic_fits_a_phone_and_its_questions_have_one_answer(name):
    topic = topics.bank()[name]
    for language in ("fr", "en"):
        assert 100 < len(topic.explanation(language)) <= 700
        assert len(topic.explanation(language, brief=True)) <= 190
    assert topic.exercises or len(topic.questions) >= 4
    assert topic.statements
    for question in topic.questions:
        assert len(question.options) == len(set(question.options)) == 4
        assert 0 <= question.correct_index < 4
    for statement in topic.statements:
        assert isinstance(statement.truth, bool)


def test_shuffling_a_stored_question_keeps_its_answer():
    stored = {q.question: q.options[q.correct_index] for t in topics.bank().values() for q in t.questions}
    seen = set()
    for topic in topics.bank().values():
        for seed in range(200):
            exercise = topics.exercise(topic, seed, "fr", statements=False)
            if exercise.question in stored:
                assert exercise.options[exercise.correct_index] == stored[exercise.question]
                seen.add(exercise.question)
    assert seen == set(stored)
