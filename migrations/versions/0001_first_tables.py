"""Create the first tables.

`stores` in Alembic's configuration names the stores of the database: ``mail`` and ``game`` are two
files on SQLite, and one database on PostgreSQL.
"""

import uuid

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def partial(name: str, *columns: str, where: str) -> sa.Index:
    return sa.Index(name, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def upgrade() -> None:
    stores = context.config.attributes["stores"]
    if "mail" in stores:
        make_mail()
    if "game" in stores:
        make_game()


def downgrade() -> None:
    raise CommandError(
        "0001 is the first revision, and nothing would be left of the database without it; "
        "restore a copy instead: pbmserv db restore FILE --overwrite"
    )


def make_mail() -> None:
    op.create_table(
        "arrivals",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("recipient", sa.Text),
        sa.Column("sender", sa.Text),
        sa.Column("peer", sa.Text),
        sa.Column("hello", sa.Text),
        sa.Column("handed_on", sa.Boolean),
        sa.Column("raw", sa.LargeBinary, nullable=False),
        sa.Column("verdict", sa.Text),
        sa.Column("found", sa.Text),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("player_id", KEY),
        sa.Column("received_at", INSTANT, nullable=False),
        sa.Column("claimed_until", INSTANT),
        sa.Column("claimed_by", sa.String(120)),
        sa.Index(
            "ix_arrivals_lane", "lane", "id", sqlite_where=sa.text("claimed_until IS NOT NULL")
        ),
        partial("ix_arrivals_claimed", "claimed_by", where="claimed_by IS NOT NULL"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "stores",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("uuid", sa.Text, nullable=False),
        sa.Column("beat_at", INSTANT),
    )
    stores = sa.table("stores", sa.column("id"), sa.column("uuid"))
    op.execute(sa.insert(stores).values(id=1, uuid=uuid.uuid4().hex))


def make_game() -> None:
    op.create_table(
        "audit",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("operator", sa.String(80), nullable=False),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("target", sa.String(80), nullable=False, index=True),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
    )
    op.create_table(
        "boards",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("rules_version", sa.Integer, nullable=False),
        sa.Column("seats", sa.SmallInteger, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("seed", sa.LargeBinary, nullable=False),
        sa.Column("thread", sa.String(32), nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("rated", sa.Boolean, nullable=False),
        sa.Column("comparable", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("plies", sa.Integer, nullable=False),
        sa.Column("outcome", sa.JSON(none_as_null=True)),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("finished_at", INSTANT),
        sa.Column("nag_days", sa.Integer, nullable=False, server_default="7"),
        sa.Column("forfeit_days", sa.Integer, nullable=False, server_default="21"),
        sa.Column("total_days", sa.Integer),
        sa.Column("clocks", sa.JSON(none_as_null=True)),
        sa.Column("due_at", INSTANT),
        sa.Column("origin", KEY),
        sa.Column("proven", sa.Boolean, nullable=False, server_default=sa.true()),
        partial("ix_boards_due_at", "due_at", where="due_at IS NOT NULL"),
        partial("ix_boards_finished", "game", "finished_at", "id", where="finished_at IS NOT NULL"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "bounces",
        sa.Column("address", sa.String(254), primary_key=True),
        sa.Column("hard", sa.SmallInteger, nullable=False),
        sa.Column("soft", sa.SmallInteger, nullable=False),
        sa.Column("hard_at", INSTANT),
        sa.Column("soft_at", INSTANT),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("diagnostic", sa.String(300), nullable=False),
        sa.Column("suspended_at", INSTANT),
    )
    op.create_table(
        "closed_games",
        sa.Column("game", sa.String(20), primary_key=True),
        sa.Column("closed_at", INSTANT, nullable=False),
    )
    op.create_table(
        "daily_boxes",
        sa.Column("game", sa.String(20), primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("options", sa.JSON, nullable=False),
    )
    op.create_table(
        "heartbeats",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("beat_at", INSTANT, nullable=False),
        sa.Column("up_since", INSTANT, nullable=False),
    )
    op.create_table(
        "inbox",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("recipient", sa.String(254), nullable=False),
        sa.Column("sender", sa.String(254), nullable=False),
        sa.Column("peer", sa.String(64), nullable=False),
        sa.Column("raw", sa.LargeBinary, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("received_at", INSTANT, nullable=False),
        sa.Column("player_id", KEY, index=True),
        sa.Column("verdict", sa.String(12), nullable=False, server_default="unchecked"),
        sa.Column("found", sa.Text, nullable=False, server_default=""),
        sa.Column("octets", sa.Integer, nullable=False, server_default="0"),
        sa.Index("uq_inbox_digest_recipient", "digest", "recipient", unique=True),
        sa.Index("ix_inbox_sender", "sender"),
        partial("ix_inbox_kept", "id", where="state = 'kept'"),
        partial("ix_inbox_text", "state", "received_at", "octets", where="octets > 0"),
        partial("ix_inbox_unused", "received_at", where="state IN ('answered', 'ignored')"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
    )
    op.create_table(
        "outages",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("begins", INSTANT, nullable=False),
        sa.Column("ends", INSTANT, nullable=False, index=True),
    )
    op.create_table(
        "outbox",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("letter", sa.String(32), nullable=False),
        sa.Column("recipient", sa.String(254), nullable=False),
        sa.Column("player_id", KEY, index=True),
        sa.Column("board_id", KEY),
        sa.Column("ply", sa.Integer),
        sa.Column("seat", sa.SmallInteger),
        sa.Column("words", sa.LargeBinary, nullable=False),
        sa.Column("message_id", sa.String(200), nullable=False),
        sa.Column("in_reply_to", sa.String(998), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due_at", INSTANT),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("sent_at", INSTANT),
        sa.Column("claimed_by", sa.String(120)),
        sa.Column("mail_id", KEY),
        partial("ix_outbox_claimed", "claimed_by", where="claimed_by IS NOT NULL"),
        partial(
            "ix_outbox_over",
            "created_at",
            where="state IN ('sent', 'failed', 'folded') AND message_id <> ''",
        ),
        partial("ix_outbox_open", "state", "id", where="state <> 'sent' AND state <> 'folded'"),
        partial("ix_outbox_tray", "player_id", where="state = 'tray'"),
        partial("ix_outbox_due", "due_at", where="state = 'queued'"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "players",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("userid", sa.String(20), nullable=False, unique=True),
        sa.Column("password_hash", sa.String(200), nullable=False),
        sa.Column("address", sa.String(254), nullable=False),
        sa.Column("reply_epoch", sa.Integer, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("state", sa.String(8), nullable=False, server_default="active"),
        sa.Column("format", sa.String(8), nullable=False, server_default="html"),
        sa.Column("tz", sa.String(40), nullable=False, server_default="UTC"),
        sa.Column("accept", sa.String(4), nullable=False, server_default="ask"),
        sa.Column("remind", sa.String(40), nullable=False, server_default=""),
        sa.Column("broadcasts", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("report", sa.String(6), nullable=False, server_default="ask"),
        sa.Column("public", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("digest_minute", sa.SmallInteger),
        sa.Column("digest_due", INSTANT),
        sa.Column("unreachable_since", INSTANT),
        partial("ix_players_digest_due", "digest_due", where="digest_due IS NOT NULL"),
    )
    op.create_table(
        "settled",
        sa.Column("store", sa.Text, primary_key=True),
        sa.Column("number", KEY, primary_key=True, autoincrement=False),
        sa.Column("result", sa.JSON(none_as_null=True)),
        sa.Column("settled_at", INSTANT, nullable=False),
    )
    op.create_table(
        "absences",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), nullable=False, index=True),
        sa.Column("begins", INSTANT, nullable=False),
        sa.Column("ends", INSTANT, nullable=False),
    )
    op.create_table(
        "address_changes",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), nullable=False, index=True),
        sa.Column("address", sa.String(254), nullable=False),
        sa.Column("batch", sa.String(32), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("confirmed_at", INSTANT),
    )
    op.create_table(
        "addresses",
        sa.Column("address", sa.String(254), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, index=True),
        sa.Column("confirmed_at", INSTANT, nullable=False),
    )
    op.create_table(
        "analyses",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("ply", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seat", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("due_at", INSTANT, index=True),
        sa.Column("found", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "awaited_analyses",
        sa.Column("letter_id", KEY, primary_key=True, autoincrement=False),
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True, index=True),
    )
    op.create_table(
        "blocks",
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("blocked_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
    )
    op.create_table(
        "daily_boards",
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("game", sa.String(20), primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), nullable=False, unique=True),
        sa.Column("solved", sa.Boolean),
        sa.Column("score", sa.Integer),
        sa.Index("ix_daily_boards_game_day", "game", "day"),
    )
    op.create_table(
        "daily_readers",
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("game", sa.String(20), primary_key=True),
        sa.Column("minute", sa.SmallInteger, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False, index=True),
    )
    op.create_table(
        "followers",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, index=True),
        sa.Column("what", sa.String(3), nullable=False),
    )
    op.create_table(
        "house_turns",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("due_at", INSTANT, nullable=False, index=True),
        sa.Column("letter_id", KEY, index=True),
    )
    op.create_table(
        "letter_bytes",
        sa.Column(
            "letter_id", KEY, sa.ForeignKey("outbox.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("raw", sa.LargeBinary, nullable=False),
        sa.Column("made_at", INSTANT, nullable=False, index=True),
    )
    op.create_table(
        "notices",
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("kind", sa.String(12), primary_key=True),
        sa.Column("told_at", INSTANT, nullable=False),
    )
    op.create_table(
        "plies",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("seat", sa.SmallInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("free", sa.Boolean, nullable=False),
        sa.Column("mail_id", KEY),
        sa.Column("created_at", INSTANT, nullable=False),
    )
    op.create_table(
        "rating_changes",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("place", sa.SmallInteger, nullable=False),
        sa.Column("mu_before", sa.Float, nullable=False),
        sa.Column("sigma_before", sa.Float, nullable=False),
        sa.Column("mu_after", sa.Float, nullable=False),
        sa.Column("sigma_after", sa.Float, nullable=False),
        sa.Column("weight", sa.Float, nullable=False, server_default="1"),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Index("ix_rating_changes_player_id_game_number", "player_id", "game", "number"),
    )
    op.create_table(
        "ratings",
        sa.Column("game", sa.String(32), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, index=True),
        sa.Column("mu", sa.Float, nullable=False),
        sa.Column("sigma", sa.Float, nullable=False),
        sa.Column("ordinal", sa.Float, nullable=False),
        sa.Column("games", sa.Integer, nullable=False),
        sa.Column("wins", sa.Integer, nullable=False),
        sa.Column("losses", sa.Integer, nullable=False),
        sa.Column("draws", sa.Integer, nullable=False),
        sa.Column("opponents", sa.Integer, nullable=False, server_default="0"),
        sa.Column("rated_at", INSTANT, nullable=False),
        sa.Index("ix_ratings_game_ordinal", "game", "ordinal", "player_id"),
    )
    op.create_table(
        "scores",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("seat", sa.SmallInteger, primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), nullable=False, index=True),
        sa.Column("game", sa.String(20), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("score", sa.Integer, nullable=False),
        sa.Column("ended_at", INSTANT, nullable=False),
        sa.Index("ix_scores_game_kind_score", "game", "kind", "score", "ended_at"),
    )
    op.create_table(
        "seats",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("seat", sa.SmallInteger, primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), nullable=False),
        sa.Column("accepted_at", INSTANT),
        sa.Column("plan", sa.Text),
        sa.Index("ix_seats_player_id_board_id", "player_id", "board_id"),
    )
    op.create_table(
        "seeks",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), nullable=False, index=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("seats", sa.SmallInteger, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Index("ix_seeks_game_seats", "game", "seats"),
    )
    op.create_table(
        "signups",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("userid", sa.String(20), nullable=False, index=True),
        sa.Column("password_hash", sa.String(200), nullable=False),
        sa.Column("address", sa.String(254), nullable=False),
        sa.Column("batch", sa.String(32), nullable=False),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id")),
        sa.Column("created_at", INSTANT, nullable=False),
    )
    op.create_table(
        "submitted_moves",
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), primary_key=True),
        sa.Column("seat", sa.SmallInteger, primary_key=True),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
    )
    op.create_table(
        "invitations",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), nullable=False, index=True),
        sa.Column("mark", sa.String(64), nullable=False, index=True),
        sa.Column("sent", sa.Boolean, nullable=False),
        sa.Column("name", sa.String(20), nullable=False),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("terms", sa.JSON, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False, index=True),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("board_id", KEY),
    )
    op.create_table(
        "uninvited",
        sa.Column("mark", sa.String(64), primary_key=True),
        sa.Column("since", INSTANT, nullable=False),
    )
    op.create_table(
        "unconfirmed_boards",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), nullable=False, index=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("sitting", sa.JSON, nullable=False),
        sa.Column("terms", sa.JSON, nullable=False),
        sa.Column("replayed", KEY),
        sa.Column("created_at", INSTANT, nullable=False, index=True),
        sa.Column("board_id", KEY),
    )
    op.create_table(
        "wrong_passwords",
        sa.Column("key", sa.String(32), primary_key=True),
        sa.Column("wrong", sa.SmallInteger, nullable=False),
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("locked_until", INSTANT),
        sa.Column("level", sa.SmallInteger, nullable=False),
        sa.Column("forget_at", INSTANT, nullable=False, index=True),
    )
    op.create_table(
        "password_sources",
        sa.Column("key", sa.String(32), primary_key=True),
        sa.Column("forget_at", INSTANT, nullable=False, index=True),
    )
