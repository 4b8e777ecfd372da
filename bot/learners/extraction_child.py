"""
The child process of extraction.py: bytes on standard input, one JSON object on standard output, {"text"} or {"problem"}.

The kind of a file is told by its content, never by its name.
"""

import io
import json
import logging
import re
import resource
import sys
from itertools import islice

from bot.learners import office
from bot.learners.office import LONGEST, Unreadable
from bot.learners.visible import tidy, visible

MEMORY, CPU = 512 * 1024 * 1024, 20
PAGES = 2000
OLE = bytes.fromhex("d0cf11e0a1b11ae1")
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
SOUNDS = (b"OggS", b"ID3", b"\xff\xfb", b"\xff\xf3", b"#!AMR", b"fLaC", b"\x1aE\xdf\xa3")
ARCHIVES = (b"Rar!", b"7z\xbc\xaf", b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
BINARY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
TAGS = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.I)


def text_of(data: bytes) -> str:
    if data[:1024].lstrip(b"\xef\xbb\xbf\0\t\r\n ").startswith(b"%PDF-") or b"%PDF-" in data[:1024]:
        return _pdf(data)
    if data.startswith(b"PK\x03\x04") or data.startswith(b"PK\x05\x06"):
        return office.text_of(data)
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
