"""Whose box a board has, who asked for it, and how much a game says about a rating."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("boards", sa.Column("origin", KEY, nullable=True))
    op.add_column(
        "boards", sa.Column("proven", sa.Boolean(), server_default=sa.true(), nullable=False)
    )
    op.add_column(
        "ratings", sa.Column("opponents", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column(
        "rating_changes", sa.Column("weight", sa.Float(), server_default="1", nullable=False)
    )
    op.create_table(
        "unconfirmed_boards",
        sa.Column("id", KEY, nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("sitting", sa.JSON(), nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.Column("replayed", KEY, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("board_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(
            ["player_id"], ["players.id"], name=op.f("fk_unconfirmed_boards_player_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unconfirmed_boards")),
    )
    for column in ("player_id", "created_at"):
        op.create_index(op.f(f"ix_unconfirmed_boards_{column}"), "unconfirmed_boards", [column])


def downgrade() -> None:
    op.drop_table("unconfirmed_boards")
    op.drop_column("rating_changes", "weight")
    op.drop_column("ratings", "opponents")
    op.drop_column("boards", "proven")
    op.drop_column("boards", "origin")
