"""French in the alphabet of SMS: what stands outside GSM-7, and what is written instead when that saves a segment."""

import unicodedata

import regex

from bot.channels.segments import GSM, encoding, segments

SIGNS = {
    # letters
    "œ": "oe",
    "Œ": "OE",
    "ĳ": "ij",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ð": "d",
    "þ": "th",
    "ı": "i",
    "ł": "l",
    "Ł": "L",
    "ə": "e",
    "ǝ": "e",
    "ɔ": "o",
    "Ɔ": "O",
    "ɛ": "e",
    "Ɛ": "E",
    "ŋ": "n",
    "Ŋ": "N",
    "ɖ": "d",
    "Ɖ": "D",
    "ƒ": "f",
    "ɓ": "b",
    "Ɓ": "B",
    "ɗ": "d",
    "Ɗ": "D",
    "ƴ": "y",
    "ɲ": "ny",
    "Ɲ": "Ny",
    "ɣ": "g",
    "ʋ": "v",
    "ɩ": "i",
    "ʊ": "u",
    "ʼ": "'",
    "ʹ": "'",
    # quotation marks, dashes, bullets
    "’": "'",
    "‘": "'",
    "‚": "'",
    "‛": "'",
    "′": "'",
    "´": "'",
    "`": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "″": '"',
    "‹": "'",
    "›": "'",
    "–": "-",
    "—": "-",
    "‐": "-",
    "‑": "-",
    "‒": "-",
    "―": "-",
    "−": "-",
    "•": "-",
    "◦": "-",
    "▪": "-",
    "■": "-",
    "●": "-",
    "‣": "-",
    "…": "...",
    # calculation
    "×": "x",
    "⋅": "*",
    "∗": "*",
    "÷": "/",
    "∕": "/",
    "⁄": "/",
    "±": "+/-",
    "∓": "-/+",
    "≤": "<=",
    "≥": ">=",
    "⩽": "<=",
    "⩾": ">=",
    "≠": "!=",
    "≈": "~",
    "≃": "~",
    "≅": "~",
    "∼": "~",
    "≡": "==",
    "→": "->",
    "⟶": "->",
    "➔": "->",
    "➜": "->",
    "➡": "->",
    "←": "<-",
    "↔": "<->",
    "⇒": "=>",
    "⟹": "=>",
    "⇔": "<=>",
    "⟺": "<=>",
    "↦": "->",
    "∞": "infini",
    "∑": "Σ",
    "∏": "Π",
    "∆": "Δ",
    "∂": "d",
    "∝": "~",
    "∥": "//",
    "⊥": " perp ",
    "∈": " dans ",
    "∉": " pas dans ",
    "∪": " U ",
    "∩": " inter ",
    "⊂": " inclus dans ",
    "⊆": " inclus dans ",
    "∅": "vide",
    "∀": "pour tout ",
    "∃": "il existe ",
    "∧": " et ",
    "∨": " ou ",
    "∴": "donc ",
    "∠": "angle ",
    "⟂": " perp ",
    "ℝ": "R",
    "ℕ": "N",
    "ℤ": "Z",
    "ℚ": "Q",
    "ℂ": "C",
    "ℓ": "l",
    "‰": "/1000",
    "√": "racine ",
    "∛": "racine cubique ",
    "∫": "intégrale ",
    "⃗": "",
    "¼": "1/4",
    "½": "1/2",
    "¾": "3/4",
    # signs
    "¬": "non ",
    "†": "*",
    "©": "(c)",
    "®": "(r)",
    "™": "(tm)",
    "µ": "u",
    "№": "No ",
    "¢": "c",
    "₣": "F",
    "✓": "ok",
    "✔": "ok",
    "✅": "ok",
    "☑": "ok",
    "✗": "X",
    "✘": "X",
    "❌": "X",
    "✖": "x",
    "➕": "+",
    "➖": "-",
    "➗": "/",
    "☐": "-",
    "★": "*",
    "☆": "*",
    # blanks and what cannot be seen
    "\t": " ",
    "\u00a0": " ",
    "\u202f": " ",
    "\u2009": " ",
    "\u200a": " ",
    "\u2002": " ",
    "\u2003": " ",
    "\u2007": " ",
    "\u3000": " ",
    "\u200b": "",
    "\u200c": "",
    "\u00ad": "",
    "\u200e": "",
    "\u200f": "",
    # Greek letters (the other capitals are in GSM-7)
    "Α": "A",
    "Β": "B",
    "Ε": "E",
    "Ζ": "Z",
    "Η": "H",
    "Ι": "I",
    "Κ": "K",
    "Μ": "M",
    "Ν": "N",
    "Ο": "O",
    "Ρ": "P",
    "Τ": "T",
    "Υ": "Y",
    "Χ": "X",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "ϵ": "epsilon",
    "ζ": "zeta",
    "η": "eta",
    "θ": "theta",
    "ϑ": "theta",
    "ι": "iota",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "ν": "nu",
    "ξ": "xi",
    "ο": "o",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "ς": "sigma",
    "τ": "tau",
    "υ": "upsilon",
    "φ": "phi",
    "ϕ": "phi",
    "χ": "chi",
    "ψ": "psi",
    "ω": "omega",
}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣʸᵃᵇᶜᵈᵉᵏᵐᵖᵗ", "0123456789+-=()nixyabcdekmpt", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₘᵢⱼₖₐₑₒₓₚₜ", "0123456789+-=()nmijkaeoxpt", strict=True))
FOREIGN = regex.compile(f"[^{regex.escape(''.join(sorted(GSM)))}]")
UNIT = r"(?<!\p{L})(?:k|h|da|d|c|m|µ)m$|(?:\d[ \u00a0\u202f]?|/)[ms]$"
WORDED = regex.compile(  # signs written as words bring their own blanks
    f"(?: ?[{''.join(k for k, v in SIGNS.items() if v[:1] == v[-1:] == ' ' and v != ' ')}] ?)"
    f"|[{''.join(k for k, v in SIGNS.items() if v[-1:] == ' ' != v[:1])}] ?"
)
PICTURES = r"(?:\p{Extended_Pictographic}[\ufe0e\ufe0f\p{Emoji_Modifier}\U000e0020-\U000e007f]*\u200d?)+"
EMOJI = regex.compile(rf"(?m)^{PICTURES} ?| ?{PICTURES}|[\ufe0e\ufe0f\u20e3\u200d]|\p{{Emoji_Modifier}}")


