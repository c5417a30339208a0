"""Add boxes that one person fills by hand for another person at the same device."""

import sqlalchemy as sa
from alembic import context, op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "hot_seats",
        sa.Column("key", sa.String(32), primary_key=True),
        sa.Column("box", sa.LargeBinary, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Index("ix_hot_seats_changed_at", "changed_at"),
    )


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    # Boxes are deleted after seven days, and no account or game depends on them.
    op.drop_table("hot_seats")
