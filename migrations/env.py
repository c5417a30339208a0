"""Runs migrations for `pbmserv.store.core.schema`, or for Alembic's own command.

`schema` passes a connection and the stores whose tables are in that database. Alembic's own command
works on all databases that the server's settings name.
"""

import os

from alembic import context
from alembic.util import CommandError
from sqlalchemy import Connection

from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.tables.columns import metadata


def migrate(connection: Connection, stores: schema.Stores) -> None:
    """Run the command of this context on one database."""
    context.config.attributes["stores"] = stores
    context.configure(
        connection=connection,
        target_metadata=metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        include_object=schema.belongs_to(stores),
    )
    with context.begin_transaction():
        context.run_migrations()


def migrate_all() -> None:
    """Run the command of this context on each database that the settings name."""
    from pbmserv import files
    from pbmserv.config.display import blank_passwords
    from pbmserv.config.settings import load
    from pbmserv.errors import PbmError
    from pbmserv.stages import preflight

    if context.is_offline_mode():
        raise CommandError("some revisions read the database, so --sql cannot print them")
    options = context.config.cmd_opts
    is_upgrade = options is not None and options.cmd[0].__name__ == "upgrade"
    try:
        loaded = load(os.environ, None)
        if is_upgrade:
            preflight.check_database_folder(loaded)
        for url, stores in schema.stores_at(loaded.settings.database):
            if not is_upgrade:
                files.check_database_exists(url, loaded.sources)
            context.config.print_stdout("%s:", blank_passwords(url))
            database = Database(url)
            try:
                with schema.migrating(database) as connection:
                    migrate(connection, stores)
            finally:
                database.close()
    except PbmError as error:
        raise CommandError(str(error)) from None


if "connection" in context.config.attributes:
    migrate(context.config.attributes["connection"], context.config.attributes["stores"])
else:
    migrate_all()
