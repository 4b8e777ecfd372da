"""One Markdown answer as WhatsApp shows it, and how it is cut into messages."""

import re

import pytest
import regex
from answers import ANSWER, PIECES, words
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.channels import whatsapp
from bot.channels.segments import units
from bot.channels.text import split
from bot.texts import say

UNTOUCHED = [
    "Bonjour !",
    "Reponse a zq12345.",
    "2 * 3 = 6 et 5 * 4 = 20",
    "2*3*4",
    "2 *3* 4 = 24",
    "4 *5 = 20 et 3* 2 = 6",
    "a_b_c",
    "x_1, x_2 et x_3",
    "f(x)=x^2 < 5 & y > 3",
    "x**2 + y**2 = z**2",
    "2**3 = 8 et 2**4 = 16",
    "a*b*c",
    "longueur*largeur*hauteur",
    "(a+b)*(c+d)*(e+f)",
    "3*(4+5)*2",
    "-3*-4*-5 = -60",
    "500 F*",
    "500 F* et 600 F*",
    "Le chat ____ la souris et le __ mange.",
    "__, __ et __ : trois trous",
    "mon_fichier_final.pdf",
    "Un | deux | trois",
    "|x| = 3 si x = 3 ou x = -3",
    "C# et F#",
    "#maths et #physique",
    "la méthode __init__ de Python",
    "snake_case et _prive",
    "~5 km et ~6 km",
    "5 < 6 > 4",
    "List<String> et Map<K, V>",
    "a & b && c",
    "R&D; fin",
    "AT&T",
    "5 $ et 10 $",
    "$5 et $10",
    "$5 contre $10 demain",
    "1. un\n2. deux",
    "1) un\n2) deux",
    "- un\n- deux\n  - deux bis",
    "a) oui\nb) non",
    "  12\n+ 15\n----\n  27",
    "12\n* 3\n----\n36",
    "Il a dit : « Oui ».",
    "12 000 FCFA, 3,5 % et 20 °C",
    "8h30 [environ]",
    "voir [1] et [2]",
    "f[0][1] = 2",
    "f[i](x) et [0;1](ouvert)",
    "[1]: https://a.org est la source",
    "https://fr.wikipedia.org/wiki/Pi_(nombre)",
    "https://a.org/x_y_z?a=*b*&c=~d~",
    "awa_kone_2@ecole.ci",
    "☺️ 👨‍👩‍👧 2️⃣",
    "ɔ ŋ ɛ √2 ≤ π",
    "> 3 donc x > 3",
    "a\n\nb\nc",
    "`a**b` et `x_y_z`",
    "```\na**b\n# titre ?\n| a | b |\n```",
    "« *",
    "_ _ _ e _",
    "p_n_u",
    "Wi-Fi 2*2 MIMO*",
    "Réponds par 1, 2 ou 3.",
]


