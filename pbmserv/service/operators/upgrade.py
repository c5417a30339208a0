"""Brings a database to this version: its schema, and what older versions had no rows for."""

from __future__ import annotations

from sqlalchemy import Connection

from pbmserv.service.ratings import rating
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database

_RATINGS = "0013"
"""The revision since which ratings are computed as they are now."""


def prepare(database: Database) -> None:
    """Upgrade when needed, all of it in one transaction; cheap when nothing is to do.

    Raises:
        ServerFault: the database is newer than this version.
    """
    schema.prepare(database, _fill)


def _fill(connection: Connection, before: str) -> None:
    if before < _RATINGS:
        rating.rebuild(connection)
