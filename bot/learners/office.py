"""
The text of Word, Excel, PowerPoint and OpenDocument files; part of the child process of extraction.py.

An archive is inflated once to count what really comes out of it before anything is parsed.
"""

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import islice
from xml.etree import ElementTree

LONGEST = 2_000_000  # characters
INFLATED, ENTRIES = 60_000_000, 5000  # bytes and files in an archive
RATIO, SMALL = 200, 10_000_000  # what inflates more than RATIO times is refused, unless it is SMALL altogether
ROWS = 50_000


class Unreadable(Exception):
    """*args[0]* is one of the reasons of extraction.py."""


def text_of(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _weigh(archive, len(data))
            names = set(archive.namelist())
            if "word/document.xml" in names:
                return _docx(archive, names)
            if "xl/workbook.xml" in names:
                return _xlsx(data)
            if "ppt/presentation.xml" in names:
                return _pptx(archive, names)
            if "content.xml" in names and "mimetype" in names:
                return "".join(_paragraphs(archive.read("content.xml")))
    except (zipfile.BadZipFile, NotImplementedError, EOFError, KeyError, ValueError, ElementTree.ParseError, OSError) as problem:
        raise Unreadable("damaged") from problem
    raise Unreadable("archive")


def _weigh(archive: zipfile.ZipFile, packed: int) -> None:
    """Inflate everything once, a piece at a time, and refuse what is no document. What the archive says of its sizes is not believed."""
    entries, total = archive.infolist(), 0
    if len(entries) > ENTRIES:
        raise Unreadable("bomb")
    for entry in entries:
        if entry.flag_bits & 1:
            raise Unreadable("encrypted")
        with archive.open(entry) as member:
            while piece := member.read(1 << 16):
                total += len(piece)
                if total > INFLATED or (total > SMALL and total > RATIO * packed):
                    raise Unreadable("bomb")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _paragraphs(xml: bytes) -> Iterator[str]:
    """The text of Word, PowerPoint and OpenDocument parts: paragraphs on lines, the cells of a table row between bars."""
    cells, skipped, skipping = 0, {"Fallback", "delText", "instrText", "tracked-changes"}, 0
    for event, node in ElementTree.iterparse(io.BytesIO(xml), events=("start", "end")):
        name = _local(node.tag)
        if name in skipped:
            skipping += 1 if event == "start" else -1
        if event == "start":
            cells += name in ("tc", "table-cell")
            continue
        if not skipping:
            if name == "t" and node.text:
                yield node.text
            elif name in ("tab", "s"):
                yield " "
            elif name in ("br", "cr", "line-break"):
                yield "\n"
            elif name in ("tc", "table-cell"):
                yield " | "
            elif name in ("tr", "table-row"):
                yield "\n"
            elif name in ("p", "h"):
                if "opendocument" in node.tag:
                    yield "".join(node.itertext())
                yield " " if cells else "\n"
        cells -= name in ("tc", "table-cell")
        if name in ("p", "h", "tr", "table-row"):
            node.clear()


def _docx(archive: zipfile.ZipFile, names: set[str]) -> str:
    parts = ["word/document.xml", *(n for n in ("word/footnotes.xml", "word/endnotes.xml") if n in names)]
    return "\n".join("".join(_paragraphs(archive.read(part))) for part in parts)


def _pptx(archive: zipfile.ZipFile, names: set[str]) -> str:
    slides = _targets(archive, "ppt/_rels/presentation.xml.rels")
    order = [
        value
        for node in ElementTree.fromstring(archive.read("ppt/presentation.xml")).iter()
        if _local(node.tag) == "sldId"
        for key, value in node.attrib.items()
        if key.endswith("}id")
    ]
    shown = []
    for number, slide in enumerate((slides[id] for id in order if id in slides), 1):
        path = f"ppt/{slide.lstrip('/').removeprefix('ppt/')}"
        text = "".join(_paragraphs(archive.read(path)))
        rels = path.replace("slides/", "slides/_rels/") + ".rels"
        for target in _targets(archive, rels).values() if rels in names else ():
            if "notesSlide" in target:
                text += "".join(_paragraphs(archive.read("ppt/notesSlides/" + target.rpartition("/")[2])))
        shown.append(f"[{number}]\n{text.strip()}")
    return "\n\n".join(shown)


def _targets(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    return {node.get("Id"): node.get("Target") for node in ElementTree.fromstring(archive.read(part))}


def _xlsx(data: bytes) -> str:
    from openpyxl import load_workbook

    try:
        values, formulas = (load_workbook(io.BytesIO(data), read_only=True, data_only=known) for known in (True, False))
    except Exception as problem:  # openpyxl raises whatever its parsers raise
        raise Unreadable("damaged") from problem
    lines, size = [], 0
    for sheet in values.worksheets:
        lines.append(f"## {sheet.title}")
        both = zip(sheet.iter_rows(values_only=True), formulas[sheet.title].iter_rows(values_only=True), strict=False)
        for row, written in islice(both, ROWS):
            cells = [_cell(f if v is None else v) for v, f in zip(row, written, strict=False)]
            line = " | ".join(cells).rstrip(" |")
            lines.append(line)
            size += len(line)
            if size > LONGEST:
                return "\n".join(lines)
        lines.append("")
    return "\n".join(lines)


def _cell(value) -> str:
    match value:
        case None:
            return ""
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat()
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return " ".join(str(value).split())
