"""Line 3: as many mails a second as are asked for, evenly for a minute, over 10,000 boards; how
soon the letters of all of them were at the relay."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.smtp import Mail, connected, send_all
from benchmarks.table import Line, at_least
from pbmserv.outbound import dkim

ASKED, SIGNED = 0.15, 0.12
"""Mails a second whose both letters go out, as a ratio to bare; and where letters are signed."""
MORE = 1.04
"""Offered in place of what is asked: what is over after the last mail counts."""
LAG_S = 2.0
"""Seconds after the last mail in which the outbox must be empty."""
BOARDS = 10_000
SESSIONS = 10
WARM_UP = 600
PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Sustained:
    """What came of it.

    Attributes:
        rate: mails a second from the first mail to the last letter.
        lag: seconds from the last 250 to the last letter.
    """

    rate: float
    lag: float


def measure(folder: Path, seconds: float) -> list[Line]:
    """Line 3, with letters as they are and with signed ones, which get half the time."""
    signed = folder / "sustained.pem"
    dkim.make("bench", "ed25519", signed)
    return [
        _line(folder / "sustained", seconds, ASKED, "", ""),
        _line(folder / "signed", seconds / 2, SIGNED, ", DKIM Ed25519", f"bench={signed}"),
    ]


def _line(folder: Path, seconds: float, asked: float, how: str, keys: str) -> Line:
    folder.mkdir()
    database = folder / "sustained.sqlite3"
    with ExitStack() as stack:
        relay, bare = stack.enter_context(servers.sink()), stack.enter_context(servers.bare())
        games = moves.prepare(database, BOARDS)
        url = f"smtp://127.0.0.1:{relay.port}"
        ours = stack.enter_context(servers.pbmserv(folder, database, url, PBMSERV_DKIM_KEYS=keys))
        yardstick = [_bare(bare.port, games) for _ in range(3)]
        asyncio.run(send_all(ours.port, games.shares(SESSIONS, WARM_UP)))
        moves.await_letters(database, 2 * BOARDS + WARM_UP, pause_s=PAUSE_S)
        offered = asked * median(yardstick) * MORE
        found = _sustained(ours.port, database, games, offered, round(offered * seconds))
        yardstick += [_bare(bare.port, games) for _ in range(3)]
    b = median(yardstick)
    line = at_least(
        "3",
        f"for {seconds:.0f} s, until both letters of each are at the relay{how}",
        asked,
        found.rate / b,
        "B",
        f"{found.rate:,.0f}/s of {b:,.0f}/s, the last {found.lag:.1f} s after the last mail",
    )
    return replace(line, met=line.met and found.lag <= LAG_S)


def _bare(port: int, games: moves.Games) -> float:
    """Mails a second; the moves are made of copies, since they are carried out nowhere."""
    mails = [games.move(board) for board in games.running[-SESSIONS:]]
    for board in games.running[-SESSIONS:]:
        board.turn -= 1
    count = 120
    return count * SESSIONS / asyncio.run(send_all(port, [[mail] * count for mail in mails]))


def _sustained(port: int, database: Path, games: moves.Games, rate: float, count: int) -> Sustained:
    shares = games.shares(SESSIONS, count)
    begun = perf_counter()
    asyncio.run(_evenly(port, shares, rate / SESSIONS))
    sent, number = perf_counter(), sum(map(len, shares))
    moves.await_letters(database, 2 * BOARDS + WARM_UP + number, pause_s=PAUSE_S)
    ended = perf_counter()
    return Sustained(number / (ended - begun), ended - sent)


async def _evenly(port: int, shares: list[list[Mail]], rate: float) -> None:
    """Send each share over a session of its own, so many mails a second; at once what is late."""

    async def session(number: int, mails: list[Mail]) -> None:
        one = await connected(port)
        begun = perf_counter() + number / rate / len(shares)
        for place, mail in enumerate(mails):
            early = begun + place / rate - perf_counter()
            if early > 0:
                await asyncio.sleep(early)
            await one.send([mail])
        one.close()

    await asyncio.gather(*(session(number, mails) for number, mails in enumerate(shares)))
