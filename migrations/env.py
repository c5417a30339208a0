"""Runs migrations on the connection that `pbmserv.store.core.schema` hands over."""

from alembic import context

from pbmserv.store.core.models import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
