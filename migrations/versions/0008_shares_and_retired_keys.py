"""Add shares of queues (for a distributed PostgreSQL), retired keys, and sources in reports.

On PostgreSQL the number of a row says its share (`store.delivery.shares`), that of older rows, too.
"""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SHARES = 16
QUEUES = {
    "mail": {"arrivals": "id"},
    "game": {"inbox": "id", "outbox": "id", "letter_bytes": "letter_id"},
}


def upgrade() -> None:
    if "game" in context.config.attributes["stores"]:
        op.add_column("keys", sa.Column("retired_at", sa.DateTime(timezone=True)))
        op.create_table(
            "reported_sources",
            sa.Column("source", sa.String(45), primary_key=True),
            sa.Column("passed", KEY, nullable=False),
            sa.Column("failed", KEY, nullable=False),
            sa.Column("newest_at", sa.DateTime(timezone=True), nullable=False),
        )
    is_postgresql = op.get_context().dialect.name == "postgresql"
    for table, number in _queues():
        op.add_column(
            table, sa.Column("share", sa.SmallInteger, nullable=False, server_default="0")
        )
        if is_postgresql:
            row = sa.table(table, sa.column(number), sa.column("share"))
            op.execute(sa.update(row).values(share=row.c[number] % SHARES))
            op.create_check_constraint(
                f"ck_{table}_share", table, f"{number} < 0 OR share = {number} % {SHARES}"
            )


def downgrade() -> None:
    if "game" in context.config.attributes["stores"]:
        retired = op.get_bind().execute(
            sa.text("SELECT count(*) FROM keys WHERE retired_at IS NOT NULL")
        )
        if retired.scalar_one():
            raise CommandError(
                f"revision {down_revision} cannot hold retired keys, which would be valid again; "
                "restore a copy instead: pbmserv db restore FILE --overwrite"
            )
        op.drop_column("keys", "retired_at")
        op.drop_table("reported_sources")
    for table, _ in _queues():
        if op.get_context().dialect.name == "postgresql":
            op.drop_constraint(f"ck_{table}_share", table)
        op.drop_column(table, "share")


def _queues() -> list[tuple[str, str]]:
    """Return the queues of these stores with the columns of their numbers."""
    return [
        queue for store in context.config.attributes["stores"] for queue in QUEUES[store].items()
    ]
