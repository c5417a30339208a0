"""The tables, each in the module of its subject. A test compares them with those of `migrations/`.

Statements of a move name one board, or a share of a queue, so that a distributed PostgreSQL can
have each on one node (0154). There are two stores: tables with ``info["store"] == "mail"`` are in
the mail store, all others in the game store. On SQLite each is a file, on PostgreSQL both are in
one database.

Tables are imported from their modules. This package imports all modules, so that
`columns.metadata` has all tables, whichever module is imported first.
"""

from __future__ import annotations

from pbmserv.store.tables import (
    accounts,
    boards,
    bots,
    boxes,
    downtime,
    events,
    ladders,
    mail,
    operators,
    ratings,
    teams,
)

__all__ = [
    "accounts",
    "boards",
    "bots",
    "boxes",
    "downtime",
    "events",
    "ladders",
    "mail",
    "operators",
    "ratings",
    "teams",
]
