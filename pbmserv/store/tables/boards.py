"""The tables of boards: moves, clocks, ratings, scores, boxes of the day, turns of bots."""

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
    true,
)

from pbmserv.store.tables.columns import Instant, Key, PackedJson, State, metadata


class BoardStatus(StrEnum):
    """How far a board is."""

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
    Column("clocks", JSON(none_as_null=True), nullable=True),
    Column("due_at", Instant, nullable=True),
    Column("origin", Key, nullable=True),
    Column("proven", Boolean, nullable=False, server_default=true()),
    Column("chosen_by", Key, nullable=True),
    sqlite_autoincrement=True,
)
"""Boards. `thread` is a random word in
the Message-IDs of its mails. `clocks`: by seat, see `engine.clocks`; `due_at`: when a worker must
look at the clocks next, empty = never. `origin`: the board whose hidden box it has, where it is a
copy; a copy of a copy names the first one (no foreign key: SQLite cannot add one to a table).
`proven`: whoever asked for it proved to be one of its players. `chosen_by`: the player who named
the box of a race (``-id``, ``-seed``) and so may know it; empty = the server drew the box."""

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
"""Boards that somebody asked for in a player's name without proving to be that player. They are
made when the player says yes. `sitting`: ids of players by seat; `replayed`: the board whose box
it is to have; `board_id`: the board that was made of it."""

seeks = Table(
    "seeks",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("game", String(32), nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("options", JSON, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_seeks_game_seats", "game", "seats"),
)
"""Players who look for any opponent; the row goes when a board is made of it."""

submitted_moves = Table(
    "submitted_moves",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("turn", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)
"""Moves that wait for their player's ``confirm``."""

followers = Table(
    "followers",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("what", String(3), nullable=False),
)
"""Who follows a board as a spectator: every turn (``all``) or only its end (``end``)."""

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
"""How strong a player is at a game, and against how many different people that was found out.
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
"""What each rated board did to its players; `number` counts a player's rated games of that kind;
`weight`: how much of it counts, 1 = all (see `engine.ratings.weights`)."""

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("beat_at", Instant, nullable=False),
    Column("up_since", Instant, nullable=False),
)
"""One row: when any process of the server last lived, and since when without a break."""

outages = Table(
    "outages",
    metadata,
    Column("id", Key, primary_key=True),
    Column("begins", Instant, nullable=False),
    Column("ends", Instant, nullable=False, index=True),
)
"""When the server was down: time that counts against nobody."""

seats = Table(
    "seats",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False),
    Column("accepted_at", Instant, nullable=True),
    Column("plan", Text, nullable=True),
    Index("ix_seats_player_id_board_id", "player_id", "board_id"),
)
"""Who sits where; `accepted_at` is empty until an invited player has said yes. `plan`: moves that
wait for a later turn (see `engine.plans`), in the row that a move locks, so that it sees them."""

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
)
"""The log of moves: the truth about every board. The key keeps a move from counting twice."""

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
"""Scores of finished races that can be compared; the lowest is the best."""

daily_readers = Table(
    "daily_readers",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(20), primary_key=True),
    Column("minute", SmallInteger, nullable=False),
    Column("due_at", Instant, nullable=False, index=True),
)
"""Who gets a game's box of the day: at which minute of the local day, and when next."""

daily_boxes = Table(
    "daily_boxes",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("options", JSON, nullable=False),
)
"""The box of each UTC day (days since 1970): the option words of its boards, secret."""

hot_seats = Table(
    "hot_seats",
    metadata,
    Column("key", String(32), primary_key=True),
    Column("box", PackedJson, nullable=False),
    Column("changed_at", Instant, nullable=False, index=True),
)
"""Boxes that one person fills by hand for another one at the same device, and the moves on them.
They belong to no player, and end some days after the last change. `key`: a random word, which is in
the page's address; `box`: see `service.solo.hot_seat.HotSeat`."""

daily_boards = Table(
    "daily_boards",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("game", String(20), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("board_id", ForeignKey("boards.id"), nullable=False, unique=True),
    Column("solved", Boolean, nullable=True),
    Column("score", Integer, nullable=True),
    Column("counts", Boolean, nullable=False, server_default=true()),
    Index("ix_daily_boards_game_day", "game", "day"),
)
"""Who has got which day's box; the key keeps anybody from getting it twice. `solved` and `score`
are empty until that board is over. `counts`: it is its player's first try under any name."""

daily_tries = Table(
    "daily_tries",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("mark", String(64), primary_key=True),
)
"""Mailboxes, as keyed hashes, whose owners have got a day's box; kept for about a day. A name that
is deleted, or has another address now, has still had its try."""

analyses = Table(
    "analyses",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("ply", Integer, primary_key=True, autoincrement=False),
    Column("seat", SmallInteger, primary_key=True, autoincrement=False),
    Column("due_at", Instant, nullable=True, index=True),
    Column("found", PackedJson, nullable=False),
)
"""What the coach says of a seat's play up to a ply, where somebody has asked. `due_at` is set until
the bots' process has worked it out; empty and nothing found: it could not."""

awaited_analyses = Table(
    "awaited_analyses",
    metadata,
    Column("letter_id", Key, primary_key=True, autoincrement=False),
    Column("board_id", ForeignKey("boards.id"), primary_key=True, index=True),
)
"""Letters with a report in them: each waits in the outbox (state coming) until nothing of the board
is due in `analyses`."""

house_turns = Table(
    "house_turns",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("due_at", Instant, nullable=False, index=True),
    Column("letter_id", Key, nullable=True, index=True),
)
"""Boards on which the house is to move. Written in the transaction that made it the house's turn,
so that no crash loses a move. `letter_id`: the letter to the one who moved; it waits in the outbox
(state coming) to go out with the house's move in it."""
