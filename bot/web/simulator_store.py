"""
What the simulated network remembers: messages, files, typing and the troubles that were asked for.

Everything lies in Redis, so that it does not matter which gunicorn worker answers, and is gone after a day. A message is a hash of
JSON values; each change gives it the next number of one counter, and a page that has seen everything up to *after* asks for the rest.
"""

import json
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime

from redis import Redis

from bot.demo.server import SLOW_KEY

DAY = 86400
FAULTS = ("21610", "20429", "500", "30003", "63016", "63018")  # what the next outgoing message can be made to fail with
TOGGLES = ("twice", "late")  # stay until they are switched off
ONE_SHOTS = ("fail", "slow")  # are used up by the first message or model answer they meet
RESOURCE = (
    "account_sid",
    "api_version",
    "body",
    "date_created",
    "date_sent",
    "date_updated",
    "direction",
    "error_code",
    "error_message",
    "from",
    "messaging_service_sid",
    "num_media",
    "num_segments",
    "price",
    "price_unit",
    "sid",
    "status",
    "subresource_uris",
    "to",
    "uri",
)

# Write fields of a message and file it under the next number of the counter, in one act: a reader must not pass a change by, and a
# message deleted in the meantime must not come back. KEYS: counter, the person's changes, message. ARGV: sid, seconds, "new" or "", fields…
WRITE = """
if ARGV[3] == '' and redis.call('EXISTS', KEYS[3]) == 0 then return 0 end
redis.call('HSET', KEYS[3], unpack(ARGV, 4))
redis.call('EXPIRE', KEYS[3], ARGV[2])
local seq = redis.call('INCR', KEYS[1])
redis.call('ZADD', KEYS[2], seq, ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[2])
return seq
"""


def new_sid(prefix: str) -> str:
    return prefix + secrets.token_hex(16)


def rfc2822() -> str:
    return format_datetime(datetime.now(UTC))


def resource(message: dict) -> dict:
    """The part of a message that Twilio's API shows."""
    return {name: message[name] for name in RESOURCE}


@dataclass(frozen=True)
class Store:
    redis: Redis

    # -- messages -------------------------------------------------------------------------------------------------
    def add(self, message: dict) -> dict:
        """Keep a message: the fields of RESOURCE and, for the page, `address` (the person's), `media` and `at` (seconds)."""
        message = {**message, "at": time.time()}
        self._write(message, message, new=True)
        self.redis.zadd("simulator:messages", {message["sid"]: message["at"]})
        self.redis.zremrangebyscore("simulator:messages", 0, message["at"] - DAY)
        return message

    def change(self, sid: str, **fields) -> None:
        """Change some fields of a message, unless it has been deleted."""
        message = self.get(sid)
        if message:
            self._write(message, {**fields, "date_updated": rfc2822()}, new=False)

    def get(self, sid: str) -> dict | None:
        found = self.redis.hgetall(f"simulator:message:{sid}")
        return {name.decode(): json.loads(value) for name, value in found.items()} or None

    def delete(self, sid: str) -> None:
        message = self.get(sid)
        if message:
            self.redis.delete(f"simulator:message:{sid}")
            self.redis.zrem("simulator:messages", sid)
            self.redis.zrem(f"simulator:changes:{message['address']}", sid)

    def newest_first(self) -> list[dict]:
        return [m for sid in self.redis.zrevrange("simulator:messages", 0, -1) if (m := self.get(sid.decode()))]

    def changed(self, address: str, after: int) -> tuple[list[dict], int]:
        """The messages of a person that are new or changed since *after*, in the order they were made; and the next *after*."""
        found = self.redis.zrangebyscore(f"simulator:changes:{address}", f"({after}", "+inf", withscores=True)
        messages = [m for sid, _ in found if (m := self.get(sid.decode()))]
        return sorted(messages, key=lambda m: m["at"]), max([after, *(int(score) for _, score in found)])

    def _write(self, message: dict, fields: dict, new: bool) -> None:
        sid, values = message["sid"], [part for name, value in fields.items() for part in (name, json.dumps(value))]
        self.redis.eval(
            WRITE,
            3,
            "simulator:seq",
            f"simulator:changes:{message['address']}",
            f"simulator:message:{sid}",
            sid,
            DAY,
            "new" if new else "",
            *values,
        )

    # -- the 24 hours in which WhatsApp lets us write freely, and the sign that somebody writes -----------------------
    def open_window(self, address: str) -> None:
        self.redis.set(f"simulator:window:{address}", 1, ex=DAY)

    def window_is_open(self, address: str) -> bool:
        return bool(self.redis.exists(f"simulator:window:{address}"))

    def show_typing(self, address: str) -> None:
        self.redis.set(f"simulator:typing:{address}", 1, ex=25)  # WhatsApp shows it until the answer, or 25 s

    def hide_typing(self, address: str) -> None:
        self.redis.delete(f"simulator:typing:{address}")

    def is_typing(self, address: str) -> bool:
        return bool(self.redis.exists(f"simulator:typing:{address}"))

    # -- files and message templates ------------------------------------------------------------------------------
    def add_file(self, data: bytes, content_type: str, name: str) -> str:
        sid = new_sid("ME")
        key = f"simulator:file:{sid}"
        self.redis.hset(key, mapping={"data": data, "type": content_type, "name": name})
        self.redis.expire(key, DAY)
        return sid

    def file(self, sid: str) -> tuple[bytes, str, str] | None:
        """(data, content type, name)"""
        data, content_type, name = self.redis.hmget(f"simulator:file:{sid}", "data", "type", "name")
        return None if data is None else (data, content_type.decode(), name.decode())

    def add_content(self, content: dict) -> None:
        self.redis.set(f"simulator:content:{content['sid']}", json.dumps(content), ex=DAY)
        self.redis.zadd("simulator:contents", {content["sid"]: time.time()})

    def content(self, sid: str) -> dict | None:
        found = self.redis.get(f"simulator:content:{sid}")
        return json.loads(found) if found else None

    def contents(self) -> list[dict]:
        return [c for sid in self.redis.zrevrange("simulator:contents", 0, -1) if (c := self.content(sid.decode()))]

    def delete_content(self, sid: str) -> None:
        self.redis.delete(f"simulator:content:{sid}")

    # -- troubles -------------------------------------------------------------------------------------------------
    def set_trouble(self, name: str, value: str) -> None:
        """Switch a trouble on, or off with an empty value. *name* is one of TOGGLES and ONE_SHOTS."""
        key = SLOW_KEY if name == "slow" else f"simulator:trouble:{name}"
        if value:
            self.redis.set(key, value, ex=DAY)
        else:
            self.redis.delete(key)

    def troubles(self) -> dict[str, str]:
        keys = {**{name: f"simulator:trouble:{name}" for name in (*TOGGLES, "fail")}, "slow": SLOW_KEY}
        return {name: (value or b"").decode() for name, value in zip(keys, self.redis.mget(list(keys.values())), strict=True)}

    def take_fault(self) -> str:
        """The code the next outgoing message is to fail with, once; or an empty text."""
        return (self.redis.getdel("simulator:trouble:fail") or b"").decode()
