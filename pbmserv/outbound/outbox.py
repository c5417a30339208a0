"""The queue of letters, as the sender needs it, in the database."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, Literal, Protocol

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.engine.types import value
from pbmserv.errors import ServerFault, SetAside, StoreAway
from pbmserv.letters.compose import Composer
from pbmserv.letters.looking import Looking
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.monitoring import metrics
from pbmserv.monitoring.metrics import Watch
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.relay import LIFETIME, OutgoingLetter, blanked, delay
from pbmserv.store.core.database import Claiming, Database
from pbmserv.store.core.writer import UNAVAILABLE, Writer
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.columns import pack


@value(frozen=True, slots=True)
class Sent:
    """The next hop has taken it."""

    id: int


@dataclass(frozen=True, slots=True)
class Later:
    """It was tried, and shall be tried again at *at*; counts as an attempt."""

    id: int
    at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It will not be tried again."""

    id: int
    error: str


@dataclass(frozen=True, slots=True)
class Untried:
    """It was not tried (the relay is down, or we stop): due again at *at*, no attempt counted.

    Attributes:
        why: for the operator, where that is not plain; ``""`` leaves what stood there.
    """

    id: int
    at: datetime
    why: str = ""


Result = Sent | Later | Failed | Untried


_log = logging.getLogger("pbmserv.send")


def note_letter(
    row: QueuedLetter,
    domain: str,
    outcome: Literal["sent", "waits", "refused"],
    error: str,
    wait: timedelta | None = None,
) -> None:
    """Log and count what became of a letter.

    Args:
        domain: of the recipient; ``""`` before the letter is made.
        error: the relay's words or ours; a reply is told by its code alone, since mail servers
            quote addresses.
        wait: until the next attempt.
    """
    metrics.LETTERS.labels(outcome).inc()
    if not _log.isEnabledFor(logging.INFO):
        return
    facts: dict[str, object] = {"letter": row.id, "outcome": outcome}
    known = {"kind": row.letter, "mail": row.mail_id, "board": row.board_id, "ply": row.ply}
    facts |= {key: value for key, value in known.items() if value not in {None, ""}}
    if domain:
        facts["domain"] = domain
    facts["attempts"] = row.attempts + 1
    if error:
        facts["why"] = blanked(error)
    if wait is not None:
        facts["wait_s"] = round(wait.total_seconds())
    _log.info("letter", extra=facts)


def try_again(
    clock: Clock, jitter: Callable[[], float], row: QueuedLetter, domain: str, error: str
) -> Later | Failed:
    """A letter that was not handed over: later, or never if it is too old."""
    now = clock.now()
    wait = delay(row.attempts + 1, now - row.created_at, jitter())
    if wait is None:
        note_letter(row, domain, "refused", f"given up: {error}")
        return Failed(row.id, f"given up after {LIFETIME.days} days: {error}")
    note_letter(row, domain, "waits", error, wait)
    return Later(row.id, now + wait, error)


LEASE = timedelta(minutes=5)
"""How long a claimed letter is one worker's own if that does not renew it: it has died."""


RARELY = 20
"""Times as long as a look past letters to avoided domains takes, the next one is not taken."""


HEAVY = 25
"""What letters to one reader may take, in plain ones, before all others' go first; and one letter,
before it is made alone."""


def _others_first(rows: Sequence[QueuedLetter]) -> list[QueuedLetter]:
    """Letters to those who wait for a move before those to its mover, and both before those to
    whoever has asked for much; of each reader in order."""
    answered = {row.recipient for row in rows if row.in_reply_to}
    ordered = [row for row in rows if row.recipient not in answered]
    ordered += [row for row in rows if row.recipient in answered]
    if sum([row.effort for row in rows]) > HEAVY:
        efforts = Counter[str]()
        for row in rows:
            efforts[row.recipient] += row.effort
        much = {recipient: taken for recipient, taken in efforts.items() if taken > HEAVY}
        ordered.sort(key=lambda row: much.get(row.recipient, 0))
    return ordered


def in_steps(claimed: Sequence[QueuedLetter], most: int) -> Iterator[list[QueuedLetter]]:
    """What is made together: as much as so many plain letters take, or one that takes much."""
    step, taken = list[QueuedLetter](), 0
    for row in claimed:
        takes = most if row.effort > HEAVY else row.effort
        taken += takes
        if step and taken > most:
            yield step
            step, taken = [], takes
        step.append(row)
    yield step


