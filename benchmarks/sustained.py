"""Line 3: as many mails a second as are asked for, evenly for a minute, over 10,000 boards; how
soon the letters of all of them were at the relay."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.smtp import Mail, send_all
from benchmarks.table import Line, at_least
from pbmserv.outbound import dkim

ASKED, SIGNED = 0.15, 0.12
"""Mails a second whose both letters go out, as a ratio to bare; and where letters are signed."""
MORE, YARDSTICKS = 1.05, 5
"""Offered in place of what is asked: what is over after the last mail counts, and bare, which is
measured so many times before and after, may have become quicker."""
TRIES = 3
"""Times that it is measured, each time with what bare did last, while nothing waits and bare has
become so quick that less was offered than is asked."""
LAG_S = 2.0
"""Seconds after the last mail in which the outbox must be empty."""
BOARDS = 10_000
SESSIONS = 10
WARM_UP = 600
SPARE = 0.8
"""Moves that may be on their way, as a part of the boards."""
LOOK_S = 0.01
"""Between two looks whether there are fewer."""


def measure(folder: Path, seconds: float, boards: int = BOARDS) -> list[Line]:
    """Line 3, with letters as they are and with signed ones, which get half the time."""
    plain, signed, key = folder / "plain.sqlite3", folder / "signed.sqlite3", folder / "key.pem"
    dkim.make("bench", "ed25519", key)
    games = moves.prepare(plain, boards)
    shutil.copyfile(plain, signed)
    return [
        _line(plain, deepcopy(games), seconds, ASKED, "", ""),
        _line(signed, games, seconds / 2, SIGNED, ", DKIM Ed25519", f"bench={key}"),
    ]


def _line(
    database: Path, games: moves.Games, seconds: float, asked: float, how: str, keys: str
) -> Line:
    folder = database.with_suffix("")
    folder.mkdir()
    with ExitStack() as stack:
        relay, bare = stack.enter_context(servers.sink()), stack.enter_context(servers.bare())
        ours = stack.enter_context(
            servers.pbmserv(folder, database, relay.url, PBMSERV_DKIM_KEYS=keys)
        )
        send_all(ours.port, games.shares(SESSIONS, WARM_UP))
        sent = WARM_UP
        after = _bares(bare.port, games)
        for _ in range(TRIES):
            before = after
            offered = asked * median(before) * MORE
            shares = games.shares(SESSIONS, round(offered * seconds))
            number = sum(map(len, shares))
            moves.await_letters(relay.taken, 2 * sent, database)
            begun = perf_counter()
            _evenly(ours.port, shares, offered, len(games.running), partial(_done, relay, sent))
            sent += number
            last = perf_counter()
            moves.await_letters(relay.taken, 2 * sent, database)
            ended = perf_counter()
            rate, lag = number / (ended - begun), ended - last
            after = _bares(bare.port, games)
            b = median(before + after)
            if lag > LAG_S or rate >= asked * b:
                break  # else nothing waited: less was offered than is asked
    line = at_least(
        "3",
        f"for {seconds:.0f} s, until both letters of each are at the relay{how}",
        asked,
        rate / b,
        "B",
        f"{rate:,.0f}/s of {b:,.0f}/s, the last {lag:.1f} s after the last mail",
    )
    return replace(line, met=line.met and lag <= LAG_S)


def _done(relay: servers.Relay, before: int) -> int:
    """How many moves have their letters, beside those of before."""
    return relay.taken() // 2 - before


def _bares(port: int, games: moves.Games) -> list[float]:
    """Bare aiosmtpd, several times."""
    return [_bare(port, games) for _ in range(YARDSTICKS)]


def _bare(port: int, games: moves.Games) -> float:
    """Mails a second; the moves are made of copies, since they are carried out nowhere."""
    mails = [games.move(board) for board in games.running[-SESSIONS:]]
    for board in games.running[-SESSIONS:]:
        board.turn -= 1
    count = 120
    return count * SESSIONS / send_all(port, [[mail] * count for mail in mails])


def _evenly(
    port: int, shares: list[list[Mail]], rate: float, boards: int, carried_out: Callable[[], int]
) -> None:
    """Send so many mails a second in all, each share over a session of its own; at once what is
    late.

    The sessions go round the boards. Nobody answers a letter that has not come: a board's next move
    waits until so many were carried out that the one before it is among them. Two moves of a board
    are two players', whose mails play carries out in any order.
    """
    begun = perf_counter()

    def due(number: int) -> float:
        if number - boards * SPARE > carried_out():
            return perf_counter() - begun + LOOK_S
        return number / rate

    send_all(port, shares, due)
