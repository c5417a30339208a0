"""Add mailboxes of addresses, lasting blocks, tries of the box of the day, and a preference."""

from contextlib import suppress

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.add_column(
        "players", sa.Column("messages", sa.String(6), nullable=False, server_default="all")
    )
    op.add_column("addresses", sa.Column("mailbox", sa.Text, nullable=False, server_default=""))
    fill_mailboxes()
    op.create_index("ix_addresses_mailbox", "addresses", ["mailbox"])
    op.add_column(
        "daily_boards", sa.Column("counts", sa.Boolean, nullable=False, server_default=sa.true())
    )
    op.create_table(
        "daily_tries",
        sa.Column("game", sa.String(20), primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("mark", sa.String(64), primary_key=True),
    )
    op.create_table(
        "blocked_mailboxes",
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("blocked_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("mark", sa.String(64), primary_key=True),
    )


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    refuse_to_lose(
        "SELECT count(*) FROM players WHERE messages <> 'all'", "a preference about messages"
    )
    refuse_to_lose("SELECT count(*) FROM blocked_mailboxes", "a block that outlasts a name")
    op.drop_table("blocked_mailboxes")
    op.drop_table("daily_tries")
    op.drop_column("daily_boards", "counts")
    op.drop_index("ix_addresses_mailbox", "addresses")
    op.drop_column("addresses", "mailbox")
    op.drop_column("players", "messages")


def refuse_to_lose(counting: str, meaning: str) -> None:
    """Refuse to drop values that players have set."""
    count = op.get_bind().execute(sa.text(counting)).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold {meaning}, and there are rows with one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )


def fill_mailboxes() -> None:
    """Compute the mailbox of each existing address."""
    addresses = sa.table(
        "addresses", sa.column("address"), sa.column("player_id"), sa.column("mailbox")
    )
    connection = op.get_bind()
    distinct = sa.select(addresses.c.address).distinct()
    for address in connection.execute(distinct).scalars().all():
        connection.execute(
            sa.update(addresses)
            .where(addresses.c.address == address)
            .values(mailbox=mailbox_of(address))
        )


def mailbox_of(address: str) -> str:
    """Return the mailbox of an address, as `pbmserv.mail.mailboxes` had it at this revision."""
    local, _, domain = address.casefold().rpartition("@")
    local = local.partition("+")[0] or local
    with suppress(UnicodeError):
        domain = domain.encode("idna").decode("ascii")
    if domain in {"gmail.com", "googlemail.com"}:
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"
