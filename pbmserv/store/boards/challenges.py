"""Questions to the tables before a challenge: how many are open, and whether it is one already."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, func, select

from pbmserv.store.tables import boards, seats

_mine, _theirs = seats.alias("mine"), seats.alias("theirs")
_OPEN = (
    select(func.count(boards.c.id.distinct()))
    .join(_mine, _mine.c.board_id == boards.c.id)
    .where(
        _mine.c.player_id == bindparam("player"),
        _mine.c.accepted_at.is_not(None),
        boards.c.status == "proposed",
        boards.c.proven == bindparam("proven"),
    )
)
_OPEN_TOWARDS = _OPEN.join(_theirs, _theirs.c.board_id == boards.c.id).where(
    _theirs.c.player_id == bindparam("other"), _theirs.c.accepted_at.is_(None)
)
_BETWEEN = (
    select(func.count(boards.c.id.distinct()))
    .join(_mine, _mine.c.board_id == boards.c.id)
    .join(_theirs, _theirs.c.board_id == boards.c.id)
    .where(
        _mine.c.player_id == bindparam("player"),
        _theirs.c.player_id == bindparam("other"),
        boards.c.status.in_(("proposed", "active")),
    )
)
_WAITING = (
    select(boards.c.id, boards.c.options)
    .join(_mine, _mine.c.board_id == boards.c.id)
    .where(
        _mine.c.player_id == bindparam("player"),
        _mine.c.accepted_at.is_(None),
        boards.c.status == "proposed",
        boards.c.game == bindparam("game"),
    )
    .order_by(boards.c.id)
)


_ALONE = (
    select(func.count())
    .select_from(boards)
    .join(seats, seats.c.board_id == boards.c.id)
    .where(
        seats.c.player_id == bindparam("player"),
        boards.c.seats == 1,
        boards.c.status.in_(("proposed", "active")),
    )
)


def alone(connection: Connection, player_id: int) -> int:
    """Running boards at which the player sits alone."""
    found: int = connection.execute(_ALONE, {"player": player_id}).scalar_one()
    return found


def open_by(connection: Connection, player_id: int, *, proven: bool) -> int:
    """Boards on which the player waits for others to accept, and has *proven* to want that; or
    those of which only a From address says so."""
    found: int = connection.execute(_OPEN, {"player": player_id, "proven": proven}).scalar_one()
    return found


def open_towards(connection: Connection, player_id: int, other_id: int, *, proven: bool) -> int:
    """Those of them on which the player waits for this other one to accept."""
    found: int = connection.execute(
        _OPEN_TOWARDS, {"player": player_id, "other": other_id, "proven": proven}
    ).scalar_one()
    return found


def running_between(connection: Connection, player_id: int, other_id: int) -> int:
    """Boards of both that are not over, accepted or not."""
    found: int = connection.execute(_BETWEEN, {"player": player_id, "other": other_id}).scalar_one()
    return found


def waiting_for(
    connection: Connection,
    player_id: int,
    game: str,
    options: Sequence[str],
    sitting: Sequence[int],
) -> int | None:
    """A challenge to this player with exactly these options and seats, if there is one."""
    for board_id, words in connection.execute(_WAITING, {"player": player_id, "game": game}):
        there = connection.execute(
            select(seats.c.player_id).where(seats.c.board_id == board_id).order_by(seats.c.seat)
        ).scalars()
        if list(words) == list(options) and list(there) == list(sitting):
            found: int = board_id
            return found
    return None
