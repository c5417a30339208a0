"""Add events with their entries, pairings, regular players and bars, and the event of a board."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "events",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("rules", sa.JSON, nullable=False),
        sa.Column("owner_id", KEY, sa.ForeignKey("players.id"), nullable=True, index=True),
        sa.Column("closes_at", INSTANT, nullable=False),
        sa.Column("starts_at", INSTANT, nullable=False),
        sa.Column("ends_at", INSTANT, nullable=True),
        sa.Column("round", sa.SmallInteger, nullable=False),
        sa.Column("due_at", INSTANT, nullable=True, index=True),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.UniqueConstraint("kind", "game", "number", name="uq_events_kind"),
        sa.Index("ix_events_status_id", "status", "id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "entries",
        sa.Column("event_id", KEY, sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, index=True),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("section", sa.SmallInteger, nullable=True),
        sa.Column("seed", sa.Integer, nullable=True),
        sa.Column("rating", sa.Float, nullable=True),
        sa.Column("forfeits", sa.SmallInteger, nullable=False, server_default="0"),
        sa.Column("place", sa.SmallInteger, nullable=True),
        sa.Column("muted", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("entered_at", INSTANT, nullable=False),
    )
    op.create_table(
        "pairings",
        sa.Column("event_id", KEY, sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("round", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("section", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("first_id", KEY, sa.ForeignKey("players.id"), nullable=False),
        sa.Column("second_id", KEY, sa.ForeignKey("players.id"), nullable=True),
        sa.Column("board_id", KEY, nullable=True),
        sa.Column("first_points", sa.SmallInteger, nullable=True),
        sa.Column("second_points", sa.SmallInteger, nullable=True),
        sa.Column("reason", sa.String(12), nullable=False, server_default=""),
        sa.UniqueConstraint("board_id", name="uq_pairings_board_id"),
    )
    op.create_table(
        "regulars",
        sa.Column("game", sa.String(32), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, index=True),
        sa.Column("since", INSTANT, nullable=False),
    )
    op.create_table(
        "event_bars",
        sa.Column(
            "player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, autoincrement=False
        ),
        sa.Column("until", INSTANT, nullable=False),
    )
    op.add_column("boards", sa.Column("event_id", KEY, nullable=True))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    for counting, meaning in (
        ("SELECT count(*) FROM events", "an event"),
        ("SELECT count(*) FROM event_bars", "a bar from events"),
    ):
        refuse_to_lose(counting, meaning)
    op.drop_column("boards", "event_id")
    for table in ("event_bars", "regulars", "pairings", "entries", "events"):
        op.drop_table(table)


def refuse_to_lose(counting: str, meaning: str) -> None:
    """Refuse to drop values that players or operators have set."""
    count = op.get_bind().execute(sa.text(counting)).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold {meaning}, and there are rows with one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )
