"""Processor time of a move in databases of different sizes.

All stages run in this process, one after the other: door, play, both letters, and a relay that
accepts them. Servers of all sizes take turns, move by move, so that other work of the machine meets
all of them. The other boards are running boards with two plies, the other players have addresses.
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
from benchmarks.moves import Board, Games
from benchmarks.servers import settings_of
from pbmserv.config.settings import load
from pbmserv.mail.envelope import Envelope
from pbmserv.outbound.relay import OutgoingLetter, Relay
from tests.one_process import Server

PLAYED = 60
"""Boards that are played in each server, so that no board is known from the move before."""
PLAYERS = 20_000
BOARDS = 2_000
WARM_UP = 20
PLIES = (5, 10, 20, 30, 40)
"""Plies at which a board is measured, for four turns each."""

Costs = dict[int, float]
"""Milliseconds of a move, by size."""


class _CountingRelay(Relay):
    """A relay that counts letters and forgets them."""

    def __init__(self) -> None:
        self.letters = 0

    def deliver(self, letter: OutgoingLetter) -> None:
        del letter
        self.letters += 1

    def close(self) -> None:
        pass


class FilledServer:
    """A server in this process, with many boards and players in its database."""

    def __init__(self, folder: Path, boards: int, players: int) -> None:
        folder.mkdir()
        database = folder / "pbmserv.sqlite3"
        self.games = moves.prepare(database, min(PLAYED, boards), min(players, 1_000))
        _fill(database, boards, players)
        settings = settings_of(folder, f"sqlite:///{database}")
        values = settings | {"PBMSERV_WEB": "", "PBMSERV_SENDER_CHECKS": "off"}
        self._relay = _CountingRelay()
        self._server = Server(load(values, None).settings, relay=self._relay)
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        self._server.close()
        self._loop.close()

    def move(self, board: Board) -> float:
        """Make the next turn of a board, send both letters, and return the seconds.

        Raises:
            RuntimeError: there were not two letters.
        """
        before = self._relay.letters
        mail = self.games.move(board)
        envelope = Envelope(mail.sender, mail.recipient, mail.raw, "127.0.0.1")
        begun = process_time()
        reply = self._loop.run_until_complete(self._server.door.receive(envelope))
        self._server.settle()
        self._server.sender.run_once()
        seconds = process_time() - begun
        if self._relay.letters != before + 2:
            raise RuntimeError(f"{reply}, and {self._relay.letters - before} letters")
        return seconds


def by_boards(folder: Path, sizes: Sequence[int], times: int) -> Costs:
    """Return the cost of a move among each number of boards, of `PLAYERS` players."""
    return _compared([(size, folder / f"boards-{size}", size, PLAYERS) for size in sizes], times)


def by_players(folder: Path, sizes: Sequence[int], times: int) -> Costs:
    """Return the cost of a move among each number of players, with `BOARDS` boards."""
    return _compared([(size, folder / f"players-{size}", BOARDS, size) for size in sizes], times)


def by_plies(folder: Path, times: int) -> Costs:
    """Return the cost of a move on boards with different numbers of plies."""
    seconds: dict[int, list[float]] = defaultdict(list)
    server = FilledServer(folder / "plies", PLAYED, 1_000)
    try:
        long = [board for board in server.games.running if board.turn + board.left > PLIES[-1] + 2]
        groups = {ply: long[n :: len(PLIES)][:10] for n, ply in enumerate(PLIES)}
        for ply, boards in groups.items():
            for board in boards:
                while board.turn < ply - 1:
                    server.move(board)
        for n in range(times):
            for ply, boards in groups.items():
                board = boards[n % len(boards)]
                if board.turn <= ply + 2:
                    seconds[ply].append(server.move(board))
    finally:
        server.close()
    return {ply: median(times) * 1000 for ply, times in seconds.items()}


def _compared(specs: Sequence[tuple[int, Path, int, int]], times: int) -> Costs:
    seconds: dict[int, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        servers = {}
        for size, folder, boards, players in specs:
            servers[size] = FilledServer(folder, boards, players)
            stack.callback(servers[size].close)
        for n in range(WARM_UP + times):
            for size, server in servers.items():
                took = server.move(_pick(server.games, n))
                if n >= WARM_UP:
                    seconds[size].append(took)
    return {size: median(times) * 1000 for size, times in seconds.items()}


def _pick(games: Games, n: int) -> Board:
    left = [board for board in games.running if board.left]
    return left[n % len(left)]


def _fill(database: Path, boards: int, players: int) -> None:
    """Copy players and boards until there are as many as asked for."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("PRAGMA synchronous=OFF")
        highest = connection.execute("SELECT max(id) FROM players").fetchone()[0]
        address = "'p' || x || '@players.example'"
        is_player = {"id": "x", "userid": "'p' || x", "address": address}
        _copy(connection, "players", "id", is_player, highest, players)
        is_address = {"player_id": "x", "address": address}
        _copy(connection, "addresses", "player_id", is_address, highest, players)
        highest = connection.execute("SELECT max(id) FROM boards").fetchone()[0]
        thread = "lower(hex(randomblob(8)))"
        is_board = {"id": "x", "seed": "randomblob(16)", "thread": thread}
        _copy(connection, "boards", "id", is_board, highest, boards)
        _copy(connection, "plies", "board_id", {"board_id": "x"}, highest, boards)
        # Different opponents for each player, and no player twice on a board.
        who = f"1 + (x * 7919 + source.seat * (1 + x % {players - 1})) % {players}"
        _copy(connection, "seats", "board_id", {"board_id": "x", "player_id": who}, highest, boards)


def _copy(
    connection: sqlite3.Connection,
    table: str,
    key: str,
    others: dict[str, str],
    highest: int,
    count: int,
) -> None:
    """Copy the rows whose key is 1, for each number *x* from above *highest* to *count*."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(others.get(name, f"source.{name}") for name in names)
    connection.execute(
        "WITH RECURSIVE n(x) AS (SELECT ? UNION ALL SELECT x + 1 FROM n WHERE x < ?)"
        f" INSERT INTO {table} ({', '.join(names)})"
        f" SELECT {values} FROM n, {table} AS source WHERE source.{key} = 1 AND x <= ?",
        (highest + 1, count, count),
    )
