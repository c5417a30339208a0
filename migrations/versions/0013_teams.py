"""Add teams and their members, and the team of an entry."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "teams",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("key", sa.String(40), nullable=True),
        sa.Column("captain_id", KEY, sa.ForeignKey("players.id"), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("due_at", INSTANT, nullable=True, index=True),
        sa.UniqueConstraint("key", name="uq_teams_key"),
    )
    op.create_table(
        "team_members",
        sa.Column("team_id", KEY, sa.ForeignKey("teams.id"), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, index=True),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("place", sa.SmallInteger, nullable=True),
        sa.Column("muted", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("active_at", INSTANT, nullable=False),
    )
    op.add_column("entries", sa.Column("team_id", KEY, nullable=True))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    count = op.get_bind().execute(sa.text("SELECT count(*) FROM teams")).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold a team, and there are rows with one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )
    op.drop_column("entries", "team_id")
    for table in ("team_members", "teams"):
        op.drop_table(table)
