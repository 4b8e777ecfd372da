"""What the tests share: a real Valkey, a real database, and the fakes at the far edge (tests/fakes.py)."""

import shutil
import tempfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot import services as outside
from bot import valkey
from bot.channels import inbox
from bot.config import Settings
from bot.db import Unit, metadata, writing
from bot.learners import accounts
from tools.context import Context

AWA = "+2250701020304"


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
        home=tmp_path, database_url=f"sqlite:///{tmp_path}/palabre.db", redis_url=valkey_url, public_url="https://palabre.test",
        secret_key="secret-for-tests", operator_token="operator-for-tests", media_url=f"file://{tmp_path}/media",
        twilio_account_sid="AC" + "0" * 32, twilio_auth_token="12345", twilio_whatsapp_from="whatsapp:+14155238886",
        twilio_sms_from="+14155550100", model_key="sk-test", model_url="https://model.test/v1", model_fast="test/fast",
        model_primary="test/primary", model_smart="test/smart", model_vision="test/vision", tavily_key="tvly-test",
        tavily_url="https://tavily.test", jina_url="https://jina.test", mail_from="palabre@palabre.test", team_email="equipe@palabre.test",
        team_whatsapp="whatsapp:+2250700009999", payment_gateway="sandbox", debounce_seconds=0)


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
                accounts.add(tx, address.removeprefix("whatsapp:"), mode, **{"credits_given": 100, "email": "awa@exemple.ci", "name": "Awa"} | account)
            person = accounts.person(tx, address)
        return Context(services, Unit(services.db), person, row.conversation_id)

    return make


def rows(services, table: sa.Table, *where) -> list[sa.Row]:
    with services.db.connect() as connection:
        return list(connection.execute(sa.select(table).where(*where)))