@pytest.mark.parametrize("text", UNTOUCHED, ids=lambda text: ascii(text)[1:40])
def test_what_is_no_mark_stays_as_it_is_in_one_message(text):
    assert whatsapp.dress(text) == text
    assert whatsapp.pages(text) == ((text,),)


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**Règle** : ~~faux~~ `x=1` ```py\na**b\n```", "*Règle* : ~faux~ `x=1` ```py\na**b\n```"),
        ("**gras** __gras__ *italique* _italique_ ~~barré~~", "*gras* *gras* _italique_ _italique_ ~barré~"),
        ("***les deux***", "_*les deux*_"),
        ("**gras et *italique* dedans**", "*gras et _italique_ dedans*"),
        ("*a **b***", "_a *b*_"),
        ("**Attention** : **2*3*4** et **a_b**", "*Attention* : *2*3*4* et *a_b*"),
        ("**Note :**texte", "*Note :* texte"),
        ("l'**eau**, (**sel**)", "l'*eau*, (*sel*)"),
        ("**500**F et **x**", "500F et *x*"),
        ("je parl**e**, nous parl**ons**", "je parle, nous parlons"),
        ("parl*e*", "parle"),
        ("in**croy**able", "incroyable"),
        ("le 1**er** mai", "le 1er mai"),
        ("**un\ndeux**", "*un*\n*deux*"),
        ("- **un\n- deux**", "- un\n- deux"),
        ("**seul", "seul"),
        ("fin**", "fin"),
        ("~~seul", "seul"),
        ("** Important ** : lis", "*Important* : lis"),
        ("**« Oui »**", "*« Oui »*"),
        ("**Q1.** Combien ?", "*Q1.* Combien ?"),
        ("\\*pas gras\\* et 3 \\< 4, 5\\$", "*pas gras* et 3 < 4, 5$"),
        ("# Titre", "*Titre*"),
        ("### **Titre** `x` ###", "*Titre `x`*"),
        ("##Titre", "*Titre*"),
        ("Titre\n=====\ntexte", "*Titre*\ntexte"),
        ("# Titre\ntexte", "*Titre*\ntexte"),
        ("avant\n\n---\n\naprès", "avant\n\naprès"),
        ("avant\n***\naprès", "avant\n\naprès"),
        ("* un\n* deux", "- un\n- deux"),
        ("+ un mot\n+ autre mot", "- un mot\n- autre mot"),
        ("* **Gras** : oui", "- *Gras* : oui"),
        ("- [ ] à faire", "- [ ] à faire"),
        ("> cite **gras**\n> encore", "> cite *gras*\n> encore"),
        ("un  \ndeux\\\ntrois", "un\ndeux\ntrois"),
        ("[ici](https://a.org/b_c)", "ici (https://a.org/b_c)"),
        ('[**ici**](https://a.org "Titre")', "*ici* (https://a.org)"),
        ("[https://a.org](https://a.org)", "https://a.org"),
        ("[a.org](https://www.a.org/)", "https://www.a.org/"),
        ("<https://a.org>", "https://a.org"),
        ("[Pi](https://fr.wikipedia.org/wiki/Pi_(nombre))", "Pi (https://fr.wikipedia.org/wiki/Pi_(nombre))"),
        ("![carte](https://a.org/c.png)", "carte (https://a.org/c.png)"),
        ("[écris](mailto:a@b.ci) ou <a@b.ci>", "écris (a@b.ci) ou a@b.ci"),
        ("[plus bas](#suite)", "plus bas"),
        ("voir [le cours][1]\n\n[1]: https://a.org", "voir le cours (https://a.org)"),
        ("(voir https://a.org/x_y).", "(voir https://a.org/x_y)."),
        ("**https://a.org/x_y**", "*https://a.org/x_y*"),
        ("```python\nx = 2**3\n  y = `a`\n```\nfin", "```\nx = 2**3\n  y = `a`\n```\nfin"),
        ("```\nouvert", "```\nouvert\n```"),
        ("~~~\nx*y\n~~~", "```\nx*y\n```"),
        ("``a`b``", "```a`b```"),
        ("`` ` ``", "``` ` ```"),
        ("https://a.org?b=1&amp;c=2", "https://a.org?b=1&c=2"),
        ("code ```x``` ici", "code `x` ici"),
        ("```bonjour à tous", "```\nbonjour à tous\n```"),
        ("```markdown\n# T\n**a**\n```", "*T*\n*a*"),
        ("Voici :\n```md\n- **a**\n```\nVoilà", "Voici :\n- *a*\nVoilà"),
        ("```markdown\nAvant\n```py\na**b\n```\n**fin**\n```", "Avant\n```\na**b\n```\n*fin*"),
        ("a<br>b", "a\nb"),
        ("<b>gras</b> et <i>ital</i>", "*gras* et _ital_"),
        ("H<sub>2</sub>O, x<sup>2</sup>, 1<sup>er</sup>", "H₂O, x², 1er"),
        ("5 &lt; 6 &amp; 7 &gt; 3 &eacute;", "5 < 6 & 7 > 3 é"),
        ("a <!-- caché --> b", "a  b"),
        ("<u>souligné</u>", "souligné"),
        ("$x^2 \\le 5$ et \\(\\pi\\)", "x² ≤ 5 et π"),
        ("Prix : $5, $x^2$ et $10", "Prix : $5, x² et $10"),
        ("`$x^2$` reste", "`$x^2$` reste"),
        ("On a\n\\[\n2x = 6\n- 2\n\\]\ndonc **oui**", "On a\n2x = 6 - 2\ndonc *oui*"),
        ("**$x_1$ et $x_2$**", "*x₁ et x₂*"),
        ("", ""),
        (" \n ", ""),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00\x0bb", "ab"),
        ("\ud83d seul", "\ufffd seul"),
        ("a\n\n\n\nb", "a\n\nb"),
    ],
    ids=lambda text: ascii(text)[1:40],
)
def test_markdown_becomes_whatsapps_marks(markdown, shown):
    assert whatsapp.dress(markdown) == shown


