"""What people send: its real type is read from its first bytes, photographs are bounded, speech becomes text."""

import io
import warnings

import requests
from PIL import Image, ImageOps

from bot.config import Settings
from bot.documents.names import safe_filename

SIDE, HEAVY = 1600, 1_000_000  # pixels; bytes from which a picture is made smaller
QUALITY = 82
LARGEST_PICTURE = 50_000_000  # pixels: a larger one is not opened
SECONDS = 60
STARTS = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"%PDF-": "pdf",
    b"OggS": "ogg",
    b"ID3": "mp3",
    b"\xff\xfb": "mp3",
    b"\xff\xf3": "mp3",
    b"#!AMR": "amr",
    b"GIF8": "gif",
    b"{\\rtf": "rtf",
}
OFFICE = {b"word/": "docx", b"xl/": "xlsx", b"ppt/": "pptx"}
NAMES = {"image": "photo", "audio": "vocal", "video": "video", "document": "document"}
KINDS = {
    "png": "image",
    "jpg": "image",
    "webp": "image",
    "gif": "image",
    "ogg": "audio",
    "mp3": "audio",
    "amr": "audio",
    "m4a": "audio",
    "mp4": "video",
}


def extension_of(data: bytes, declared: str) -> str:
    """What *data* is, by its content; the declared type decides only between kinds of plain text."""
    for start, extension in STARTS.items():
        if data.startswith(start):
            return extension
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:8] == b"ftyp":
        return "m4a" if data[8:11] == b"M4A" or declared.startswith("audio/") else "mp4"
    if data.startswith(b"PK\x03\x04"):
        return next((extension for folder, extension in OFFICE.items() if folder in data), "zip")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "bin"
    return {"text/csv": "csv", "text/html": "html", "text/markdown": "md", "text/vcard": "vcf", "text/x-vcard": "vcf"}.get(
        declared.split(";")[0], "txt"
    )


def kind_of(extension: str) -> str:
    """image, audio, video or document."""
    return KINDS.get(extension, "document")


def name_for(extension: str, number: int) -> str:
    return safe_filename(f"{NAMES[kind_of(extension)]}{number}", extension, fallback="document")


def bounded_picture(data: bytes, extension: str) -> tuple[bytes, str]:
    """A picture that is not larger than the model needs, upright and without its metadata. Raises ValueError for what is no picture."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return _bounded(data, extension)
    except Exception as problem:  # a damaged picture makes the library raise errors of every kind
        raise ValueError("the picture cannot be opened") from problem


def _bounded(data: bytes, extension: str) -> tuple[bytes, str]:
    picture = Image.open(io.BytesIO(data))
    if picture.width * picture.height > LARGEST_PICTURE:
        raise ValueError("the picture is too large")
    if max(picture.size) <= SIDE and len(data) <= HEAVY and extension in ("png", "jpg"):
        picture.verify()
        return data, extension
    picture = ImageOps.exif_transpose(picture).convert("RGB")
    picture.thumbnail((SIDE, SIDE))
    made = io.BytesIO()
    picture.save(made, "JPEG", quality=QUALITY)
    return made.getvalue(), "jpg"


def transcribed(session: requests.Session, settings: Settings, data: bytes, extension: str) -> str | None:
    """What is said in a voice note, or None when no service is set, it fails, or nothing was heard."""
    if not settings.transcription_url:
        return None
    headers = {"Authorization": f"Bearer {settings.transcription_key}"} if settings.transcription_key else {}
    try:
        answer = session.post(
            f"{settings.transcription_url}/audio/transcriptions",
            headers=headers,
            timeout=(5, SECONDS),
            files={"file": (f"vocal.{extension}", data)},
            data={"model": settings.transcription_model, "language": "fr"},
        )
        answer.raise_for_status()
        text = answer.json().get("text")
    except (requests.RequestException, ValueError, AttributeError):
        return None
    return text.strip() or None if isinstance(text, str) else None
