"""``pbmserv db`` and ``status``: the database's schema and copies, and what waits in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from pbmserv.cli.output import complain, failure, say, table
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.config.display import blank_passwords
from pbmserv.stages import preflight

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pbmserv.config.settings import Settings
    from pbmserv.store.core.database import Database
    from pbmserv.store.operators.health import Queues


PATIENCE_S = 60.0
"""Longest time to wait for mails that are under way: even a slow machine does one in seconds."""
LOOK_S = 0.1
"""Pause between two looks at them."""

BETWEEN_S = 0.02
"""Pause between two batches of what is dropped, in which a server beside us can write."""

SINCE = """\
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

    found = loaded(config)
    preflight.database_place(found)
    url = found.settings.database
    for one, stores in schema.stores_at(url):
        with opened(one) as database:
            schema.prepare(database, stores)
        say(f"{blank_passwords(one)} is at revision {schema.head()}.")


@app.command()
def check(config: ConfigFile = None) -> None:
    """Check that the database has this version's schema; exit code 1 if not.

    Example: pbmserv db check
    """
    from pbmserv import files
    from pbmserv.store.core import schema

    found = loaded(config)
    url = found.settings.database
    files.must_be_there(url, found.sources)
    wrong: list[str] = []
    for one, stores in schema.stores_at(url):
        path = files.file_of(one)
        if path is None or path.exists():  # the mail store comes with the first start
            with opened(one) as database:
                wrong += schema.check(database, stores)
    for sentence in wrong:
        complain(sentence)
    if wrong:
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

    found = loaded(config)
    files.must_be_there(found.settings.database, found.sources)
    for url, stores in schema.stores_at(found.settings.database):
        with opened(url) as database:
            schema.require(database)
            before = compacting.room(database)
            if "game" in stores:
                dropped = _dropped(database, found.settings)
                say(f"Dropped {dropped:,} old mails and letters.")
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
    config: ConfigFile = None,
) -> None:
    """Copy the whole database into a file; the server may run.

    Example: pbmserv db backup /var/backups/pbmserv-monday
    """
    from pbmserv import files
    from pbmserv.store.operators import backup as backups

    found = loaded(config)
    url = found.settings.database
    files.must_be_there(url, found.sources)
    with used(url):
        copy = backups.save(url, file, files.over if overwrite else files.new)
    # The time of this file is the age of the newest copy, for `doctor` and /metrics.
    (found.settings.data_dir / "last-backup").touch(0o600)
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
    from pbmserv.store.operators import backup as backups

    url = loaded(config).settings.database
    with used(url):
        chosen = files.over if overwrite else files.new
        copy = backups.restore(url, file, chosen)
    say(f"{blank_passwords(url)} is now the copy {file} (revision {copy.revision}).")
    say(SINCE)


def _dropped(database: Database, settings: Settings) -> int:
    """Drop what was kept long enough; how many rows that were."""
    import time

    from pbmserv.clock import SystemClock
    from pbmserv.service.limits.text_quota import Quota
    from pbmserv.service.schedule.retention import Expiry, Kept
    from pbmserv.store.core.writer import open_writer

    writer = open_writer(database)
    try:
        kept = Kept.of_days(
            mails=settings.mail_days, unused=settings.unused_days, letters=settings.letter_days
        )
        quota = Quota(database, settings.inbox_octets, keeps_unused=settings.unused_days > 0)
        expiry = Expiry(database, writer, SystemClock(), kept, quota)
        dropped = 0
        while number := expiry.step():
            dropped += number
            time.sleep(BETWEEN_S)
    finally:
        writer.close()
    return dropped


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """The database, closed at the end; if it cannot be used, the reason and exit code 1."""
    from pbmserv.store.core.database import Database

    with used(url):
        database = Database(url)
        try:
            yield database
        finally:
            database.close()


@contextmanager
def used(url: str) -> Iterator[None]:
    """Work with a database; if it cannot be used, the reason and exit code 1."""
    import sqlite3

    from sqlalchemy.exc import DBAPIError

    from pbmserv.store.core.database import error_line

    try:
        yield
    except PermissionError:  # it names the file, which may be a copy that is to be made
        raise
    except (DBAPIError, sqlite3.Error, OSError) as error:
        raise failure(f"{blank_passwords(url)} cannot be used: {error_line(error)}") from None


