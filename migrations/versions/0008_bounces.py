"""Addresses from which letters came back, and players who cannot be reached."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "bounces",
        sa.Column("address", sa.String(254), nullable=False),
        sa.Column("hard", sa.SmallInteger(), nullable=False),
        sa.Column("soft", sa.SmallInteger(), nullable=False),
        sa.Column("hard_at", INSTANT, nullable=True),
        sa.Column("soft_at", INSTANT, nullable=True),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("diagnostic", sa.String(300), nullable=False),
        sa.Column("suspended_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("address", name=op.f("pk_bounces")),
    )
    op.add_column("players", sa.Column("unreachable_since", INSTANT, nullable=True))


def downgrade() -> None:
    op.drop_column("players", "unreachable_since")
    op.drop_table("bounces")
