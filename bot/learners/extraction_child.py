"""
The child process of extraction.py: bytes on standard input, one JSON object on standard output, {"text"} or {"problem"}.

The kind of a file is told by its content, never by its name. An archive is inflated once to count what really comes out of it
before anything is parsed.
"""

import io
import json
import logging
import re
import resource
import sys
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import islice
from xml.etree import ElementTree

from bot.learners.visible import tidy, visible

MEMORY, CPU = 512 * 1024 * 1024, 20
LONGEST = 2_000_000  # characters
INFLATED, ENTRIES = 60_000_000, 5000  # bytes and files in an archive
RATIO, SMALL = 200, 10_000_000  # what inflates more than RATIO times is refused, unless it is SMALL altogether
PAGES, ROWS = 2000, 50_000
OLE = bytes.fromhex("d0cf11e0a1b11ae1")
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
SOUNDS = (b"OggS", b"ID3", b"\xff\xfb", b"\xff\xf3", b"#!AMR", b"fLaC", b"\x1aE\xdf\xa3")
ARCHIVES = (b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
TAGS = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.I)


class Unreadable(Exception):
    """*args[0]* is one of the reasons of extraction.py."""


def text_of(data: bytes) -> str:
    if data[:1024].lstrip(b"\xef\xbb\xbf\0\t\r\n ").startswith(b"%PDF-") or b"%PDF-" in data[:1024]:
        return _pdf(data)
    if data.startswith(b"PK\x03\x04") or data.startswith(b"PK\x05\x06"):
        return _office(data)
    text = _decoded(data)
    return visible(text) if TAGS.search(text[:2000]) else text


def refused_at_sight(data: bytes) -> str | None:
    """Why a file cannot be read, where its first bytes tell; this needs no child process."""
    if data.startswith(OLE):  # also the wrapper of an encrypted docx
        return "encrypted" if "EncryptedPackage".encode("utf-16-le") in data else "old_office"
    if data.startswith(PICTURES) or data[8:12] == b"WEBP" or data[4:12] in (b"ftypheic", b"ftypmif1", b"ftypavif"):
        return "picture"
    if data.startswith(SOUNDS) or data[4:8] == b"ftyp" or data[8:12] in (b"WAVE", b"AVI "):
        return "media"
    if data.startswith(ARCHIVES):
        return "archive"
    return "unknown" if data.startswith(b"{\\rtf") else None


def _decoded(data: bytes) -> str:
    """Text in UTF-8, UTF-16 with its mark, or Windows-1252, which is what old French programs write."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    if len(BINARY.findall(text[:100_000])) > len(text[:100_000]) // 1000 + (0 if len(text) < 1000 else 1):
        raise Unreadable("unknown")
    return text


def _pdf(data: bytes) -> str:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.disable()
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("encrypted")
        many, parts, size = len(reader.pages) > 1, [], 0
        for number, page in enumerate(islice(reader.pages, PAGES), 1):
            found = page.extract_text().strip()
            parts.append(f"[p. {number}]\n{found}" if many and found else found)
            size += len(found)
            if size > LONGEST:
                break
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, AssertionError, OSError) as problem:
        if "crypt" in f"{type(problem).__name__} {problem}".lower():
            raise Unreadable("encrypted") from problem
        raise Unreadable("damaged") from problem
    if not size:
        raise Unreadable("scanned")
    return "\n\n".join(filter(None, parts))


def _office(data: bytes) -> str:
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
    order = [value for node in ElementTree.fromstring(archive.read("ppt/presentation.xml")).iter() if _local(node.tag) == "sldId"
             for key, value in node.attrib.items() if key.endswith("}id")]
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


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(3000)
    try:
        text = tidy(text_of(sys.stdin.buffer.read()))[:LONGEST]
        answer = {"text": text} if text else {"problem": "empty"}
    except Unreadable as problem:
        answer = {"problem": problem.args[0]}
    except (MemoryError, RecursionError):
        answer = {"problem": "too_big"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
