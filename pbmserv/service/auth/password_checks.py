"""Looks at the passwords of a mail before it reaches the writer: argon2's slow work.

A mail gets so much of it and no more, and those of one neighbour wait for each other: whoever
guesses keeps one thread busy at most, and nobody else's password waits behind his.
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
from pbmserv.commands.grammar.readings import Line
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
"""argon2 takes 64 MiB and a core for a tenth of a second; more at once help nobody."""

MOST_RUNS = 4
"""Times that argon2 runs for one mail: less than a second, also where a run takes 0.2 s.
What is known from earlier mails is not counted."""

MOST_WRONG = 3
"""Wrong pairs of userid and password after which no more of a mail's are looked at."""


class PasswordChecks:
    """Checks the passwords that a mail brings, and hashes the new ones. Thread-safe."""

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
        """Wait for hashing that is under way."""
        self._threads.shutdown()

    def vet(self, incoming: IncomingMail) -> Future[IncomingMail]:
        """The mail with what its commands may ask the memo about; the memo knows it then.

        Once a mail has had what it may have, nothing more of it is answered, not even what is
        known anyhow: else a right guess could be told from all those that nobody looks at.

        It fails with an SQLAlchemyError when the database could not say whose password it is.
        """
        turn = _Turn(incoming, Future())
        known = self.known(incoming)
        if known is not None:
            turn.future.set_result(known)
            return turn.future
        neighbours = incoming.source.neighbours
        with self._guard:
            if neighbours in self._turns:
                self._turns[neighbours].append(turn)
                return turn.future
            self._turns[neighbours] = deque()
        self._threads.submit(self._serve, neighbours, turn)
        return turn.future

    def known(self, incoming: IncomingMail) -> IncomingMail | None:
        """The same at once; ``None`` where argon2 or the database may have to be asked."""
        memo = self._services.memo
        brings = False
        for line in incoming.reading.lines:
            if (
                line.who is None
                and line.with_proof is None
                and not isinstance(line.meaning, _SETTING)
            ):
                continue
            brings = True
            who = _credentials(line) or _doubtful(line)
            if who is not None and not memo.recent(who.userid, who.password.text):
                return None
            if _new_password(line) is not None and not self._is_idle(line):
                return None
        return self._vetted(incoming) if brings else incoming

    def _serve(self, neighbours: str, turn: _Turn) -> None:
        """Vet one mail, then give the others that wait their turn, and the next of these
        neighbours after them."""
        turn.run(self._vetted)
        with self._guard:
            waiting = self._turns[neighbours]
            if not waiting:
                del self._turns[neighbours]
                return
            turn = waiting.popleft()
        try:
            self._threads.submit(self._serve, neighbours, turn)
        except RuntimeError:  # closed: the mails wait for the next start
            with self._guard:
                left = [turn, *self._turns.pop(neighbours)]
            for one in left:
                one.future.cancel()

    def _vetted(self, incoming: IncomingMail) -> IncomingMail:
        vetted: set[model.Credentials] = set()
        runs = wrong = 0
        for line in incoming.reading.lines:
            who, new = _credentials(line) or _doubtful(line), _new_password(line)
            is_open = runs < MOST_RUNS and wrong < MOST_WRONG
            if who is not None and who not in vetted and is_open:
                vetted.add(who)
                if not self._services.memo.recent(who.userid, who.password.text):
                    is_sure = _credentials(line) is not None and not _may_be_names(incoming, line)
                    looked = self._look(_Look(incoming, who, MOST_RUNS - runs, is_sure=is_sure))
                    runs += looked.runs
                    wrong += looked.wrong
                    if looked.is_player:
                        vetted.discard(who)
            if new is not None and runs < MOST_RUNS and not self._is_idle(line):
                self._passwords.prepare(new.userid, new.password)
                runs += 1
        return replace(incoming, checked=frozenset(vetted))

    def _is_idle(self, line: Line) -> bool:
        """Whether a new password will be refused whatever it is."""
        return isinstance(line.meaning, Signup) and self._services.signup == "closed"

    def _look(self, work: _Look) -> _Looked:
        who, source = work.who, work.incoming.source
        with self._database.reading.connect() as connection:
            if not work.is_sure and verified_sender.is_player(connection, who):
                return _Looked(0, wrong=False, is_player=True)
            player = players.of_name(connection, who.userid)
            waiting = players.pending(connection, who.userid)  # asked in any case: it takes time
            proven = _is_proven(connection, work.incoming, player)
            now = self._clock.now()
            is_open = proven or lockout.may_try(connection, who.userid, source, now)
        if not is_open:
            _note_wrong(source, player, "not looked at after too many wrong ones")
            return _Looked(0, wrong=True)
        if player is not None:
            known: list[str | None] = [player.password_hash]
        else:
            known = [one.password_hash for one in waiting[:WAITING_SIGNUPS]] or [None]
        runs = 0
        for one in known[: work.most]:
            right, is_new = self._passwords.look(who.userid, one, who.password.text)
            runs += is_new
            if right:
                return _Looked(runs, wrong=False)
        if runs and not proven:  # the same slip again tells a guesser nothing
            note_wrong = partial(
                lockout.note_wrong, userid=who.userid, source=source, now=self._clock.now()
            )
            self._writer.submit(note_wrong).result()
        _note_wrong(source, player, "wrong" if runs else "wrong again")
        return _Looked(runs, wrong=True)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A mail whose passwords are to be looked at, and who waits for that."""

    incoming: IncomingMail
    future: Future[IncomingMail]

    def run(self, vet: Callable[[IncomingMail], IncomingMail]) -> None:
        """Do it now."""
        try:
            self.future.set_result(vet(self.incoming))
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            self.future.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Look:
    """A userid and a password to look at; *most*: times that argon2 may run for it.

    `is_sure`: it is a password, and not perhaps the name of a player.
    """

    incoming: IncomingMail
    who: model.Credentials
    most: int
    is_sure: bool


@dataclass(frozen=True, slots=True)
class _New:
    """A new password; *userid*: see `Passwords.prepare`."""

    userid: str
    password: str


@dataclass(frozen=True, slots=True)
class _Looked:
    """How often argon2 ran, and whether it was a wrong password, or one nobody may try now.

    `is_player`: it was none, but somebody's userid.
    """

    runs: int
    wrong: bool
    is_player: bool = False


def _note_wrong(source: Source, player: Player | None, because: str) -> None:
    """Log and count a wrong password. Never the userid that was written: words may have slipped,
    and it may be the password."""
    metrics.WRONG_PASSWORDS.labels(because).inc()
    facts = {"network": source.network or "unknown", "because": because}
    log.info("wrong password", extra=facts | {"player": player.id if player else 0})


def _is_proven(connection: Connection, incoming: IncomingMail, player: Player | None) -> bool:
    """Whether the mail itself proves to be that player's, so that this is nobody's guess."""
    if player is None or not incoming.verdict.passed:
        return False
    return incoming.mail.sender.lower() in players.addresses_of(connection, player.id)


def _credentials(line: Line) -> model.Credentials | None:
    return None if line.who is None or line.who.password == model.VOUCHED else line.who


def _doubtful(line: Line) -> model.Credentials | None:
    """What may be a password in a challenge, or a player's name."""
    other = line.with_proof() if line.with_proof is not None else None
    return None if other is None else other.who


def _may_be_names(incoming: IncomingMail, line: Line) -> bool:
    """Whether what looks like userid and password may be two players, since the mail shows who
    writes to them."""
    by_reply = incoming.reply_address is not None and incoming.reply_address.player
    return line.without_writer is not None and bool(by_reply or incoming.verdict.passed)


_SETTING = (Signup, ChangePassword)
"""Commands with a new password."""


def _new_password(line: Line) -> _New | None:
    asked = line.meaning
    if isinstance(asked, Signup):
        return _New(asked.userid, asked.password.text)
    if isinstance(asked, ChangePassword):
        return _New(asked.who.userid if asked.who else "", asked.new.text)
    return None
