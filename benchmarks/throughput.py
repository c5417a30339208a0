"""Lines 1 to 3: mails accepted, carried out, and both letters out, as ratios to bare aiosmtpd.

The servers take turns, round by round, each with the same kind of mails, so that whatever else
the machine does meets all of them; the ratio of a line is the median over its rounds.
"""

from __future__ import annotations

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

DOOR = {1: 0.55, 10: 0.65, 50: 0.65}
"""What is asked of the door alone, as a ratio to bare, by the number of kept-open sessions."""
BUSY = {10: 0.40, 50: 0.40}
"""The same while play and post are busy with what it has taken."""
CARRIED_OUT = 0.50
END_TO_END = 0.15
SLOWER_MS = 10
SLOWER_KEEPS = 0.55
BOARDS = 1_300
"""More than a round has mails: lanes are of players, so that an answer that nobody has waited for
may overtake the move that it answers."""
WARM_UP = 300
"""Mails before the first round: templates are compiled then, and files get their size."""

PATIENCE_S = 120
LOOK_S = 0.02
"""Between two looks how far play is."""


@dataclass(slots=True)
class Contender:
    """A server under test and the moves that it is sent.

    Attributes:
        database: where they must be found afterwards; ``None`` for bare aiosmtpd.
        relay: where the letters go that its moves lead to; ``None``: nothing is carried out.
        sent: mails so far.
        rates: mails a second, of each round.
        ends: the same, until the last letter was at the relay.
    """

    port: int
    games: moves.Games
    database: Path | None = None
    relay: servers.Relay | None = None
    sent: int = 0
    rates: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)

    def round(self, sessions: int, mails: int) -> None:
        """Send so many mails over so many sessions."""
        shares = self.games.shares(sessions, mails)
        begun = perf_counter()
        seconds = send_all(self.port, shares)
        count = sum(map(len, shares))
        self.sent += count
        self.rates.append(count / seconds)
        if self.relay:
            assert self.database is not None
            moves.await_letters(
                self.relay.taken, 2 * self.sent, self.database, patience_s=PATIENCE_S
            )
            self.ends.append(count / (perf_counter() - begun))

    def check(self) -> None:
        """Every mail must be there; where it is carried out, as a move with two letters.

        Raises:
            RuntimeError: some are not.
        """
        assert self.database is not None
        found = moves.arrived(self.database)
        if self.relay:
            found = moves.plies(self.database) - 2 * BOARDS
            letters = moves.letters(self.database)
            if letters != 2 * self.sent:
                raise RuntimeError(f"{self.sent} mails, but {letters} letters")
        if found != self.sent:
            raise RuntimeError(f"{self.sent} mails, but {found} are there")

    def forget(self) -> None:
        """Begin a new measurement."""
        self.rates.clear()
        self.ends.clear()


