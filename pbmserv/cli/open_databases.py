"""Databases that commands open by themselves, and one sentence if a database cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pbmserv.cli.output import failure
from pbmserv.config.display import blank_passwords

if TYPE_CHECKING:
    from pbmserv.store.core.database import Database


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """Open a database for a block.

    Raises:
        typer.Exit: the database cannot be used; the reason was printed.
    """
    from pbmserv.store.core.database import Database

    with failing_politely(url):
        database = Database(url)
        try:
            yield database
        finally:
            database.close()


@contextmanager
def opened_mail_store(url: str) -> Iterator[Database | None]:
    """Open the mail store beside a database for a block; `None` if it does not exist yet.

    Raises:
        typer.Exit: the store cannot be used; the reason was printed.
    """
    from pbmserv.files import sqlite_file
    from pbmserv.store.core.database import mail_url

    path = sqlite_file(mail_url(url))
    if path is not None and not path.exists():  # the first start makes it
        yield None
        return
    with opened(mail_url(url)) as store:
        yield store


@contextmanager
def failing_politely(url: str) -> Iterator[None]:
    """Turn errors of a database in a block into one printed sentence.

    Raises:
        typer.Exit: the database cannot be used; the reason was printed.
    """
    import sqlite3

    from sqlalchemy.exc import DBAPIError

    from pbmserv.store.core.database import error_line

    try:
        yield
    except PermissionError:  # it names the file, which may be that of a new copy
        raise
    except (DBAPIError, sqlite3.Error, OSError) as error:
        raise failure(f"{blank_passwords(url)} cannot be used: {error_line(error)}") from None
