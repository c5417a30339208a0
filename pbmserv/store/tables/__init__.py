"""The tables. `migrations/` builds the same ones; a test compares them.

Keys and queries go by board or by player, never across boards, so that rows can be distributed by
board id one day. There are two stores: ``info["store"]`` is "mail" for a table of the mail store;
all others belong to the game store. On SQLite each is a file of its own, on PostgreSQL both are in
one database.
"""

from __future__ import annotations

from pbmserv.store.tables.accounts import (
    absences,
    address_changes,
    addresses,
    audit,
    blocks,
    closed_games,
    keys,
    notices,
    players,
    signups,
)
from pbmserv.store.tables.boards import (
    boards,
    daily_boards,
    daily_boxes,
    daily_readers,
    followers,
    heartbeats,
    house_turns,
    outages,
    plies,
    queued_moves,
    rating_changes,
    ratings,
    scores,
    seats,
    seeks,
    submitted_moves,
    unconfirmed_boards,
)
from pbmserv.store.tables.columns import metadata
from pbmserv.store.tables.mail import (
    arrivals,
    bounces,
    counted,
    counting,
    inbox,
    letter_bytes,
    outbox,
    settled,
    stores,
)

__all__ = [
    "absences",
    "address_changes",
    "addresses",
    "arrivals",
    "audit",
    "blocks",
    "boards",
    "bounces",
    "closed_games",
    "counted",
    "counting",
    "daily_boards",
    "daily_boxes",
    "daily_readers",
    "followers",
    "heartbeats",
    "house_turns",
    "inbox",
    "keys",
    "letter_bytes",
    "metadata",
    "notices",
    "outages",
    "outbox",
    "players",
    "plies",
    "queued_moves",
    "rating_changes",
    "ratings",
    "scores",
    "seats",
    "seeks",
    "settled",
    "signups",
    "stores",
    "submitted_moves",
    "unconfirmed_boards",
]
