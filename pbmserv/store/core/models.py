"""The tables. `migrations/` builds the same ones; a test compares them.

Keys and queries go by board or by player, never across boards, so that rows can be
distributed by board id one day. There are two stores: ``info["store"]`` is "mail" for a table of
the mail store; all other tables belong to the game store. On SQLite each is a file of its own, on
PostgreSQL both are in one database. This module names every table; those of the mail stand in
`mail_tables`, those of races in `race_tables`, that of the house in `house_tables`, those of
what is counted in `counted_tables`.
"""

from __future__ import annotations

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
    false,
    true,
)

from pbmserv.store.core.bot_tables import house_turns
from pbmserv.store.core.columns import Instant, Key, metadata
from pbmserv.store.core.counted_tables import counted, counting
from pbmserv.store.core.mail_tables import (
    arrivals,
    bounces,
    inbox,
    letter_bytes,
    outbox,
    settled,
    stores,
)
from pbmserv.store.core.race_tables import daily_boards, daily_boxes, daily_readers, scores

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

keys = Table(
    "keys",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("secret", LargeBinary, nullable=False),
    Column("created_at", Instant, nullable=False),
)
"""Keys that sign reply addresses. The highest id signs; all of them verify."""

players = Table(
    "players",
    metadata,
    Column("id", Key, primary_key=True),
    Column("userid", String(20), nullable=False, unique=True),
    Column("password_hash", String(200), nullable=False),
    Column("address", String(254), nullable=False),
    Column("reply_epoch", Integer, nullable=False, default=0),
    Column("created_at", Instant, nullable=False),
    Column("state", String(8), nullable=False, server_default="active"),
    Column("format", String(8), nullable=False, server_default="html"),
    Column("tz", String(40), nullable=False, server_default="UTC"),
    Column("accept", String(4), nullable=False, server_default="ask"),
    Column("remind", String(40), nullable=False, server_default=""),
    Column("broadcasts", Boolean, nullable=False, server_default=false()),
    Column("digest_minute", SmallInteger, nullable=True),
    Column("digest_due", Instant, nullable=True),
    Column("away_until", Instant, nullable=True),
    Column("unreachable_since", Instant, nullable=True),
)
"""Players. `address` is where their letters go; raising `reply_epoch` revokes every reply
address they ever got.

`state`: active, left (signed off: no mail), barred (suspended by an operator) or deleted (personal
data gone, `userid` is a neutral name); house for the server's own players.

`format`: html (text and HTML), text, or spoken. `remind`: extra reminders before a forfeit
(``2d,6h``) and ``night`` for those who may be woken. `digest_minute`: minute of the local day
at which the one mail a day is made, empty = letters come at once; `digest_due`: when it is made
next. `unreachable_since`: every address of theirs is given up, since letters came back."""

Index(
    "ix_players_digest_due",
    players.c.digest_due,
    postgresql_where=players.c.digest_due.is_not(None),
    sqlite_where=players.c.digest_due.is_not(None),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Key, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("operator", String(80), nullable=False),
    Column("action", String(40), nullable=False),
    Column("target", String(80), nullable=False, index=True),
    Column("why", Text, nullable=False),
    Column("facts", JSON, nullable=False),
)
"""What operators have done, to whom or what, and why. `target`: ``user alice``, ``board 12``,
``game blackbox``. `facts`: what it was before and after."""

closed_games = Table(
    "closed_games",
    metadata,
    Column("game", String(20), primary_key=True),
    Column("closed_at", Instant, nullable=False),
)
"""Games of which no new boards are made at present; those that run go on."""

blocks = Table(
    "blocks",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("blocked_id", ForeignKey("players.id"), primary_key=True),
)
"""Whom a player does not want challenges and messages from."""

absences = Table(
    "absences",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("begins", Instant, nullable=False),
    Column("ends", Instant, nullable=False),
)
"""When players were or will be away; `back` shortens the last one."""

notices = Table(
    "notices",
    metadata,
    Column("player_id", ForeignKey("players.id"), primary_key=True),
    Column("kind", String(12), primary_key=True),
    Column("told_at", Instant, nullable=False),
)
"""When players were last told what is not told again so soon. `kind`: away (asked whether they are
out of the office), busy (too many mails), gone (when their opponents heard that they cannot be
reached), astray (that they write to an address for reports), stays (that they do not leave after
all, whatever is answered to the letter that asked), or - and what one click has ended."""

address_changes = Table(
    "address_changes",
    metadata,
    Column("id", Key, primary_key=True),
    Column("player_id", ForeignKey("players.id"), nullable=False, index=True),
    Column("address", String(254), nullable=False),
    Column("batch", String(32), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("confirmed_at", Instant, nullable=True),
)
"""New addresses that wait for their confirmation, one row for each. With the first one of a
batch to be confirmed the addresses from before that batch are dropped."""

addresses = Table(
    "addresses",
    metadata,
    Column("address", String(254), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("confirmed_at", Instant, nullable=False),
)
"""Confirmed addresses, lower case. One address may belong to several players."""

signups = Table(
    "signups",
    metadata,
    Column("id", Key, primary_key=True),
    Column("userid", String(20), nullable=False, index=True),
    Column("password_hash", String(200), nullable=False),
    Column("address", String(254), nullable=False),
    Column("batch", String(32), nullable=False),
    Column("player_id", ForeignKey("players.id"), nullable=True),
    Column("created_at", Instant, nullable=False),
)
"""Requests that wait for their confirmation, a row for each address. The first one of a userid
to be confirmed gets it; `player_id` is set when that has happened."""

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
    Column("status", String(10), nullable=False),
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
    sqlite_autoincrement=True,
)
"""Boards. `status` is proposed, active, finished or declined; `thread` is a random word in
the Message-IDs of its mails. `clocks`: by seat, see `engine.clocks`; `due_at`: when a worker must
look at the clocks next, empty = never. `origin`: the board whose hidden box it has, where it is a
copy; a copy of a copy names the first one (no foreign key: SQLite cannot add one to a table).
`proven`: whoever asked for it proved to be one of its players."""

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

queued_moves = Table(
    "queued_moves",
    metadata,
    Column("board_id", ForeignKey("boards.id"), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("plan", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)
"""Moves for a later turn, as canonical plans (see `engine.plans`)."""

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
    Index("ix_seats_player_id_board_id", "player_id", "board_id"),
)
"""Who sits where; `accepted_at` is empty until an invited player has said yes."""

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
