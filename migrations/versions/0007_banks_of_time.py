"""Add banks of time, clocks that run on weekdays only, and a limit of absences to boards."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    columns = (
        sa.Column("increment_days", sa.Integer, nullable=False, server_default="0"),
        sa.Column("cap_days", sa.Integer, nullable=True),
        sa.Column("weekdays", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("away_days", sa.Integer, nullable=True),
    )
    for column in columns:
        op.add_column("boards", column)


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    counting = "SELECT count(*) FROM boards WHERE cap_days IS NOT NULL OR weekdays"
    count = op.get_bind().execute(sa.text(counting)).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold a bank of time, and there are boards with one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )
    for name in ("away_days", "weekdays", "cap_days", "increment_days"):
        op.drop_column("boards", name)
