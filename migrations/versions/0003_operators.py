"""What operators have done, and games that are closed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", KEY, nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("operator", sa.String(80), nullable=False),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("target", sa.String(80), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_target"), "audit", ["target"], unique=False)
    op.create_table(
        "closed_games",
        sa.Column("game", sa.String(20), nullable=False),
        sa.Column("closed_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("game", name=op.f("pk_closed_games")),
    )


def downgrade() -> None:
    op.drop_table("closed_games")
    op.drop_index(op.f("ix_audit_target"), table_name="audit")
    op.drop_table("audit")