def cheapest(text: str) -> str:
    """*text*, unless plain letters for those outside GSM-7 save a segment; emoji are given up only where they alone stand in the way."""
    if encoding(text) == "GSM-7":
        return text
    candidate = transliterate(text)
    if encoding(candidate) != "GSM-7":
        candidate = transliterate(EMOJI.sub(_no_picture, text))
    return candidate if encoding(candidate) == "GSM-7" and segments(candidate) < segments(text) else text


def _no_picture(found) -> str:
    """Nothing, and no second blank in its place; the ticks and crosses of an exercise stay as words."""
    kept = "".join(SIGNS.get(c, "") for c in found[0].strip())
    return found[0].replace(found[0].strip(), kept) if kept else ""


def transliterate(text: str) -> str:
    """Every sign outside GSM-7 that has a plain equivalent, written as such; é è à ù ì ò and the like stay."""
    text = unicodedata.normalize("NFC", text)
    text = regex.sub(r"«[ \u00a0\u202f]*|[ \u00a0\u202f]*»", '"', text)
    text = regex.sub(r"(?<=\d)(?=[½¼¾⅓-⅞√])|(?<=\w)(?=[√∛])", " ", text)
    text = regex.sub(r"(?<=\b[nN])°", "o", text)
    text = regex.sub(r" ?°", " deg", text)
    text = regex.sub(r"(?<=\w) ?· ?(?=\w)", "*", text).replace("·", "-")
    text = regex.sub(f"([{''.join(RAISED)}]+)", lambda m: _script(m, RAISED, "^"), text)
    text = regex.sub(f"([{''.join(LOWERED)}]+)", lambda m: _script(m, LOWERED, "_"), text)
    text = WORDED.sub(lambda m: SIGNS[m[0].strip(" ")], text)
    text = regex.sub(r"[\U0001f1e6-\U0001f1ff]", lambda m: chr(ord(m[0]) - 0x1F1E6 + ord("A")), text)
    return FOREIGN.sub(lambda m: _plain(m[0]), text)


def _script(found, table: dict[str, str], sign: str) -> str:
    """5 m² is 5 m2 and H₂O is H2O, but x² is x^2 and 3² is 3^2: only units and chemistry are read without a sign."""
    plain = "".join(table[c] for c in found[1])
    before = found.string[max(0, found.start() - 9) : found.start()]
    if regex.search(UNIT if table is RAISED else r"\p{L}$", before) and plain.isdecimal():
        return plain
    return f"{sign}{plain}" if regex.fullmatch(r"-?\d+|\w", plain) else f"{sign}({plain})"


def _plain(letter: str) -> str:
    """One character outside GSM-7: its sign, its base letter, or itself when it has neither."""
    if letter in SIGNS:
        return SIGNS[letter]
    base = "".join(SIGNS.get(c, c) for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c))
    return base if GSM.issuperset(base) and (base or unicodedata.combining(letter)) else letter
