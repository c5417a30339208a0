"""Tables of boards: moves, clocks, ratings, scores, boxes of the day, turns of bots."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

from pbmserv.store.tables.columns import Instant, Key, PackedJson, State, metadata


class BoardStatus(StrEnum):
    """The status of a board."""

    PROPOSED = "proposed"
    ACTIVE = "active"
    FINISHED = "finished"
    DECLINED = "declined"


class PauseKind(StrEnum):
    """Why a game cannot be played."""

    STOPPED = "stopped"
    """Its rules hung repeatedly."""
    GONE = "gone"
    """It, or the version of a running board, is not installed."""


RUNNING = (BoardStatus.PROPOSED, BoardStatus.ACTIVE)

boards = Table(
    "boards",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("options", JSON, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("thread", String(32), nullable=False),
    Column("status", State(BoardStatus, 10), nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("comparable", Boolean, nullable=False, server_default=true()),
    Column("plies", Integer, nullable=False, default=0),
    Column("outcome", JSON(none_as_null=True), nullable=True),
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant, nullable=True),
    Column("nag_days", Integer, nullable=False, server_default="7"),
    Column("forfeit_days", Integer, nullable=False, server_default="21"),
    Column("total_days", Integer, nullable=True),
    Column("increment_days", Integer, nullable=False, server_default="0"),
    Column("cap_days", Integer, nullable=True),
    Column("weekdays", Boolean, nullable=False, server_default=false()),
    Column("away_days", Integer, nullable=True),
    Column("clocks", JSON(none_as_null=True), nullable=True),
    Column("due_at", Instant, nullable=True),
    Column("origin", Key, nullable=True),
    Column("proven", Boolean, nullable=False, server_default=true()),
    Column("chosen_by", Key, nullable=True),
    Column("pledged", Boolean, nullable=False, server_default=false()),
    Column("event_id", Key, nullable=True),
    Column("sides_drawn", Boolean, nullable=False, server_default=false()),
    sqlite_autoincrement=True,
)
"""Boards; `store.boards.boards.BoardRow` explains most columns.

The columns from `nag_days` to `away_days` are the `Terms` of `engine.clocks`; `clocks`: by seat,
see there. `origin` and `event_id` have no foreign key, since SQLite cannot add one later. `proven`:
whether one of its players provably asked for it.
"""

Index(
    "ix_boards_due_at",
    boards.c.due_at,
    postgresql_where=boards.c.due_at.is_not(None),
    sqlite_where=boards.c.due_at.is_not(None),
)

Index(
    "ix_boards_finished",
    boards.c.game,
    boards.c.finished_at,
    boards.c.id,
    postgresql_where=boards.c.finished_at.is_not(None),
    sqlite_where=boards.c.finished_at.is_not(None),
)

player_boards = Table(
    "player_boards",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("status", State(BoardStatus, 10), nullable=False),
    Column("proven", Boolean, nullable=False),
    Column("accepted", Boolean, nullable=False),
)
"""The boards of each player, copied from `boards` and `seats` by `store.boards.player_boards`, so
that one node of a distributed PostgreSQL has all boards of a player."""

unconfirmed_boards = Table(
    "unconfirmed_boards",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("game", String(32), nullable=False),
    Column("options", JSON, nullable=False),
    Column("sitting", JSON, nullable=False),
    Column("terms", JSON, nullable=False),
    Column("replayed", Key, nullable=True),
    Column("created_at", Instant, nullable=False, index=True),
    Column("board_id", Key, nullable=True),
)
"""Boards that somebody asked for in a player's name without proof, see
`store.boards.unconfirmed_boards.Unconfirmed`."""

seeks = Table(
    "seeks",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("game", String(32), nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("options", JSON, nullable=False),
    Column("seed", LargeBinary, nullable=True),
    Column("created_at", Instant, nullable=False),
    Index("ix_seeks_game_seats", "game", "seats"),
)
"""Players who look for any opponent; the row is deleted when a board is created from it."""

submitted_moves = Table(
    "submitted_moves",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("turn", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)
"""Moves that wait for the ``confirm`` of their player."""

followers = Table(
    "followers",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("what", String(3), nullable=False),
)
"""Spectators of boards: they follow every turn (``all``) or only the end (``end``)."""

ratings = Table(
    "ratings",
    metadata,
    Column("game", String(32), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("mu", Float, nullable=False),
    Column("sigma", Float, nullable=False),
    Column("ordinal", Float, nullable=False),
    Column("games", Integer, nullable=False),
    Column("wins", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("opponents", Integer, nullable=False, server_default="0"),
    Column("rated_at", Instant, nullable=False),
    Index("ix_ratings_game_ordinal", "game", "ordinal", "player_id"),
)
"""The strength of a player at a game, and the number of different opponents it comes from.
Only a cache: `pbmserv rating rebuild` makes it again."""

rating_changes = Table(
    "rating_changes",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("number", Integer, nullable=False),
    Column("place", SmallInteger, nullable=False),
    Column("mu_before", Float, nullable=False),
    Column("sigma_before", Float, nullable=False),
    Column("mu_after", Float, nullable=False),
    Column("sigma_after", Float, nullable=False),
    Column("weight", Float, nullable=False, server_default="1"),
    Column("created_at", Instant, nullable=False),
    Index("ix_rating_changes_player_id_game_number", "player_id", "game", "number"),
)
"""Changes of ratings by boards, see `store.ratings.Change`."""

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("beat_at", Instant, nullable=False),
    Column("up_since", Instant, nullable=False),
)
"""One row: when a process of the server was last alive, and since when without interruption."""

outages = Table(
    "outages",
    metadata,
    Column("id", Key, primary_key=True),
    Column("begins", Instant, nullable=False),
    Column("ends", Instant, nullable=False, index=True),
)
"""Times when the server was down; they count against nobody."""

game_stops = Table(
    "game_stops",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("stopped_at", Instant, nullable=False),
)
"""Ends of processes that hung or died in the rules of a game, see `store.boards.game_pauses`."""

game_pauses = Table(
    "game_pauses",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False),
    Column("kind", State(PauseKind, 8), nullable=False),
    Column("why", Text, nullable=False),
    Column("begins", Instant, nullable=False),
    Column("ends", Instant, nullable=True),
    Index(
        "uq_game_pauses_open",
        "game",
        "kind",
        unique=True,
        postgresql_where=text("ends IS NULL"),
        sqlite_where=text("ends IS NULL"),
    ),
)
"""Times when a game could not be played; they count against none of its players. `ends`: null while
it cannot."""

seats = Table(
    "seats",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False),
    Column("accepted_at", Instant, nullable=True),
    Column("plan", Text, nullable=True),
    Column("note", Text, nullable=True),
    Index("ix_seats_player_id_board_id", "player_id", "board_id"),
)
"""Seats of boards. `accepted_at`: null until an invited player accepts. `plan`: moves that wait
for a later turn (see `engine.plans`), in the row that a move locks, so that the move sees them.
`note`: the player's own words, see `service.boards.notes`."""

