"""Add the challenges of newcomers, which wait until their signup is confirmed."""

import sqlalchemy as sa
from alembic import context, op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column("signups", sa.Column("challenge", sa.JSON(none_as_null=True), nullable=True))
    where = sa.text("challenge IS NOT NULL")
    op.create_index(
        "ix_signups_challenge",
        "signups",
        ["address"],
        sqlite_where=where,
        postgresql_where=where,
    )


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.drop_index("ix_signups_challenge", "signups")
    op.drop_column("signups", "challenge")