class OutboxRows(Protocol):
    """What changes the outbox: the writer itself, or on SQLite play, who has it.

    Every method may be called from several threads, and commits by itself.
    """

    def claim(
        self, most: int, avoiding: Collection[str] = (), since: datetime | None = None
    ) -> list[QueuedLetter]:
        """Up to *most* of the letters that are due for the longest, leased to the caller, in the
        order in which they shall be made.

        None to the recipient domains in *avoiding* (lower case), for which all is that was due
        before *since*.
        The lease must outlast several of `worker.RENEWAL_S`. What is neither renewed nor
        settled by its end (the process died) becomes due again.
        """
        ...

    def keep(self, packed: Mapping[int, bytes]) -> Callable[[], object]:
        """Begin to keep letters as they were made, packed; call what comes back to wait for it."""
        ...

    def renew(self, ids: Sequence[int], until: datetime) -> None:
        """Let the lease of letters end then; those that are settled stay as they are."""
        ...

    def settle(self, results: Sequence[Result]) -> None:
        """Write down what became of claimed letters; an unknown id is no error."""
        ...

    def reclaim(self) -> None:
        """At the start of a sender: what nobody holds that is there is due again."""
        ...


class WrittenRows:
    """Changes the outbox through the writer.

    Args:
        clock: tells what is due.
        refused: takes note, in the transaction that settles it, of a letter that failed: its
            number, the fault, and the time.

    Attributes:
        held: letters that senders of this server have in hand.
    """

    def __init__(
        self,
        writer: Writer,
        clock: Clock,
        refused: Callable[[Connection, int, str, datetime], None],
    ) -> None:
        self._writer = writer
        self._clock = clock
        self._refused = refused
        commit = partial(writer.submit_between, is_synced=False)
        self._claiming = Claiming(commit, outbox.claim, outbox.let_go)
        self.held: Callable[[], Collection[int]] = tuple

    def claim(
        self, most: int, avoiding: Collection[str] = (), since: datetime | None = None
    ) -> list[QueuedLetter]:
        now = self._clock.now()
        found = self._claiming.claimed(now, now + LEASE, most, sorted(avoiding), since)
        return _others_first(found)

    def keep(self, packed: Mapping[int, bytes]) -> Callable[[], object]:
        job = partial(outbox.keep_bytes, made=packed, now=self._clock.now())
        return self._writer.submit_between(job, is_synced=False).result

    def renew(self, ids: Sequence[int], until: datetime) -> None:
        job = partial(outbox.renew, ids=ids, until=until)
        self._writer.submit_between(job, is_synced=False).result()

    def settle(self, results: Sequence[Result]) -> None:
        self._writer.submit_between(partial(self._settle, results, self._clock.now())).result()

    def reclaim(self) -> None:
        job = partial(outbox.reclaim, now=self._clock.now(), held=self.held())
        self._writer.submit(job).result()

    def _settle(self, results: Sequence[Result], now: datetime, connection: Connection) -> None:
        sent = [result.id for result in results if isinstance(result, Sent)]
        later = [(r.id, r.at, r.error) for r in results if isinstance(r, Later)]
        untried = [(r.id, r.at, r.why) for r in results if isinstance(r, Untried)]
        failed = [(r.id, r.error) for r in results if isinstance(r, Failed)]
        if sent:
            outbox.sent(connection, sent, now)
        if later:
            outbox.later(connection, later)
        if untried:
            outbox.release(connection, untried)
        if failed:
            outbox.failed(connection, failed)
        for letter_id, error in failed:
            self._refused(connection, letter_id, error, now)


class AskedRows:
    """Has play change the outbox.

    Args:
        ask: asks it, and waits for the answer.
        begin: only asks; what comes back waits.
    """

    def __init__(self, ask: Callable[..., Any], begin: Callable[..., Callable[[], object]]) -> None:
        self.claim = partial(ask, "claim")
        self.keep = partial(begin, "keep")
        self.renew = partial(ask, "renew")
        self.settle = partial(ask, "settle")
        self.reclaim = partial(ask, "reclaim")


