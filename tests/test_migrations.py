"""The migrations bring a database to exactly the tables of bot/db.py."""

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from bot.db import metadata
from bot.migrate import migrate, require_current


def test_migrations_and_tables_agree(settings):
    """After `palabre migrate` nothing differs from the tables in the code, and a second run changes nothing."""
    assert migrate(settings) == migrate(settings)
    require_current(settings)
    engine = sa.create_engine(settings.database_url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
