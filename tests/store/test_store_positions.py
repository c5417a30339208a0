"""Cached positions: equal to the record, committed only, and bounded."""

from __future__ import annotations

from typing import Any

import pytest
from running import Running
from seating import HIDINGS, Table, seat_pairs
from sqlalchemy import Connection

from pbmserv.commands.table.looking import ListGames
from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import ServerFault
from pbmserv.game import Game
from pbmserv.service.boards.plies import refuse_large_state
from pbmserv.service.handlers import HANDLERS
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.positions import Positions


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


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_position_that_was_rolled_back_is_not_cached(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mail with a good move, a refused one, and a crash at the end has no effect."""
    table = seat_pairs(server.server, 1)[0]
    first, second = table.players
    play(server, table, (0, HIDINGS[0]), (1, HIDINGS[1]))
    body = (
        f"blackbox move {table.board} {first.userid} secret a\n"
        f"blackbox move {table.board} {second.userid} secret zz99\n"
        f"blackbox move {table.board} {second.userid} secret 5\n"
    )

    def breaks(context: object, command: object) -> None:
        raise LookupError("a fault of ours")

    with monkeypatch.context() as broken:
        broken.setitem(HANDLERS, ListGames, breaks)
        assert server.send(first.address, "multiple", f"{body}list\n").startswith("250")
    with server.server.database.reading.connect() as connection:
        board = row(connection, table.board)
        assert board.plies == 2
        assert server.server.positions.newest(connection, board).number == 2

    assert server.send(first.address, "multiple", body).startswith("250")
    with server.server.database.reading.connect() as connection:
        board = row(connection, table.board)
        assert [ply.text for ply in moves.record(connection, table.board)][2:] == ["A", "5"]
        newest = server.server.positions.newest(connection, board)
        assert shown(newest) == shown(Positions(server.server.registry).newest(connection, board))


def test_an_uncommitted_position_is_invisible_to_others(server: Running) -> None:
    """A transaction does not see positions that another one has played and not committed."""
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


class Hoard(Game[tuple[int, bytes]]):
    """Each state holds many octets that no other state has."""

    key, title = "hoard", "Hoard"
    octets = 30_000

    def start(self, seats: int, options: Any, rng: Any) -> tuple[int, bytes]:
        return 0, b""

    def moves(self, state: tuple[int, bytes], seat: int) -> list[str]:
        return ["1"]

    def play(self, state: tuple[int, bytes], seat: int, move: str, rng: Any) -> tuple[int, bytes]:
        return state[0] + 1, bytes([state[0]]) * self.octets

    def over(self, state: tuple[int, bytes]) -> None:
        return None


def test_a_state_that_would_fill_the_memory_is_not_stored() -> None:
    hoard = Hoard()
    game = Registry([hoard]).newest("hoard")
    position = opening(game, GameRecord("hoard", 1, 2, (), b"seed" * 8))
    for number in range(40):  # together they have more than one may have
        position = position.move(Seat(number % 2), Move("1"))
        refuse_large_state(position)
    hoard.octets = 900_000
    for number in range(40, 60):
        position = position.move(Seat(number % 2), Move("1"))
    with pytest.raises(ServerFault, match="a state of hoard has 900 kB"):
        refuse_large_state(position)
    hoard.octets = 2_000_000
    with pytest.raises(ServerFault, match="a state of hoard has 2000 kB"):
        refuse_large_state(position.move(Seat(0), Move("1")))
