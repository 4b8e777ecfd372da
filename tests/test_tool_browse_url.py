"""browse_url: the text of a public page, through Jina Reader; nothing that is not public is ever asked for."""

import gzip
import json
import socket
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
import responses

from bot import public_address
from bot.errors import ToolError
from tools import browse_url as module
from tools.browse_url import browse_url
from tools.offered import check

PAGE = {"code": 200, "data": {"title": "Le cacao", "content": "# Le cacao\n\nIl pousse au sud.", "url": "https://exemple.ci/cacao"}}
NAMES = {
    "exemple.ci": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
    "inside.example.org": ["10.0.0.8"],
    "metadata.example.org": ["169.254.169.254"],
    "mixed.example.org": ["93.184.215.14", "127.0.0.1"],
    "six.example.org": ["fe80::1%eth0"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "localtest.me": ["127.0.0.1"],
    "xn--cole-9oa.ci": ["93.184.215.14"],
}


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """A name server that knows NAMES and nothing else (but for the servers of these tests, which have a number)."""
    real = socket.getaddrinfo

    def look_up(host, port, *args, **more):
        if host == "127.0.0.1":
            return real(host, port, *args, **more)
        if host not in NAMES:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in NAMES[host]]

    monkeypatch.setattr(public_address.socket, "getaddrinfo", look_up)


@pytest.fixture
def jina():
    with responses.RequestsMock(assert_all_requests_are_fired=False) as fake:
        yield fake


def test_a_page_comes_with_its_title_and_text(services, jina):
    jina.get("https://jina.test/https://exemple.ci/cacao?a=1", json=PAGE)
    result = browse_url(services, " https://exemple.ci/cacao?a=1#sud ")
    assert result == {"url": "https://exemple.ci/cacao?a=1", "title": "Le cacao", "content": "# Le cacao\n\nIl pousse au sud."}
    [call] = jina.calls
    assert call.request.headers["Accept"] == "application/json"
    assert "Authorization" not in call.request.headers


def test_the_key_is_sent_when_there_is_one(services, jina):
    jina.get("https://jina.test/https://exemple.ci/", json=PAGE)
    browse_url(replace(services, settings=replace(services.settings, jina_key="jina_1")), "https://exemple.ci/")
    assert jina.calls[0].request.headers["Authorization"] == "Bearer jina_1"


def test_an_answer_in_plain_text_will_do(services, jina):
    jina.get("https://jina.test/https://exemple.ci/", body="Bonjour é\x00", content_type="text/plain; charset=utf-8")
    assert browse_url(services, "https://exemple.ci/") == {"url": "https://exemple.ci/", "title": "", "content": "Bonjour é"}


def test_a_long_page_is_kept_long_and_cut_at_the_end(services, jina):
    jina.get("https://jina.test/https://exemple.ci/", json={"data": {"title": "t", "content": "a" * 300_000}})
    assert len(browse_url(services, "https://exemple.ci/")["content"]) == module.LONGEST


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:4136:e378::]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fec0::1]/",
        "http://[::]/",
        "http://[ff02::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://0/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://168.63.129.16/",
        "http://192.0.0.192/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://127.0.0.1./",
        "http://１２７.0.0.1/",
        "http://①②⑦.0.0.1/",
        "http://127。0。0。1/",
        "http://LOCALHOST/",
        "http://localhost./",
        "http://a.localhost/",
        "http://router.local/",
        "http://metadata.google.internal/",
        "http://intranet/",
        "http://example.123/",
        "http://127.0.0.1.nip.io/",
        "http://localtest.me/",
        "http://inside.example.org/",
        "http://metadata.example.org/",
        "http://mixed.example.org/",
        "http://six.example.org/",
        "http://exemple.ci:0/",
    ],
)
def test_what_is_not_public_is_refused_without_asking_anybody(services, jina, url):
    with pytest.raises(ToolError):
        browse_url(services, url)
    assert len(jina.calls) == 0


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://exemple.ci/",
        "ftp://exemple.ci/",
        "javascript:alert(1)",
        "data:text/plain,x",
        "exemple.ci",
        "//exemple.ci/",
        "http://",
        "http:///x",
        "https://exemple.ci:99999/",
        "https://exemple.ci:port/",
        "http://[::1",
        "http://[v1.x]/",
        "http://exemple..ci/",
        "http://-exemple.ci/",
        "http://exem ple.ci/",
        "http://exemple.ci\\@127.0.0.1/",
        "http://exemple.ci/\r\nHost: x",
        "http://exemple.ci/\ud800",
        "http://exemple.ci/\t",
        "x",
        f"http://{'a' * 64}.ci/",
        f"http://{'a.' * 130}ci/",
        "http://exemple.ci%00.org/",
        "http://%31%32%37.0.0.1/",
        "http://*.ci/",
    ],
)
def test_what_is_no_web_address_is_refused(services, jina, url):
    with pytest.raises(ToolError):
        browse_url(services, url + ("y" if url.endswith("\t") else ""))
    assert len(jina.calls) == 0


@pytest.mark.parametrize(
    "url",
    [
        "https://awa:secret@exemple.ci/",
        "https://awa@exemple.ci/",
        "https://@exemple.ci/",
        "https://:@exemple.ci/",
        "http://exemple.ci@127.0.0.1/",
    ],
)
def test_addresses_with_credentials_are_refused(services, jina, url):
    with pytest.raises(ToolError, match="user name or password"):
        browse_url(services, url)
    assert len(jina.calls) == 0


