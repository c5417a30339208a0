"""Scores of races and solo games."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    # In place: a batch would build the table anew, which SQLite refuses while rows refer to it.
    op.add_column(
        "boards", sa.Column("comparable", sa.Boolean(), nullable=False, server_default=sa.true())
    )
    op.create_table(
        "scores",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("player_id", KEY, nullable=False),
        sa.Column("game", sa.String(20), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("ended_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_scores_board_id")),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name=op.f("fk_scores_player_id")),
        sa.PrimaryKeyConstraint("board_id", "seat", name=op.f("pk_scores")),
    )
    op.create_index(op.f("ix_scores_player_id"), "scores", ["player_id"], unique=False)
    op.create_index(
        "ix_scores_game_kind_score", "scores", ["game", "kind", "score", "ended_at"], unique=False
    )


def downgrade() -> None:
    op.drop_index("ix_scores_game_kind_score", table_name="scores")
    op.drop_index(op.f("ix_scores_player_id"), table_name="scores")
    op.drop_table("scores")
    op.drop_column("boards", "comparable")
