"""Kill processes of the server under load, and count what was lost or doubled.

    python -m benchmarks.kills [--kills 100] [--seed 1] [--postgresql]

This prints a line for each kill, and a report. The exit code is 1 if a mail that got its 250 was
not carried out exactly once, if a letter was not sent or was sent again with other octets, or if a
process outlived its parent.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy import func, select, update

from benchmarks import kills_server
from benchmarks.kills_load import Letters, Load
from benchmarks.kills_server import Mortal, OwnPostgres, Tree
from benchmarks.moves import PLAYERS, prepare_at
from benchmarks.smtp import relaying
from benchmarks.table import Line, not_run
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import arrivals as waiting
from pbmserv.store.tables.mail import outbox

KINDS = ("door", "play", "post1", "bots", "web", "server", "all")
IN_THE_MIDDLE = 0.5
"""Share of kills that happen between the dot of a mail and its 250."""
CALM_S = 0.5
"""Mean pause of a session in `measure`, a load that two processors carry."""
LONGEST_S = 60.0
"""Longest wait for the next 250 after a kill."""
SETTLED_S = 2.0
"""Seconds in which a living process finishes its claimed work."""
QUIET_S = 400.0
"""Longest wait for the end of all work: on PostgreSQL the letters of a killed process wait for the
end of its lease of five minutes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run.

    Attributes:
        kills: kinds of processes to kill, in this order.
        between_s: longest time between the first 250 after a kill and the next kill.
        leases_end: whether to end leases of killed processes by hand (PostgreSQL).
        begin: starts the server.
    """

    url: str
    folder: Path
    kills: tuple[str, ...]
    seed: int
    boards: int = 800
    players: int = PLAYERS
    sessions: int = 8
    pause_s: float = 0.1
    between_s: float = 2.0
    leases_end: bool = False
    begin: kills_server.Begin = kills_server.begin


@dataclass
class Report:
    """The result of a run; `faults` is empty if nothing went wrong."""

    kills: Counter[str] = field(default_factory=Counter)
    taken: int = 0
    doubled: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    letters: int = 0
    unsent: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    repeats_other: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)
    quiet_s: float = 0.0
    slowest_250: float = 0.0
    slowest_answer: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """Everything that must not happen, as sentences."""
        kinds = {
            "lost": self.lost,
            "doubled": self.doubled,
            "not sent": self.unsent,
            "sent without a row": self.unknown,
            "repeated with other octets": self.repeats_other,
            "outlived its parent": self.orphans,
            "failed": self.failures,
        }
        return [f"{what}: {name}" for what, names in kinds.items() for name in names]

    def printed(self) -> str:
        """Return the report as text."""
        kills = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kills.items()))
        rows = (
            ("kills", f"{self.kills.total()} ({kills})"),
            ("mails with 250", f"{self.taken}"),
            ("letters queued", f"{self.letters}"),
            ("slowest 250 after a kill", f"{self.slowest_250:.1f} s"),
            ("slowest answer to that mail", f"{self.slowest_answer:.1f} s after the kill"),
            ("quiet after", f"{self.quiet_s:.0f} s"),
            ("faults", f"{len(self.faults)}"),
        )
        return "\n".join(f"{name:30} {value}" for name, value in rows)


def run(plan: Plan, postgres: Mortal | None = None) -> Report:
    """Run the plan and print a line for each kill."""
    chance = random.Random(plan.seed)
    games = prepare_at(plan.url, plan.boards, plan.players)
    report = Report()
    letters = Letters()
    with ExitStack() as stack:
        relay_port = stack.enter_context(relaying(letters.take))
        tree = stack.enter_context(
            kills_server.running(plan.folder, plan.url, relay_port, plan.begin)
        )
        load = Load(games, lambda: tree.port, chance, sessions=plan.sessions, pause_s=plan.pause_s)
        letters.arrived = load.arrived
        stores = _Stores(plan.url)
        stack.callback(stores.close)
        stack.callback(load.stop)
        load.start()
        begun = time.monotonic()
        load.wait_for_next(LONGEST_S)
        for number, what in enumerate(plan.kills, 1):
            time.sleep(chance.uniform(0, plan.between_s))
            if chance.random() < IN_THE_MIDDLE:
                load.wait_for_dot()
            at, taken = time.monotonic() - begun, load.taken
            _kill(what, tree, postgres)
            report.kills[what] += 1
            next_s = time.monotonic() - begun - at + load.wait_for_next(LONGEST_S)
            answer_s = next_s + _wait_until(
                partial(letters.answered.__contains__, load.last), LONGEST_S
            )
            report.slowest_250 = max(report.slowest_250, next_s)
            report.slowest_answer = max(report.slowest_answer, answer_s)
            line = f"{number:4} {at:7.1f} s  {what:9} {taken:6} taken, next 250 after "
            print(f"{line}{next_s:5.2f} s, its answer {answer_s:5.2f} s", flush=True)
            if what == "database" and postgres is not None:
                postgres.mend()
        load.stop()
        report.failures = [repr(error) for error in load.failures]
        if plan.leases_end:
            stores.end_leases()
        report.quiet_s = _wait_until(lambda: stores.waiting() == 0, QUIET_S)
        if tree.stop() != 0:
            report.failures.append("the server did not stop cleanly")
        report.orphans = tree.orphans
        _compare(stores.database, load, letters, report)
    return report


def _kill(what: str, tree: Tree, postgres: Mortal | None) -> None:
    if what == "database":
        assert postgres is not None
        postgres.kill()
        return
    # A process that is dead is killed after its next start.
    _wait_until(lambda: tree.kill(what), LONGEST_S)
    if what in {"server", "all"}:
        tree.start()


class _Stores:
    """A view of the stores from outside the server."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self._mail = Database(mail_url(url)) if self.database.is_sqlite else self.database

    def close(self) -> None:
        self.database.close()
        if self._mail is not self.database:
            self._mail.close()

    def waiting(self) -> int:
        """Return the number of mails and letters that wait; -1 if the database is away."""
        mails = select(func.count()).select_from(waiting)
        letters = select(func.count()).select_from(outbox).where(outbox.c.state == "queued")
        try:
            with self._mail.reading.connect() as connection:
                count = connection.execute(mails).scalar_one()
            with self.database.reading.connect() as connection:
                return int(count + connection.execute(letters).scalar_one())
        except UNAVAILABLE:
            return -1

    def end_leases(self) -> None:
        """Release everything that killed processes had claimed."""
        if self.database.is_sqlite:
            return
        before = -1
        while (left := self.waiting()) not in {0, before}:
            time.sleep(SETTLED_S)  # claims that remain are those of killed processes
            before = left
        with self.database.writing.begin() as connection:
            connection.execute(update(waiting).values(claimed_until=None))
            queued = outbox.c.state == "queued"
            connection.execute(
                update(outbox).where(queued).values(due_at=outbox.c.created_at, claimed_by=None)
            )


