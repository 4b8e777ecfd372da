"""read_user_file: the text of a file, whatever it calls itself, and a clear word where there is none."""

import datetime
import io
import resource
import shutil
import struct
import sys
import time
import zipfile
import zlib

import docx
import openpyxl
import pptx
import pytest
from conftest import rows
from PIL import Image
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from bot.db import files as table
from bot.db import writing
from bot.errors import ToolError
from bot.learners import extraction, files
from tools.offered import check
from tools.read_user_file import PIECE, read_user_file


def upload(services, context, data, name="fichier.bin", owner=None):
    with writing(services.db) as tx:
        return files.save(
            services.settings, tx, key=name, owner=owner or context.person.owner, origin="uploaded", filename=name, data=data
        ).id


def read(context, id, **more):
    try:
        result = read_user_file(context, id, **more)
        context.tx.commit()
    finally:
        context.tx.close()
    return result


def saved(document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def a_pdf(*pages: str) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out)
    for page in pages:
        canvas.drawString(72, 700, page)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def a_docx() -> bytes:
    document = docx.Document()
    document.add_heading("La sève")
    document.add_paragraph("Elle monte.")
    grid = document.add_table(1, 2)
    grid.cell(0, 0).text, grid.cell(0, 1).text = "racine", "feuille"
    return saved(document)


def an_xlsx() -> bytes:
    book = openpyxl.Workbook()
    book.active.title = "Ventes"
    for row in (["Mois", "FCFA"], [datetime.date(2026, 1, 31), 12500.0], ["Total", "=SUM(B2:B2)"]):
        book.active.append(row)
    return saved(book)


def a_pptx() -> bytes:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Le plan", "un\ndeux"
    slide.notes_slide.notes_text_frame.text = "parler fort"
    return saved(show)


def a_zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def locked(data: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def a_picture(kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (20, 20), "red").save(out, kind)
    return out.getvalue()


def lying_zip() -> bytes:
    """A docx whose directory says that its 60 MB are ten bytes."""
    data = bytearray(a_zip({"word/document.xml": b"<a>" + b" " * 60_000_000 + b"</a>"}))
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark)
        data[at + place : at + place + 4] = struct.pack("<I", 10)
    return bytes(data)


