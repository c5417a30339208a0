"""Reads the keys of reply addresses from the database; the first start makes one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from pbmserv.clock import Clock
from pbmserv.errors import ConfigError
from pbmserv.mail.key_ring import KeyRing
from pbmserv.store.accounts import signing_keys
from pbmserv.store.core.database import Database


def keys_of(database: Database, clock: Clock) -> KeyRing:
    """Return the keys that sign reply addresses; make one if there is none."""
    ring = _stored_keys(database)
    if ring.keys:
        return ring
    with database.writing.begin() as connection:
        if not signing_keys.valid_secrets(connection):
            signing_keys.add(connection, 1, secrets.token_bytes(32), clock.now())
    return _stored_keys(database)


def read_again(ring: KeyRing, database: Database) -> None:
    """Replace the keys in memory by those of the database.

    Raises:
        ConfigError: letters cannot be written with those; the keys in memory stay as they were.
    """
    stored = _stored_keys(database)
    _check(stored.keys)
    ring.keys, ring.retired = stored.keys, stored.retired


def _stored_keys(database: Database) -> KeyRing:
    with database.reading.connect() as connection:
        return KeyRing(
            signing_keys.valid_secrets(connection), signing_keys.retired_secrets(connection)
        )


def _check(keys: Mapping[int, bytes]) -> None:
    """Check that letters can be written with these secrets, by the numbers of their keys.

    Raises:
        ConfigError: there is none, or one has an impossible number or is too short.
    """
    if not keys:
        raise ConfigError("the table of keys is empty")
    for number, secret in keys.items():
        if not 0 <= number <= 255 or len(secret) < 16:
            raise ConfigError(
                f"key {number} cannot be used; its number must be from 0 to 255, "
                "and it must have 16 octets at least"
            )
