"""What the tests share: a real Valkey, a real database, and the fakes at the far edge (tests/fakes.py)."""

import itertools
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import fakes
import pytest
import responses
import sqlalchemy as sa
from werkzeug.datastructures import MultiDict

from bot import services as outside
from bot import valkey
from bot.channels import inbox, twilio
from bot.config import Settings
from bot.conversation import log
from bot.db import Unit, addresses, metadata, reading, writing
from bot.learners import accounts
from bot.web.app import create_app
from tools.context import Context
from workers import process
from workers.serve import ThreadWorker

AWA = "+2250701020304"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _not_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _not_in_ci((yield))


def _not_in_ci(report):
    """Where CI is set everything is there that a test may need: a skip is a failure."""
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped, although nothing may be in CI: {report.longrepr[-1]}"
    return report


@pytest.fixture(scope="session")
def valkey_url():
    folder = Path(tempfile.mkdtemp(prefix="palabre-tests-"))
    process, url = valkey.start(folder, durable=False)
    yield url
    process.kill()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def settings(tmp_path, valkey_url):
    return Settings(
        home=tmp_path,
        database_url=f"sqlite:///{tmp_path}/palabre.db",
        redis_url=valkey_url,
        public_url="https://palabre.test",
        secret_key="secret-for-tests",
        operator_token="operator-for-tests",
        media_url=f"file://{tmp_path}/media",
        twilio_account_sid="AC" + "0" * 32,
        twilio_auth_token="12345",
        twilio_whatsapp_from="whatsapp:+14155238886",
        twilio_sms_from="+14155550100",
        model_key="sk-test",
        model_url="https://model.test/v1",
        model_fast="test/fast",
        model_primary="test/primary",
        model_smart="test/smart",
        model_vision="test/vision",
        tavily_key="tvly-test",
        tavily_url="https://tavily.test",
        jina_url="https://jina.test",
        mail_from="palabre@palabre.test",
        team_email="equipe@palabre.test",
        team_whatsapp="whatsapp:+2250700009999",
        payment_gateway="sandbox",
        debounce_seconds=0,
    )


@pytest.fixture
def services(settings):
    built = outside.build(settings)
    built.redis.flushdb()
    metadata.create_all(built.db)
    yield built
    built.db.dispose()
    built.redis.close()


@pytest.fixture
def make_context(services):
    """make_context(mode="pro"): a tool's context for an account of that mode, with a conversation on WhatsApp."""

    def make(mode: str = "pro", address: str = f"whatsapp:{AWA}", **account) -> Context:
        with writing(services.db) as tx:
            row = inbox.open_address(tx, address)
            if mode != "guest":
                accounts.add(
                    tx,
                    address.removeprefix("whatsapp:"),
                    mode,
                    **{"credits_given": 100, "email": "awa@exemple.ci", "name": "Awa"} | account,
                )
            person = accounts.person(tx, address)
        return Context(services, Unit(services.db), person, row.conversation_id)

    return make


def rows(services, table: sa.Table, *where) -> list[sa.Row]:
    with services.db.connect() as connection:
        return list(connection.execute(sa.select(table).where(*where)))


class World:
    """Palabre in one process, with the far edge faked: messages in through the signed webhook, jobs run by a real RQ worker."""

    def __init__(self, services, monkeypatch):
        self.services, self.settings = services, services.settings
        monkeypatch.setattr(process, "_built", lambda: self.services)
        self.model, self.twilio = fakes.Model(self.settings.model_url), fakes.Twilio(self.settings)
        self.web = create_app(services).test_client()
        self.ids = itertools.count(1)

    def account(self, phone: str = AWA, mode: str = "child", **how):
        with writing(self.services.db) as tx:
            return accounts.add(tx, phone, mode, **{"credits_given": 100} | how)

    def post(self, body: str = "", sender: str = f"whatsapp:{AWA}", **fields):
        """One signed webhook; a field that is None is left out."""
        whatsapp = sender.startswith("whatsapp:")
        form = {
            "MessageSid": f"SM{next(self.ids):032x}",
            "From": sender,
            "Body": body,
            "NumMedia": "0",
            "AccountSid": self.settings.twilio_account_sid,
            "To": self.settings.twilio_whatsapp_from if whatsapp else self.settings.twilio_sms_from,
            **fields,
        }
        form = [(k, v) for k, v in form.items() if v is not None]
        return self.web.post(
            twilio.MESSAGE, data=MultiDict(form), headers={"X-Twilio-Signature": fakes.signature(self.settings, twilio.MESSAGE, form)}
        )

    def work(self) -> None:
        """Run what is queued until nothing is."""
        redis = self.services.redis
        ThreadWorker([self.services.queue(n) for n in ("chat", "background", "delivery")], connection=redis).work(
            burst=True, logging_level="ERROR"
        )

    def say(self, body: str, sender: str = f"whatsapp:{AWA}", **fields) -> list[str]:
        """A message in, its turn taken; returns what was sent to the sender since."""
        before = len(self.twilio.bodies(sender))
        assert self.post(body, sender, **fields).status_code == 200
        self.work()
        return self.twilio.bodies(sender)[before:]

    def conversation(self, address: str = f"whatsapp:{AWA}") -> str:
        return rows(self.services, addresses, addresses.c.address == address)[0].conversation_id

    def events(self, address: str = f"whatsapp:{AWA}") -> list:
        with reading(self.services.db) as connection:
            return log.read(connection, self.conversation(address))

    def kinds(self, address: str = f"whatsapp:{AWA}") -> list[str]:
        return [type(e.event).__name__ for e in self.events(address)]


@pytest.fixture
def fresh_world(settings, tmp_path, monkeypatch):
    """with fresh_world() as world: a world with an empty database, Redis and Twilio, as often as wanted."""
    numbers = itertools.count(1)

    @contextmanager
    def make():
        home = tmp_path / f"world{next(numbers)}"
        home.mkdir()
        built = outside.build(replace(settings, home=home, database_url=f"sqlite:///{home}/palabre.db", media_url=f"file://{home}/media"))
        built.redis.flushdb()
        metadata.create_all(built.db)
        responses.start()
        try:
            yield World(built, monkeypatch)
        finally:
            responses.stop()
            responses.reset()
            built.db.dispose()
            shutil.rmtree(home)

    return make


@pytest.fixture
def world(services, monkeypatch):
    responses.start()
    yield World(services, monkeypatch)
    responses.stop()
    responses.reset()
