"""Bring the database up to date."""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from bot.config import Settings
from bot.db import connect
from bot.errors import SettingsError, WrongUsage


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def migrate(settings: Settings) -> str:
    """Run the migrations that are missing; returns the revision reached. Raises SettingsError."""
    prepare_home(settings)
    engine, config = connect(settings.database_url), _config()
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            return MigrationContext.configure(connection).get_current_revision()
    except sa.exc.DBAPIError as problem:
        raise _cannot_open(engine, problem) from problem
    finally:
        engine.dispose()


def require_current(settings: Settings) -> None:
    """Raises WrongUsage when there is no database yet or migrations are missing, SettingsError when it cannot be opened."""
    engine = connect(settings.database_url)
    if engine.dialect.name == "sqlite" and engine.url.database and not Path(engine.url.database).exists():  # opening it would make it
        raise WrongUsage("there is no database yet; run `palabre migrate` (or `palabre start`) first")
    try:
        with engine.connect() as connection:
            if MigrationContext.configure(connection).get_current_revision() != ScriptDirectory.from_config(_config()).get_current_head():
                raise WrongUsage("the database is not that of this Palabre; run `palabre migrate` first")
    except sa.exc.DBAPIError as problem:
        raise _cannot_open(engine, problem) from problem
    finally:
        engine.dispose()


def _cannot_open(engine: sa.Engine, problem: Exception) -> SettingsError:
    return SettingsError(f"the database cannot be opened ({engine.url.render_as_string()}): {str(problem).splitlines()[0][:200]}")


def prepare_home(settings: Settings) -> None:
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
        probe = settings.home / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as problem:
        raise SettingsError(f"PALABRE_HOME ({settings.home}) cannot be written to: {problem.strerror}") from problem
