"""``pbmserv db``: the schema of the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from pbmserv import starting
from pbmserv.cli.output import complain, failure, say
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.config import blank_passwords

if TYPE_CHECKING:
    from pbmserv.store.session import Database

app = typer.Typer(no_args_is_help=True, help="Look after the database.")


@app.command()
def upgrade(config: ConfigFile = None) -> None:
    """Bring the database to this version's schema; a new one is made.

    Example: pbmserv db upgrade
    """
    from pbmserv.service import upgrading
    from pbmserv.store import schema

    found = loaded(config)
    starting.database_place(found)
    url = found.settings.database
    with opened(url) as database:
        upgrading.prepare(database)
        say(f"{blank_passwords(url)} is at revision {schema.head()}.")


@app.command()
def check(config: ConfigFile = None) -> None:
    """Tell whether the database has this version's schema; exit code 1 if not.

    Example: pbmserv db check
    """
    from pbmserv.store import place, schema

    found = loaded(config)
    url = found.settings.database
    place.must_be_there(url, found.sources)
    with opened(url) as database:
        wrong = schema.check(database)
    for sentence in wrong:
        complain(sentence)
    if wrong:
        raise failure("No upgrade mends this: something else has changed the tables.")
    say(f"{blank_passwords(url)} is as it should be.")


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """The database, closed at the end; if it cannot be used, the reason and exit code 1."""
    from sqlalchemy.exc import DBAPIError

    from pbmserv.store.session import Database

    try:
        database = Database(url)
        try:
            yield database
        finally:
            database.close()
    except (DBAPIError, OSError) as error:
        # The driver's own words only: SQLAlchemy's quote the statement and its values.
        reason = error.orig if isinstance(error, DBAPIError) else error
        first = str(reason).strip().partition("\n")[0]
        raise failure(f"{blank_passwords(url)} cannot be used: {first}") from None
