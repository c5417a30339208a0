"""Line 7: what a move costs where much is in the database: boards, players, plies of a board.

All stages in this process, one after the other, in processor time: door, play, both letters; a
relay that takes them. Servers of all sizes take turns, move by move, so that whatever else the
machine does meets all of them. Whatever is beside the boards that are played lies in the database
like any other: running boards with two plies, players with an address.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from time import process_time

from benchmarks import moves
from benchmarks.moves import DOMAIN, LOCAL, Board, Games
from pbmserv.config.settings import load
from pbmserv.mail.envelope import Envelope
from pbmserv.outbound.relay import OutgoingLetter, Relay
from tests.one_process import Server

PLAYED = 60
"""Boards that are played in each house, so that none is known from the move before."""
PLAYERS = 20_000
BOARDS = 2_000
WARM_UP = 20
PLIES = (5, 10, 20, 30, 40)
"""At which a board is looked at; there are four turns of each board for it."""

Costs = dict[int, float]
"""Milliseconds of a move by size."""


class _Nowhere(Relay):
    """A relay that takes every letter, and counts them."""

    def __init__(self) -> None:
        self.taken = 0

    def deliver(self, letter: OutgoingLetter) -> None:
        del letter
        self.taken += 1

    def close(self) -> None:
        """There is nothing to end."""


class House:
    """A server in this process.

    Args:
        boards, players: in its database.
    """

    def __init__(self, folder: Path, boards: int, players: int) -> None:
        folder.mkdir()
        database = folder / "pbmserv.sqlite3"
        self.games = moves.prepare(database, min(PLAYED, boards), min(players, 1_000))
        _fill(database, boards, players)
        values = {
            "PBMSERV_DATA_DIR": str(folder),
            "PBMSERV_DATABASE": f"sqlite:///{database}",
            "PBMSERV_SMTP": "127.0.0.1:0",
            "PBMSERV_WEB": "",
            "PBMSERV_ADDRESS": f"{LOCAL}@{DOMAIN}",
            "PBMSERV_SENDER_CHECKS": "off",
        }
        self._relay = _Nowhere()
        self._server = Server(load(values, None).settings, relay=self._relay)
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        """End it."""
        self._server.close()
        self._loop.close()

    def move(self, board: Board) -> float:
        """Have the next turn of a board made, and both letters sent; seconds.

        Raises:
            RuntimeError: that did not happen.
        """
        before = self._relay.taken
        mail = self.games.move(board)
        raw = mail.raw
        begun = process_time()
        reply = self._loop.run_until_complete(
            self._server.door.arrives(
                Envelope(mail.sender, mail.recipient, raw, "127.0.0.1"), is_counted=False
            )
        )
        self._server.settle()
        self._server.sender.run_once()
        took = process_time() - begun
        if self._relay.taken != before + 2:
            raise RuntimeError(f"{reply}, and {self._relay.taken - before} letters")
        return took


def by_boards(folder: Path, sizes: Sequence[int], times: int) -> Costs:
    """What a move costs among so many boards, of `PLAYERS` players."""
    return _compared([(size, folder / f"boards-{size}", size, PLAYERS) for size in sizes], times)


def by_players(folder: Path, sizes: Sequence[int], times: int) -> Costs:
    """What a move costs among so many players, with `BOARDS` boards."""
    return _compared([(size, folder / f"players-{size}", BOARDS, size) for size in sizes], times)


def by_plies(folder: Path, times: int) -> Costs:
    """What a move costs on a board that has so many plies."""
    took: dict[int, list[float]] = defaultdict(list)
    house = House(folder / "plies", PLAYED, 1_000)
    try:
        long = [board for board in house.games.running if board.turn + board.left > PLIES[-1] + 2]
        groups = {ply: long[n :: len(PLIES)][:10] for n, ply in enumerate(PLIES)}
        for ply, boards in groups.items():
            for board in boards:
                while board.turn < ply - 1:
                    house.move(board)
        for n in range(times):
            for ply, boards in groups.items():
                board = boards[n % len(boards)]
                if board.turn <= ply + 2:
                    took[ply].append(house.move(board))
    finally:
        house.close()
    return {ply: median(found) * 1000 for ply, found in took.items()}


def _compared(specs: Sequence[tuple[int, Path, int, int]], times: int) -> Costs:
    took: dict[int, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        houses = {}
        for size, folder, boards, players in specs:
            houses[size] = House(folder, boards, players)
            stack.callback(houses[size].close)
        for n in range(WARM_UP + times):
            for size, house in houses.items():
                seconds = house.move(_pick(house.games, n))
                if n >= WARM_UP:
                    took[size].append(seconds)
    return {size: median(found) * 1000 for size, found in took.items()}


def _pick(games: Games, n: int) -> Board:
    left = [board for board in games.running if board.left]
    return left[n % len(left)]


def _fill(database: Path, boards: int, players: int) -> None:
    """Copy players and boards until there are so many."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA synchronous=OFF")
        known = connection.execute("SELECT max(id) FROM players").fetchone()[0]
        address = "'p' || x || '@players.example'"
        is_player = {"id": "x", "userid": "'p' || x", "address": address}
        _copy(connection, "players", "id", is_player, known, players)
        is_address = {"player_id": "x", "address": address}
        _copy(connection, "addresses", "player_id", is_address, known, players)
        known = connection.execute("SELECT max(id) FROM boards").fetchone()[0]
        thread = "lower(hex(randomblob(8)))"
        is_board = {"id": "x", "seed": "randomblob(16)", "thread": thread}
        _copy(connection, "boards", "id", is_board, known, boards)
        _copy(connection, "plies", "board_id", {"board_id": "x"}, known, boards)
        # Everybody sits beside everybody sooner or later, and nobody beside himself.
        who = f"1 + (x * 7919 + source.seat * (1 + x % {players - 1})) % {players}"
        _copy(connection, "seats", "board_id", {"board_id": "x", "player_id": who}, known, boards)


def _copy(
    connection: sqlite3.Connection,
    table: str,
    key: str,
    others: dict[str, str],
    known: int,
    count: int,
) -> None:
    """Copy the rows of a table whose key is 1, for each number *x* above *known* up to *count*."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(others.get(name, f"source.{name}") for name in names)
    connection.execute(
        "WITH RECURSIVE n(x) AS (SELECT ? UNION ALL SELECT x + 1 FROM n WHERE x < ?)"
        f" INSERT INTO {table} ({', '.join(names)})"
        f" SELECT {values} FROM n, {table} AS source WHERE source.{key} = 1 AND x <= ?",
        (known + 1, count, count),
    )
