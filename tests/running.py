"""Real processes for tests: commands, what is left of them, and small servers that stand for the model and for Twilio."""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import fakes
import requests

ROOT = Path(__file__).parents[1]
PALABRE = [sys.executable, "-m", "bot.cli"]
SYSTEM = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}


def until(condition, seconds: float, what: str, log=lambda: ""):
    """What *condition* returns as soon as it is true; fails after *seconds* with *what* was waited for, and *log()*."""
    ends = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < ends, f"not within {seconds:g} s: {what}\n{log()}"
        time.sleep(0.05)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*args: str, home: Path, said: str = "", **environ: str) -> subprocess.CompletedProcess:
    """A command to its end, in the folder *home*'s parent, without any setting but those given."""
    return subprocess.run(
        [*PALABRE, *args],
        cwd=home.parent,
        env=SYSTEM | {"PALABRE_HOME": str(home)} | environ,
        input=said,
        text=True,
        capture_output=True,
        timeout=60,
    )


class Started:
    """A command that goes on, with what it prints in a file."""

    def __init__(self, *args: str, log: Path, **environ: str):
        self.log = log
        with open(log, "ab") as file:
            self.process = subprocess.Popen(
                [*PALABRE, *args], cwd=log.parent, env=SYSTEM | environ, stdout=file, stderr=file, start_new_session=True
            )

    @property
    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    def end(self, number: int = signal.SIGTERM, seconds: float = 40) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(seconds)


def processes(mark: str) -> dict[int, str]:
    """Living processes that have *mark* (a folder of the test) in their environment, command or working folder: pid -> command."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command, environ, here = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes(), os.readlink(folder / "cwd")
        except OSError:
            continue
        if mark.encode() in command + environ + here.encode() and int(folder.name) != os.getpid():
            found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def kill(pids) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


class Embedded(Started):
    """`palabre start`, and the simulator's phones."""

    def __init__(self, home: Path, log: Path | None = None, **environ: str):
        self.home, self.port = home, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(
            "start",
            "--port",
            str(self.port),
            log=log or home.with_suffix(".log"),
            **{"PALABRE_HOME": str(home), "DEBOUNCE_SECONDS": "0.2"} | environ,
        )

    def ready(self, seconds: float = 30):
        until(lambda: self.process.poll() is not None or self.get("/readyz") == 200, seconds, "`start` is ready", lambda: self.printed)
        assert self.process.poll() is None, self.printed
        return self

    def get(self, path: str) -> int:
        """The status, or 0 when nobody answers."""
        try:
            return requests.get(self.url + path, timeout=10).status_code
        except requests.RequestException:
            return 0

    def received(self, number: str, phone: str = "whatsapp") -> list[str]:
        """What Palabre wrote to a phone, oldest first."""
        address = number if phone == "sms" else f"whatsapp:{number}"
        try:
            answer = requests.get(f"{self.url}/simulator/messages", params={"address": address}, timeout=10)
            return [m["text"] for m in answer.json()["messages"] if not m["mine"]]
        except (requests.RequestException, ValueError):
            return []

    def say(self, text: str, number: str, phone: str = "whatsapp", seconds: float = 40) -> str:
        """Write from a phone and return the first answer."""
        before = len(self.received(number, phone))
        form = {"phone": phone, "from": number, "text": text}
        until(lambda: self._sent(form), 20, f"{text!r} is accepted", lambda: self.printed)
        return until(lambda: self.received(number, phone)[before:], seconds, f"{text!r} is answered", lambda: self.printed)[0]

    def _sent(self, form: dict) -> bool:
        try:
            return requests.post(f"{self.url}/simulator/send", data=form, timeout=10).status_code == 202
        except requests.RequestException:
            return False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_) -> None:
        pass

    def answer(self, status: int, body: str | bytes, kind: str = "application/json") -> None:
        data = body.encode() if isinstance(body, str) else body
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.close_connection = True  # whoever asked was killed

    def body(self) -> str:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()


class Server:
    """An HTTP server in a thread; each request is handled in one of its own."""

    def __init__(self, handler: type[Handler]):
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


class ModelServer(Server):
    """Says what *script(body)* returns (see fakes.text, fakes.call); `asked` holds the bodies."""

    def __init__(self, script=lambda body: fakes.text("D'accord.")):
        self.script, self.asked, self.keys = script, [], []
        server = self

        class Answer(Handler):
            def do_GET(self) -> None:
                server.keys.append(self.headers.get("Authorization"))
                self.answer(200, '{"data": []}')

            def do_POST(self) -> None:
                body = json.loads(self.body())
                server.asked.append(body)
                self.answer(200, fakes.sse(server.script(body)), "text/event-stream")

        super().__init__(Answer)

    def times(self, text: str) -> int:
        """How often the model was asked with *text* as the last thing a person said."""
        return sum(last_said(body) == text for body in self.asked)


def last_said(body: dict) -> str:
    return [m["content"] for m in body["messages"] if m["role"] == "user"][-1]


class TwilioServer(Server):
    """Accepts messages as Twilio does, and lists them. refuse: {address: (status, code)}."""

    def __init__(self):
        self.sent, self.refuse, self.paths, ids = [], {}, set(), itertools.count(1)
        server = self

        class Answer(Handler):
            def do_GET(self) -> None:
                server.paths.add(urlsplit(self.path).path)
                to = parse_qs(urlsplit(self.path).query).get("To", [None])[0]
                found = [m for m in reversed(server.sent) if to in (None, m["to"])]
                self.answer(200, json.dumps({"messages": found, "page": 0, "page_size": 50, "next_page_uri": None, "uri": "/x"}))

            def do_POST(self) -> None:
                server.paths.add(urlsplit(self.path).path)
                form = {k: v[0] for k, v in parse_qs(self.body(), keep_blank_values=True).items()}
                if refused := server.refuse.get(form["To"]):
                    return self.answer(refused[0], json.dumps({"code": refused[1], "message": "refused", "status": refused[0]}))
                message = {
                    "sid": f"SM{next(ids):032x}",
                    "status": "queued",
                    "to": form["To"],
                    "from": form.get("From"),
                    "body": form.get("Body", ""),
                    "media": form.get("MediaUrl"),
                    "direction": "outbound-api",
                    "callback": form.get("StatusCallback"),
                }
                server.sent.append(message)
                self.answer(201, json.dumps(message))

        super().__init__(Answer)

    def bodies(self, to: str) -> list[str]:
        return [m["body"] for m in self.sent if m["to"] == to]
