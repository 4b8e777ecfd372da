"""A real SMTP server in a thread, for the tests: what it took lies in `inbox`."""

import socket
import ssl
import subprocess
from contextlib import contextmanager
from email import message_from_bytes, policy

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult


class Keeper:
    def __init__(self):
        self.inbox, self.recipients, self.logins, self.answer = [], [], [], "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refuse"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.answer is None:
            server.transport.abort()
            return "250 never seen"
        if self.answer.startswith("250"):
            self.inbox.append(message_from_bytes(envelope.content, policy=policy.default))
            self.recipients.append(envelope.rcpt_tos)
        return self.answer

    def login(self, server, session, envelope, mechanism, data):
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password == b"p@ss", handled=False)


@contextmanager
def running(*, tls: ssl.SSLContext | None = None, auth: bool = False):
    """A server on this machine; yields (keeper, "127.0.0.1:port")."""
    keeper = Keeper()
    options = {"tls_context": tls, "require_starttls": bool(tls)} if tls else {}
    if auth:
        options |= {"authenticator": keeper.login, "auth_require_tls": bool(tls)}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(keeper, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield keeper, f"127.0.0.1:{port}"
    finally:
        controller.stop()


def self_signed(folder) -> ssl.SSLContext:
    """A certificate that nobody vouches for."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            key,
            "-out",
            certificate,
            "-days",
            "2",
            "-subj",
            "/CN=mail",
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