def measure(folder: Path, rounds: int, mails: int) -> list[Line]:
    """All of lines 1 to 3."""
    syncs: list[float] = []
    with ExitStack() as stack:
        bare = _bare(stack, folder)
        door = _door(stack, folder, folder / "door.sqlite3", 0)
        slow = _door(stack, folder, folder / "slow.sqlite3", SLOWER_MS)
        for one in (bare, door, slow):
            one.round(10, WARM_UP)
        lines = _by_smtp_source(bare.port, mails)
        for sessions, limit in DOOR.items():
            bare.forget()
            door.forget()
            for _ in range(rounds):
                syncs += _syncs(folder / "sync")
                for one in (bare, door):
                    one.round(sessions, mails // 3 if sessions == 1 else mails)
            what = f"{_told(sessions)}, mail stored at the 250, door alone"
            lines.append(_line("1", what, limit, door.rates, bare.rates))
        door.forget()
        slow.forget()
        for _ in range(rounds):
            door.round(50, mails)
            slow.round(50, mails)
        what = f"50 sessions, {SLOWER_MS} ms more for each commit, against itself"
        ratio = _ratio(slow.rates, door.rates)
        lines.append(at_least("1", what, SLOWER_KEEPS, ratio, "", _rates(slow.rates, door.rates)))
        door.check()
        slow.check()
    lines += _whole(folder, rounds, mails)
    lines.append(_carried_out(folder, rounds, mails))
    middle, *_, slowest = quantiles(syncs, n=20)[9:]
    spread = f"{middle * 1e6:,.0f} us, one in twenty {slowest * 1e6:,.0f} us or more"
    lines.insert(0, told("the disk keeps what a move writes in", spread))
    return lines


def _whole(folder: Path, rounds: int, mails: int) -> list[Line]:
    """All stages: what is accepted while play and post are busy, and until both letters are out."""
    lines = []
    with ExitStack() as stack:
        relay = stack.enter_context(servers.sink())
        bare = _bare(stack, folder)
        database = folder / "whole.sqlite3"
        games = moves.prepare(database, BOARDS)
        running = stack.enter_context(servers.pbmserv(folder, database, relay.url))
        whole = Contender(running.port, games, database, relay)
        for one in (bare, whole):
            one.round(10, WARM_UP)
        for sessions, limit in BUSY.items():
            bare.forget()
            whole.forget()
            for _ in range(rounds):
                for one in (bare, whole):
                    one.round(sessions, mails)
            what = f"{_told(sessions)}, play and post busy"
            lines.append(_line("1", what, limit, whole.rates, bare.rates))
            what = f"{_told(sessions)}, until both letters of each are at the relay"
            lines.append(_line("3", what, END_TO_END, whole.ends, bare.rates))
        whole.check()
    return lines


def _carried_out(folder: Path, rounds: int, mails: int) -> Line:
    """Play alone, from a store that the door has filled with a move of each board: lanes are of
    players, so that nobody's next move may overtake the one that it answers. Each round begins
    with a copy of that store, and bare aiosmtpd gets as many sessions as the door."""
    stored = folder / "stored.sqlite3"
    rates = []
    with ExitStack() as stack:
        bare = _bare(stack, folder)
        bare.round(10, WARM_UP)
        bare.forget()
        with ExitStack() as filling:
            _door(filling, folder, stored, 0).round(10, BOARDS)
        for number in range(rounds):
            bare.round(10, mails)
            rates.append(_played(folder, _copied(stored, folder / f"copy-{number}.sqlite3")))
    return _line("2", "carried out, play alone", CARRIED_OUT, rates, bare.rates)


def _copied(store: Path, to: Path) -> Path:
    """A copy of a store that nobody has open, and of the door's beside it."""
    for file in store.parent.glob(f"{store.stem}*"):
        shutil.copyfile(file, to.with_name(file.name.replace(store.stem, to.stem, 1)))
    return to


def _played(folder: Path, stored: Path) -> float:
    """Moves a second, from the first that play has carried out to the last."""
    seen: list[tuple[float, int]] = []
    with servers.stage(folder, stored, "play"):
        end = perf_counter() + PATIENCE_S
        while not seen or seen[-1][1] < BOARDS:
            if perf_counter() > end:
                raise RuntimeError("what the door has stored is not carried out")
            seen.append((perf_counter(), moves.plies(stored) - 2 * BOARDS))
            time.sleep(LOOK_S)
    begun, first = next(one for one in seen if one[1] > 0)
    return (BOARDS - first) / (seen[-1][0] - begun)


def _bare(stack: ExitStack, folder: Path) -> Contender:
    running = stack.enter_context(servers.bare())
    database = folder / f"bare-{running.port}.sqlite3"
    return Contender(running.port, moves.prepare(database, BOARDS))


def _door(stack: ExitStack, folder: Path, database: Path, slower_ms: int) -> Contender:
    games = moves.prepare(database, BOARDS)
    running = stack.enter_context(servers.stage(folder, database, "door", slower_ms))
    return Contender(running.port, games, database)


def _told(sessions: int) -> str:
    return "1 session" if sessions == 1 else f"{sessions} sessions"


def _line(bar: str, what: str, limit: float, ours: list[float], bare: list[float]) -> Line:
    return at_least(bar, what, limit, _ratio(ours, bare), "B", _rates(ours, bare))


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
