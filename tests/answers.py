"""What property tests of the two dresses are made of: PIECES of a text to be cut, and a well-formed Markdown ANSWER."""

import regex
from hypothesis import strategies as st

PIECES = st.sampled_from(
    [
        "mot",
        "été",
        "😀",
        "👨‍👩‍👧",
        "e\u0301",
        "2 + 3 = 5",
        "https://a.org/x_y ",
        "*gras ici*",
        "`c d`",
        "M.",
        "fin.",
        "Quoi ?",
        " ",
        "\n",
        "\n\n",
        "```\n",
        "\n```\n",
        "  x",
    ]
)
NAME = st.text("abcdefghijklmnopqrstuvwxyzéèçœ", min_size=3, max_size=9)
PHRASE = st.lists(NAME, min_size=1, max_size=6).map(" ".join)
INLINE = st.one_of(
    PHRASE,
    *[
        PHRASE.map(f.format)
        for f in ("**{}**", "*{}*", "_{}_", "__{}__", "~~{}~~", "***{}***", "`{}`", "[{}](https://a.org/b_c)", "**{} :**", "« **{}** »")
    ],
)
LINE = st.lists(INLINE, min_size=1, max_size=4).map(" ".join)
CELLS = st.lists(INLINE, min_size=3, max_size=3).map(lambda cells: "| " + " | ".join(cells) + " |")
BLOCK = st.one_of(
    LINE,
    LINE.map("# {}".format),
    LINE.map("### {}".format),
    LINE.map("> {}".format),
    st.lists(LINE, min_size=1, max_size=3).map(lambda x: "\n".join("* " + y for y in x)),
    st.lists(LINE, min_size=1, max_size=3).map(lambda x: "\n".join(f"{n}. {y}" for n, y in enumerate(x, 1))),
    st.just("---"),
    PHRASE.map("```py\n{}\n```".format),
    st.tuples(CELLS, st.lists(CELLS, min_size=1, max_size=3)).map(lambda t: "\n".join([t[0], "|---|---|---|", *t[1]])),
    LINE.map("```markdown\n## {}\n```".format),
)
ANSWER = st.lists(BLOCK, min_size=1, max_size=8).filter(lambda found: set(found) != {"---"}).map("\n\n".join)


def words(text):
    """The words of a text, without its addresses and the languages of its code."""
    return regex.findall(r"\p{L}{3,}", regex.sub(r"https://a.org/b_c|```(?:py|markdown)", "", text))
