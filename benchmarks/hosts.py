"""`python -m benchmarks.hosts`: what one host does against two, and one play or post against more.

All of them share one PostgreSQL of their own. On a machine with few cores more processes cannot be
quicker by more cores, so three things are measured apart:

- *waiting*: each commit takes `DELAY_MS` more (PostgreSQL's ``commit_delay``), as with a standby or
  a slow disk. Then processors have time to spare, and the rate shows whether plays wait for each
  other.
- *processor time*: what a move takes in the stages and in PostgreSQL. While that stays the same for
  more hosts, more cores make more moves.
- *few cores*: each host has the same small share of a processor (`few_cores.py`, as root), so two
  have twice as much as one, and nothing else is short. So have posts; each has as many letters to
  send, whatever their number.

The contenders take turns, round by round. Deadlocks and connections are PostgreSQL's own counts. In
each round every move must be there once, and every letter once at the relay.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import median

from sqlalchemy import Connection, text

from benchmarks import moves, servers
from benchmarks.few_cores import family, limited
from benchmarks.kills_load import Relay
from benchmarks.kills_server import OwnPostgres
from benchmarks.smtp import send_all
from pbmserv.mail.envelope import Envelope
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import arrivals
from pbmserv.store.delivery.arrivals import NewArrival

DELAY_MS = 20
CORES = 0.2
"""Of a processor, for each host, where it has a share."""
WARM_UP = 60
"""Moves for each play before it is measured: statements are compiled then, and templates."""
PLAYS, POSTS, HOSTS = (1, 2, 4), (1, 2, 4), (1, 2)
MOVES_OF_POST = 400
"""Whose letters wait for each post: several claims, so that it hardly matters who has the last."""
PLIES = 20
IDLE_S = 2.0
PATIENCE_S = 120
DATABASE = "PostgreSQL"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Measured:
    """What the rounds of one contender gave.

    Attributes:
        rates: moves a second.
        stages, database: processor time of a move, seconds, without what an idle host takes.
        parts: the same of each stage by itself.
        idle: processor time of a second in which nothing comes.
        connections: most that were open.
    """

    rates: list[float] = field(default_factory=list)
    stages: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)
    idle: list[float] = field(default_factory=list)
    connections: int = 0


class World:
    """A PostgreSQL of its own with many boards in play.

    Attributes:
        cores: of a processor, for each host; 0 = as much as it gets.
    """

    cores = 0.0

    def __init__(self, folder: Path, boards: int) -> None:
        self.folder = folder
        self.postgres = OwnPostgres(folder)
        self.database = Database(self.postgres.url)
        self.games = moves.prepare_at(self.postgres.url, boards)
        self.made = self._found = self._one("SELECT count(*) FROM plies")

    def close(self) -> None:
        """End it."""
        self.database.close()
        self.postgres.close()

    def slow(self, milliseconds: int) -> None:
        """Have each commit take so much longer."""
        autocommit = self.database.writing.execution_options(isolation_level="AUTOCOMMIT")
        with autocommit.connect() as connection:
            for name, value in (("commit_delay", milliseconds * 1000), ("commit_siblings", 0)):
                connection.execute(text(f"ALTER SYSTEM SET {name} = {value}"))
            connection.execute(text("SELECT pg_reload_conf()"))

    def deadlocks(self) -> int:
        """How many there were so far."""
        asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        return self._one(asked)

    def store(self, count: int) -> None:
        """Store moves, as a door does, in one transaction."""
        now = datetime.now(UTC)
        new = []
        for board in sorted(self.games.running, key=lambda one: one.left, reverse=True)[:count]:
            player = board.players[board.seat]
            mail = self.games.move(board)
            envelope = Envelope(mail.sender, mail.recipient, mail.raw, "192.0.2.7", "mx.example")
            new.append(NewArrival("mail", envelope, f"player {player}", now, player_id=player))
        self._found = self.made
        with self.database.writing.begin() as connection:
            _store(connection, new)
        self.made += count

    def await_moves(self, measured: Measured, *, letters: bool) -> None:
        """Wait until all are carried out; and, where somebody sends them, all letters are sent."""
        asked = "SELECT (SELECT count(*) FROM arrivals)"
        if letters:
            asked += " + (SELECT count(*) FROM outbox WHERE state = 'queued')"
        users = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        end = time.monotonic() + PATIENCE_S
        while self._one(asked):
            measured.connections = max(measured.connections, self._one(users) - 1)
            if time.monotonic() > end:
                raise RuntimeError("moves or letters do not come to an end")
            time.sleep(0.05)
        found = self._one("SELECT count(*) FROM plies")
        if found != self.made:
            raise RuntimeError(f"{self.made} moves, but {found} are there")

    def await_first(self) -> None:
        """Wait until somebody has begun: nobody rings a play when a mail comes by another way."""
        while self._one("SELECT count(*) FROM plies") == self._found:
            time.sleep(0.01)

    def drop_letters(self) -> None:
        """Those that nobody was there to send."""
        with self.database.writing.begin() as connection:
            connection.execute(text("DELETE FROM outbox WHERE state = 'queued'"))

    def hold_letters(self) -> None:
        """Let none of those that wait be due today."""
        self._make_due("1 day", "true")

    def release_letters(self, count: int) -> None:
        """Let so many of them be due now."""
        held = "state = 'queued' AND due_at > now() ORDER BY id LIMIT"
        self._make_due("0", f"id IN (SELECT id FROM outbox WHERE {held} {count})")

    def _make_due(self, after: str, which: str) -> None:
        with self.database.writing.begin() as connection:
            due = f"UPDATE outbox SET due_at = now() + interval '{after}'"
            connection.execute(text(f"{due} WHERE state = 'queued' AND {which}"))

    def used(self) -> float:
        """Processor time of all that PostgreSQL runs."""
        data = self.folder / "data" / "postmaster.pid"
        return sum(_used(int(data.read_text().split()[0])).values())

    def _one(self, statement: str) -> int:
        with self.database.reading.connect() as connection:
            return int(connection.execute(text(statement)).scalar_one())


def _store(connection: Connection, new: Sequence[NewArrival]) -> None:
    for arrival in new:
        arrivals.add(connection, arrival)


def _used(*parents: int) -> dict[str, float]:
    """Seconds of a processor that processes and their children have used, by name (Linux); those of
    children that have ended are their parents'."""
    found: dict[str, float] = defaultdict(float)
    for pid in chain.from_iterable(map(family, parents)):
        try:
            head, _, tail = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):  # a worker of autovacuum that has ended
            continue
        name = head.partition("(")[2].removeprefix("pbmserv ").rstrip("0123456789")
        found[name] += sum(map(int, tail.split()[11:15])) / _TICKS
    return found