TABLE = """
| Pays | Capitale | Population |
|:---|:---:|---:|
| **CI** | Yamoussoukro | 29 M |
| SN | `Dakar` | 18 M |
| BJ | Porto-Novo |
"""


def test_a_table_becomes_lines_of_label_and_value():
    assert whatsapp.dress("Voici :" + TABLE + "\nFin | vraiment.") == (
        "Voici :\n*Pays:* *CI*\n*Capitale:* Yamoussoukro\n*Population:* 29 M\n\n*Pays:* SN\n*Capitale:* `Dakar`\n*Population:* 18 M\n\n"
        "*Pays:* BJ\n*Capitale:* Porto-Novo\n*Population:* –\n\nFin | vraiment."
    )


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("| | Singulier | Pluriel |\n|---|---|---|\n| 1re | suis | sommes |", "*1re*\n*Singulier:* suis\n*Pluriel:* sommes"),
        ("a | b\n--- | ---\n1 | 2", "*a:* 1\n*b:* 2"),
        ("| A: | B |\n|-|-|\n| x<br>y | $\\frac12$ |", "*A:* x; y\n*B:* 1/2"),
        ("| A |\n|---|\n| 1 |", "*A:* 1"),
        ("| A | B |\n|---|---|\n| $|x|$ | 2 |", "*A:* |x|\n*B:* 2"),
        ("| A | B |\n|---|---|\n| x \\| y | `a` |", "*A:* x | y\n*B:* `a`"),
        ("| A | B |\n|---|---|", "*A*\n*B*"),
        (
            "| x | 1 | 2 | 3 |\n|---|---|---|---|\n| 1 | 1 | 2 | 3 |\n| 10 | 10 | 20 | 30 |",
            "```\n x  1  2  3\n 1  1  2  3\n10 10 20 30\n```",
        ),
    ],
    ids=lambda text: ascii(text)[1:30],
)
def test_tables_of_other_shapes(markdown, shown):
    assert whatsapp.dress(markdown) == shown


SENTENCES = ". ".join(" ".join(f"mot{i:04d}" for i in range(n, n + 10)) for n in range(0, 600, 10))


def messages(pages):
    return [message for page in pages for message in page]


def bare(message):
    """A message without its mark and footer."""
    for language in ("fr", "en"):
        message = message.removesuffix("\n" + say(language, "channel.more"))
    return re.sub(r"^\(\d+/\d+\)\s", "", message)


def test_six_hundred_words_arrive_whole_in_order_in_at_most_five_messages():
    sent = messages(whatsapp.pages(SENTENCES))
    assert re.findall(r"mot\d{4}", " ".join(sent)) == [f"mot{i:04d}" for i in range(600)]
    assert len(sent) == 4 and all(bare(m)[-1] == "." for m in sent[:-1])


def test_a_page_has_three_messages_and_says_that_suite_brings_the_rest():
    pages = whatsapp.pages(SENTENCES)
    assert [len(page) for page in pages] == [3, 1]
    assert [m.startswith(f"({n}/4) ") for n, m in enumerate(messages(pages), 1)] == [True] * 4
    assert ["SUITE" in m for m in messages(pages)] == [False, False, True, False]
    assert "Send SUITE" in whatsapp.pages(SENTENCES, "en")[0][-1]


