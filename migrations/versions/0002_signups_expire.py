"""Add indexes of unconfirmed signups and changes of address, so that they can be deleted."""

import sqlalchemy as sa
from alembic import context, op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

WAITING = (("signups", "player_id"), ("address_changes", "confirmed_at"))


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    for table, settled in WAITING:
        where = sa.text(f"{settled} IS NULL")
        op.create_index(
            f"ix_{table}_waiting",
            table,
            ["created_at"],
            sqlite_where=where,
            postgresql_where=where,
        )


def downgrade() -> None:
    if "game" in context.config.attributes["stores"]:
        for table, _ in WAITING:
            op.drop_index(f"ix_{table}_waiting", table)
