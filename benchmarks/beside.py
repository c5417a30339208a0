"""Letters of other players while one player sends the heaviest mails that are allowed.

The heavy mails wait in their sender's lane, and each keeps play busy for as long as a mail may.
Others move meanwhile, one move after the other, as on an idle server (`latency`).
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.latency import PATIENCE_S, PAUSE_S
from benchmarks.smtp import Mail, Session, connected, sinking
from benchmarks.table import Line, at_most
from tests.hostile import heavy_world
from tests.hostile.heavy_mails import HEAVY

HEAVIEST = "moves of rows and columns"
LONGEST_S = 1.0
"""Limit for the slowest letter of another player, in seconds from the dot of the move."""
OTHER_SENDER = "somebody@players.example"
BOARDS, WARM_UP = 40, 20
WAITING = 40
"""Heavy mails in the lane at the beginning; each takes a third of a second or more."""


def measure(folder: Path, count: int) -> list[Line]:
    """Compare *count* moves on an idle server with as many beside heavy mails."""
    database = folder / "heavy.sqlite3"
    games = moves.prepare(database, BOARDS)
    with heavy_world.world(folder) as world:
        order = HEAVY[HEAVIEST](world)
        sender, to = heavy_world.address("alice"), world.server.mail_domain.address
    raw = [heavy_world.mail(order.subject, order.body) + b".\r\n" for _ in range(WAITING + 1)]
    # The first one is of another sender; the server compiles its templates with it.
    first, *others = raw
    heavy = [Mail(OTHER_SENDER, to, first), *(Mail(sender, to, octets) for octets in others)]
    idle_s, beside_s = asyncio.run(_measure(folder, database, games, heavy, count))
    note = f"median {median(beside_s):.2f} s; {median(idle_s) * 1e3:.0f} ms on an idle server"
    what = "another player's letter meanwhile, slowest"
    return [at_most(what, LONGEST_S, max(beside_s), "s", note)]


async def _measure(
    folder: Path, database: Path, games: moves.Games, heavy: list[Mail], count: int
) -> tuple[list[float], list[float]]:
    """Return the seconds until each letter, on an idle server and beside heavy mails."""
    arrivals: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    async with sinking(lambda to: arrivals.put_nowait((to, perf_counter()))) as port:
        relay = f"smtp://127.0.0.1:{port}"
        with servers.pbmserv(folder, database, relay) as running:
            session, other = await connected(running.port), await connected(running.port)
            await other.send(heavy[:1])
            await _moves(session, games, arrivals, WARM_UP)
            while moves.waiting(database) or not moves.carried_out(database, OTHER_SENDER):  # noqa: ASYNC110 - another process does it
                await asyncio.sleep(PAUSE_S)
            idle_s = await _moves(session, games, arrivals, count)
            await other.send(heavy[1:])
            beside_s = await _moves(session, games, arrivals, count)
            if moves.carried_out(database, heavy[-1].sender) == WAITING:
                raise RuntimeError("the heavy mails were over before the moves")
            session.close()
            other.close()
    return idle_s, beside_s


async def _moves(
    session: Session, games: moves.Games, arrivals: asyncio.Queue[tuple[str, float]], count: int
) -> list[float]:
    """Make moves, each after the previous letter, and return the seconds to each letter."""
    seconds = []
    for _ in range(count):
        board = games.pick()
        opponent, mail = games.opponent(board), games.move(board)
        await asyncio.sleep(PAUSE_S)
        await session.send([mail])
        async with asyncio.timeout(PATIENCE_S):
            while True:
                to, at = await arrivals.get()
                if to == opponent and at > session.dialog.dot_at:
                    break
        seconds.append(at - session.dialog.dot_at)
    return seconds
