"""Add ladders."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "ladders",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.UniqueConstraint("game", name="uq_ladders_game"),
    )
    op.create_index("ix_ladders_due_at", "ladders", ["due_at"])
    op.create_table(
        "ladder_places",
        reference("ladder_id", "ladders", "ladder_places", primary_key=True),
        reference("player_id", "players", "ladder_places", primary_key=True),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("joined_at", INSTANT, nullable=False),
        sa.Column("active_at", INSTANT, nullable=False),
        sa.Column("news", sa.Boolean, nullable=False, server_default=sa.true()),
    )
    op.create_index("ix_ladder_places_player_id", "ladder_places", ["player_id"])
    op.create_index("ix_ladder_places_ladder_id_rank", "ladder_places", ["ladder_id", "rank"])
    op.create_table(
        "ladder_games",
        reference("board_id", "boards", "ladder_games", primary_key=True, autoincrement=False),
        reference("ladder_id", "ladders", "ladder_games"),
        reference("challenger_id", "players", "ladder_games"),
        reference("defender_id", "players", "ladder_games"),
        sa.Column("begun_at", INSTANT, nullable=False),
        sa.Column("due_at", INSTANT, nullable=True),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.Column("result", sa.String(16), nullable=True),
    )
    for name in ("challenger_id", "defender_id", "due_at"):
        op.create_index(f"ix_ladder_games_{name}", "ladder_games", [name])
    op.create_index("ix_ladder_games_ladder_id_ended_at", "ladder_games", ["ladder_id", "ended_at"])
    op.create_table(
        "ladder_moves",
        sa.Column("id", KEY, primary_key=True),
        reference("ladder_id", "ladders", "ladder_moves"),
        reference("player_id", "players", "ladder_moves"),
        sa.Column("before", sa.Integer, nullable=True),
        sa.Column("after", sa.Integer, nullable=True),
        sa.Column("why", sa.String(16), nullable=False),
        sa.Column("board_id", KEY, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
    )
    op.create_index(
        "ix_ladder_moves_ladder_id_created_at", "ladder_moves", ["ladder_id", "created_at"]
    )
    op.create_table(
        "ladder_reigns",
        sa.Column("id", KEY, primary_key=True),
        reference("ladder_id", "ladders", "ladder_reigns"),
        reference("player_id", "players", "ladder_reigns"),
        sa.Column("began_at", INSTANT, nullable=False),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.Column("honoured_at", INSTANT, nullable=True),
    )
    op.create_index("ix_ladder_reigns_ladder_id", "ladder_reigns", ["ladder_id"])


def reference(name: str, to: str, table: str, **options: bool) -> sa.Column:
    """Return a column that refers to the id of another table."""
    key = sa.ForeignKey(f"{to}.id", name=f"fk_{table}_{name}")
    return sa.Column(name, KEY, key, nullable=False, **options)


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    count = op.get_bind().execute(sa.text("SELECT count(*) FROM ladder_places")).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold ladders, and there are players in one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )
    for name in ("ladder_reigns", "ladder_moves", "ladder_games", "ladder_places", "ladders"):
        op.drop_table(name)