def pdf_with_huge_stream() -> bytes:
    stream = zlib.compress(b"BT (x) Tj ET " * 40_000_000, 9)
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n4 0 obj<</Length "
        + str(len(stream)).encode()
        + b"/Filter/FlateDecode>>stream\n"
        + stream
        + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    )


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        pytest.param(a_pdf("Bonjour", "Au revoir"), ["[p. 1]\nBonjour", "[p. 2]\nAu revoir"], id="pdf"),
        pytest.param(a_docx(), ["La sève\nElle monte.\n", "racine  | feuille"], id="docx"),
        pytest.param(an_xlsx(), ["## Ventes\nMois | FCFA\n2026-01-31 | 12500\nTotal | =SUM(B2:B2)"], id="xlsx"),
        pytest.param(a_pptx(), ["[1]\nLe plan\nun\ndeux", "parler fort"], id="pptx"),
        pytest.param("été\r\nœuvre".encode(), ["été\nœuvre"], id="text in UTF-8"),
        pytest.param("\ufeffété".encode(), ["été"], id="text with a byte order mark"),
        pytest.param("été".encode("utf-16"), ["été"], id="text in UTF-16"),
        pytest.param("Nom;Montant\nKoné;5 €".encode("cp1252"), ["Koné;5 €"], id="csv of an old French program"),
        pytest.param(b"# Titre\n\n- a < b", ["# Titre\n\n- a < b"], id="markdown"),
        pytest.param(
            b"<!DOCTYPE html><html><head><title>x</title><style>p{}</style></head><body><p>Le&nbsp;cours</p><script>x()</script></body>",
            ["Le cours"],
            id="html",
        ),
        pytest.param(locked(a_pdf("Bonjour"), ""), ["Bonjour"], id="pdf that only forbids changes"),
    ],
)
def test_what_can_be_read_is_read_whatever_the_name(services, make_context, data, parts):
    context = make_context("child")
    result = read(context, upload(services, context, data, "photo.png"))
    for part in parts:
        assert part in result["content"]
    assert "x()" not in result["content"]
    assert result["filename"] == "photo.png"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(locked(a_pdf("Bonjour"), "secret"), "password", id="encrypted pdf"),
        pytest.param(
            bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le"), "password", id="encrypted docx"
        ),
        pytest.param(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 500, "old Office format", id="old doc"),
        pytest.param(a_picture("PDF"), "a scan", id="scanned pdf"),
        pytest.param(a_pdf("Bonjour")[:300], "damaged", id="half a pdf"),
        pytest.param(a_docx()[:2000], "damaged", id="half a docx"),
        pytest.param(a_docx().replace(b"word/document.xml", b"word/documenX.xml"), "archive", id="docx without its text"),
        pytest.param(a_zip({"word/document.xml": b"<a><b></a>"}), "damaged", id="docx whose xml is none"),
        pytest.param(a_zip({"xl/workbook.xml": b"<a/>"}), "damaged", id="xlsx that is none"),
        pytest.param(
            a_zip({"word/document.xml": b"<a>" + b"x" * 50_000_000 + b"</a>"}), "unpacks", id="docx of 49 kB that inflates to 50 MB"
        ),
        pytest.param(lying_zip(), "damaged|unpacks", id="zip that lies about its size"),
        pytest.param(a_zip({f"{n}.txt": b"" for n in range(6000)}), "unpacks", id="zip of 6000 files"),
        pytest.param(
            a_zip(
                {
                    "word/document.xml": b'<!DOCTYPE a [<!ENTITY b "'
                    + b"b" * 1000
                    + b'">'
                    + b"".join(b'<!ENTITY b%d "%s">' % (n, (b"&b%s;" % (str(n - 1).encode() if n else b"")) * 20) for n in range(9))
                    + b"]><a><t>&b8;</t></a>"
                }
            ),
            "damaged|too big",
            id="entities that multiply",
        ),
        pytest.param(pdf_with_huge_stream(), "damaged|too big|scan", id="pdf whose page inflates to 500 MB"),
        pytest.param(a_zip({"a.txt": b"bonjour"}), "archive", id="zip of anything"),
        pytest.param(a_picture(), "picture", id="picture"),
        pytest.param(b"OggS" + b"\0" * 100, "sound", id="voice note"),
        pytest.param(bytes(range(256)) * 10, "format that cannot be read", id="noise"),
        pytest.param(b"{\\rtf1 x}", "format that cannot be read", id="rtf"),
        pytest.param(b"", "no text", id="nothing"),
        pytest.param(b" \r\n\t", "no text", id="blanks"),
        pytest.param(b"x" * (extraction.LARGEST + 1), "too big", id="too big"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(services, make_context, data, said):
    context = make_context()
    id, start = upload(services, context, data, "cours.pdf"), time.monotonic()
    with pytest.raises(ToolError, match=said):
        read(context, id)
    assert time.monotonic() - start < extraction.SECONDS + 5


def test_hostile_files_cost_this_process_no_memory(services, make_context):
    context = make_context()
    id, before = upload(services, context, pdf_with_huge_stream()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ToolError):
        read(context, id)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 100_000_000


@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "too big", id="killed"),
        pytest.param("raise SystemExit(3)", "damaged", id="gave up"),
        pytest.param("import time; time.sleep(60)", "too big", id="stuck"),
    ],
)
def test_the_child_may_die(services, make_context, monkeypatch, tmp_path, script, said):
    program = tmp_path / "child"
    program.write_text(f"#!{sys.executable}\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(extraction.sys, "executable", str(program))
    monkeypatch.setattr(extraction, "SECONDS", 1)
    context = make_context()
    with pytest.raises(ToolError, match=said):
        read(context, upload(services, context, b"bonjour"))


def test_the_child_has_no_secrets_and_its_limits(monkeypatch, tmp_path):
    program = tmp_path / "child"
    program.write_text(f"#!{sys.executable}\nimport json, os\nprint(json.dumps({{'text': ' '.join(sorted(os.environ))}}))\n")
    program.chmod(0o755)
    monkeypatch.setenv("SECRET_KEY", "x")
    monkeypatch.setattr(extraction.sys, "executable", str(program))
    assert "SECRET_KEY" not in extraction.text_of(b"x")


def test_a_long_file_is_read_in_pieces(services, make_context):
    context = make_context()
    text = "".join(f"{n:07d}\n" for n in range(2500)).strip()
    id, pieces, offset = upload(services, context, text.encode()), [], 0
    while offset is not None:
        result = read(context, id, offset=offset)
        assert (result["offset"], result["total_characters"]) == (offset, len(text))
        pieces.append(result["content"])
        offset = result["next_offset"]
    assert "".join(pieces) == text
    assert [len(p) for p in pieces] == [PIECE, PIECE, len(text) - 2 * PIECE]


def test_an_offset_behind_the_end_is_an_error(services, make_context):
    context = make_context()
    with pytest.raises(ToolError, match="behind its end"):
        read(context, upload(services, context, b"court"), offset=5)


def test_what_was_read_once_is_kept(services, make_context):
    context = make_context()
    id = upload(services, context, a_docx())
    first = read(context, id)
    shutil.rmtree(services.settings.media_folder)
    assert read(context, id) == first
    assert "Elle monte." in rows(services, table)[0].text


def test_a_file_that_is_gone_from_the_disk_is_an_error(services, make_context):
    context = make_context()
    id = upload(services, context, b"x")
    shutil.rmtree(services.settings.media_folder)
    with pytest.raises(ToolError, match="not on the disk"):
        read(context, id)


def test_the_file_of_somebody_else_is_not_read(services, make_context):
    context = make_context()
    theirs = upload(services, context, b"secret", owner="learner:other")
    for id in (theirs, "f404", "../palabre.db"):
        with pytest.raises(ToolError, match="no file"):
            read(context, id)


@pytest.mark.parametrize(
    "arguments", [{}, {"file_id": ""}, {"file_id": "f", "offset": -1}, {"file_id": "f", "offset": "0"}, {"path": "/etc/passwd"}]
)
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("read_user_file", arguments)