@contextmanager
def _hosts(world: World, count: int, relay: str, only: str) -> Iterator[list[servers.Running]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                servers.host(world.folder / f"{only[0]}{n}", world.postgres.url, relay, only)
            )
            for n in range(count)
        ]


@contextmanager
def _limited(running: Sequence[servers.Running], cores: float) -> Iterator[None]:
    """Give each host its share of a processor; 0 = as much as it gets."""
    with ExitStack() as stack:
        for one in running if cores else ():
            stack.enter_context(limited(one.process.pid, cores))
        yield


def _plays(world: World, count: int, mails: int, measured: Measured) -> None:
    """*count* plays carry out moves that are stored already."""
    hosts = _hosts(world, count, "smtp://127.0.0.1:1", "play")
    with hosts as running, _limited(running, world.cores):
        world.store(WARM_UP * count)
        world.await_moves(Measured(), letters=False)
        idle = _idle(running, world)
        before = _used_of(running, world)
        world.store(mails)
        world.await_first()
        begun = time.monotonic()
        world.await_moves(measured, letters=False)
        _note(measured, mails, begun, idle, before, _used_of(running, world))
    world.drop_letters()


def _posts(world: World, count: int, measured: Measured, relay: Relay) -> None:
    """*count* posts send letters that wait already."""
    moves, warm_up = MOVES_OF_POST * count, 2 * WARM_UP * count
    with _hosts(world, 1, "smtp://127.0.0.1:1", "play"):
        world.store(moves)
        world.await_moves(Measured(), letters=False)
    world.hold_letters()
    relay.copies.clear()
    url = f"smtp://127.0.0.1:{relay.port}"
    with _hosts(world, count, url, "post") as running:
        world.release_letters(warm_up)
        _await_letters(relay, warm_up)
        with _limited(running, world.cores):
            idle = _idle(running, world)
            before = _used_of(running, world)
            begun = time.monotonic()
            world.release_letters(2 * moves)
            world.await_moves(measured, letters=True)
            _note(measured, 2 * moves - warm_up, begun, idle, before, _used_of(running, world))
    _none_doubled(relay, 2 * moves)


