"""Whether the From address of a mail was proven."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("inbox") as inbox:
        inbox.add_column(
            sa.Column("verdict", sa.String(12), nullable=False, server_default="unchecked")
        )
        inbox.add_column(sa.Column("found", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("inbox") as inbox:
        inbox.drop_column("found")
        inbox.drop_column("verdict")
