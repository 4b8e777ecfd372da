"""The outside world in one frozen object: built once in a process, handed down, never made at import."""

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qs, urlsplit

import redis
import requests
import sqlalchemy as sa
from requests.adapters import HTTPAdapter
from rq import Queue

from bot import db
from bot.config import Settings


@dataclass(frozen=True)
class Services:
    """What a process may touch outside itself. Connections are made on first use, so never before a fork."""

    settings: Settings
    db: sa.Engine
    redis: redis.Redis

    @cached_property
    def http(self) -> requests.Session:
        """One session for the model and other HTTP APIs: it keeps connections and is used by all threads of the process."""
        session = requests.Session()
        session.trust_env = False  # no .netrc: it would replace the Authorization header
        adapter = HTTPAdapter(pool_connections=16, pool_maxsize=64)
        session.mount("https://", adapter)
        session.mount("http://", adapter)
        return session

    @cached_property
    def twilio(self):
        from bot.channels.twilio import client

        return client(self.settings)

    def queue(self, name: str) -> Queue:
        return Queue(name, connection=self.redis)


def build(settings: Settings, patience: float = 15) -> Services:
    """*patience*: seconds that a statement waits for SQLite's one writer."""
    return Services(settings, db.connect(settings.database_url, patience), connect_redis(settings.redis_url))


def connect_redis(url: str, *, blocking: bool = False) -> redis.Redis:
    """
    redis://, rediss://, unix:// or redis+sentinel://host:26379,host2:26379/service/0.

    *blocking* connections are for waiting on a queue; all others give up after two seconds.
    """
    options = {"socket_connect_timeout": 2, "health_check_interval": 30} | ({} if blocking else {"socket_timeout": 2})
    parts = urlsplit(url)
    if parts.scheme != "redis+sentinel":
        if parts.scheme == "unix":
            options.pop("socket_connect_timeout")
        return redis.Redis.from_url(url, **options)
    hosts = [h.rsplit(":", 1) for h in parts.netloc.rsplit("@", 1)[-1].split(",")]
    service, _, number = parts.path.strip("/").partition("/")
    password = parts.password or parse_qs(parts.query).get("password", [None])[0]
    sentinel = redis.Sentinel([(host, int(port)) for host, port in hosts], socket_timeout=2)
    return sentinel.master_for(service or "mymaster", db=int(number or 0), password=password, **options)
