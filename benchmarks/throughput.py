"""Mails accepted and moves carried out with their letters, beside other servers.

The servers take turns, round by round, with the same kind of mails, so that other work of the
machine meets all of them. A ratio is the median over the rounds.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import mailman, moves, postfix, servers
from benchmarks.smtp import send_all
from benchmarks.table import Line, at_least, not_run

ACCEPTED_B, LETTERS_B, MAILMANS = 0.60, 0.10, 5.0
"""Limits: mails accepted and moves with letters, in mails of bare aiosmtpd; and in Mailman's."""
SESSIONS = 10
BOARDS = 1_300
"""More boards than a round has mails, so that no mail is sent before its predecessor's letters."""
WARM_UP = 300


@dataclass(slots=True)
class Contender:
    """A server under test, the moves that it gets, and its rates in mails a second."""

    name: str
    port: int
    games: moves.Games
    sent: int = 0
    rates: list[float] = field(default_factory=list)

    def run_round(self, mails: int) -> float:
        """Send mails and return the moment at which that began."""
        shares = self.games.shares(SESSIONS, mails)
        count = sum(map(len, shares))
        self.sent += count
        begun = perf_counter()
        self.rates.append(count / send_all(self.port, shares))
        return begun

    def ratio_to(self, other: Contender) -> float:
        """Return the median ratio of the rates of neighbouring rounds."""
        return median(own / theirs for own, theirs in zip(self.rates, other.rates, strict=True))

    @property
    def rate(self) -> float:
        return median(self.rates)


def measure(folder: Path, rounds: int, mails: int) -> list[Line]:
    """Return the lines about accepted mails, then those about letters."""
    return [*_accepted(folder, rounds, mails), *_letters(folder, rounds, mails)]


def _accepted(folder: Path, rounds: int, mails: int) -> list[Line]:
    """Measure mails that are on disk at the 250: our door, and Postfix."""
    with ExitStack() as stack:
        games = [moves.prepare(folder / f"accepted-{n}.sqlite3", BOARDS) for n in range(3)]
        bare = Contender("bare", stack.enter_context(servers.bare()).port, games[0])
        stage = stack.enter_context(servers.stage(folder, folder / "accepted-1.sqlite3", "door"))
        door = Contender("door", stage.port, games[1])
        contenders = [bare, door]
        peer = None
        if not (reason := postfix.why_not_here()):
            peer = Contender("Postfix", stack.enter_context(postfix.running()), games[2])
            contenders.append(peer)
        _run(contenders, rounds, mails)
    stored = moves.arrived(folder / "accepted-1.sqlite3")
    if stored != door.sent:
        raise RuntimeError(f"{door.sent} mails were sent, but {stored} are stored")
    note = f"{door.rate:,.0f}/s of {bare.rate:,.0f}/s"
    what = f"mails accepted by the door, {SESSIONS} sessions"
    lines = [at_least(what, ACCEPTED_B, door.ratio_to(bare), "B", note)]
    if peer is None:
        return [*lines, not_run("the same, beside Postfix", reason)]
    note = f"{peer.rate:,.0f}/s"
    return [*lines, at_least("the same, beside Postfix", 1.0, door.ratio_to(peer), "Postfix", note)]


def _letters(folder: Path, rounds: int, mails: int) -> list[Line]:
    """Measure moves of which both letters are at the relay, beside Mailman's answers to "help"."""
    database = folder / "letters.sqlite3"
    with ExitStack() as stack:
        relay = stack.enter_context(servers.sink())
        bare_games = moves.prepare(folder / "letters-bare.sqlite3", BOARDS)
        bare = Contender("bare", stack.enter_context(servers.bare()).port, bare_games)
        games = moves.prepare(database, BOARDS)
        running = stack.enter_context(servers.pbmserv(folder, database, relay.url))
        server = Contender("server", running.port, games)
        rates = []
        _run([bare, server], 0, mails)
        moves.await_letters(relay.letters, 2 * server.sent, database)
        for _ in range(rounds):
            bare.run_round(mails)
            before = server.sent
            begun = server.run_round(mails)
            moves.await_letters(relay.letters, 2 * server.sent, database)
            rates.append((server.sent - before) / (perf_counter() - begun))
    played, letters = moves.plies(database) - 2 * BOARDS, moves.letters(database)
    if (played, letters) != (server.sent, 2 * server.sent):
        raise RuntimeError(f"{server.sent} mails led to {played} moves and {letters} letters")
    server.rates = rates
    what = "moves, both letters at the relay"
    note = f"{server.rate:,.0f}/s of {bare.rate:,.0f}/s"
    lines = [at_least(what, LETTERS_B, server.ratio_to(bare), "B", note)]
    answered = mailman.answered_mails(mails // 4)
    if isinstance(answered, str):
        return [*lines, not_run('the same, beside Mailman\'s answers to "help"', answered)]
    what = 'the same, beside Mailman\'s answers to "help"'
    note = f"{answered:,.0f}/s"
    return [*lines, at_least(what, MAILMANS, server.rate / answered, "Mailmans", note)]


def _run(contenders: list[Contender], rounds: int, mails: int) -> None:
    """Warm the servers up, then let them take turns."""
    for contender in contenders:
        contender.run_round(WARM_UP)
        contender.rates.clear()
    for _ in range(rounds):
        for contender in contenders:
            contender.run_round(mails)
