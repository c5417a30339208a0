"""Opens the database for a server: at this version's schema, and with keys to sign with."""

from __future__ import annotations

import secrets

from sqlalchemy.exc import DBAPIError

from pbmserv.clock import Clock
from pbmserv.config.values import blank_passwords
from pbmserv.errors import ServerFault
from pbmserv.mail.reply_address import KeyRing
from pbmserv.store.accounts import players
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url


def opened(url: str) -> tuple[Database, Database]:
    """The game store and the mail store, brought to this version's schema; on PostgreSQL one.

    Raises:
        ServerFault: one cannot be used; says why, for the operator.
    """
    game = _opened(url, "game")
    if not game.is_sqlite:
        return game, game
    try:
        return game, _opened(mail_url(url), "mail")
    except BaseException:
        game.close()
        raise


def _opened(url: str, store: str) -> Database:
    try:
        database = Database(url)
        try:
            schema.prepare(database, (store,) if database.is_sqlite else schema.ALL)
        except BaseException:
            database.close()
            raise
    except (DBAPIError, OSError) as error:
        # The driver's own words only: SQLAlchemy's quote the statement and its values.
        reason = error.orig if isinstance(error, DBAPIError) else error
        first = str(reason).strip().partition("\n")[0]
        raise ServerFault(f"{blank_passwords(url)} cannot be used: {first}") from None
    return database


def keys_of(database: Database, clock: Clock) -> KeyRing:
    """The keys that sign reply addresses; the first start makes one."""
    with database.reading.connect() as connection:
        keys = players.signing_keys(connection)
    if not keys:
        with database.writing.begin() as connection:
            keys = players.signing_keys(connection)
            if not keys:
                players.add_signing_key(connection, 1, secrets.token_bytes(32), clock.now())
                keys = players.signing_keys(connection)
    return KeyRing(keys)
