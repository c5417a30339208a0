"""Drop the stored octets of letters: each attempt makes a letter from its row and the record."""

import sqlalchemy as sa
from alembic import context, op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    if "game" in context.config.attributes["stores"]:
        op.drop_table("letter_bytes")


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "letter_bytes",
        sa.Column(
            "letter_id", KEY, sa.ForeignKey("outbox.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("raw", sa.LargeBinary, nullable=False),
        sa.Column("made_at", INSTANT, nullable=False, index=True),
        sa.Column("share", sa.SmallInteger, nullable=False, server_default="0"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_check_constraint(
            "ck_letter_bytes_share", "letter_bytes", "letter_id < 0 OR share = letter_id % 16"
        )
