"""Line 1: moves accepted, decided and durable in a second, as a ratio to bare aiosmtpd.

The servers take turns, round by round, each with the same kind of mails, so that whatever else
the machine does meets all of them; the ratio of a line is the median over its rounds.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from benchmarks import moves, servers
from benchmarks.smtp import send_all
from benchmarks.table import Line, at_least, told

SESSIONS = {1: 0.40, 10: 0.40, 50: 0.45}
"""What is asked for, as a ratio to bare, by the number of kept-open sessions."""

SLOWER_MS = 10
SLOWER_KEEPS = 0.55
BOARDS = 800
WARM_UP = 300
"""Mails before the first round: templates are compiled then, and files get their size."""

PATIENCE_S = 120


@dataclass(slots=True)
class Contender:
    """A server under test and the moves that it is sent.

    Attributes:
        database: where they must be found afterwards; ``None`` for bare aiosmtpd.
        sent: mails so far.
        rates: mails a second, of each round.
        ends: the same, until the last letter was at the relay.
    """

    name: str
    port: int
    games: moves.Games
    database: Path | None = None
    sends_letters: bool = False
    sent: int = 0
    rates: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    def round(self, sessions: int, mails: int) -> None:
        """Send so many mails over so many sessions."""
        shares = self.games.shares(sessions, mails)
        begun = perf_counter()
        seconds = asyncio.run(send_all(self.port, shares))
        count = sum(map(len, shares))
        self.sent += count
        self.rates.append(count / seconds)
        if self.sends_letters:
            self._await_letters()
            self.ends.append(count / (perf_counter() - begun))

    def check(self) -> None:
        """Every mail must have become a move and two letters.

        Raises:
            RuntimeError: some did not.
        """
        if self.database is None:
            return
        played = moves.plies(self.database) - 2 * BOARDS
        letters = moves.letters(self.database)
        if (played, letters) != (self.sent, 2 * self.sent):
            raise RuntimeError(
                f"{self.name}: {self.sent} mails, but {played} moves and {letters} letters"
            )

    def forget(self) -> None:
        """Begin a new measurement."""
        self.rates.clear()
        self.ends.clear()

    def _await_letters(self) -> None:
        assert self.database is not None
        patience = perf_counter() + PATIENCE_S
        while moves.waiting(self.database):
            if perf_counter() > patience:
                raise RuntimeError("the letters do not go out")
            time.sleep(0.01)


def measure(folder: Path, rounds: int, mails: int) -> list[Line]:
    """All of line 1."""
    with ExitStack() as stack:
        relay = stack.enter_context(servers.sink())
        bare = _bare(stack, folder)
        held = _ours(stack, folder, "letters held back", 0, "")
        slow = _ours(stack, folder, f"{SLOWER_MS} ms more a commit", SLOWER_MS, "")
        going = _ours(stack, folder, "letters going out", 0, f"smtp://127.0.0.1:{relay.port}")
        everybody = [bare, held, slow, going]
        for one in everybody:
            one.round(10, WARM_UP)
        lines = _by_smtp_source(bare.port, mails)
        syncs: list[float] = []
        for sessions, limit in SESSIONS.items():
            for one in everybody:
                one.forget()
            count = mails // 3 if sessions == 1 else mails
            for _ in range(rounds):
                syncs += _syncs(folder / "sync")
                for one in (bare, held, going):
                    one.round(sessions, count)
            lines += _lines(sessions, limit, bare, held, going)
        held.forget()
        for _ in range(rounds):
            held.round(50, mails)
            slow.round(50, mails)
        what = f"50 sessions, {SLOWER_MS} ms more for each commit, against itself"
        ratio = _ratio(slow.rates, held.rates)
        lines.append(at_least("1", what, SLOWER_KEEPS, ratio, "", _rates(slow.rates, held.rates)))
        for one in everybody:
            one.check()
        middle, *_, slowest = quantiles(syncs, n=20)[9:]
        spread = f"{middle * 1e6:,.0f} us, one in twenty {slowest * 1e6:,.0f} us or more"
        lines.insert(0, told("the disk keeps what a move writes in", spread))
    return lines


def _bare(stack: ExitStack, folder: Path) -> Contender:
    running = stack.enter_context(servers.bare())
    return Contender("bare", running.port, moves.prepare(folder / "bare.sqlite3", BOARDS))


def _ours(stack: ExitStack, folder: Path, name: str, slower_ms: int, relay: str) -> Contender:
    database = folder / f"{name.replace(' ', '-')}.sqlite3"
    games = moves.prepare(database, BOARDS)
    if relay:
        running = stack.enter_context(servers.pbmserv(folder, database, relay))
    else:
        running = stack.enter_context(servers.holding_letters(folder, database, slower_ms))
    return Contender(name, running.port, games, database, bool(relay))


def _lines(
    sessions: int, limit: float, bare: Contender, held: Contender, going: Contender
) -> list[Line]:
    plural = "session" if sessions == 1 else "sessions"
    what = f"{sessions} {plural}, move durable at the 250"
    return [
        at_least("1", f"{what}, {held.name}", limit, _ratio(held.rates, bare.rates), "B",
                 _rates(held.rates, bare.rates)),
        told(f"{what}, {going.name}", f"{_ratio(going.rates, bare.rates):.2f} B "
             f"({_rates(going.rates, bare.rates)})"),
        told("  ... and both letters of each at the relay",
             f"{_ratio(going.ends, bare.rates):.2f} B ({_rates(going.ends, bare.rates)})"),
    ]  # fmt: skip


def _syncs(file: Path) -> list[float]:
    """How many seconds the disk takes now to keep 40 kB, which is what one move writes."""
    times = []
    with file.open("wb", buffering=0) as opened:
        for _ in range(20):
            opened.write(bytes(40_000))
            begun = perf_counter()
            os.fdatasync(opened.fileno())
            times.append(perf_counter() - begun)
    return times


def _by_smtp_source(port: int, mails: int) -> list[Line]:
    """B as Postfix's client sees it, for comparison; one and the same mail again and again."""
    program = shutil.which("smtp-source", path="/usr/sbin:/usr/bin:/usr/lib/postfix/sbin")
    if program is None:
        return []
    arguments = ["-d", "-s", "10", "-m", str(mails), "-l", str(moves.SIZE)]
    begun = perf_counter()
    subprocess.run([program, *arguments, f"inet:127.0.0.1:{port}"], check=True)
    rate = mails / (perf_counter() - begun)
    return [told("bare aiosmtpd as smtp-source sees it, 10 sessions", f"{rate:,.0f} mails/s")]


def _ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios of rounds that were neighbours."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def _rates(ours: list[float], theirs: list[float]) -> str:
    return f"{median(ours):,.0f}/s of {median(theirs):,.0f}/s"
