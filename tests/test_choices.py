"""Quiz prompts, and what people type to answer them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.channels import sms, whatsapp
from bot.learners.choices import numbered, read_choice, read_truth, true_false_prompt

CITIES = ["Abidjan", "Yamoussoukro", "Bouaké"]


@pytest.mark.parametrize(
    "text",
    [
        "2",
        "2.",
        " 2 ",
        "2)",
        "(2)",
        "2 !",
        "2 ?",
        "#2",
        "n°2",
        "N° 2",
        "no 2",
        "numéro 2",
        "B",
        "b",
        "b)",
        "B.",
        "(b)",
        "réponse 2",
        "Réponse : 2",
        "Reponse B",
        "la réponse B",
        "rep 2",
        "la 2",
        "le 2",
        "La b",
        "option 2",
        "choix 2",
        "c'est la 2",
        "C’est le B",
        "c est 2",
        "je dis 2",
        "je pense que c'est la 2",
        "2 je crois",
        "2 svp",
        "2, merci",
        "answer 2",
        "it's B",
        "I think 2",
        "2️⃣",
        "٢",
        "۲",
        "２",
        "②",
        "②?",
        "²",
        "la ٢",
        "Ｂ",
        "\u200e2\u200e",
        "2\n",
        "02",
        "deux",
        "la deuxième",
        "le second",
        "la deuxième réponse",
        "2) Yamoussoukro",
        "2. yamoussoukro",
        "B Yamoussoukro",
        "b - Yamoussoukro",
        "Yamoussoukro",
        "YAMOUSSOUKRO",
        "yamoussoukro.",
        "« Yamoussoukro »",
        "c'est Yamoussoukro",
        "la réponse est Yamoussoukro",
        "Yamoussoukro je crois",
        "Yàmoussoukro",
        "*2*",
        "_B_",
        "**2**",
        "[2]",
        "2;",
        "2:",
    ],
)
def test_the_second_choice_is_read(text):
    assert read_choice(text, CITIES) == 1


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("1", 0),
        ("c", 2),
        ("C)", 2),
        ("bouake", 2),
        ("BOUAKÉ !", 2),
        ("3️⃣", 2),
        ("premier", 0),
        ("la première", 0),
        ("three", 2),
        ("7", 6),
        ("0", -1),
        ("🔟", 9),
        ("12", 11),
        ("D", 3),
        ("la 7", 6),
        ("réponse 9", 8),
        ("100", 99),
        ("quatre", 3),
    ],
)
def test_a_number_counts_as_typed_even_out_of_range(text, index):
    assert read_choice(text, CITIES) == index


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "?",
        "🙂",
        "2 pommes et 3 pommes, ça fait combien ?",
        "2 pommes + 3 pommes ?",
        "1984 de Orwell",
        "1984 de Orwell, c'est quoi ?",
        "3e",
        "2e",
        "1 et 3",
        "1 ou 2",
        "1,3",
        "1, 2",
        "1-2",
        "1/2",
        "2/3",
        "2.5",
        "2,5",
        "2+2",
        "2 + 2",
        "2*3",
        "2x",
        "x2",
        "2 %",
        "2%",
        "2 €",
        "2 F",
        "-2",
        "- 2",
        "+2",
        "2²",
        "2³",
        "½",
        "1½",
        "Ⅱ",
        "2 3",
        "2 2",
        "2 heures",
        "le 2 mars",
        "la 2e",
        "A et B",
        "AB",
        "bonjour",
        "je ne sais pas",
        "aucune idée",
        "pourquoi 2 ?",
        "non 2 non",
        "2 Abidjan",
        "Abidjan ou Bouaké",
        "pas Abidjan",
        "1984",
        "2026",
        "07 01 02 03 04",
        "0701020304",
        "2:30",
        "2h30",
        "k",
        "z",
        "oui",
        "ok",
        "2=2",
        "x=2",
        "2 vaches",
        "=2",
        "<2",
        "10^2",
        "2 000",
    ],
)
def test_other_text_is_ordinary_talk(text):
    assert read_choice(text, CITIES) is None


@pytest.mark.parametrize(
    ("text", "options", "index"),
    [
        ("2", ["12", "2", "7"], 1),
        ("12", ["12", "2", "7"], 0),
        ("7", ["12", "2", "7"], 2),
        ("1", ["12", "2", "7"], 0),
        ("3", ["12", "2", "7"], 2),
        ("2", ["7", "12", "2"], 1),
        ("9", ["12", "2", "7"], 8),
        ("1960", ["1958", "1960", "1962"], 1),
        ("1984", ["1958", "1960", "1962"], None),
        ("-2", ["2", "-2", "4"], 1),
        ("- 2", ["2", "-2", "4"], 1),
        ("+2", ["-2", "+2"], 1),
        ("2,5", ["2", "2,5", "3"], 1),
        ("2.5", ["2,5", "2.5"], 1),
        ("1/2", ["1/3", "1/2"], 1),
        ("½", ["⅓", "½"], 1),
        ("3/4", ["1/2", "3/4", "1"], 1),
        ("50 %", ["5%", "50%"], 1),
        ("50%", ["5 %", "50 %"], 1),
        ("x²", ["x", "x²", "x³"], 1),
        ("3²", ["3", "3²"], 1),
        ("<", [">", "<", "="], 1),
        ("+", ["-", "+"], 1),
        ("2 000", ["200", "2 000"], 1),
        ("A", ["C", "B", "A"], 2),
        ("a", ["le", "a", "à"], 1),
        ("à", ["le", "a", "à"], 2),
        ("ou", ["ou", "où"], 0),
        ("où", ["ou", "où"], 1),
        ("OU", ["ou", "où"], 0),
        ("coeur", ["poumon", "cœur"], 1),
        ("l'eau", ["le feu", "L’eau"], 1),
        ("eau", ["le feu", "L’eau"], 1),
        ("seine", ["la Loire", "La Seine"], 1),
        ("2 vaches", ["1 vache", "2 vaches"], 1),
        ("vitamine c", ["Vitamine A", "Vitamine B", "Vitamine C"], 2),
        ("mangé", ["manger", "mangé"], 1),
        ("je", ["tu", "je"], 1),
        ("oui", ["oui", "non"], 0),
        ("c'est", ["s'est", "c'est"], 1),
        ("même", ["même", "même"], None),
        ("E", ["a", "b", "c", "d"], 4),
        ("1 et 3", ["2 et 3", "1 et 3"], 1),
        ("3e", ["2e", "3e"], 1),
        ("un", ["le", "un"], 1),
        ("deux", ["un", "deux"], 1),
        ("trois", ["trois", "un"], 0),
    ],
)
def test_the_options_own_text_counts_and_a_bare_number_in_range_is_the_position(text, options, index):
    assert read_choice(text, options) == index


@given(st.text(), st.lists(st.text(min_size=1), min_size=2, max_size=4))
def test_any_text_can_be_read_as_an_answer(text, options):
    assert read_choice(text, options) is None or -1 <= read_choice(text, options) < 1000
    assert read_truth(text) in (True, False, None)


@given(st.lists(st.text(st.characters(categories=["L"]), min_size=2), min_size=2, max_size=4, unique_by=str.casefold), st.data())
def test_an_option_typed_as_it_stands_is_that_option(options, data):
    index = data.draw(st.integers(0, len(options) - 1))
    assert read_choice(options[index], options) == index


@pytest.mark.parametrize(
    "text",
    [
        "vrai",
        "VRAI !",
        "Vrai.",
        "v",
        "V",
        "true",
        "T",
        "c'est vrai",
        "C’est vrai !",
        "oui",
        "Oui.",
        "yes",
        "1",
        "1)",
        "1️⃣",
        "la 1",
        "A",
        "je pense que c'est vrai",
        "vrai je crois",
        "réponse vrai",
        "pas faux",
        "*vrai*",
        "١",
        "Vrai, parce que le Nil y coule",
        "c'est vrai : il y coule",
    ],
)
def test_true_is_read(text):
    assert read_truth(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "faux",
        "FAUX",
        "Faux !",
        "f",
        "F.",
        "false",
        "c'est faux",
        "non",
        "no",
        "n",
        "2",
        "2.",
        "2️⃣",
        "B",
        "ce n'est pas vrai",
        "c'est pas vrai",
        "fausse",
        "la 2",
        "Faux. Il va vers le nord",
    ],
)
def test_false_is_read(text):
    assert read_truth(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        "vrai ou faux ?",
        "pourquoi ?",
        "3",
        "0",
        "vraiment ?",
        "faux départ",
        "2 pommes",
        "je ne sais pas",
        "1984",
        "vrai faux",
        "1 et 2",
        "vrai, faux",
        "faux ou vrai, je ne sais pas",
    ],
)
def test_anything_else_is_neither(text):
    assert read_truth(text) is None


def test_a_prompt_is_the_question_its_choices_all_alike_and_how_to_answer():
    assert numbered("Quelle est la capitale ?", CITIES, "fr") == (
        "Quelle est la capitale ?\n1) Abidjan\n2) Yamoussoukro\n3) Bouaké\nRéponds par 1, 2 ou 3."
    )
    assert numbered("Which?", ["a", "b"], "en") == "Which?\n1) a\n2) b\nReply with 1 or 2."


def test_a_true_or_false_prompt_shows_statement_and_both_words_with_numbers():
    assert true_false_prompt(" Le Nil traverse l'Égypte. ", "fr") == (
        "Vrai ou faux ?\nLe Nil traverse l'Égypte.\n1) Vrai\n2) Faux\nRéponds par 1 ou 2."
    )


@pytest.mark.parametrize("channel", [whatsapp, sms], ids=["whatsapp", "sms"])
@pytest.mark.parametrize(
    "options", [CITIES, ["2*3*4", "a_b_c"], ["un\ndeux", "trois"], ["- 5", "* 3", "# 2"], ["x", "y", "z", "t"]], ids=str
)
def test_a_dressed_prompt_still_has_one_line_for_each_choice(channel, options):
    lines = channel.dress(numbered("Combien ?", options, "fr")).split("\n")
    assert lines == ["Combien ?", *[f"{n}) {' '.join(o.split())}" for n, o in enumerate(options, 1)], lines[-1]]


def test_what_is_sent_is_read_back():
    for n, city in enumerate(CITIES):
        line = numbered("?", CITIES, "fr").split("\n")[n + 1]
        assert read_choice(line, CITIES) == read_choice(city, CITIES) == read_choice(str(n + 1), CITIES) == n
