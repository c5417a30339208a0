"""Preferences, absences, clocks, queued moves, followers, seeks and ratings."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "heartbeats",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("beat_at", INSTANT, nullable=False),
        sa.Column("up_since", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_heartbeats")),
    )
    op.create_table(
        "outages",
        sa.Column("id", KEY, nullable=False),
        sa.Column("begins", INSTANT, nullable=False),
        sa.Column("ends", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outages")),
    )
    op.create_index(op.f("ix_outages_ends"), "outages", ["ends"], unique=False)

    op.create_table(
        "absences",
        sa.Column("id", KEY, nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("begins", INSTANT, nullable=False),
        sa.Column("ends", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_absences_player_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_absences")),
    )
    op.create_index(op.f("ix_absences_player_id"), "absences", ["player_id"], unique=False)

    op.create_table(
        "address_changes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("batch", sa.String(length=32), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("confirmed_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(
            ["player_id"], ["players.id"], name=op.f("fk_address_changes_player_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_address_changes")),
    )
    op.create_index(
        op.f("ix_address_changes_player_id"), "address_changes", ["player_id"], unique=False
    )

    op.create_table(
        "blocks",
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("blocked_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["blocked_id"], ["players.id"], name=op.f("fk_blocks_blocked_id")),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_blocks_player_id")),
        sa.PrimaryKeyConstraint("player_id", "blocked_id", name=op.f("pk_blocks")),
    )
    op.create_table(
        "followers",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("what", sa.String(length=3), nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_followers_board_id")),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_followers_player_id")),
        sa.PrimaryKeyConstraint("board_id", "player_id", name=op.f("pk_followers")),
    )
    op.create_index(op.f("ix_followers_player_id"), "followers", ["player_id"], unique=False)

    op.create_table(
        "queued_moves",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_queued_moves_board_id")),
        sa.PrimaryKeyConstraint("board_id", "seat", name=op.f("pk_queued_moves")),
    )
    op.create_table(
        "rating_changes",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("place", sa.SmallInteger(), nullable=False),
        sa.Column("mu_before", sa.Float(), nullable=False),
        sa.Column("sigma_before", sa.Float(), nullable=False),
        sa.Column("mu_after", sa.Float(), nullable=False),
        sa.Column("sigma_after", sa.Float(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["board_id"], ["boards.id"], name=op.f("fk_rating_changes_board_id")
        ),
        sa.ForeignKeyConstraint(
            ["player_id"], ["players.id"], name=op.f("fk_rating_changes_player_id")
        ),
        sa.PrimaryKeyConstraint("board_id", "player_id", name=op.f("pk_rating_changes")),
    )
    op.create_index(
        "ix_rating_changes_player_id_game_number",
        "rating_changes",
        ["player_id", "game", "number"],
        unique=False,
    )

    op.create_table(
        "ratings",
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.Column("ordinal", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("rated_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_ratings_player_id")),
        sa.PrimaryKeyConstraint("game", "player_id", name=op.f("pk_ratings")),
    )
    op.create_index(
        "ix_ratings_game_ordinal", "ratings", ["game", "ordinal", "player_id"], unique=False
    )
    op.create_index(op.f("ix_ratings_player_id"), "ratings", ["player_id"], unique=False)

    op.create_table(
        "seeks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("seats", sa.SmallInteger(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_seeks_player_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_seeks")),
    )
    op.create_index("ix_seeks_game_seats", "seeks", ["game", "seats"], unique=False)
    op.create_index(op.f("ix_seeks_player_id"), "seeks", ["player_id"], unique=False)

    op.create_table(
        "submitted_moves",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["board_id"], ["boards.id"], name=op.f("fk_submitted_moves_board_id")
        ),
        sa.PrimaryKeyConstraint("board_id", "seat", name=op.f("pk_submitted_moves")),
    )
    op.add_column("boards", sa.Column("nag_days", sa.Integer(), server_default="7", nullable=False))
    op.add_column(
        "boards", sa.Column("forfeit_days", sa.Integer(), server_default="21", nullable=False)
    )
    op.add_column("boards", sa.Column("total_days", sa.Integer(), nullable=True))
    op.add_column("boards", sa.Column("clocks", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("boards", sa.Column("due_at", INSTANT, nullable=True))
    # A worker starts the clocks of the boards that are in play already.
    op.execute(
        "UPDATE boards SET due_at = CURRENT_TIMESTAMP WHERE status IN ('proposed', 'active')"
    )
    op.create_index(
        "ix_boards_due_at",
        "boards",
        ["due_at"],
        unique=False,
        postgresql_where=sa.text("due_at IS NOT NULL"),
        sqlite_where=sa.text("due_at IS NOT NULL"),
    )

    op.create_index(
        "ix_boards_finished",
        "boards",
        ["game", "finished_at", "id"],
        unique=False,
        postgresql_where=sa.text("finished_at IS NOT NULL"),
        sqlite_where=sa.text("finished_at IS NOT NULL"),
    )

    op.add_column("inbox", sa.Column("player_id", KEY, nullable=True))
    op.create_index(op.f("ix_inbox_player_id"), "inbox", ["player_id"], unique=False)
    op.create_index("ix_inbox_sender", "inbox", ["sender"], unique=False)
    op.create_index(op.f("ix_outbox_player_id"), "outbox", ["player_id"], unique=False)
    op.create_index(
        "ix_outbox_tray",
        "outbox",
        ["player_id"],
        unique=False,
        postgresql_where=sa.text("state = 'tray'"),
        sqlite_where=sa.text("state = 'tray'"),
    )

    op.add_column(
        "players", sa.Column("state", sa.String(length=8), server_default="active", nullable=False)
    )
    op.add_column(
        "players", sa.Column("format", sa.String(length=8), server_default="html", nullable=False)
    )
    op.add_column(
        "players", sa.Column("tz", sa.String(length=40), server_default="UTC", nullable=False)
    )
    op.add_column(
        "players", sa.Column("accept", sa.String(length=4), server_default="ask", nullable=False)
    )
    op.add_column(
        "players", sa.Column("remind", sa.String(length=40), server_default="", nullable=False)
    )
    op.add_column(
        "players", sa.Column("broadcasts", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.add_column("players", sa.Column("digest_minute", sa.SmallInteger(), nullable=True))
    op.add_column("players", sa.Column("digest_due", INSTANT, nullable=True))
    op.add_column("players", sa.Column("away_until", INSTANT, nullable=True))
    op.create_index(
        "ix_players_digest_due",
        "players",
        ["digest_due"],
        unique=False,
        postgresql_where=sa.text("digest_due IS NOT NULL"),
        sqlite_where=sa.text("digest_due IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index(
        "ix_players_digest_due",
        "players",
        postgresql_where=sa.text("digest_due IS NOT NULL"),
        sqlite_where=sa.text("digest_due IS NOT NULL"),
    )
    op.drop_column("players", "away_until")
    op.drop_column("players", "digest_due")
    op.drop_column("players", "digest_minute")
    op.drop_column("players", "broadcasts")
    op.drop_column("players", "remind")
    op.drop_column("players", "accept")
    op.drop_column("players", "tz")
    op.drop_column("players", "format")
    op.drop_column("players", "state")

    op.drop_index(op.f("ix_outbox_player_id"), "outbox")
    op.drop_index("ix_inbox_sender", "inbox")
    op.drop_index(op.f("ix_inbox_player_id"), "inbox")
    op.drop_column("inbox", "player_id")

    op.drop_index(
        "ix_outbox_tray",
        "outbox",
        postgresql_where=sa.text("state = 'tray'"),
        sqlite_where=sa.text("state = 'tray'"),
    )

    op.drop_index(
        "ix_boards_due_at",
        "boards",
        postgresql_where=sa.text("due_at IS NOT NULL"),
        sqlite_where=sa.text("due_at IS NOT NULL"),
    )
    op.drop_index(
        "ix_boards_finished",
        "boards",
        postgresql_where=sa.text("finished_at IS NOT NULL"),
        sqlite_where=sa.text("finished_at IS NOT NULL"),
    )
    op.drop_column("boards", "due_at")
    op.drop_column("boards", "clocks")
    op.drop_column("boards", "total_days")
    op.drop_column("boards", "forfeit_days")
    op.drop_column("boards", "nag_days")

    for table in (
        "submitted_moves",
        "seeks",
        "ratings",
        "rating_changes",
        "queued_moves",
        "followers",
        "blocks",
        "address_changes",
        "absences",
        "outages",
        "heartbeats",
    ):
        op.drop_table(table)
