"""Opens the database for a server: at this version's schema, and with keys to sign with."""

from __future__ import annotations

import secrets
from datetime import datetime
from functools import partial

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from pbmserv.clock import Clock
from pbmserv.config import blank_passwords
from pbmserv.errors import ServerFault
from pbmserv.mail.reply_address import KeyRing
from pbmserv.store.accounts import players
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer


def opened(url: str) -> Database:
    """The database, brought to this version's schema.

    Raises:
        ServerFault: it cannot be used; says why, for the operator.
    """
    try:
        database = Database(url)
        try:
            schema.prepare(database)
        except BaseException:
            database.close()
            raise
    except (DBAPIError, OSError) as error:
        # The driver's own words only: SQLAlchemy's quote the statement and its values.
        reason = error.orig if isinstance(error, DBAPIError) else error
        first = str(reason).strip().partition("\n")[0]
        raise ServerFault(f"{blank_passwords(url)} cannot be used: {first}") from None
    return database


def keys_of(database: Database, writer: Writer, clock: Clock) -> KeyRing:
    """The keys that sign reply addresses; the first start makes one."""
    with database.reading.connect() as connection:
        keys = players.signing_keys(connection)
    if not keys:
        keys = writer.submit(partial(_first_key, now=clock.now())).result()
    return KeyRing(keys)


def _first_key(connection: Connection, now: datetime) -> dict[int, bytes]:
    players.add_signing_key(connection, 1, secrets.token_bytes(32), now)
    return players.signing_keys(connection)
