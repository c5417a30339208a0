"""${message}."""

import sqlalchemy as sa
from alembic import context, op

revision = "${up_revision}"
down_revision = "${down_revision}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:  # "mail": the mail store
        return
    op.add_column("TABLE", sa.Column("COLUMN", sa.Text, nullable=True))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.drop_column("TABLE", "COLUMN")
