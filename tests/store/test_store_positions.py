"""Cached positions: equal to the record, committed only, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Running, start
from seating import HIDINGS, Table, seat_pairs
from sqlalchemy import Connection

from pbmserv.commands.table.looking import ListGames
from pbmserv.engine.position import Position
from pbmserv.engine.types import Seat
from pbmserv.service.handlers import HANDLERS
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.moves import Positions


def row(connection: Connection, board: int) -> BoardRow:
    board_row = boards.load(connection, board)
    assert board_row is not None
    return board_row


def shown(position: Position) -> list[object]:
    """Return everything that a position shows to anybody."""
    seats = (None, Seat(0), Seat(1))
    return [position.number, *(position.game.view(position.state, seat) for seat in seats)]


def play(server: Running, table: Table, *turns: tuple[int, str]) -> None:
    for seat, text in turns:
        player = table.players[seat]
        words = f"blackbox move {table.board} {player.userid} secret {text}"
        assert server.send(player.address, words).startswith("250")


def test_cached_positions_equal_replayed_ones(server: Running) -> None:
    table = seat_pairs(server.server, 1)[0]
    play(server, table, (0, HIDINGS[0]), (1, HIDINGS[1]), (0, "a"), (1, "5"), (0, "+b2"), (0, "g"))
    with server.server.database.reading.connect() as connection:
        board = row(connection, table.board)
        assert board.plies == 6
        remembered = server.server.positions.newest(connection, board)
        replayed = Positions(server.server.registry).newest(connection, board)
        assert shown(remembered) == shown(replayed)
        for number in range(7):
            assert shown(remembered.at(number)) == shown(replayed.at(number))
        # With nothing new in the record it is not even replayed.
        assert server.server.positions.newest(connection, board) is remembered


def test_a_position_that_was_rolled_back_is_not_cached(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mail with a good move, a refused one, and a crash at the end has no effect."""
    table = seat_pairs(server.server, 1)[0]
    one, two = table.players
    play(server, table, (0, HIDINGS[0]), (1, HIDINGS[1]))
    body = (
        f"blackbox move {table.board} {one.userid} secret a\n"
        f"blackbox move {table.board} {two.userid} secret zz99\n"
        f"blackbox move {table.board} {two.userid} secret 5\n"
    )

    def breaks(context: object, command: object) -> None:
        raise LookupError("a fault of ours")

    with monkeypatch.context() as broken:
        broken.setitem(HANDLERS, ListGames, breaks)
        assert server.send(one.address, "multiple", f"{body}list\n").startswith("250")
    with server.server.database.reading.connect() as connection:
        board = row(connection, table.board)
        assert board.plies == 2
        assert server.server.positions.newest(connection, board).number == 2

    assert server.send(one.address, "multiple", body).startswith("250")
    with server.server.database.reading.connect() as connection:
        board = row(connection, table.board)
        assert [ply.text for ply in moves.record(connection, table.board)][2:] == ["A", "5"]
        newest = server.server.positions.newest(connection, board)
        assert shown(newest) == shown(Positions(server.server.registry).newest(connection, board))


def test_an_uncommitted_position_is_invisible_to_others(server: Running) -> None:
    """What one transaction has played is not there for another one that has not seen it."""
    table = seat_pairs(server.server, 1)[0]
    play(server, table, (0, HIDINGS[0]), (1, HIDINGS[1]))
    positions, database = server.server.positions, server.server.database
    with database.reading.connect() as before:
        old = row(before, table.board)
        play(server, table, (0, "a"))  # newer than what this reader sees, and remembered
        assert positions.newest(before, old).number == 2
        assert shown(positions.newest(before, old)) == shown(
            Positions(server.server.registry).newest(before, old)
        )


def test_old_boards_are_forgotten_when_memory_is_full(tmp_path: Path) -> None:
    with start(f"sqlite:///{tmp_path}/pbmserv.sqlite3", tmp_path) as server:
        tables = seat_pairs(server.server, 5)
        for table in tables:
            play(server, table, (0, HIDINGS[0]), (1, HIDINGS[1]))
        positions = Positions(server.server.registry, most=9)  # three boards of 2 plies
        with server.server.database.reading.connect() as connection:
            for table in tables:
                position = positions.newest(connection, row(connection, table.board))
                positions.remember({table.board: position})
                positions.remember({table.board: position})  # twice counts once
                positions.remember({table.board: position.at(1)})  # an older one replaces nothing
            assert list(positions._kept) == [table.board for table in tables[2:]]
            assert positions._plies == 9
            # Looking at one keeps it longer than those that nobody looks at.
            positions.newest(connection, row(connection, tables[2].board))
            first = positions.newest(connection, row(connection, tables[0].board))
            positions.remember({tables[0].board: first})
            assert list(positions._kept) == [tables[n].board for n in (4, 2, 0)]
            # A board larger than the memory is kept alone rather than not at all.
            small = Positions(server.server.registry, most=1)
            small.remember({tables[0].board: first})
            small.remember({tables[1].board: first})
            assert list(small._kept) == [tables[1].board]