def _wait_until(is_so: Callable[[], bool], most_s: float) -> float:
    """Wait for a condition and return the seconds, at most *most_s*."""
    begun = time.monotonic()
    while not is_so() and time.monotonic() < begun + most_s:
        time.sleep(0.05)
    return time.monotonic() - begun


def _compare(database: Database, load: Load, delivered: Letters, report: Report) -> None:
    """Compare sent mails with moves, and queued letters with delivered ones."""
    with database.reading.connect() as connection:
        moves = Counter(
            (row.board_id, row.number, row.text)
            for row in connection.execute(
                select(plies.c.board_id, plies.c.number, plies.c.text).where(plies.c.number > 2)
            )
        )
        letters = connection.execute(
            select(outbox.c.message_id, outbox.c.in_reply_to, outbox.c.state)
        ).all()
    answers = Counter(row.in_reply_to for row in letters)
    for message_id, sent in load.sent.items():
        move = (sent.board, sent.turn, sent.text)
        times = max(answers[message_id], moves.pop(move, 0) if sent.board else 0)
        name = f"{message_id} {move}"
        report.taken += sent.state == "taken"
        if times > 1:
            report.doubled.append(f"{name}: {times} times")
        if sent.state == "taken":
            if not times:
                report.lost.append(name)
            elif answers[message_id] != 1:
                report.lost.append(f"{name}: {answers[message_id]} answers")
    report.doubled += [f"a move that nobody sent: {move}" for move in moves]
    report.letters = len(letters)
    message_ids = {row.message_id for row in letters}
    report.unsent = [
        f"{row.message_id} {row.state}" for row in letters if row.message_id not in delivered.copies
    ]
    report.unknown = [
        message_id for message_id in delivered.copies if message_id not in message_ids
    ]
    for message_id, copies in delivered.copies.items():
        if len(set(copies)) > 1:
            report.repeats_other.append(f"{message_id} {len(copies)} copies")


def measure(count: int) -> list[Line]:
    """Return a line for SQLite and one for a PostgreSQL that is killed, too."""
    lines = []
    for is_postgresql in (False, True):
        what = f"{count} random kills on {'PostgreSQL' if is_postgresql else 'SQLite'}"
        with ExitStack() as stack:
            try:
                report, _ = _run_on(
                    stack, count, CALM_S, is_postgresql=is_postgresql, leases_end=True
                )
            except ImportError as error:
                lines.append(not_run(what, str(error)))
                continue
        summary = f"{report.taken:,} mails and {report.letters:,} letters"
        measured = f"{len(report.faults)} lost, doubled or left ({summary})"
        lines.append(Line(what, "0", measured, not report.faults))
    return lines


def _run_on(
    stack: ExitStack,
    count: int,
    pause_s: float,
    seed: int = 1,
    *,
    is_postgresql: bool,
    leases_end: bool,
) -> tuple[Report, Path]:
    """Kill processes at random, on a new database that ends with the stack; return the report and
    the server's log.

    Raises:
        ImportError: there is no PostgreSQL.
    """
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pbmserv-kills-")))
    url, kinds, postgres = f"sqlite:///{folder / 'kills.sqlite3'}", KINDS, None
    if is_postgresql:
        own = stack.enter_context(tempfile.TemporaryDirectory(prefix="pbmserv-kills-pg-"))
        postgres = OwnPostgres(Path(own))
        stack.callback(postgres.close)
        url, kinds = postgres.url, (*KINDS, "database")
    kills = tuple(random.Random(seed).choices(kinds, k=count))
    plan = Plan(url, folder, kills, seed, pause_s=pause_s, leases_end=leases_end)
    return run(plan, postgres), folder / "log"


def main() -> int:
    """Run the kills; return 0 if nothing was lost, doubled or orphaned."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.1, help="mean seconds of a session's rest")
    parser.add_argument(
        "--end-leases", action="store_true", help="do not wait for them (5 minutes)"
    )
    parser.add_argument(
        "--postgresql", action="store_true", help="start a PostgreSQL, and kill it, too"
    )
    options = parser.parse_args()
    with ExitStack() as stack:
        report, log = _run_on(
            stack,
            options.kills,
            options.pause,
            options.seed,
            is_postgresql=options.postgresql,
            leases_end=options.end_leases,
        )
        print(f"\n{report.printed()}")
        for fault in report.faults[:50]:
            print(fault)
        if report.faults:
            kept_log = Path(tempfile.gettempdir()) / "pbmserv-kills.log"
            kept_log.write_bytes(log.read_bytes())
            print(f"the server's log is in {kept_log}")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
