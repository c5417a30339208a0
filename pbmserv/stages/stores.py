"""Opens the databases of a server, and refuses those that cannot hold its data."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from pbmserv.config.display import blank_passwords
from pbmserv.errors import ServerFault, StartRefused
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, error_line, mail_url


def open_stores(url: str, *, may_upgrade: bool) -> tuple[Database, Database]:
    """Return the game store and the mail store; on PostgreSQL they are one database.

    Args:
        may_upgrade: an older schema is upgraded; if not, it is refused.

    Raises:
        ServerFault: a database cannot be used, or has another version's schema.
    """
    game = _open(url, "game", may_upgrade=may_upgrade)
    if not game.is_sqlite:
        return game, game
    try:
        return game, _open(mail_url(url), "mail", may_upgrade=may_upgrade)
    except BaseException:
        game.close()
        raise


def _open(url: str, store: str, *, may_upgrade: bool) -> Database:
    try:
        database = Database(url)
        try:
            if may_upgrade and not database.is_sqlite:
                _require_utf8(database)
                _require_sessions(database)
            if may_upgrade or (store == "mail" and _is_new(database)):
                schema.prepare(database, (store,) if database.is_sqlite else schema.ALL)
            else:
                schema.require(database)
        except BaseException:
            database.close()
            raise
    except (DBAPIError, OSError) as error:
        raise ServerFault(f"{blank_passwords(url)} cannot be used: {error_line(error)}") from None
    return database


def _require_utf8(database: Database) -> None:
    """Refuse a database whose encoding does not hold every character.

    Raises:
        StartRefused: it has another encoding.
    """
    from pbmserv.store.core.postgresql import encoding_of  # loads the driver

    encoding = encoding_of(database.reading)
    if encoding != "UTF8":
        raise StartRefused(
            f"{blank_passwords(database.url)} has the encoding {encoding}, which cannot keep every "
            "letter that players write; create it again: "
            "createdb --encoding=UTF8 --template=template0"
        )


def _require_sessions(database: Database) -> None:
    """Refuse a pooler that gives a connection to another session after each transaction.

    Raises:
        StartRefused: there is one.
    """
    from pbmserv.store.core.postgresql import shares_sessions  # loads the driver

    if shares_sessions(database.reading):
        raise StartRefused(
            f"{blank_passwords(database.url)} is behind a pooler that changes the session with "
            "each transaction; set pool_mode = session in PgBouncer, or name PostgreSQL itself"
        )


def _is_new(database: Database) -> bool:
    """Return whether a database has no schema yet."""
    with database.reading.connect() as connection:
        return schema.current(connection) is None
