"""Add the seeds of seeks, which are pledged before opponents are found."""

import sqlalchemy as sa
from alembic import context, op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column("seeks", sa.Column("seed", sa.LargeBinary, nullable=True))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.drop_column("seeks", "seed")
