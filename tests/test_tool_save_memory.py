"""save_memory: facts that outlive a conversation."""

import pytest
from conftest import rows

from bot.db import memories, reading, writing
from bot.errors import ToolError
from bot.learners import memories as store
from tools.offered import check
from tools.save_memory import save_memory


def remember(context, fact, **more):
    result = save_memory(context, fact, key="c1", **more)
    context.tx.commit()
    return result


def test_a_fact_is_kept_under_its_category(services, make_context):
    context = make_context("child")
    assert remember(context, "Prépare le CEPE", category="Objectif") == {"success": True, "new": True}
    [row] = rows(services, memories)
    assert (row.owner, row.category, row.fact) == (context.person.owner, "objectif", "Prépare le CEPE")


def test_a_fact_without_category_is_kept_too(services, make_context):
    remember(make_context(), "Aime le football")
    assert rows(services, memories)[0].category == store.GENERAL


@pytest.mark.parametrize("again", ["Prépare le CEPE", "  prépare  le\ncepe ", "PRÉPARE LE CEPE", "Prépare le CEPE"])
def test_the_same_fact_in_another_case_or_spacing_is_one(services, make_context, again):
    context = make_context()
    remember(context, "Prépare le CEPE", category="objectif")
    assert remember(context, again, category="objectif")["new"] is False
    assert len(rows(services, memories)) == 1


def test_a_known_fact_can_change_its_category(services, make_context):
    context = make_context()
    remember(context, "Prépare le CEPE", category="divers")
    assert remember(context, "Prépare le CEPE", category="objectif")["new"] is False
    assert [r.category for r in rows(services, memories)] == ["objectif"]


def test_facts_come_newest_first_and_only_the_owners(services, make_context):
    context = make_context()
    for fact in ("un", "deux", "trois"):
        remember(context, fact)
    remember(context, "un")
    with writing(services.db) as tx:
        store.save(tx, "whatsapp:+22997123456", "d'un autre")
    with reading(services.db) as connection:
        assert [r.fact for r in store.facts(connection, context.person.owner, limit=2)] == ["un", "trois"]
        assert len(store.facts(connection, context.person.owner, limit=None)) == 3


def test_facts_can_be_forgotten_by_number_by_a_word_or_all(services, make_context):
    context = make_context()
    for fact in ("Sa sœur s'appelle Aïcha", "Habite Bouaké", "Aime les maths", "A 12 ans"):
        remember(context, fact)
    with writing(services.db) as tx:
        assert store.forget(tx, context.person.owner, "2") == 1
        assert [r.fact for r in store.facts(tx, context.person.owner)] == ["A 12 ans", "Habite Bouaké", "Sa sœur s'appelle Aïcha"]
        assert store.forget(tx, context.person.owner, "12") == 1
        assert store.forget(tx, context.person.owner, "AICHA") == 1
        assert store.forget(tx, "somebody else") == 0
        remember_again = store.save(tx, context.person.owner, "A 13 ans")
        assert remember_again and store.forget(tx, context.person.owner) == 2
    assert rows(services, memories) == []


def test_an_empty_fact_is_refused(services, make_context):
    with pytest.raises(ToolError, match="empty"):
        remember(make_context(), " \x00\n ")
    assert rows(services, memories) == []


@pytest.mark.parametrize("arguments", [{}, {"fact": ""}, {"fact": "x" * 501}, {"fact": "x", "category": 1}, {"fact": "x", "tag": "y"}])
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("save_memory", arguments)