def test_a_name_that_does_not_resolve_is_refused(services, jina):
    with pytest.raises(ToolError, match="does not resolve"):
        browse_url(services, "https://nulle-part.example.org/")


@pytest.mark.parametrize(
    "url",
    [
        "https://exemple.ci",
        "HTTPS://EXEMPLE.CI/A",
        "http://exemple.ci:8080/x",
        "https://école.ci/",
        "http://93.184.215.14/",
        "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
        "https://exemple.ci./",
        "https://exemple.ci/@awa",
    ],
)
def test_public_addresses_are_accepted(url):
    public_address.check(url)


@pytest.mark.parametrize(
    ("status", "transient", "said"),
    [
        (400, False, "400"),
        (404, False, "404"),
        (422, False, "422"),
        (451, False, "451"),
        (429, True, "does not answer"),
        (500, True, "does not answer"),
        (503, True, "does not answer"),
        (302, False, "302"),
    ],
)
def test_what_the_reader_refuses_is_told(services, jina, status, transient, said):
    jina.get("https://jina.test/https://exemple.ci/", status=status, headers={"Location": "http://127.0.0.1/"} if status == 302 else {})
    with pytest.raises(ToolError, match=said) as problem:
        browse_url(services, "https://exemple.ci/")
    assert problem.value.transient is transient
    assert len(jina.calls) == 1


@pytest.mark.parametrize("status", [401, 402, 403])
def test_a_refused_key_is_told(services, jina, status):
    jina.get("https://jina.test/https://exemple.ci/", status=status)
    with pytest.raises(ToolError, match="key"):
        browse_url(replace(services, settings=replace(services.settings, jina_key="jina_1")), "https://exemple.ci/")


@pytest.mark.parametrize("problem", [requests.ConnectionError("x"), requests.Timeout("x")])
def test_a_reader_that_is_away_is_an_error_that_may_pass(services, jina, problem):
    jina.get("https://jina.test/https://exemple.ci/", body=problem)
    with pytest.raises(ToolError, match="does not answer") as said:
        browse_url(services, "https://exemple.ci/")
    assert said.value.transient


@pytest.mark.parametrize(
    "body", [b"", b"  ", b'{"data": {"title": "x", "content": ""}}', b'{"data": null}', b"[]", b"null", b'{"data": {"content": 5}}'[:0]]
)
def test_a_page_without_text_is_an_error(services, jina, body):
    jina.get("https://jina.test/https://exemple.ci/", body=body)
    with pytest.raises(ToolError, match="no text"):
        browse_url(services, "https://exemple.ci/")


@pytest.fixture
def slow_server():
    """serve(parts, headers): a real server that sends *parts* of a body, and where it got to."""
    servers = []

    def serve(parts, headers):
        sent = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    for part in parts():
                        self.wfile.write(part)
                        sent.append(len(part))
                except OSError:
                    pass  # the reader has had enough

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}", sent

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def through(services, url):
    return replace(services, settings=replace(services.settings, jina_url=url))


def test_a_body_without_end_is_read_up_to_the_cap_only(services, slow_server):
    url, sent = slow_server(
        lambda: (b"a" * 65536 for _ in range(100_000)), {"Content-Type": "text/plain", "Content-Length": str(2 * 10**9)}
    )
    assert len(browse_url(through(services, url), "https://exemple.ci/")["content"]) == module.LONGEST
    assert sum(sent) < 3 * module.LARGEST


def test_a_gzip_bomb_is_counted_by_what_comes_out_of_it(services, slow_server):
    packed = gzip.compress(json.dumps({"data": {"title": "x", "content": "a" * 200_000_000}}).encode(), 9)
    url, _ = slow_server(lambda: [packed], {"Content-Encoding": "gzip", "Content-Length": str(len(packed))})
    start = time.monotonic()
    assert len(browse_url(through(services, url), "https://exemple.ci/")["content"]) == module.LONGEST
    assert time.monotonic() - start < 2


def test_a_body_that_drips_is_given_up_in_time(services, slow_server, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 1)
    monkeypatch.setattr(module, "SILENCE", 1)

    def drip():
        while True:
            time.sleep(0.05)
            yield b"a"

    url, _ = slow_server(drip, {"Content-Type": "text/plain", "Content-Length": "1000000"})
    start = time.monotonic()
    with pytest.raises(ToolError, match="does not answer"):
        browse_url(through(services, url), "https://exemple.ci/")
    assert time.monotonic() - start < 3


def test_a_body_that_breaks_off_is_an_error(services, slow_server):
    url, _ = slow_server(lambda: [b"abc"], {"Content-Encoding": "gzip", "Content-Length": "3"})
    with pytest.raises(ToolError, match="does not answer"):
        browse_url(through(services, url), "https://exemple.ci/")


@pytest.mark.parametrize("arguments", [{}, {"url": ""}, {"url": 1}, {"url": "https://x.org", "method": "POST"}, {"url": "x" * 2001}])
def test_bad_arguments_are_told_to_the_model(arguments):
    with pytest.raises(ToolError):
        check("browse_url", arguments)
