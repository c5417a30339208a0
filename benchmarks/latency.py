"""Time of one move on an idle server, as multiples of bare aiosmtpd."""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.smtp import Session, connected, sinking
from benchmarks.table import Line, at_most

ACCEPTED_X, LETTER_X = 30.0, 150.0
"""Limits in times of bare: 3 and 15 ms on a machine whose bare aiosmtpd takes 0.1 ms."""
BOARDS = 100
WARM_UP = 20
PAUSE_S = 0.01
"""Pause between two moves, so that the server is idle when the next one arrives."""
PATIENCE_S = 10


def measure(folder: Path, mails: int) -> list[Line]:
    """Measure from the final dot to the 250, and to the opponent's letter at the relay."""
    database = folder / "idle.sqlite3"
    games = moves.prepare(database, BOARDS)
    bare_s, accepted_s, letter_s = asyncio.run(_measure(folder, database, games, mails))
    played = moves.plies(database) - 2 * BOARDS
    if played != mails + WARM_UP:
        raise RuntimeError(f"{mails + WARM_UP} mails were sent, but {played} moves were made")
    bare = median(bare_s)
    lines = []
    for what, limit, seconds in (
        ("dot to 250 on an idle server, p50", ACCEPTED_X, median(accepted_s)),
        ("dot to the opponent's letter at the relay, p50", LETTER_X, median(letter_s)),
    ):
        note = f"{seconds * 1000:.2f} ms, bare {bare * 1000:.2f} ms"
        lines.append(at_most(what, limit, seconds / bare, "x bare", note))
    return lines


async def _measure(
    folder: Path, database: Path, games: moves.Games, mails: int
) -> tuple[list[float], list[float], list[float]]:
    """Return the seconds of each move: to the 250 of bare, to our 250, and to the letter."""
    arrivals: asyncio.Queue[tuple[str, float]] = asyncio.Queue()

    def note_arrival(recipient: str) -> None:
        arrivals.put_nowait((recipient, perf_counter()))

    letter_s: list[float] = []
    async with sinking(note_arrival) as port:
        relay = f"smtp://127.0.0.1:{port}"
        with servers.bare() as bare, servers.pbmserv(folder, database, relay) as server:
            to_bare, to_server = await connected(bare.port), await connected(server.port)
            for _ in range(WARM_UP + mails):
                board = games.pick()
                opponent = games.opponent(board)
                mail = games.move(board)
                await asyncio.sleep(PAUSE_S)
                await to_bare.send([mail])
                await asyncio.sleep(PAUSE_S)
                await to_server.send([mail])
                letter_s.append(await _arrival(arrivals, opponent) - to_server.dialog.dot_at)
            to_bare.close()
            to_server.close()
    return _waits(to_bare), _waits(to_server), letter_s[WARM_UP:]


def _waits(session: Session) -> list[float]:
    return session.dialog.waits[WARM_UP:]


async def _arrival(arrivals: asyncio.Queue[tuple[str, float]], opponent: str) -> float:
    """Wait for both letters of a move and return the time of the opponent's."""
    async with asyncio.timeout(PATIENCE_S):
        times = dict([await arrivals.get(), await arrivals.get()])
    return times[opponent]
