"""Line 3: how long one move takes on an idle server, as multiples of bare aiosmtpd."""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.smtp import Session, connected, sinking
from benchmarks.table import Line, at_most

P50, P99, RELAY = 3.0, 10.0, 20.0
BOARDS = 100
WARM_UP = 20
PAUSE_S = 0.01
"""Between two moves, so that the server is idle when the next one comes."""

PATIENCE_S = 10


def measure(folder: Path, mails: int) -> list[Line]:
    """All of line 5."""
    database = folder / "idle.sqlite3"
    games = moves.prepare(database, BOARDS)
    bare, ours, relay = asyncio.run(_measure(folder, database, games, mails))
    played = moves.plies(database) - 2 * BOARDS
    if played != mails + WARM_UP:
        raise RuntimeError(f"{mails + WARM_UP} mails, but {played} moves")
    p50, p99 = median(bare), quantiles(bare, n=100)[98]
    return [
        at_most("5", "idle server, dot to 250, p50", P50, median(ours) / p50, "x bare",
                _times(median(ours), p50)),
        at_most("5", "idle server, dot to 250, p99", P99, quantiles(ours, n=100)[98] / p99,
                "x bare", _times(quantiles(ours, n=100)[98], p99)),
        at_most("5", "dot to the opponent's letter at the relay, p50", RELAY, median(relay) / p50,
                "x bare", _times(median(relay), p50)),
    ]  # fmt: skip


async def _measure(
    folder: Path, database: Path, games: moves.Games, mails: int
) -> tuple[list[float], list[float], list[float]]:
    """Seconds of each move: dot to 250 at bare and at ours, and dot to the relay."""
    arrivals: asyncio.Queue[tuple[str, float]] = asyncio.Queue()

    def arrived(recipient: str) -> None:
        arrivals.put_nowait((recipient, perf_counter()))

    waits: list[float] = []
    async with sinking(arrived) as port:
        relay = f"smtp://127.0.0.1:{port}"
        with servers.bare() as bare, servers.pbmserv(folder, database, relay) as ours:
            to_bare, to_ours = await connected(bare.port), await connected(ours.port)
            for _ in range(WARM_UP + mails):
                board = games.pick()
                opponent = games.opponent(board)
                mail = games.move(board)
                await asyncio.sleep(PAUSE_S)
                await to_bare.send([mail])
                await asyncio.sleep(PAUSE_S)
                await to_ours.send([mail])
                waits.append(await _arrival(arrivals, opponent) - to_ours.dialog.dot_at)
            to_bare.close()
            to_ours.close()
    return _measured(to_bare), _measured(to_ours), waits[WARM_UP:]


def _measured(session: Session) -> list[float]:
    return session.dialog.waits[WARM_UP:]


async def _arrival(arrivals: asyncio.Queue[tuple[str, float]], opponent: str) -> float:
    """When the opponent's letter came; returns when the mover's has come, too."""
    async with asyncio.timeout(PATIENCE_S):
        both = dict([await arrivals.get(), await arrivals.get()])
    return both[opponent]


def _times(ours: float, bare: float) -> str:
    return f"{ours * 1000:.2f} ms, bare {bare * 1000:.2f} ms"
