"""The box of the day."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "daily_readers",
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("game", sa.String(20), nullable=False),
        sa.Column("minute", sa.SmallInteger(), nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["player_id"], ["players.id"], name=op.f("fk_daily_readers_player_id")
        ),
        sa.PrimaryKeyConstraint("player_id", "game", name=op.f("pk_daily_readers")),
    )
    op.create_index(op.f("ix_daily_readers_due_at"), "daily_readers", ["due_at"], unique=False)
    op.create_table(
        "daily_boxes",
        sa.Column("game", sa.String(20), nullable=False),
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("game", "day", name=op.f("pk_daily_boxes")),
    )
    op.create_table(
        "daily_boards",
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("game", sa.String(20), nullable=False),
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("solved", sa.Boolean(), nullable=True),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["player_id"], ["players.id"], name=op.f("fk_daily_boards_player_id")
        ),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_daily_boards_board_id")),
        sa.PrimaryKeyConstraint("player_id", "game", "day", name=op.f("pk_daily_boards")),
        sa.UniqueConstraint("board_id", name=op.f("uq_daily_boards_board_id")),
    )
    op.create_index("ix_daily_boards_game_day", "daily_boards", ["game", "day"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_daily_boards_game_day", table_name="daily_boards")
    op.drop_table("daily_boards")
    op.drop_table("daily_boxes")
    op.drop_index(op.f("ix_daily_readers_due_at"), table_name="daily_readers")
    op.drop_table("daily_readers")
