"""Spreadsheet formulas as a model writes them (French names, semicolons), checked and put into the form a file holds."""

import re

from bot.errors import DocumentError

LONGEST = 8192  # characters, Excel's own limit
FRENCH = {
    "SOMME": "SUM",
    "MOYENNE": "AVERAGE",
    "SI": "IF",
    "NB": "COUNT",
    "NBVAL": "COUNTA",
    "NB.SI": "COUNTIF",
    "SOMME.SI": "SUMIF",
    "ARRONDI": "ROUND",
    "RECHERCHEV": "VLOOKUP",
    "ET": "AND",
    "OU": "OR",
    "NON": "NOT",
    "SIERREUR": "IFERROR",
    "PRODUIT": "PRODUCT",
    "AUJOURDHUI": "TODAY",
    "ENT": "INT",
    "RACINE": "SQRT",
    "PUISSANCE": "POWER",
    "RANG": "RANK",
    "CONCATENER": "CONCATENATE",
    "NB.SI.ENS": "COUNTIFS",
    "SOMME.SI.ENS": "SUMIFS",
    "MOYENNE.SI": "AVERAGEIF",
    "ANNEE": "YEAR",
    "MOIS": "MONTH",
    "JOUR": "DAY",
    "GAUCHE": "LEFT",
    "DROITE": "RIGHT",
    "ECARTYPE": "STDEV",
    "MEDIANE": "MEDIAN",
    "SOMMEPROD": "SUMPRODUCT",
}
REACHES_OUT = re.compile(
    r"(WEBSERVICE|FILTERXML|RTD|CALL|REGISTER(\.ID)?|EXEC|DDE|IMPORT(XML|DATA|HTML|FEED|RANGE)|IMAGE|HYPERLINK)$", re.I
)


def stored_form(formula: object, place: str) -> str:
    """*formula* with its ``=``, English function names, commas and decimal points, as the file format wants it.
    Raises DocumentError, naming *place*, when it cannot be a formula or would reach out of the workbook."""
    text = "=" + str(formula).strip().lstrip("=").strip()
    wrong = None
    parts = re.split(r'("(?:[^"]|"")*")', text)  # odd ones are quoted
    bare = "".join(parts[::2])
    if len(text) < 2 or len(text) > LONGEST:
        wrong = "is empty or longer than 8192 characters"
    elif '"' in bare or bare.count("(") != bare.count(")"):
        wrong = "has an open bracket or quotation mark"
    elif "|" in bare or "[" in bare or any(REACHES_OUT.match(name) for name in re.findall(r"[A-Za-z.]+(?=\s*\()", bare)):
        wrong = "would reach out of the workbook, which is not allowed"
    if wrong:
        raise DocumentError(f"{place}: the formula {text[:80]} {wrong}")
    french = ";" in bare or any(n.upper() in FRENCH for n in re.findall(r"[A-Za-z.]+(?=\()", bare)) or not re.search(r"\w\(", bare)
    for at in range(0, len(parts), 2):
        part = parts[at]
        if french:
            part = re.sub(r"(?<![\w$:])(\d+),(\d+)(?!\w)", r"\1.\2", part) if ";" in bare or "(" not in bare else part
            part = part.replace(";", ",")
        parts[at] = re.sub(r"[A-Za-zÉé.]+(?=\s*\()", lambda m: FRENCH.get(m[0].upper().replace("É", "E"), m[0].upper()), part)
    return "".join(parts)
