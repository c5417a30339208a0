"""Boards on which the house is to move."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "house_turns",
        sa.Column("board_id", KEY, nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("letter_id", KEY, nullable=True),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_house_turns_board_id")),
        sa.PrimaryKeyConstraint("board_id", name=op.f("pk_house_turns")),
    )
    op.create_index(op.f("ix_house_turns_due_at"), "house_turns", ["due_at"], unique=False)
    op.create_index(op.f("ix_house_turns_letter_id"), "house_turns", ["letter_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_house_turns_letter_id"), table_name="house_turns")
    op.drop_index(op.f("ix_house_turns_due_at"), table_name="house_turns")
    op.drop_table("house_turns")
