"""Office files are zip archives; these make the same bytes of the same content every time."""

import io
import re
import zipfile

from bot.documents.size import checked_size

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest a zip archive can say
DATES = re.compile(rb"<dcterms:(created|modified)\b[^>]*>[^<]*</dcterms:\1>")
THUMBNAIL = re.compile(rb"<Relationship [^>]*thumbnail[^>]*/>")


def without_clock(data: bytes) -> bytes:
    """The archive *data* again, without the time of its making: in its directory, its properties and the workbooks embedded in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "docProps/thumbnail.jpeg":  # a picture of the template, not of the document
                continue
            if name == "_rels/.rels":
                part = THUMBNAIL.sub(b"", part)
            elif name == "docProps/core.xml":
                part = DATES.sub(b"", part)
            elif name.endswith(".xlsx"):
                part = without_clock(part)
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            new.writestr(info, part)
    return out.getvalue()


def finished(data: bytes) -> bytes:
    """The same, for a file that is ready; DocumentError when it is too big to be sent."""
    return checked_size(without_clock(data))