class Outbox:
    """The queue, as the sender needs it: claims, renders and settles its rows.

    Every method may be called from several threads, and commits by itself.

    Attributes:
        claim, settle, reclaim: see `OutboxRows`.
    """

    def __init__(
        self,
        database: Database,
        rows: OutboxRows,
        composer: Composer,
        signer: Signer,
        clock: Clock,
        watch: Watch,
    ) -> None:
        self._database = database
        self._rows = rows
        self.claim, self.settle, self.reclaim = rows.claim, rows.settle, rows.reclaim
        self._composer = composer
        self._signer = signer
        self._clock = clock
        self._watch = watch
        self._looked: tuple[datetime | None, Collection[str], float] = None, (), 0.0

    def give_back(self, ids: Sequence[int]) -> None:
        """These are due again: a sender before this one has died with them."""
        if ids:
            self._rows.renew(ids, self._clock.now())

    def prepare(self, rows: Sequence[QueuedLetter]) -> Callable[[], list[OutgoingLetter]]:
        """What to send of claimed letters: call what comes back, in the same thread. Those that no
        attempt has made before are rendered now, and it waits until their bytes are kept, so that
        every attempt sends the same.

        Raises, now or then:
            SetAside: one of them is to wait for an attempt later on.
            ServerFault: one of them can never be rendered.
            StoreAway: the database is.
        """
        made: dict[int, bytes] = {}
        address_of = self._composer.mail_domain.address_of
        try:
            with self._database.one_state() as connection:
                looking = Looking(connection, self._composer.positions)
                killed_over = self._watch.killed_over()
                try:
                    for row in [row for row in rows if row.raw is None]:
                        if row.id in killed_over:
                            _must_end(row, killed_over[row.id])
                        self._watch.at(row.id)
                        raw = self._composer.bytes_of(looking, row)
                        made[row.id] = self._signer.signed(raw) if self._signer.keys else raw
                finally:
                    self._watch.at(0)
            packed = {number: pack(raw) for number, raw in made.items()}
            wait = self._rows.keep(packed) if packed else tuple
        except UNAVAILABLE as error:
            raise StoreAway(type(error).__name__) from error

        def kept() -> list[OutgoingLetter]:
            try:
                wait()
            except UNAVAILABLE as error:
                raise StoreAway(type(error).__name__) from error
            letters = []
            for row in rows:
                # Where it comes back to: an address of this letter alone, so that a report about it
                # can neither be made up nor be taken for another's. It is never answered (RFC 3834,
                # 3.3).
                back = address_of(ReplyAddress(Purpose.BOUNCE, about=row.id))
                raw = row.raw or made[row.id]
                letters.append(OutgoingLetter(row.id, row.message_id, back, row.recipient, raw))
            return letters

        return kept

    def game_of(self, row: QueuedLetter) -> str:
        """The key of the game of a letter's board; "" where it is about none, or nobody knows."""
        if row.board_id is not None:
            with suppress(ServerFault, *UNAVAILABLE), self._database.one_state() as connection:
                return Looking(connection, self._composer.positions).board(row.board_id).game
        return ""

    def renew(self, ids: Sequence[int]) -> None:
        """Begin the lease of letters anew; those that are settled stay as they are."""
        self._rows.renew(ids, self._clock.now() + LEASE)

    def next_due(self, avoiding: Collection[str] = ()) -> datetime | None:
        """When the next letter is due (or a lease ends), ``None`` for an empty queue.

        While some are avoided, thousands of theirs may be due, and are all looked at. So that this
        takes a twentieth of the time at most, the answer may be what was found a moment ago.
        """
        found, avoided, until = self._looked
        if avoiding and avoiding == avoided and monotonic() < until:
            return found
        begun = monotonic()
        with self._database.one_state() as connection:
            found = outbox.next_due(connection, sorted(avoiding))
        if avoiding:
            ended = monotonic()
            self._looked = found, avoiding, ended + RARELY * (ended - begun)
        return found


def _must_end(row: QueuedLetter, times: int) -> None:
    """Raise for a letter that a sender before this one was killed over.

    Raises:
        SetAside: this was once, and it has not waited since.
        ServerFault: it was so once more.
    """
    if times > 1:
        raise ServerFault(f"making it was stopped {times} times")
    if times > row.attempts:
        raise SetAside("making it was stopped")
