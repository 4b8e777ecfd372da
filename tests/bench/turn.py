"""
How long a turn takes beside its model: `python tests/bench/turn.py [turns]`.

A model server without latency answers on this machine; the same server is asked by a bare `requests` loop in the same run. Printed are the
medians of the first and the last fifty turns of one conversation, and the bare loop's, in milliseconds.
"""

import json
import statistics
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import requests

from bot import services as outside
from bot import valkey
from bot.channels import inbox
from bot.channels.twilio import Inbound
from bot.config import Settings
from bot.db import metadata, writing
from workers import delivery, turn

ANSWER = "".join(
    f"data: {json.dumps(c)}\n\n"
    for c in (
        {"choices": [{"delta": {"content": "Bonjour, voici la réponse."}, "finish_reason": None}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    )
)


class Handler(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = (ANSWER + "data: [DONE]\n\n").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def main(turns: int) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url, home = f"http://127.0.0.1:{server.server_address[1]}", Path(tempfile.mkdtemp())
    process, redis_url = valkey.start(home / "valkey")
    try:
        services = outside.build(
            Settings(
                home=home,
                database_url=f"sqlite:///{home}/palabre.db",
                redis_url=redis_url,
                public_url="https://bench.test",
                secret_key="x",
                model_url=url,
                model_primary="m",
                model_fast="m",
                model_smart="m",
                media_url=f"file://{home}/media",
                debounce_seconds=0,
                guest_messages_per_day=10**9,
            )
        )
        metadata.create_all(services.db)
        delivery.deliver_now = lambda *_: None  # the way out is not part of the turn's own time
        ours = [_turn(services, n) for n in range(turns)]
        session = requests.Session()
        bare = [_timed(lambda: session.post(f"{url}/chat/completions", json={"messages": []}).text) for _ in range(200)]
    finally:
        process.kill()
    first, last, loop = (statistics.median(x) * 1000 for x in (ours[5:55], ours[-50:], bare))
    print(f"turn, first fifty   {first:6.2f} ms")
    print(f"turn, last fifty    {last:6.2f} ms   ratio {last / first:.2f}")
    print(f"bare requests loop  {loop:6.2f} ms")


def _turn(services, n: int) -> float:
    with writing(services.db) as tx:
        conversation = inbox.receive(tx, Inbound(f"SM{n:032x}", "whatsapp:+2250701020304", "whatsapp", f"Question {n}"))
    return _timed(lambda: turn.take(services, conversation))


def _timed(act) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
