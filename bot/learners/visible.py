"""The text of a web page as its reader sees it, and text without what no reader sees."""

import re
from html.parser import HTMLParser

HIDDEN = {"script", "style", "template", "noscript", "head"}
BLOCKS = {
    "p",
    "div",
    "br",
    "li",
    "tr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "section",
    "article",
    "pre",
    "blockquote",
    "table",
    "ul",
    "ol",
    "dt",
    "dd",
}


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.hidden, self.verbatim = [], 0, 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in HIDDEN
        self.verbatim += tag == "pre"
        if tag in BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        self.hidden = max(0, self.hidden - (tag in HIDDEN))
        self.verbatim = max(0, self.verbatim - (tag == "pre"))
        if tag in BLOCKS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data if self.verbatim else re.sub(r"\s+", " ", data))


def visible(page: str) -> str:
    """The text of an HTML *page*: a line for each block, bars between the cells of a table."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return tidy(re.sub(r"\n[ \t]+", "\n", "".join(reader.parts)))


def tidy(text: str) -> str:
    """One kind of line end, no control characters or half characters, no long gaps."""
    text = re.sub(r"\r\n?|[\u2028\u2029\x85]", "\n", text)
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", "", text)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+(?=\n)", "", text)).strip()