def _await_letters(relay: Relay, count: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while len(relay.copies) < count:
        if time.monotonic() > end:
            raise RuntimeError(f"{len(relay.copies)} letters of {count}")
        time.sleep(0.05)


def _none_doubled(relay: Relay, count: int) -> None:
    doubled = [name for name, copies in relay.copies.items() if len(copies) > 1]
    if doubled or len(relay.copies) != count:
        raise RuntimeError(f"{len(relay.copies)} letters of {count}, {len(doubled)} doubled")


def _whole(world: World, count: int, mails: int, measured: Measured, relay: Relay) -> None:
    """*count* hosts take moves by SMTP and send both letters of each."""
    url = f"smtp://127.0.0.1:{relay.port}"
    hosts = _hosts(world, count, url, "door,play,post")
    with hosts as running, _limited(running, world.cores):
        _send(world, running, WARM_UP * count)
        world.await_moves(Measured(), letters=True)
        relay.copies.clear()
        idle = _idle(running, world)
        before = _used_of(running, world)
        begun = time.monotonic()
        sent = _send(world, running, mails)
        world.await_moves(measured, letters=True)
        _note(measured, sent, begun, idle, before, _used_of(running, world))
    _none_doubled(relay, 2 * sent)


def _send(world: World, running: Sequence[servers.Running], mails: int) -> int:
    """Send moves by SMTP to all hosts at once, four sessions each; how many."""
    shares = world.games.shares(4 * len(running), mails)
    world.made += sum(map(len, shares))

    parts = [shares[n :: len(running)] for n in range(len(running))]
    with ThreadPoolExecutor(len(running)) as pool:
        list(pool.map(send_all, [one.port for one in running], parts))
    return sum(map(len, shares))


def _used_of(running: Sequence[servers.Running], world: World) -> dict[str, float]:
    """Processor time of each stage so far, and of PostgreSQL."""
    return {**_used(*(one.process.pid for one in running)), DATABASE: world.used()}


def _idle(running: Sequence[servers.Running], world: World) -> dict[str, float]:
    """What each takes in a second in which nothing comes."""
    before = _used_of(running, world)
    time.sleep(IDLE_S)
    after = _used_of(running, world)
    return {name: (after[name] - before.get(name, 0.0)) / IDLE_S for name in after}


def _note(
    measured: Measured,
    mails: int,
    begun: float,
    idle: dict[str, float],
    before: dict[str, float],
    after: dict[str, float],
) -> None:
    took = time.monotonic() - begun
    measured.rates.append(mails / took)
    measured.idle.append(sum(idle.values()))
    of_move = {
        name: (after[name] - before.get(name, 0.0) - idle.get(name, 0.0) * took) / mails
        for name in after
    }
    measured.database.append(of_move.pop(DATABASE))
    measured.stages.append(sum(of_move.values()))
    for name, seconds in of_move.items():
        measured.parts.setdefault(name, []).append(seconds)


def _printed(
    what: str, counts: Sequence[int], found: dict[int, Measured], each: str = "a move"
) -> None:
    one = found[counts[0]]
    for count in counts:
        this = found[count]
        ratios = [a / b for a, b in zip(this.rates, one.rates, strict=True)]
        cpu = [a / b for a, b in zip(this.stages, one.stages, strict=True)]
        print(
            f"{what:28} x{count}  {median(this.rates):6.1f}/s  {median(ratios):5.2f} x one"
            f"   {each}: stages {median(this.stages) * 1e3:5.2f} ms ({median(cpu):4.2f} x one),"
            f" PostgreSQL {median(this.database) * 1e3:5.2f} ms   {this.connections} connections"
        )
    parts = {name: median(some) * 1e3 for name, some in one.parts.items()}
    told = ", ".join(f"{name} {ms:.2f}" for name, ms in parts.items() if ms >= 0.01)
    idle = median(one.idle) * 1000
    print(f"{'':28} of one, ms: {told}; idle {idle:.0f} ms a second", flush=True)


def _boards(rounds: int, mails: int) -> int:
    """So many that none comes to its end; one board makes `PLIES` moves or more."""
    each = (len(PLAYS) + len(HOSTS)) * mails + (sum(PLAYS) + sum(HOSTS)) * WARM_UP
    each += MOVES_OF_POST * sum(POSTS)
    return max(mails + 4 * WARM_UP, MOVES_OF_POST * max(POSTS), rounds * each // PLIES)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hosts", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mails", type=int, default=240)
    parser.add_argument("--cores", type=float, default=CORES, help="of a processor for each host")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pbmserv-hosts-") as name, ExitStack() as stack:
        settings = (DELAY_MS, 0.0), (0, 0.0), (0, asked.cores)
        world = World(Path(name), _boards(len(settings) * asked.rounds, asked.mails))
        stack.callback(world.close)
        relay = Relay()
        stack.callback(relay.close)
        for milliseconds, world.cores in settings:
            world.slow(milliseconds)
            after = f", commits + {milliseconds} ms" if milliseconds else ""
            if world.cores:
                after = f", {world.cores} of a core each"
                try:
                    with limited(os.getpid(), 1.0):
                        pass
                except OSError as error:
                    print(f"NOT RUN{after}: {error}")
                    continue
            plays = {count: Measured() for count in PLAYS}
            posts = {count: Measured() for count in POSTS if world.cores}
            whole = {count: Measured() for count in HOSTS}
            before = world.deadlocks()
            for _ in range(asked.rounds):
                for count, measured in plays.items():
                    _plays(world, count, asked.mails, measured)
                for count, measured in posts.items():
                    _posts(world, count, measured, relay)
                for count, measured in whole.items():
                    _whole(world, count, asked.mails, measured, relay)
            _printed(f"play{after}", PLAYS, plays)
            if posts:
                _printed(f"post{after}", POSTS, posts, "a letter")
            _printed(f"hosts{after}", HOSTS, whole)
            print(f"{world.deadlocks() - before} deadlocks\n", flush=True)


if __name__ == "__main__":
    main()
