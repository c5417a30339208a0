"""``pbmserv db``: the schema of the database, its copies, and its size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.cli.open_databases import failing_politely, opened
from pbmserv.cli.output import complain, failure, say
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.config.display import blank_passwords
from pbmserv.plurals import counted
from pbmserv.stages import preflight

if TYPE_CHECKING:
    from pbmserv.config.settings import Settings
    from pbmserv.store.core.database import Database


BETWEEN_S = 0.02
"""Seconds between two batches of deletions, so that a running server can write."""

AFTER_RESTORE = """\
Everything after the copy is gone: boards are as they were then, and players must send again what
they have sent since. The server sends the letters that waited then, and carries out the mails that
waited. It refuses a reply to a later letter as out of date, or takes it for the turn of the same
number. New boards, letters and players skip 100,000 numbers, so that no number means two things."""

Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace an existing file.")
]

app = typer.Typer(no_args_is_help=True, help="Look after the database.")


@app.command()
def upgrade(config: ConfigFile = None) -> None:
    """Bring the database to this version's schema, or make a new one.

    Example: pbmserv db upgrade
    """
    from pbmserv.store.core import schema

    configuration = loaded(config)
    preflight.check_database_folder(configuration)
    url = configuration.settings.database
    for store_url, stores in schema.stores_at(url):
        with opened(store_url) as database:
            schema.prepare(database, stores)
        say(f"{blank_passwords(store_url)} is at revision {schema.head()}.")


@app.command()
def check(config: ConfigFile = None) -> None:
    """Check the pages and the schema of the database; exit code 1 if something is wrong.

    Example: pbmserv db check
    """
    from pbmserv import files
    from pbmserv.store.core import schema
    from pbmserv.store.operators import integrity

    configuration = loaded(config)
    url = configuration.settings.database
    files.check_database_exists(url, configuration.sources)
    damaged: list[str] = []
    faults: list[str] = []
    for store_url, stores in schema.stores_at(url):
        path = files.sqlite_file(store_url)
        if path is None or path.exists():  # the first start makes the mail store
            with opened(store_url) as database:
                if fault := integrity.damage(database):
                    damaged.append(f"{blank_passwords(store_url)} is damaged: {fault}")
                else:
                    faults += schema.check(database, stores)
    for sentence in damaged + faults:
        complain(sentence)
    if damaged:
        raise failure("Stop the server, and restore the newest copy: pbmserv db restore FILE")
    if faults:
        raise failure("An upgrade does not fix this: something else has changed the tables.")
    say(f"{blank_passwords(url)} has the right schema.")


@app.command(name="alembic-ini")
def alembic_ini() -> None:
    """Print where Alembic's settings are, for its own command.

    Example: alembic -c "$(pbmserv db alembic-ini)" current
    """
    from pbmserv.store.core import schema

    say(str(schema.alembic_ini()))


@app.command()
def compact(
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Rewrite the whole database; stop the server first."),
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Drop old mails and letters now, and free the disk space.

    The server may run meanwhile. Example: pbmserv db compact
    """
    import time

    from pbmserv import files
    from pbmserv.store.core import schema
    from pbmserv.store.operators import compacting

    configuration = loaded(config)
    files.check_database_exists(configuration.settings.database, configuration.sources)
    for url, stores in schema.stores_at(configuration.settings.database):
        with opened(url) as database:
            schema.require(database)
            before = compacting.room(database)
            if "game" in stores:
                dropped = _drop_expired(database, configuration.settings)
                say(f"Dropped {counted(dropped, 'old mail or letter', 'old mails and letters')}.")
            if rebuild:
                compacting.rebuild(database)
            else:
                compacting.compact(database, time.sleep)
            after = compacting.room(database)
        say(f"{blank_passwords(url)}")
        say(f"  before: {before}")
        say(f"  now:    {after}")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to put the copy.")],
    overwrite: Overwrite = False,
    compress: Annotated[
        bool, typer.Option("--compress", help="Compress it; `db restore` reads it as it is.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Copy the whole database into a file; the server may run.

    Example: pbmserv db backup /var/backups/pbmserv-monday --compress
    """
    from pbmserv import files
    from pbmserv.monitoring.upkeep import last_backup_file
    from pbmserv.store.operators import backup as backups

    configuration = loaded(config)
    url = configuration.settings.database
    files.check_database_exists(url, configuration.sources)
    with failing_politely(url):
        place = files.replacing if overwrite else files.only_new
        copy = backups.save(url, file, place, is_compressed=compress)
    # The time of this file is the age of the newest copy, for `doctor` and /metrics.
    last_backup = last_backup_file(configuration.settings.data_dir)
    files.make_file(last_backup)
    last_backup.touch()
    say(
        f"{file} is a whole copy of {blank_passwords(url)} "
        f"({copy.size / 1e6:,.1f} MB, revision {copy.revision})."
    )


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy from `db backup`.")],
    overwrite: Overwrite = False,
    config: ConfigFile = None,
) -> None:
    """Replace the database with a copy. Stop the server first.

    A copy of SQLite may go into PostgreSQL.

    Example: pbmserv db restore /var/backups/pbmserv-monday --overwrite
    """
    from pbmserv import files
    from pbmserv.store.core import schema
    from pbmserv.store.operators import backup as backups

    url = loaded(config).settings.database
    with failing_politely(url):
        place = files.replacing if overwrite else files.only_new
        copy = backups.restore(url, file, place)
    revision = schema.head()
    if copy.revision != revision:
        revision = f"{revision}, upgraded from {copy.revision}"
    say(f"{blank_passwords(url)} is now the copy {file} (revision {revision}).")
    say(AFTER_RESTORE)


def _drop_expired(database: Database, settings: Settings) -> int:
    """Drop mails and letters that were kept long enough; return the number of rows."""
    import time

    from pbmserv.clock import SystemClock
    from pbmserv.service.schedule.retention import Expiry
    from pbmserv.stages.base import keep_times_of, quota_of
    from pbmserv.store.core.writer import open_writer

    writer = open_writer(database)
    try:
        kept, quota = keep_times_of(settings), quota_of(database, settings)
        expiry = Expiry(database, writer, SystemClock(), kept, quota)
        dropped = 0
        while number := expiry.step():
            dropped += number
            time.sleep(BETWEEN_S)
    finally:
        writer.close()
    return dropped
