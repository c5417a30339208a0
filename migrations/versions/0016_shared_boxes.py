"""Put the boxes of the day and those of duplicate events into the same two tables."""

import sqlalchemy as sa
from alembic import context, op
from alembic.util import CommandError

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

DAILY_BOXES = """
INSERT INTO shared_boxes (game, options, day)
SELECT game, options, day FROM daily_boxes ORDER BY day, game
"""
DAILY_BOARDS = """
INSERT INTO shared_boards (box_id, player_id, board_id, "rank", score, counts)
SELECT shared_boxes.id, daily_boards.player_id, daily_boards.board_id,
       CASE WHEN daily_boards.solved IS NULL THEN NULL WHEN daily_boards.solved THEN 0 ELSE 1 END,
       daily_boards.score, daily_boards.counts
FROM daily_boards JOIN shared_boxes
    ON shared_boxes.game = daily_boards.game AND shared_boxes.day = daily_boards.day
"""
RACES = """
SELECT pairings.event_id, pairings.number, pairings.board_id
FROM pairings JOIN events ON events.id = pairings.event_id
    JOIN boards ON boards.id = pairings.board_id
WHERE events.kind = 'duplicate' ORDER BY pairings.event_id, pairings.number
"""
RACE_BOX = """
INSERT INTO shared_boxes (game, options, event_id, number)
SELECT game, options, :event_id, :number FROM boards WHERE id = :board_id
"""
RACER = """
INSERT INTO shared_boards (box_id, player_id, board_id, "rank", score)
SELECT id, :player_id, :board_id, :rank, :score FROM shared_boxes
WHERE event_id = :event_id AND number = :number
"""
DROP_RACES = """
DELETE FROM pairings WHERE event_id IN (SELECT id FROM events WHERE kind = 'duplicate')
"""
DAILY_BOXES_BACK = """
INSERT INTO daily_boxes (game, day, options)
SELECT game, day, options FROM shared_boxes WHERE day IS NOT NULL
"""
DAILY_BOARDS_BACK = """
INSERT INTO daily_boards (player_id, game, day, board_id, solved, score, counts)
SELECT shared_boards.player_id, shared_boxes.game, shared_boxes.day, shared_boards.board_id,
       shared_boards."rank" = 0,
       CASE WHEN shared_boards."rank" = 0 THEN shared_boards.score END, shared_boards.counts
FROM shared_boards JOIN shared_boxes ON shared_boxes.id = shared_boards.box_id
WHERE shared_boxes.day IS NOT NULL
"""


def upgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    op.create_table(
        "shared_boxes",
        sa.Column("id", KEY, primary_key=True),
        sa.Column("game", sa.String(32), nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("day", sa.Integer, nullable=True),
        sa.Column("event_id", KEY, nullable=True),
        sa.Column("number", sa.SmallInteger, nullable=True),
        sa.UniqueConstraint("game", "day", name="uq_shared_boxes_game"),
        sa.UniqueConstraint("event_id", "number", name="uq_shared_boxes_event_id"),
    )
    is_open = sa.text("rank IS NULL")
    op.create_table(
        "shared_boards",
        sa.Column("box_id", KEY, sa.ForeignKey("shared_boxes.id"), primary_key=True),
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True, index=True),
        sa.Column("board_id", KEY, nullable=True, index=True),
        sa.Column("rank", sa.SmallInteger, nullable=True),
        sa.Column("score", sa.Integer, nullable=True),
        sa.Column("counts", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Index("ix_shared_boards_open", "box_id", postgresql_where=is_open, sqlite_where=is_open),
    )
    op.execute(DAILY_BOXES)
    op.execute(DAILY_BOARDS)
    move_races()
    op.drop_table("daily_boards")
    op.drop_table("daily_boxes")


def move_races() -> None:
    """Make each race of a duplicate event a shared box, whose players have the same board.

    The score of a finished one is the place there.
    """
    connection = op.get_bind()
    boards = sa.table("boards", sa.column("id"), sa.column("outcome", sa.JSON))
    seats = sa.table("seats", sa.column("board_id"), sa.column("seat"), sa.column("player_id"))
    for event_id, number, board_id in connection.execute(sa.text(RACES)).all():
        box = {"event_id": event_id, "number": number, "board_id": board_id}
        connection.execute(sa.text(RACE_BOX), box)
        outcome = connection.execute(
            sa.select(boards.c.outcome).where(boards.c.id == board_id)
        ).scalar()
        players = sa.select(seats.c.seat, seats.c.player_id).where(seats.c.board_id == board_id)
        for seat, player_id in connection.execute(players).all():
            result = (None, None) if outcome is None else (0, outcome["places"][seat])
            values = {"player_id": player_id, "rank": result[0], "score": result[1]}
            connection.execute(sa.text(RACER), {**box, **values})
    connection.execute(sa.text(DROP_RACES))


def downgrade() -> None:
    if "game" not in context.config.attributes["stores"]:
        return
    refuse_to_lose(
        "SELECT count(*) FROM shared_boxes WHERE event_id IS NOT NULL", "a box of an event"
    )
    op.create_table(
        "daily_boxes",
        sa.Column("game", sa.String(20), primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("options", sa.JSON, nullable=False),
    )
    op.create_table(
        "daily_boards",
        sa.Column("player_id", KEY, sa.ForeignKey("players.id"), primary_key=True),
        sa.Column("game", sa.String(20), primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("board_id", KEY, sa.ForeignKey("boards.id"), nullable=False, unique=True),
        sa.Column("solved", sa.Boolean),
        sa.Column("score", sa.Integer),
        sa.Column("counts", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Index("ix_daily_boards_game_day", "game", "day"),
    )
    op.execute(DAILY_BOXES_BACK)
    op.execute(DAILY_BOARDS_BACK)
    op.drop_table("shared_boards")
    op.drop_table("shared_boxes")


def refuse_to_lose(counting: str, meaning: str) -> None:
    """Refuse to drop values that players or operators have set."""
    count = op.get_bind().execute(sa.text(counting)).scalar_one()
    if count:
        raise CommandError(
            f"revision {down_revision} cannot hold {meaning}, and there are rows with one "
            f"({count}); restore a copy instead: pbmserv db restore FILE --overwrite"
        )
