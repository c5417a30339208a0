"""Letters as they are mailed in a table of their own; they, mails and words of letters packed.

How values are packed (`pbmserv.store.packed`) is written here once more: a migration must go on
doing what it did.
"""

import json
import zlib

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BATCH = 200
IS_OVER = sa.text("state IN ('sent', 'failed', 'folded') AND message_id <> ''")


def pack(value):
    if not value:
        return b""
    if 200 <= len(value) <= 256 * 1024:
        small = zlib.compress(value, 1)
        if len(small) < len(value):
            return b"\x01" + small
    return b"\x00" + value


def unpack(kept):
    return zlib.decompress(kept[1:]) if kept[:1] == b"\x01" else kept[1:]


def pack_words(words):
    return b"" if words == {} else pack(json.dumps(words, separators=(",", ":")).encode())


def unpack_words(kept):
    return json.loads(unpack(kept)) if kept else {}


def _outbox(*columns):
    return sa.table("outbox", sa.column("id", sa.BigInteger), *columns)


def _each(connection, statement, key, change):
    """Call *change* for every row, a few at a time; *key* is the column that numbers them."""
    last = 0
    while True:
        rows = connection.execute(statement.where(key > last).order_by(key).limit(BATCH)).all()
        if not rows:
            return
        for row in rows:
            change(row)
        last = rows[-1].id


def _change_words(connection, old_type, new_type, nothing, change):
    """Give `outbox.words` another type: a new column takes the place of the old one.

    SQLite adds a column that must be given only with a default; there it stays.
    """
    default = sa.text(nothing)
    op.add_column(
        "outbox", sa.Column("new_words", new_type, server_default=default, nullable=False)
    )
    letters = _outbox(sa.column("words", old_type), sa.column("new_words", new_type))
    write = (
        sa.update(letters)
        .where(letters.c.id == sa.bindparam("which"))
        .values(new_words=sa.bindparam("new"))
    )
    _each(
        connection,
        sa.select(letters.c.id, letters.c.words),
        letters.c.id,
        lambda row: connection.execute(write, {"which": row.id, "new": change(row.words)}),
    )
    op.drop_column("outbox", "words")
    op.execute("ALTER TABLE outbox RENAME COLUMN new_words TO words")
    if connection.dialect.name != "sqlite":
        op.execute("ALTER TABLE outbox ALTER COLUMN words DROP DEFAULT")


def _change_mails(connection, change):
    mails = sa.table("inbox", sa.column("id", sa.BigInteger), sa.column("raw", sa.LargeBinary))
    write = (
        sa.update(mails).where(mails.c.id == sa.bindparam("which")).values(raw=sa.bindparam("new"))
    )
    _each(
        connection,
        sa.select(mails.c.id, mails.c.raw),
        mails.c.id,
        lambda row: connection.execute(write, {"which": row.id, "new": change(row.raw)}),
    )


def upgrade() -> None:
    connection = op.get_bind()
    op.create_table(
        "letter_bytes",
        sa.Column("letter_id", KEY, nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("made_at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(
            ["letter_id"],
            ["outbox.id"],
            name=op.f("fk_letter_bytes_letter_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("letter_id", name=op.f("pk_letter_bytes")),
    )
    letters = _outbox(sa.column("raw", sa.LargeBinary))
    move = sa.text(
        "INSERT INTO letter_bytes (letter_id, raw, made_at)"
        " SELECT id, :packed, coalesce(sent_at, created_at) FROM outbox WHERE id = :which"
    ).bindparams(sa.bindparam("packed", type_=sa.LargeBinary))
    _each(
        connection,
        sa.select(letters.c.id, letters.c.raw).where(letters.c.raw.is_not(None)),
        letters.c.id,
        lambda row: connection.execute(move, {"which": row.id, "packed": pack(row.raw)}),
    )
    op.drop_column("outbox", "raw")
    _change_words(connection, sa.JSON(), sa.LargeBinary(), "''", pack_words)
    _change_mails(connection, pack)
    op.create_index(op.f("ix_letter_bytes_made_at"), "letter_bytes", ["made_at"])
    op.create_index(
        "ix_outbox_over", "outbox", ["created_at"], postgresql_where=IS_OVER, sqlite_where=IS_OVER
    )


def downgrade() -> None:
    connection = op.get_bind()
    op.drop_index("ix_outbox_over", table_name="outbox")
    _change_mails(connection, unpack)
    _change_words(connection, sa.LargeBinary(), sa.JSON(), "'{}'", unpack_words)
    op.add_column("outbox", sa.Column("raw", sa.LargeBinary(), nullable=True))
    kept = sa.table(
        "letter_bytes",
        sa.column("letter_id", sa.BigInteger),
        sa.column("raw", sa.LargeBinary),
    )
    letters = _outbox(sa.column("raw", sa.LargeBinary))
    write = (
        sa.update(letters)
        .where(letters.c.id == sa.bindparam("which"))
        .values(raw=sa.bindparam("new"))
    )
    _each(
        connection,
        sa.select(kept.c.letter_id.label("id"), kept.c.raw),
        kept.c.letter_id,
        lambda row: connection.execute(write, {"which": row.id, "new": unpack(row.raw)}),
    )
    op.drop_table("letter_bytes")
