"""Alembic's entry: it is given an open connection and the tables."""

from alembic import context

from bot.db import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
