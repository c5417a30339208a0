"""Drop whether the letters of a board carry hashes of its record: those of all boards do."""

import sqlalchemy as sa
from alembic import context, op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" in context.config.attributes["stores"]:
        op.drop_column("boards", "pledged")


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column(
        "boards", sa.Column("pledged", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.execute("UPDATE boards SET pledged = true")
