"""Checks the passwords of a request before it reaches the writer, because argon2 is slow.

Each request may use a limited number of runs, and the requests of one neighbour wait for each
other. So a guesser keeps one thread busy at most, and the passwords of others do not wait.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.table.accounts import ChangePassword, Signup
from pbmserv.commands.table.command_types import VOUCHED, Credentials
from pbmserv.mail.envelope import Source
from pbmserv.monitoring import metrics
from pbmserv.service.auth import lockout
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.auth.stored_hashes import stored_hashes
from pbmserv.service.core.actor import Actor
from pbmserv.service.core.services import Services
from pbmserv.service.core.submission import Request
from pbmserv.service.mails import line_readings
from pbmserv.store.accounts import players, signups
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer

log = logging.getLogger("pbmserv.service")

THREADS = 2
"""argon2 takes 64 MiB and a core for a tenth of a second, so more threads do not help."""

MOST_RUNS = 4
"""Runs of argon2 for one request, which take less than a second even at 0.2 s each. Passwords that
are known from earlier mails need none."""

MOST_WRONG = 3
"""Wrong pairs of userid and password after which no further one is checked."""


class PasswordChecks:
    """Checks the passwords of requests, and hashes new ones. Thread-safe."""

    def __init__(
        self,
        services: Services,
        passwords: Passwords,
        database: Database,
        writer: Writer,
        clock: Clock,
    ) -> None:
        self._services = services
        self._passwords = passwords
        self._database = database
        self._writer = writer
        self._clock = clock
        self._threads = ThreadPoolExecutor(THREADS, "pbmserv-hashing")
        self._guard = threading.Lock()
        self._turns: dict[str, deque[_Turn]] = {}

    def close(self) -> None:
        """Wait for runs that have begun."""
        self._threads.shutdown()

    def vet(self, request: Request) -> Future[frozenset[Credentials]]:
        """Check the passwords of a request, so that the memo knows them; return those that its
        commands may use.

        After too many passwords no further one may be used, not even a known one: otherwise a
        right guess could be told from the guesses that were not checked.

        The future fails with an SQLAlchemyError if the database does not answer.
        """
        turn = _Turn(request, Future())
        passwords = self.known(request)
        if passwords is not None:
            turn.future.set_result(passwords)
            return turn.future
        neighbours = request.actor.source.neighbours
        with self._guard:
            if neighbours in self._turns:
                self._turns[neighbours].append(turn)
                return turn.future
            self._turns[neighbours] = deque()
        self._threads.submit(self._serve, neighbours, turn)
        return turn.future

    def known(self, request: Request) -> frozenset[Credentials] | None:
        """Return the result of `vet` at once; `None` if argon2 or the database may be needed."""
        for line in request.submission.reading.lines:
            pair = _credentials(line) or _doubtful(line)
            if pair is not None and not self._is_known(pair):
                return None
            if self._password_to_hash(line) is not None:
                return None
        return self._vet(request)

    def _serve(self, neighbours: str, turn: _Turn) -> None:
        """Vet one request, and submit the next one of the same neighbours behind all that wait."""
        turn.run(self._vet)
        with self._guard:
            waiting = self._turns[neighbours]
            if not waiting:
                del self._turns[neighbours]
                return
            turn = waiting.popleft()
        try:
            self._threads.submit(self._serve, neighbours, turn)
        except RuntimeError:  # closed: the requests wait for the next start
            with self._guard:
                left = [turn, *self._turns.pop(neighbours)]
            for other in left:
                other.future.cancel()

    def _vet(self, request: Request) -> frozenset[Credentials]:
        vetted: set[Credentials] = set()
        runs = wrong = 0
        for line in request.submission.reading.lines:
            pair, new = _credentials(line) or _doubtful(line), self._password_to_hash(line)
            is_open = runs < MOST_RUNS and wrong < MOST_WRONG
            if pair is not None and pair not in vetted and is_open:
                vetted.add(pair)
                if not self._is_known(pair):
                    is_sure = pair == _credentials(line) and not _may_be_names(request.actor, line)
                    result = self._check(request.actor, pair, MOST_RUNS - runs, is_sure=is_sure)
                    runs += result.runs
                    wrong += result.is_wrong
            if new is not None and runs < MOST_RUNS:
                self._passwords.prepare(new.userid, new.password.text)
                runs += 1
        return frozenset(vetted)

    def _is_known(self, pair: Credentials) -> bool:
        """Return whether a pair was right in an earlier mail."""
        return self._services.memo.was_right_recently(pair.userid, pair.password.text)

    def _password_to_hash(self, line: Line) -> Credentials | None:
        """Return the new password of a line; `None` for none, or if it will be refused anyway.

        For its userid see `Passwords.prepare`.
        """
        command = line.meaning
        if isinstance(command, Signup) and self._services.signup != "closed":
            return Credentials(command.userid, command.new)
        if isinstance(command, ChangePassword):
            return Credentials(
                command.credentials.userid if command.credentials else "", command.new
            )
        return None

    def _check(
        self, actor: Actor, credentials: Credentials, most: int, *, is_sure: bool
    ) -> _Result:
        """Check a userid and a password.

        Args:
            most: the number of times that argon2 may run.
            is_sure: the second word is a password, and cannot be a userid.
        """
        source = actor.source
        with self._database.reading.connect() as connection:
            if not is_sure and line_readings.password_is_userid(connection, credentials):
                return _Result(0, is_wrong=False)
            player = players.account_of(connection, credentials.userid)
            # Always loaded, so that the time does not tell whether the userid exists.
            waiting = signups.of_userid(connection, credentials.userid)
            proven = _is_proven(connection, actor, player)
            now = self._clock.now()
            is_open = proven or lockout.may_try(connection, credentials.userid, source, now)
        if not is_open:
            _note_wrong(source, player, "not looked at after too many wrong ones")
            return _Result(0, is_wrong=True)
        runs = 0
        for hashed in stored_hashes(player, waiting)[:most]:
            right, is_new = self._passwords.check(
                credentials.userid, hashed, credentials.password.text
            )
            runs += is_new
            if right:
                return _Result(runs, is_wrong=False)
        if runs and not proven:  # repeating a wrong password is no new guess
            note_wrong = partial(
                lockout.note_wrong, userid=credentials.userid, source=source, now=self._clock.now()
            )
            self._writer.submit(note_wrong).result()
        _note_wrong(source, player, "wrong" if runs else "wrong again")
        return _Result(runs, is_wrong=True)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A request that waits for the check of its passwords."""

    request: Request
    future: Future[frozenset[Credentials]]

    def run(self, vet: Callable[[Request], frozenset[Credentials]]) -> None:
        """Check the passwords now."""
        try:
            self.future.set_result(vet(self.request))
        except BaseException as error:  # noqa: BLE001 - the waiting caller gets it
            self.future.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of a check.

    Attributes:
        runs: how often argon2 ran.
        is_wrong: the password is wrong, or may not be tried now.
    """

    runs: int
    is_wrong: bool


def _note_wrong(source: Source, player: Player | None, because: str) -> None:
    """Log and count a wrong password, without the written userid, which may be the password."""
    metrics.WRONG_PASSWORDS.labels(because).inc()
    facts = {"network": source.network or "unknown", "because": because}
    log.info("wrong password", extra=facts | {"player": player.id if player else 0})


def _is_proven(connection: Connection, actor: Actor, player: Player | None) -> bool:
    """Return whether the player has the verified From address, so that the password is no guess."""
    if player is None or not actor.is_verified:
        return False
    return players.has_address(connection, player.id, actor.address)


def _credentials(line: Line) -> Credentials | None:
    credentials = line.credentials
    return None if credentials is None or credentials.password == VOUCHED else credentials


def _doubtful(line: Line) -> Credentials | None:
    """Return a pair whose second word may be a password, or a userid."""
    other = line.with_proof() if line.with_proof is not None else None
    return None if other is None else other.credentials


def _may_be_names(actor: Actor, line: Line) -> bool:
    """Return whether a pair may be the userids of two players, to whom a known writer writes."""
    return line.without_writer is not None and bool(actor.speaks_for or actor.is_verified)
