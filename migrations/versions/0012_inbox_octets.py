"""What the texts of mails take, and the ends of rows whose mails led to nothing."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

HAS_TEXT = sa.text("octets > 0")
UNUSED = sa.text("state IN ('answered', 'ignored')")


def upgrade() -> None:
    op.add_column("inbox", sa.Column("octets", sa.Integer(), server_default="0", nullable=False))
    op.execute("UPDATE inbox SET octets = length(raw) WHERE length(raw) > 0")
    op.create_index(
        "ix_inbox_text",
        "inbox",
        ["state", "received_at", "octets"],
        sqlite_where=HAS_TEXT,
        postgresql_where=HAS_TEXT,
    )
    op.create_index(
        "ix_inbox_unused", "inbox", ["received_at"], sqlite_where=UNUSED, postgresql_where=UNUSED
    )


def downgrade() -> None:
    op.drop_index("ix_inbox_unused", "inbox")
    op.drop_index("ix_inbox_text", "inbox")
    op.execute("UPDATE inbox SET state = 'done' WHERE state = 'answered'")
    op.drop_column("inbox", "octets")