@pytest.mark.parametrize("length", [1600, 1601, 3200, 6000])
def test_a_message_never_has_more_than_1600_units(length):
    code = "```py\n" + "x = 2**3  # é\n" * 64 + "```"
    text = ("Une phrase 😀 normale. " * 300)[: length - len(code) - 1] + "\n" + code
    sent = messages(whatsapp.pages(text))
    assert all(0 < units(m) <= 1600 for m in sent)
    assert all(m.count("```") % 2 == 0 for m in sent)
    assert sum(m.count("x = 2**3") for m in sent) == 64
    assert len(sent) <= -(-units(text) // 1400)


def test_exactly_1600_units_are_one_message_and_one_more_is_two():
    assert whatsapp.pages("a" * 1600) == (("a" * 1600,),)
    assert [len(page) for page in whatsapp.pages("a" * 1601)] == [2]
    assert [len(page) for page in whatsapp.pages("😀" * 800)] == [1]
    assert [len(page) for page in whatsapp.pages("😀" * 801)] == [2]


def test_no_text_is_no_page_and_marks_alone_are_still_something():
    assert whatsapp.pages("") == whatsapp.pages(" \n") == ()
    assert whatsapp.pages("---") == (("---",),)


@pytest.mark.parametrize(
    ("text", "size", "parts"),
    [
        ("un deux", 20, ["un deux"]),
        ("Un deux.\n\nTrois quatre", 16, ["Un deux.", "Trois quatre"]),
        ("un deux\ntrois quatre", 14, ["un deux", "trois quatre"]),
        ("Phrase une. Phrase deux ici", 20, ["Phrase une.", "Phrase deux ici"]),
        ("un deux trois", 9, ["un deux", "trois"]),
        ("abcdef", 4, ["abcd", "ef"]),
        ("Prends 1. un et 2. deux", 12, ["Prends 1. un", "et 2. deux"]),
        ("M. Koné habite ici", 12, ["M. Koné", "habite ici"]),
        ("aller https://a.org/b/c fin", 18, ["aller", "https://a.org/b/c", "fin"]),
        ("aaa(https://a.org/b/c)", 19, ["aaa(", "https://a.org/b/c)"]),
        ("on a 2 + 3 = 5 ici", 10, ["on a", "2 + 3 = 5", "ici"]),
        ("Combien ? Oui !", 9, ["Combien ?", "Oui !"]),
        ("Voici donc : oui", 10, ["Voici", "donc : oui"]),
        ("```\nun\ndeux\n```", 12, ["```\nun\n```", "```\ndeux\n```"]),
        ("a\n```\nun\n```\nb", 11, ["a", "```\nun\n```", "b"]),
        ("```\n  x\n  y\n```", 12, ["```\n  x\n```", "```\n  y\n```"]),
        ("👨‍👩‍👧👨‍👩‍👧", 5, ["👨‍👩‍👧", "👨‍👩‍👧"]),
        ("e\u0301e\u0301", 3, ["e\u0301", "e\u0301"]),
        ("ab", 0, ["a", "b"]),
        ("un *deux trois* quatre", 14, ["un", "*deux trois*", "quatre"]),
        ("", 5, []),
        ("  \n ", 5, []),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_a_text_is_cut_where_a_reader_would_cut_it(text, size, parts):
    assert split(text, size, len) == parts


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(1, 60))
@settings(max_examples=300)
def test_splitting_loses_only_white_space_ends_and_leaves_no_empty_part(text, size):
    parts = split(text, size, len)
    assert all(part.strip() for part in parts)
    squeezed = [re.sub(r"\s|`{3}", "", t) for t in ("".join(parts), text)]
    assert squeezed[0] == squeezed[1] or "`" in squeezed[1]
    if size >= 20 and "`" not in text:
        assert all(len(part) <= size for part in parts)
        assert sorted(regex.findall(r"\X", squeezed[0])) == sorted(regex.findall(r"\X", squeezed[1]))
        assert sum(p.count("https://a.org/x_y") for p in parts) == text.count("https://a.org/x_y")


@given(st.lists(PIECES, max_size=400).map("".join))
@settings(max_examples=100, deadline=None)
def test_every_message_is_within_its_size_and_its_fences_are_closed(text):
    for page in (pages := whatsapp.pages(text)):
        assert 1 <= len(page) <= 3
    assert all(m.strip() and units(m) <= 1600 for m in messages(pages))
    if whatsapp.dress(text).count("```") % 2 == 0:
        assert all(m.count("```") % 2 == 0 for m in messages(pages))


MARKS = regex.compile(r"\*\*|__|~~|(?m)^#|\]\(|\|---|\| |^---|```(?:markdown|py)|^\* ")


@given(ANSWER)
@settings(max_examples=200, deadline=None)
def test_an_answer_loses_no_word_and_keeps_no_mark_of_markdown(markdown):
    shown = whatsapp.dress(markdown)
    assert set(words(markdown)) == set(words(shown))
    if "|---" not in markdown:
        assert words(markdown) == words(shown)
    assert not MARKS.search(shown), shown
    assert shown.count("https://a.org/b_c") >= min(1, markdown.count("https://a.org/b_c"))
    assert [shown.count(sign) % 2 for sign in "*~`"] == [0, 0, 0]


@given(st.text())
@settings(max_examples=300)
def test_any_text_can_be_dressed_and_sent(text):
    shown = whatsapp.dress(text)
    assert shown.encode("utf-8").decode() == shown == shown.strip("\n").rstrip()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", shown)
    assert shown or not re.search(r"\w", text)
