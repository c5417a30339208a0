"""Add announcements to all players, the preference about them, and senders that are blocked."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column(
        "players",
        sa.Column("announcements", sa.Boolean, nullable=False, server_default=sa.true()),
    )
    op.create_table(
        "announcements",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("is_service", sa.Boolean, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("last_player", KEY, nullable=False),
        sa.Column("reached", KEY, nullable=False),
        sa.Column("sent", sa.Integer, nullable=False),
        sa.Column("finished_at", INSTANT, nullable=True),
        sa.UniqueConstraint("digest", name="uq_announcements_digest"),
    )
    op.create_table(
        "blocked_senders",
        sa.Column("name", sa.String(254), primary_key=True),
        sa.Column("until", INSTANT, nullable=True),
        sa.Column("created_at", INSTANT, nullable=False),
    )


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    refuse_to_lose("SELECT count(*) FROM players WHERE NOT announcements", "an opt-out")
    refuse_to_lose("SELECT count(*) FROM blocked_senders", "a blocked sender")
    op.drop_table("blocked_senders")
    op.drop_table("announcements")
    op.drop_column("players", "announcements")


def refuse_to_lose(counting: str, meaning: str) -> None:
    """Refuse to drop values that players or operators have set."""
    count = op.get_bind().execute(sa.text(counting)).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold {meaning}, and there are rows with one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )
