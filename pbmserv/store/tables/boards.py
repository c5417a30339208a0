"""Tables of boards with their seats, moves and followers, and of proposals that wait."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    false,
    true,
)

from pbmserv.store.tables.columns import (
    Instant,
    JsonTerms,
    JsonTuple,
    Key,
    metadata,
    partial_index,
    state_type,
)


class BoardStatus(StrEnum):
    """The status of a board."""

    PROPOSED = "proposed"
    ACTIVE = "active"
    FINISHED = "finished"
    DECLINED = "declined"


RUNNING = (BoardStatus.PROPOSED, BoardStatus.ACTIVE)

boards = Table(
    "boards",
    metadata,
    Column("id", Key, primary_key=True),
    Column("game", String(32), nullable=False),
    Column("rules_version", Integer, nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("options", JsonTuple, nullable=False),
    Column("seed", LargeBinary, nullable=False),
    Column("thread", String(32), nullable=False),
    Column("status", state_type(BoardStatus, 10), nullable=False),
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
    Column("event_id", Key, nullable=True),
    Column("sides_drawn", Boolean, nullable=False, server_default=false()),
    sqlite_autoincrement=True,
)
"""Boards; `store.boards.boards.BoardRow` explains most columns.

The columns from `nag_days` to `away_days` are the `Terms` of `engine.clocks`; `clocks`: by seat,
see there. `origin` and `event_id` have no foreign key, since SQLite cannot add one later. `proven`:
whether one of its players provably asked for it.
"""

partial_index("ix_boards_due_at", boards.c.due_at, where=boards.c.due_at.is_not(None))

partial_index(
    "ix_boards_finished",
    boards.c.game,
    boards.c.finished_at,
    boards.c.id,
    where=boards.c.finished_at.is_not(None),
)

player_boards = Table(
    "player_boards",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("game", String(32), nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("status", state_type(BoardStatus, 10), nullable=False),
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
    Column("options", JsonTuple, nullable=False),
    Column("sitting", JsonTuple, nullable=False),
    Column("terms", JsonTerms, nullable=False),
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
    Column("options", JsonTuple, nullable=False),
    Column("seed", LargeBinary, nullable=False),
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
