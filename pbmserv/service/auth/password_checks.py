"""Checks the passwords of a mail with argon2 before the mail reaches the writer.

The work for one mail is limited, and mails from one network block wait for each other. So somebody
who guesses keeps one thread busy at most, and the passwords of others do not wait.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.commands.table import model
from pbmserv.commands.table.accounts import ChangePassword, Signup
from pbmserv.mail.envelope import Source
from pbmserv.monitoring import metrics
from pbmserv.service.auth import lockout, verified_sender
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.core.context import WAITING_SIGNUPS, Services
from pbmserv.service.delivery.incoming import IncomingMail
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer

log = logging.getLogger("pbmserv.service")

THREADS = 2
"""Threads that run argon2, which takes 64 MiB and one core for a tenth of a second."""

MAX_RUNS = 4
"""Largest number of argon2 runs for one mail: less than a second even at 0.2 s each. Passwords in
the memo need no run."""

MAX_WRONG = 3
"""Wrong passwords after which no further ones of a mail are checked."""


class PasswordChecks:
    """Checks the passwords in mails, and hashes new ones. Thread-safe."""

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
        self._queues: dict[str, deque[_Pending]] = {}

    def close(self) -> None:
        """Wait for checks that are under way."""
        self._threads.shutdown()

    def vet(self, incoming: IncomingMail) -> Future[IncomingMail]:
        """Check the passwords of a mail, fill the memo, and note in the mail what was checked.

        When a mail has used up its limit, none of its other passwords are answered, not even
        those in the memo. Otherwise a right guess would differ from guesses that are not checked.

        Returns:
            A future of the mail. It fails with an SQLAlchemyError if the database cannot be read.
        """
        pending = _Pending(incoming, Future())
        checked = self.known(incoming)
        if checked is not None:
            pending.future.set_result(checked)
            return pending.future
        neighbours = incoming.source.neighbours
        with self._guard:
            if neighbours in self._queues:
                self._queues[neighbours].append(pending)
                return pending.future
            self._queues[neighbours] = deque()
        self._threads.submit(self._serve, neighbours, pending)
        return pending.future

    def known(self, incoming: IncomingMail) -> IncomingMail | None:
        """Return the checked mail at once, `None` if argon2 or the database may be needed."""
        memo = self._services.memo
        has_passwords = False
        for line in incoming.reading.lines:
            if (
                line.who is None
                and line.proving is None
                and not isinstance(line.asked, _WITH_NEW_PASSWORD)
            ):
                continue
            has_passwords = True
            who = _credentials(line) or _possible_credentials(line)
            if who is not None and not memo.recent(who.userid, who.password.text):
                return None
            if _new_password(line) is not None and not self._is_refused_anyway(line):
                return None
        return self._check_all(incoming) if has_passwords else incoming

    def _serve(self, neighbours: str, pending: _Pending) -> None:
        """Check one mail, then let other networks go first, then the next mail of this one."""
        pending.run(self._check_all)
        with self._guard:
            waiting = self._queues[neighbours]
            if not waiting:
                del self._queues[neighbours]
                return
            pending = waiting.popleft()
        try:
            self._threads.submit(self._serve, neighbours, pending)
        except RuntimeError:  # closed; the mails stay in the queue
            with self._guard:
                remaining = [pending, *self._queues.pop(neighbours)]
            for mail in remaining:
                mail.future.cancel()

    def _check_all(self, incoming: IncomingMail) -> IncomingMail:
        checked: set[model.Credentials] = set()
        runs = wrong = 0
        for line in incoming.reading.lines:
            who, new = _credentials(line) or _possible_credentials(line), _new_password(line)
            is_open = runs < MAX_RUNS and wrong < MAX_WRONG
            if who is not None and who not in checked and is_open:
                checked.add(who)
                if not self._services.memo.recent(who.userid, who.password.text):
                    is_sure = _credentials(line) is not None and not _may_be_names(incoming, line)
                    result = self._check(_Check(incoming, who, MAX_RUNS - runs, is_sure=is_sure))
                    runs += result.runs
                    wrong += result.wrong
                    if result.is_player:
                        checked.discard(who)
            if new is not None and runs < MAX_RUNS and not self._is_refused_anyway(line):
                self._passwords.prepare(new.userid, new.password)
                runs += 1
        return replace(incoming, checked=frozenset(checked))

    def _is_refused_anyway(self, line: model.Line) -> bool:
        """Return whether a command with a new password will be refused."""
        return isinstance(line.asked, Signup) and self._services.signup == "closed"

    def _check(self, check: _Check) -> _CheckResult:
        who, source = check.who, check.incoming.source
        with self._database.reading.connect() as connection:
            if not check.is_sure and verified_sender.is_player(connection, who):
                return _CheckResult(0, wrong=False, is_player=True)
            player = players.of_name(connection, who.userid)
            # Always read, so that unknown userids take as long as known ones.
            waiting = players.pending(connection, who.userid)
            proven = _is_proven(connection, check.incoming, player)
            now = self._clock.now()
            is_open = proven or lockout.may_try(connection, who.userid, source, now)
        if not is_open:
            _note_wrong(source, player, "not looked at after too many wrong ones")
            return _CheckResult(0, wrong=True)
        if player is not None:
            hashes: list[str | None] = [player.password_hash]
        else:
            hashes = [signup.password_hash for signup in waiting[:WAITING_SIGNUPS]] or [None]
        runs = 0
        for password_hash in hashes[: check.most]:
            right, is_new = self._passwords.check(who.userid, password_hash, who.password.text)
            runs += is_new
            if right:
                return _CheckResult(runs, wrong=False)
        if runs and not proven:  # a repeated wrong password is not counted again
            note_wrong = partial(
                lockout.note_wrong, userid=who.userid, source=source, now=self._clock.now()
            )
            self._writer.submit(note_wrong).result()
        _note_wrong(source, player, "wrong" if runs else "wrong again")
        return _CheckResult(runs, wrong=True)


@dataclass(frozen=True, slots=True)
class _Pending:
    """A mail whose passwords will be checked, and the future of the result."""

    incoming: IncomingMail
    future: Future[IncomingMail]

    def run(self, vet: Callable[[IncomingMail], IncomingMail]) -> None:
        """Check the mail now."""
        try:
            self.future.set_result(vet(self.incoming))
        except BaseException as error:  # noqa: BLE001 - the future gets it
            self.future.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Check:
    """A userid and a password to check.

    Attributes:
        most: largest number of argon2 runs.
        is_sure: whether it is a password, and not perhaps the name of a player.
    """

    incoming: IncomingMail
    who: model.Credentials
    most: int
    is_sure: bool


@dataclass(frozen=True, slots=True)
class _NewPassword:
    """A new password; `Passwords.prepare` explains the userid."""

    userid: str
    password: str


@dataclass(frozen=True, slots=True)
class _CheckResult:
    """The result of a check.

    Attributes:
        runs: number of argon2 runs.
        wrong: whether the password is wrong, or may not be tried now.
        is_player: whether it is a userid and not a password.
    """

    runs: int
    wrong: bool
    is_player: bool = False


def _note_wrong(source: Source, player: Player | None, because: str) -> None:
    """Log and count a wrong password.

    The userid is not logged: if the sender mixed up the words, it may be the password.
    """
    metrics.WRONG_PASSWORDS.labels(because).inc()
    facts = {"network": source.network or "unknown", "because": because}
    log.info("wrong password", extra=facts | {"player": player.id if player else 0})


def _is_proven(connection: Connection, incoming: IncomingMail, player: Player | None) -> bool:
    """Return whether the mail itself proves to be the player's, so that it is no guess."""
    if player is None or not incoming.verdict.passed:
        return False
    return incoming.mail.sender.lower() in players.addresses_of(connection, player.id)


def _credentials(line: model.Line) -> model.Credentials | None:
    return None if line.who is None or line.who.password == model.VOUCHED else line.who


def _possible_credentials(line: model.Line) -> model.Credentials | None:
    """Return userid and word that may be a password, or the name of an opponent."""
    other = line.proving() if line.proving is not None else None
    return None if other is None else other.who


def _may_be_names(incoming: IncomingMail, line: model.Line) -> bool:
    """Return whether what looks like userid and password may be two players.

    That is possible if the mail shows its sender in another way.
    """
    by_reply = incoming.reply_address is not None and incoming.reply_address.player
    return line.unnamed is not None and bool(by_reply or incoming.verdict.passed)


_WITH_NEW_PASSWORD = (Signup, ChangePassword)
"""Commands with a new password."""


def _new_password(line: model.Line) -> _NewPassword | None:
    command = line.asked
    if isinstance(command, Signup):
        return _NewPassword(command.userid, command.password.text)
    if isinstance(command, ChangePassword):
        return _NewPassword(command.who.userid if command.who else "", command.new.text)
    return None
