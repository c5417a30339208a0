"""What processes have counted: wrong passwords, and on PostgreSQL mails."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "counting",
        sa.Column("book", sa.String(16), nullable=False),
        sa.Column("process", sa.String(16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("book", "process", name="pk_counting"),
    )
    op.create_table(
        "counted",
        sa.Column("book", sa.String(16), nullable=False),
        sa.Column("process", sa.String(16), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("part", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("events", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("book", "process", "number", "part", name="pk_counted"),
    )
    op.create_index("ix_counted_until", "counted", ["until"])


def downgrade() -> None:
    op.drop_table("counted")
    op.drop_table("counting")
