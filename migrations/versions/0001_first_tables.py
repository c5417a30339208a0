"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "boards",
        sa.Column("id", KEY, nullable=False),
        sa.Column("game", sa.String(length=32), nullable=False),
        sa.Column("rules_version", sa.Integer(), nullable=False),
        sa.Column("seats", sa.SmallInteger(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("thread", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("plies", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boards")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "inbox",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("sender", sa.String(length=254), nullable=False),
        sa.Column("peer", sa.String(length=64), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("received_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_inbox_kept",
        "inbox",
        ["id"],
        unique=False,
        postgresql_where=sa.text("state = 'kept'"),
        sqlite_where=sa.text("state = 'kept'"),
    )
    op.create_index("uq_inbox_digest_recipient", "inbox", ["digest", "recipient"], unique=True)

    op.create_table(
        "keys",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_keys")),
    )
    op.create_table(
        "outbox",
        sa.Column("id", KEY, nullable=False),
        sa.Column("letter", sa.String(length=32), nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("player_id", KEY, nullable=True),
        sa.Column("board_id", KEY, nullable=True),
        sa.Column("ply", sa.Integer(), nullable=True),
        sa.Column("seat", sa.SmallInteger(), nullable=True),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("in_reply_to", sa.String(length=998), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", INSTANT, nullable=True),
        sa.Column("raw", sa.LargeBinary(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("sent_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_outbox_due",
        "outbox",
        ["due_at"],
        unique=False,
        postgresql_where=sa.text("state = 'queued'"),
        sqlite_where=sa.text("state = 'queued'"),
    )

    op.create_table(
        "players",
        sa.Column("id", KEY, nullable=False),
        sa.Column("userid", sa.String(length=20), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("reply_epoch", sa.Integer(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_players")),
        sa.UniqueConstraint("userid", name=op.f("uq_players_userid")),
    )
    op.create_table(
        "addresses",
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("confirmed_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_addresses_player_id")),
        sa.PrimaryKeyConstraint("address", "player_id", name=op.f("pk_addresses")),
    )
    op.create_index(op.f("ix_addresses_player_id"), "addresses", ["player_id"], unique=False)

    op.create_table(
        "plies",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("free", sa.Boolean(), nullable=False),
        sa.Column("mail_id", KEY, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_plies_board_id")),
        sa.PrimaryKeyConstraint("board_id", "number", name=op.f("pk_plies")),
    )
    op.create_table(
        "seats",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("accepted_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_seats_board_id")),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_seats_player_id")),
        sa.PrimaryKeyConstraint("board_id", "seat", name=op.f("pk_seats")),
    )
    op.create_index("ix_seats_player_id_board_id", "seats", ["player_id", "board_id"], unique=False)

    op.create_table(
        "signups",
        sa.Column("id", KEY, nullable=False),
        sa.Column("userid", sa.String(length=20), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("batch", sa.String(length=32), nullable=False),
        sa.Column("player_id", KEY, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_signups_player_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signups")),
    )
    op.create_index(op.f("ix_signups_userid"), "signups", ["userid"], unique=False)


def downgrade() -> None:
    for table in (
        "signups",
        "seats",
        "plies",
        "addresses",
        "players",
        "outbox",
        "keys",
        "inbox",
        "boards",
    ):
        op.drop_table(table)
