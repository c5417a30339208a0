"""Add whether the letters of a board carry hashes of its record, and the marks of plies."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column(
        "boards", sa.Column("pledged", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.add_column(
        "boards", sa.Column("sides_drawn", sa.Boolean, nullable=False, server_default=sa.false())
    )
    op.add_column("plies", sa.Column("mark", sa.String(32), nullable=True))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    marked = op.get_bind().execute(sa.text("SELECT count(*) FROM plies WHERE mark IS NOT NULL"))
    if count := marked.scalar_one():
        raise CommandError(
            f"revision {down_revision} cannot hold the marks of moves, without which dice differ, "
            f"and there are some ({count}); restore a copy instead: pbmserv db restore FILE "
            "--overwrite"
        )
    op.drop_column("plies", "mark")
    op.drop_column("boards", "sides_drawn")
    op.drop_column("boards", "pledged")
