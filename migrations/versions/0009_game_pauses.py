"""Add the times when games could not be played, the ends of processes in their rules, and notes."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.DateTime(timezone=True)
OPEN = sa.text("ends IS NULL")


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column("seats", sa.Column("note", sa.Text, nullable=True))
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
    notes = sa.text("SELECT count(*) FROM seats WHERE note IS NOT NULL")
    count = op.get_bind().execute(notes).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold notes of players, and there are {count}; "
            "restore a copy instead: pbmserv db restore FILE --overwrite"
        )
    op.drop_column("seats", "note")
    op.drop_table("game_pauses")
    op.drop_table("game_stops")
