"""Add the seeds of shared boxes that are games with dice or deals."""

import sqlalchemy as sa
from alembic import context, op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column("shared_boxes", sa.Column("seed", sa.LargeBinary, nullable=True))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.drop_column("shared_boxes", "seed")
