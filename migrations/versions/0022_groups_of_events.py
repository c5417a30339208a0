"""Name the group of an entry and of a pairing as players do."""

from alembic import context, op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

TABLES = ("entries", "pairings")


def upgrade() -> None:
    _rename("section", "group_number")


def downgrade() -> None:
    _rename("group_number", "section")


def _rename(old: str, new: str) -> None:
    if "game" in context.config.attributes["stores"]:
        for table in TABLES:
            op.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
