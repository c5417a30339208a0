"""Line 6: what other players notice while one sends the heaviest mails that are allowed.

They wait in that player's lane, and every one of them keeps play at work for as long as a mail may.
Others move meanwhile, one move after the other, as on an idle server (`latency`).
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import heavy_world, moves, servers
from benchmarks.heavy_mails import HEAVY
from benchmarks.latency import PATIENCE_S, PAUSE_S
from benchmarks.smtp import Mail, Session, connected, sinking
from benchmarks.table import Line, at_most, printed

HEAVIEST = "moves of rows and columns"
QUICK, BUDGET_S = 2.0, 0.5
"""Asked: of a 250, times what it takes on an idle server; and the longest wait for a letter."""
SOMEBODY = "somebody@players.example"
BOARDS, WARM_UP = 40, 20
WAITING = 40
"""Heavy mails in the lane at first; each takes a third of a second and more."""


@dataclass(slots=True)
class _Waits:
    """Seconds from the dot."""

    accepted: list[float] = field(default_factory=list)
    letter: list[float] = field(default_factory=list)


def measure(folder: Path, count: int) -> list[Line]:
    """What *count* moves took on an idle server, and as many beside heavy mails."""
    database = folder / "heavy.sqlite3"
    games = moves.prepare(database, BOARDS)
    with heavy_world.world(folder) as world:
        made = HEAVY[HEAVIEST](world)
        sender, to = heavy_world.address("alice"), world.server.mail_domain.address
    raw = [heavy_world.mail(made.subject, made.body) + b".\r\n" for _ in range(WAITING + 1)]
    # The first comes by another lane: templates are compiled once.
    heavy = [Mail(SOMEBODY if one is raw[0] else sender, to, one) for one in raw]
    idle, beside = asyncio.run(_measure(folder, database, games, heavy, count))
    ratio = median(beside.accepted) / median(idle.accepted)
    said = f"{median(beside.accepted) * 1e3:.2f} ms, {median(idle.accepted) * 1e3:.2f} ms idle"
    letters = f"median {median(beside.letter):.2f} s, {median(idle.letter) * 1e3:.0f} ms idle"
    return [
        at_most("6", "dot to 250 while another player sends such mails, p50", QUICK, ratio,
                "x idle", said),
        at_most("6", "dot to the opponent's letter meanwhile, slowest", BUDGET_S,
                max(beside.letter), "s", letters),
    ]  # fmt: skip


async def _measure(
    folder: Path, database: Path, games: moves.Games, heavy: list[Mail], count: int
) -> tuple[_Waits, _Waits]:
    arrivals: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    idle, beside = _Waits(), _Waits()
    async with sinking(lambda to: arrivals.put_nowait((to, perf_counter()))) as port:
        relay = f"smtp://127.0.0.1:{port}"
        with servers.pbmserv(folder, database, relay) as running:
            session, other = await connected(running.port), await connected(running.port)
            await other.send(heavy[:1])
            await _moves(session, games, arrivals, WARM_UP, _Waits())
            while moves.waiting(database) or not moves.carried_out(database, SOMEBODY):  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(PAUSE_S)
            await _moves(session, games, arrivals, count, idle)
            await other.send(heavy[1:])
            await _moves(session, games, arrivals, count, beside)
            if moves.carried_out(database, heavy[-1].sender) == WAITING:
                raise RuntimeError("the heavy mails were over before the moves")
            session.close()
            other.close()
    return idle, beside


async def _moves(
    session: Session,
    games: moves.Games,
    arrivals: asyncio.Queue[tuple[str, float]],
    count: int,
    waits: _Waits,
) -> None:
    """Moves, each when the letter of the one before has come."""
    for _ in range(count):
        board = games.pick()
        opponent, mail = games.opponent(board), games.move(board)
        await asyncio.sleep(PAUSE_S)
        await session.send([mail])
        waits.accepted.append(session.dialog.waits[-1])
        async with asyncio.timeout(PATIENCE_S):
            while True:
                to, at = await arrivals.get()
                if to == opponent and at > session.dialog.dot_at:
                    break
        waits.letter.append(at - session.dialog.dot_at)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="pbmserv-beside-") as name:
        print(printed(measure(Path(name), 40)))