plies = Table(
    "plies",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("seat", SmallInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("free", Boolean, nullable=False),
    Column("mail_id", Key, nullable=True),
    Column("created_at", Instant, nullable=False),
    Column("mark", String(32), nullable=True),
)
"""The record of every board. The key keeps a move from counting twice. `mark`: see
`engine.record.Ply`."""

scores = Table(
    "scores",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("game", String(20), nullable=False),
    Column("kind", String(40), nullable=False),
    Column("score", Integer, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Index("ix_scores_game_kind_score", "game", "kind", "score", "ended_at"),
)
"""Comparable scores of finished races; the lowest is the best."""

daily_readers = Table(
    "daily_readers",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(20), primary_key=True),
    Column("minute", SmallInteger, nullable=False),
    Column("due_at", Instant, nullable=False, index=True),
)
"""Subscriptions to boxes of the day. `minute`: minute of the local day; `due_at`: time of the
next."""

shared_boxes = Table(
    "shared_boxes",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False),
    Column("options", JSON, nullable=False),
    Column("day", Integer, nullable=True),
    Column("event_id", Key, nullable=True),
    Column("number", SmallInteger, nullable=True),
    Column("seed", LargeBinary, nullable=True),
    UniqueConstraint("game", "day", name="uq_shared_boxes_game"),
    UniqueConstraint("event_id", "number", name="uq_shared_boxes_event_id"),
)
"""Boxes that several players get, each on a board of their own: see `store.shared_boxes.Box`."""

hot_seats = Table(
    "hot_seats",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("box", PackedJson, nullable=False),
    Column("changed_at", Instant, nullable=False, index=True),
)
"""Boxes that one person fills by hand for another person at the same device, and the moves on them.
They belong to no player, and are deleted some days after the last change. `key`: random word in the
page's address; `box`: see `service.solo.hot_seat.HotSeat`."""

shared_boards = Table(
    "shared_boards",
    metadata,
    Column("box_id", ForeignKey("shared_boxes.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("board_id", Key, nullable=True, index=True),
    Column("rank", SmallInteger, nullable=True),
    Column("score", Integer, nullable=True),
    Column("counts", Boolean, nullable=False, server_default=true()),
    Index(
        "ix_shared_boards_open",
        "box_id",
        postgresql_where=text("rank IS NULL"),
        sqlite_where=text("rank IS NULL"),
    ),
)
"""Players of shared boxes, see `store.shared_boxes.SharedBoard`; the key keeps a player from
getting a box twice. `board_id`: without a foreign key, since boards may be on another node."""

daily_tries = Table(
    "daily_tries",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("mark", String(64), primary_key=True),
)
"""Keyed hashes of mailboxes whose owners have got a day's box, for about a day. They count the
try of a player who was deleted, or changed the address."""

analyses = Table(
    "analyses",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("ply", Integer, primary_key=True, autoincrement=False),
    Column("seat", SmallInteger, primary_key=True, autoincrement=False),
    Column("due_at", Instant, nullable=True, index=True),
    Column("found", PackedJson, nullable=False),
    Column("game", String(32), nullable=False, server_default=""),
    Column("share", SmallInteger, nullable=False, server_default="0"),
)
"""Requested reports of the coach about a seat's play up to a ply. `due_at`: null when the bots'
process has finished; then an empty `found` means that no report could be made. `game`, `share`: as
in `house_turns`."""

awaited_analyses = Table(
    "awaited_analyses",
    metadata,
    Column("letter_id", Key, primary_key=True, autoincrement=False),
    Column("board_id", ForeignKey("boards.id"), primary_key=True, index=True),
)
"""Letters with reports: each waits in the outbox (state coming) until no row of the board is due in
`analyses`."""

house_turns = Table(
    "house_turns",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("due_at", Instant, nullable=False, index=True),
    Column("letter_id", Key, nullable=True, index=True),
    Column("game", String(32), nullable=False, server_default=""),
    Column("share", SmallInteger, nullable=False, server_default="0"),
)
"""Boards on which a bot is to move, added in the transaction that made it the bot's turn, so that a
crash loses no move. `letter_id`: letter to the player who moved; it waits in the outbox (state
coming) for the bot's move. `game`: the board's. `share`: part of the queue, by the board's number,
see `store.delivery.shares`."""
