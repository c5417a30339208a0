"""Add the player who chose the box of a race, and the preference about far labels."""

import sqlalchemy as sa
from alembic import context, op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    if "game" in context.config.attributes["stores"]:
        op.add_column("boards", sa.Column("chosen_by", KEY))
        op.add_column(
            "players", sa.Column("labels", sa.String(4), nullable=False, server_default="ask")
        )
