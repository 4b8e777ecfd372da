"""
E-mail: one recipient, a text and an HTML part, files of the person's own.

Through SMTP_URL, or, without it, as an .eml file in the mail folder of PALABRE_HOME. No header can be slipped in: encoded words are
decoded first (Python's own header parser would decode them later, line breaks included), then every control character goes.
"""

import ipaddress
import re
import secrets
import smtplib
import ssl
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid, parseaddr
from html import escape
from urllib.parse import unquote, urlsplit

import sqlalchemy as sa
from markdown_it import MarkdownIt

from bot.config import Settings
from bot.db import now
from bot.documents.clean import clean
from bot.errors import ToolError
from bot.learners import files

SECONDS = 15
LARGEST = 15_000_000  # bytes of all attachments; most servers refuse 25 MB, and base64 adds a third
LONGEST_HEADER = 300
ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
ADDRESS = re.compile(rf"{ATOM}(?:\.{ATOM})*@{LABEL}(?:\.{LABEL})+")
PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family:sans-serif;line-height:1.5;max-width:40em">'
    "{body}</body></html>"
)
MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")


@dataclass(frozen=True)
class Attachment:
    filename: str
    media_type: str
    data: bytes


class MaybeSent(ToolError):
    """The connection broke after the mail was handed over: it may or may not have gone out."""


def address(text: str) -> str:
    """*text* as one plain address, a domain with accents in its ASCII form. Raises ToolError."""
    wanted = text.strip()
    local, at, domain = wanted.rpartition("@")
    if at and not domain.isascii():
        try:
            wanted = f"{local}@{domain.encode('idna').decode()}"
        except UnicodeError:
            wanted = ""
    if not ADDRESS.fullmatch(wanted) or len(wanted) > 254 or len(wanted.partition("@")[0]) > 64:
        raise ToolError(
            f"{text[:100]!r} is not one plain e-mail address such as nom@exemple.org. Nothing was done; ask the person for the address."
        )
    return wanted


def header(text: str) -> str:
    """*text* as it may stand in a header: one line, no encoded words left to be decoded by anybody."""
    for _ in range(5):  # encoded words inside encoded words
        try:
            decoded = str(make_header(decode_header(text)))
        except (HeaderParseError, LookupError, UnicodeError, ValueError):
            break
        if decoded == text:
            break
        text = decoded
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)
    while "=?" in text:
        text = text.replace("=?", "= ?")
    return " ".join(text.split())[:LONGEST_HEADER]


def attachments(settings: Settings, connection: sa.Connection, owner: str, ids: Sequence[str]) -> list[Attachment]:
    """The files *ids* of *owner* with their bytes. Raises ToolError when one is missing or all are too big together."""
    wanted = list(dict.fromkeys(ids))
    rows = files.owned(connection, owner, wanted)
    if missing := set(wanted) - {r.id for r in rows}:
        raise ToolError(f"The person has no file {', '.join(sorted(missing))}. Take file_id from list_user_files. Nothing was done.")
    if sum(r.size for r in rows) > LARGEST:
        raise ToolError(f"The files have more than {LARGEST // 1_000_000} MB together; send fewer at once. Nothing was done.")
    try:
        return [Attachment(r.filename, r.media_type, files.path(settings, r).read_bytes()) for r in rows]
    except OSError as problem:
        raise ToolError("A file is not on the disk any more, so nothing was done. Make it again.") from problem


def compose(settings: Settings, to: str, subject: str, body: str, attached: Sequence[Attachment] = (), reply_to: str = "") -> EmailMessage:
    """The mail: *body* (Markdown) as it is for the text part, and as HTML; raw HTML and outside pictures are not let through."""
    text = clean(body).strip() + "\n"
    sender = settings.mail_from
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = sender
    message["To"] = Address(addr_spec=address(to))
    if reply_to:
        message["Reply-To"] = Address(addr_spec=address(reply_to))
    message["Subject"] = header(subject) or "Palabre"
    message["Date"] = format_datetime(now())
    message["Message-ID"] = make_msgid(domain=parseaddr(sender)[1].rpartition("@")[2] or "localhost")
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text, cte="quoted-printable")
    message.add_alternative(PAGE.format(body=MARKDOWN.render(text) or escape(text)), subtype="html", cte="quoted-printable")
    for file in attached:
        main, _, sub = file.media_type.partition("/")
        message.add_attachment(
            file.data,
            maintype=main or "application",
            subtype=sub or "octet-stream",
            filename=header(file.filename).replace('"', "").replace("/", "-"),
        )
    return message


def send(settings: Settings, to: str, subject: str, body: str, attached: Sequence[Attachment] = (), reply_to: str = "") -> None:
    """Send a mail whose *body* is Markdown. Raises ToolError when it was not sent, MaybeSent when that is not known."""
    message = compose(settings, to, subject, body, attached, reply_to)
    if settings.smtp_url:
        _by_smtp(settings.smtp_url, message)
    else:
        folder = settings.home / "mail"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}.eml").write_bytes(message.as_bytes())


def _by_smtp(url: str, message: EmailMessage) -> None:
    try:
        server = _connect(url)
    except (smtplib.SMTPException, OSError, ValueError) as problem:
        raise ToolError(
            "The mail server cannot be reached or refuses this service, so nothing was sent. Do not try again now; "
            "offer the file or the text here instead.",
            transient=True,
        ) from problem
    try:
        server.send_message(message)
    except smtplib.SMTPRecipientsRefused as problem:
        raise ToolError("The mail server refuses the recipient's address, so nothing was sent. Ask the person to check it.") from problem
    except smtplib.SMTPServerDisconnected as problem:
        raise MaybeSent("The mail server broke off; the mail may or may not have gone out. Do not send it again unasked.") from problem
    except smtplib.SMTPException as problem:
        raise ToolError("The mail server did not take the mail (too big, or refused as it is); nothing was sent.") from problem
    except OSError as problem:
        raise MaybeSent("The mail server fell silent; the mail may or may not have gone out. Do not send it again unasked.") from problem
    finally:
        server.close()


def _connect(url: str) -> smtplib.SMTP:
    """A session that is ready to send. A password never travels in clear, except to this machine."""
    parts = urlsplit(url)
    host, here = parts.hostname or "localhost", _is_here(parts.hostname or "localhost")
    tls = ssl.create_default_context()
    if here or not parts.username:  # without a password to protect, an unproven certificate is better than no encryption
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(host, parts.port or 465, timeout=SECONDS, context=tls)
    else:
        server = smtplib.SMTP(host, parts.port or (587 if parts.username else 25), timeout=SECONDS)
    try:
        server.ehlo()
        if parts.scheme != "smtps" and server.has_extn("starttls"):
            server.starttls(context=tls)
            server.ehlo()
        elif parts.scheme != "smtps" and parts.username and not here:
            raise smtplib.SMTPNotSupportedError("the server offers no STARTTLS, so the password is not sent")
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
    except BaseException:
        server.close()
        raise
    return server


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
