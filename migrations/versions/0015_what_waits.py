"""The mail that led to a letter, and an index of letters that have not gone out."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OPEN = "state <> 'sent' AND state <> 'folded'"


def upgrade() -> None:
    op.add_column("outbox", sa.Column("mail_id", KEY, nullable=True))
    op.create_index(
        "ix_outbox_open",
        "outbox",
        ["state", "id"],
        postgresql_where=sa.text(_OPEN),
        sqlite_where=sa.text(_OPEN),
    )


def downgrade() -> None:
    op.drop_index("ix_outbox_open", table_name="outbox")
    op.drop_column("outbox", "mail_id")
