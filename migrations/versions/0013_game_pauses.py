"""Add the times when games could not be played, and the ends of processes in their rules."""

import sqlalchemy as sa
from alembic import context, op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.DateTime(timezone=True)
OPEN = sa.text("ends IS NULL")


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "game_stops",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("stopped_at", INSTANT, nullable=False),
    )
    op.create_table(
        "game_pauses",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("begins", INSTANT, nullable=False),
        sa.Column("ends", INSTANT, nullable=True),
    )
    op.create_index(
        "uq_game_pauses_open",
        "game_pauses",
        ["game", "kind"],
        unique=True,
        postgresql_where=OPEN,
        sqlite_where=OPEN,
    )


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.drop_table("game_pauses")
    op.drop_table("game_stops")
