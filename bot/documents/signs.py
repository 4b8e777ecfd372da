"""Signs that no text font draws (emoji, flags, rare letters), told in signs and words that it does."""

import re
import unicodedata
from collections.abc import Callable

# joiners, variation selectors, skin tones, keycaps, zero-width spaces, direction marks: nothing is left to see without them
INVISIBLE = re.compile("[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2069\u20e3\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")

SIGNS = dict(
    zip(
        "✅❌❎⭐🌟✨❓❔❗❕➕➖➗⏰⏳⌛⌚🔴🟠🟡🟢🔵🟣⚫⚪🟥🟩🟦⬛⬜🔺🔻👉👈👆👇💯🔔📞📱📧✂📎🔑🔒🎵🎶💔💙💚💛💜🧡🖤🙂🙁😊😢😃👎",
        "✔✘✘★★★??!!+−÷☼☼☼☼●●●●●●●○■■■■□▲▼☞☜☝☟✓♪☎☎✉✂◆◆◆♪♪♥♥♥♥♥♥♥☺☹☺☹☺✘",
        strict=True,
    )
)
SIGNS |= dict.fromkeys("👍👌🆗✍", "✔") | dict.fromkeys("🎉🎊🏆🥇🏅👏🙌💪🚀🔥🎓🎁🤩🥳", "★") | dict.fromkeys("💡📌📍🎯🧠", "☞")
SIGNS |= dict.fromkeys("📚📖📘📗📙📕📓📒📝🖊📄📃📑📊📈📉🔢🧮📐📏📅📆🗓📋🔎🔍🧪🔬🌍🌎🌏🗺💬🗣👋🙏", "◆")
SIGNS |= dict.fromkeys("💰💵💸💳🏫🏠🛒🧾📦🔹🔸💼👀🤔🤝", "◆")
SIGNS |= (
    dict.fromkeys(map(chr, range(0x1F600, 0x1F610)), "☺")
    | dict.fromkeys(map(chr, range(0x1F610, 0x1F645)), "☹")
    | dict.fromkeys("😊😋😌😍😎😏😗😘😙😚😛😜😝🙂🙃😺😸", "☺")
)
WORDS = {
    "🍎": "pomme",
    "🍏": "pomme",
    "🍌": "banane",
    "🍊": "orange",
    "🍋": "citron",
    "🥭": "mangue",
    "🍍": "ananas",
    "🍉": "pastèque",
    "🍓": "fraise",
    "🍇": "raisin",
    "🥥": "noix de coco",
    "🥑": "avocat",
    "🍅": "tomate",
    "🌽": "maïs",
    "🍠": "patate douce",
    "🥕": "carotte",
    "🍞": "pain",
    "🍰": "gâteau",
    "🍕": "pizza",
    "🍬": "bonbon",
    "🥚": "œuf",
    "🐟": "poisson",
    "🐄": "vache",
    "🐐": "chèvre",
    "🐑": "mouton",
    "🐔": "poule",
    "🐓": "coq",
    "🐶": "chien",
    "🐱": "chat",
    "🐭": "souris",
    "🐘": "éléphant",
    "🦁": "lion",
    "🐒": "singe",
    "🐢": "tortue",
    "🐦": "oiseau",
    "🦋": "papillon",
    "🐝": "abeille",
    "🌳": "arbre",
    "🌴": "palmier",
    "🌱": "pousse",
    "🌸": "fleur",
    "🌺": "fleur",
    "⚽": "ballon",
    "🏀": "ballon",
    "🎈": "ballon",
    "🚗": "voiture",
    "🚌": "bus",
    "🚲": "vélo",
    "🚂": "train",
    "✈": "avion",
    "⛵": "bateau",
    "👦": "garçon",
    "👧": "fille",
    "👨": "homme",
    "👩": "femme",
    "👶": "bébé",
    "💧": "goutte",
    "🌧": "pluie",
    "🌞": "soleil",
    "🌙": "lune",
}


def _told(char: str) -> str:
    """*char* in other characters."""
    if "\U0001f1e6" <= char <= "\U0001f1ff":  # the two letters of a flag
        return chr(ord(char) - 0x1F1E6 + ord("A"))
    if char in WORDS:
        return f"[{WORDS[char]}]"
    simpler = unicodedata.normalize("NFKD", char)
    if simpler != char:
        return simpler
    name = unicodedata.name(char, "")
    if unicodedata.category(char) == "So" and name:
        return f"[{name.lower()}]"
    return "" if unicodedata.category(char) in ("Mn", "Cf", "Cn") else f"(U+{ord(char):04X})"


def drawable(text: str, has: Callable[[str], bool]) -> str:
    """*text* in characters the font *has*; what it lacks is told by a sign, a letter or a word, and never left to become a box."""
    text = INVISIBLE.sub("", text)
    if all(map(has, text)):
        return text
    told = "".join(c if has(c) else SIGNS.get(c) or _told(c) for c in text)
    return "".join(c if has(c) else "?" for c in told)
