"""Demand a seed of each seek; those from before 0017 get one, which no letter has pledged."""

import secrets

import sqlalchemy as sa
from alembic import context, op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

SEEKS = sa.table("seeks", sa.column("id"), sa.column("seed"))


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    connection = op.get_bind()
    without = connection.execute(sa.select(SEEKS.c.id).where(SEEKS.c.seed.is_(None)))
    for number in without.scalars().all():
        seed = secrets.token_bytes(32)
        connection.execute(sa.update(SEEKS).where(SEEKS.c.id == number).values(seed=seed))
    _allow_no_seed(nullable=False)


def downgrade() -> None:
    if "game" in context.config.attributes["stores"]:
        _allow_no_seed(nullable=True)


def _allow_no_seed(*, nullable: bool) -> None:
    with op.batch_alter_table("seeks") as seeks:
        seeks.alter_column("seed", existing_type=sa.LargeBinary, nullable=nullable)