def status(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, for programs.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Show what waits and for how long, and whether a server runs.

    For what a running server has counted see /metrics (PBMSERV_METRICS).

    Example: pbmserv status --json
    """
    import json

    from pbmserv import files
    from pbmserv.stages.places import first_place
    from pbmserv.stages.state import running, runs, states, waiting
    from pbmserv.store.core import schema
    from pbmserv.store.delivery import inbox
    from pbmserv.store.operators import health

    found = loaded(config)
    files.must_be_there(found.settings.database, found.sources)
    with opened(found.settings.database) as database:
        schema.require(database)
        with _arrived(database) as mail, database.reading.connect() as connection:
            queues = health.queues(mail, connection, datetime.now(UTC))
            texts = sum(inbox.octets(connection).values())
        sizes = health.sizes(database) | {"mail_texts": texts}
    folder = first_place(found.settings.data_dir)
    stages = {name: state.doing for name, state in states(folder).items()}
    if as_json:
        say(json.dumps(_facts(queues, sizes) | {"stages": stages}))
        return
    say(running(queues))
    if stages:
        doing = (f"{name} ({what})" if what else name for name, what in stages.items())
        say(f"Stages on this machine: {', '.join(doing)}.")
    elif runs(queues):
        say("None of its stages is there on this machine: it has just ended, or runs elsewhere.")
    say(f"Newest numbers: mail {queues.newest_mail}, letter {queues.newest_letter}.")
    say(
        "Octets: "
        + ", ".join(f"{name.replace('_', ' ')} {size:,}" for name, size in sizes.items())
        + "."
    )
    say("")
    table(("what waits", "how many", "oldest for"), waiting(queues), fixed=3)


@contextmanager
def _arrived(database: Database) -> Iterator[Connection | None]:
    """To what has arrived; ``None``: there is no store for it yet."""
    from pbmserv import files
    from pbmserv.store.core.database import mail_url

    url = mail_url(database.url)
    path = files.file_of(url)
    if path is not None and not path.exists():
        yield None
        return
    with opened(url) as mail, mail.reading.connect() as connection:
        yield connection


def come_to_rest(settings: Settings, address: str) -> None:
    """Wait until what was mailed before is carried out, and the letters to *address* that it led
    to are delivered: 250 says only that a mail is stored.

    Where no server runs, or its database is not ours to read, nothing is waited for.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from pbmserv.files import file_of
    from pbmserv.store.core.database import Database, mail_url

    urls = (settings.database, mail_url(settings.database))
    paths = [path for path in map(file_of, urls) if path is not None]
    if not all(path.exists() for path in paths):
        return
    with ExitStack() as stack:
        try:
            game, mail = (stack.enter_context(closing(Database(url))) for url in urls)
            _come_to_rest(mail, game, address)
        except (SQLAlchemyError, OSError):
            return


def _come_to_rest(mail: Database, game: Database, address: str) -> None:
    import time

    from pbmserv.stages.state import RUNS_S
    from pbmserv.store.clocks import heartbeat
    from pbmserv.store.delivery import arrivals
    from pbmserv.store.operators import health

    end = time.monotonic() + PATIENCE_S
    last: int | None = None
    while time.monotonic() < end:
        with mail.reading.connect() as arrived, game.reading.connect() as connection:
            now, beat = datetime.now(UTC), heartbeat(connection)
            if beat is None or abs((now - beat.beat_at).total_seconds()) > RUNS_S:
                return
            if last is None:  # mails that others send meanwhile are not waited for
                last = max(arrivals.numbers(arrived), default=0)
            if not health.under_way(arrived, connection, address, now, last):
                return
        time.sleep(LOOK_S)


def _facts(queues: Queues, sizes: dict[str, int]) -> dict[str, Any]:
    from pbmserv.stages.state import runs

    up_since = queues.up_since.isoformat() if queues.up_since else None
    return {"running": runs(queues), **asdict(queues), "up_since": up_since, "bytes": sizes}
