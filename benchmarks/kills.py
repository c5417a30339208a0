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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from sqlalchemy import func, select, update

from benchmarks import kills_server
from benchmarks.kills_load import Letters, Load
from benchmarks.kills_server import OwnPostgres, Tree
from benchmarks.moves import PLAYERS, prepare_at
from benchmarks.smtp import relaying
from benchmarks.table import Line, not_run
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import arrivals as waiting
from pbmserv.store.tables.mail import outbox

KINDS = ("door", "play", "post1", "bots", "web", "server", "all")
IN_DATA = 0.5
"""Share of kills that happen between the DATA of a mail and its 250."""
CALM_S = 0.5
"""Mean pause of a session with random kills, a load that two processors carry."""
LONGEST_S = 60.0
"""Longest wait for the next 250 after a kill."""
SETTLED_S = 2.0
"""Seconds in which a living process finishes its claimed work."""
QUIET_S = 400.0
"""Longest wait for the end of all work."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run.

    Attributes:
        kills: kinds of processes to kill, in this order; ``database`` is PostgreSQL's primary.
        pause_s: mean seconds between two mails of a session.
        between_s: longest time between the first 250 after a kill and the next kill.
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
    begin: kills_server.Begin = kills_server.begin


@dataclass
class Report:
    """The result of a run.

    Attributes:
        faults: sentences about everything that must not happen.
        taken: number of mails with a 250.
        letters: number of letters that were queued.
        quiet_s: seconds from the last mail to the end of all work.
        slowest_250: most seconds from a kill to the next 250.
        slowest_answer: most seconds from a kill to the answer to that mail.
    """

    faults: list[str] = field(default_factory=list)
    taken: int = 0
    letters: int = 0
    quiet_s: float = 0.0
    slowest_250: float = 0.0
    slowest_answer: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.taken} mails with 250, {self.letters} letters queued, quiet after "
            f"{self.quiet_s:.0f} s\n"
            f"slowest after a kill: 250 {self.slowest_250:.1f} s, its answer "
            f"{self.slowest_answer:.1f} s\n"
            f"{len(self.faults)} faults"
        )


def run(plan: Plan, postgres: OwnPostgres | None = None) -> Report:
    """Run the plan and print a line for each kill.

    Args:
        postgres: the primary to kill, if the plan kills a database.
    """
    chance = random.Random(plan.seed)
    games = prepare_at(plan.url, plan.boards, plan.players)
    report = Report()
    letters = Letters()
    with ExitStack() as stack:
        relay_port = stack.enter_context(relaying(letters.take))
        tree = Tree(plan.folder, plan.url, relay_port, plan.begin)
        stack.callback(tree.close)
        tree.start()
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
            if chance.random() < IN_DATA:
                load.wait_for_data()
            at, taken = time.monotonic() - begun, load.taken
            _kill(what, tree, postgres)
            next_s = time.monotonic() - begun - at + load.wait_for_next(LONGEST_S)
            is_answered = partial(letters.answered.__contains__, load.last)
            answer_s = next_s + _wait_until(is_answered, LONGEST_S)
            report.slowest_250 = max(report.slowest_250, next_s)
            report.slowest_answer = max(report.slowest_answer, answer_s)
            line = f"{number:4} {at:7.1f} s  {what:9} {taken:6} taken, next 250 after "
            print(f"{line}{next_s:5.2f} s, its answer {answer_s:5.2f} s", flush=True)
            if what == "database" and postgres is not None:
                postgres.mend()
        load.stop()
        report.faults += [f"failed: {error!r}" for error in load.failures]
        if set(plan.kills) != {"database"}:
            stores.end_leases()
        report.quiet_s = _wait_until(lambda: stores.waiting() == 0, QUIET_S)
        if tree.stop() != 0:
            report.faults.append("the server did not stop cleanly")
        report.faults += [f"outlived its parent: {name}" for name in tree.orphans]
        _compare(stores.database, load, letters, report)
    return report


def _kill(what: str, tree: Tree, postgres: OwnPostgres | None) -> None:
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
        """Release the claims of killed processes, which last for five minutes on PostgreSQL."""
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
        if times > 1:
            report.faults.append(f"doubled: {message_id} {move} {times} times")
        if sent.state == "taken" and answers[message_id] != 1:
            report.faults.append(f"lost: {message_id} {move} has {answers[message_id]} answers")
    report.faults += [f"a move that nobody sent: {move}" for move in moves]
    report.taken = sum(sent.state == "taken" for sent in load.sent.values())
    report.letters = len(letters)
    states = {row.message_id: row.state for row in letters}
    report.faults += [
        f"not sent: {message_id} {state}"
        for message_id, state in states.items()
        if message_id not in delivered.copies
    ]
    for message_id, copies in delivered.copies.items():
        if message_id not in states:
            report.faults.append(f"sent without a row: {message_id}")
        if len(set(copies)) > 1:
            report.faults.append(f"repeated with other octets: {message_id}, {len(copies)} copies")


def measure(count: int) -> list[Line]:
    """Return a line for SQLite and one for a PostgreSQL that is killed, too."""
    lines = []
    for is_postgresql in (False, True):
        what = f"{count} random kills on {'PostgreSQL' if is_postgresql else 'SQLite'}"
        try:
            with _random_kills(count, 1, is_postgresql=is_postgresql) as (plan, postgres):
                report = run(plan, postgres)
        except ImportError as error:
            lines.append(not_run(what, str(error)))
            continue
        summary = f"{report.taken:,} mails and {report.letters:,} letters"
        measured = f"{len(report.faults)} lost, doubled or left ({summary})"
        lines.append(Line(what, "0", measured, not report.faults))
    return lines


@contextmanager
def _random_kills(
    count: int, seed: int, *, is_postgresql: bool
) -> Iterator[tuple[Plan, OwnPostgres | None]]:
    """Yield a plan with random kills on a new database, and the PostgreSQL that it kills.

    Raises:
        ImportError: there is no PostgreSQL.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pbmserv-kills-")))
        url, kinds, postgres = f"sqlite:///{folder / 'kills.sqlite3'}", list(KINDS), None
        if is_postgresql:
            own = stack.enter_context(tempfile.TemporaryDirectory(prefix="pbmserv-kills-pg-"))
            postgres = OwnPostgres(Path(own))
            stack.callback(postgres.close)
            url = postgres.url
            kinds.append("database")
        kills = tuple(random.Random(seed).choices(kinds, k=count))
        yield Plan(url, folder, kills, seed, pause_s=CALM_S), postgres


def main() -> int:
    """Run the kills; return 0 if nothing was lost, doubled or orphaned."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--postgresql", action="store_true", help="start a PostgreSQL, and kill it, too"
    )
    options = parser.parse_args()
    is_postgresql = options.postgresql
    with _random_kills(options.kills, options.seed, is_postgresql=is_postgresql) as (
        plan,
        postgres,
    ):
        report = run(plan, postgres)
        print(f"\n{report}", *report.faults[:50], sep="\n")
        if report.faults:
            kept_log = Path(tempfile.gettempdir()) / "pbmserv-kills.log"
            kept_log.write_bytes((plan.folder / "log").read_bytes())
            print(f"the server's log is in {kept_log}")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
