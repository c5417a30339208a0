"""Add the player who chose the box of a race, and the preference about far labels."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

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


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    refuse_to_lose("SELECT count(*) FROM boards WHERE chosen_by IS NOT NULL", "a chosen box")
    refuse_to_lose(
        "SELECT count(*) FROM players WHERE labels <> 'ask'", "a preference about far labels"
    )
    op.drop_column("players", "labels")
    op.drop_column("boards", "chosen_by")


def refuse_to_lose(counting: str, meaning: str) -> None:
    """Refuse to drop values that players have set."""
    count = op.get_bind().execute(sa.text(counting)).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold {meaning}, and there are rows with one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )
