"""Whether the From address of a mail was proven."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "inbox", sa.Column("verdict", sa.String(12), nullable=False, server_default="unchecked")
    )
    op.add_column("inbox", sa.Column("found", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("inbox", "found")
    op.drop_column("inbox", "verdict")
