"""Add the boards of each player, and shares and games of the work for bots."""

import sqlalchemy as sa
from alembic import context, op

revision = "0015"
down_revision = "0013"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SHARES = 16
WORK = ("house_turns", "analyses")

BOARDS_BY_PLAYER = """
INSERT INTO player_boards (player_id, board_id, game, seats, status, proven, accepted)
SELECT seats.player_id, boards.id, boards.game, boards.seats, boards.status, boards.proven,
       count(seats.accepted_at) > 0
FROM boards JOIN seats ON seats.board_id = boards.id
GROUP BY seats.player_id, boards.id, boards.game, boards.seats, boards.status, boards.proven
"""
WAITING = """
SELECT letter_id, board_id FROM house_turns WHERE letter_id IS NOT NULL
UNION SELECT letter_id, board_id FROM awaited_analyses ORDER BY 1, 2
"""


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "player_boards",
        reference("player_id", "players"),
        reference("board_id", "boards"),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("seats", sa.SmallInteger, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("proven", sa.Boolean, nullable=False),
        sa.Column("accepted", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("player_id", "board_id", name="pk_player_boards"),
    )
    op.execute(BOARDS_BY_PLAYER)
    boards = sa.table("boards", sa.column("id"), sa.column("game"))
    is_postgresql = op.get_context().dialect.name == "postgresql"
    for table in WORK:
        op.add_column(table, sa.Column("game", sa.String(32), nullable=False, server_default=""))
        op.add_column(
            table, sa.Column("share", sa.SmallInteger, nullable=False, server_default="0")
        )
        work = sa.table(table, sa.column("board_id"), sa.column("game"), sa.column("share"))
        game = sa.select(boards.c.game).where(boards.c.id == work.c.board_id).scalar_subquery()
        op.execute(sa.update(work).values(game=game))
        if is_postgresql:
            op.execute(sa.update(work).values(share=work.c.board_id % SHARES))
    op.add_column("outbox", sa.Column("waits_for", sa.JSON, nullable=True))
    awaited: dict[int, list[int]] = {}
    for letter_id, board_id in op.get_bind().execute(sa.text(WAITING)):
        awaited.setdefault(letter_id, []).append(board_id)
    letters = sa.table("outbox", sa.column("id"), sa.column("waits_for", sa.JSON))
    for letter_id, board_ids in awaited.items():
        op.execute(sa.update(letters).where(letters.c.id == letter_id).values(waits_for=board_ids))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.drop_column("outbox", "waits_for")
    for table in WORK:
        op.drop_column(table, "share")
        op.drop_column(table, "game")
    op.drop_table("player_boards")


def reference(column: str, table: str) -> sa.Column[int]:
    key = sa.ForeignKey(f"{table}.id", name=f"fk_player_boards_{column}")
    return sa.Column(column, KEY, key, nullable=False)
