"""Sends due letters: one thread makes them, a pool of threads hands them to the relay."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Protocol

from pbmserv.clock import Clock
from pbmserv.errors import (
    GameAway,
    RelayDown,
    RelayError,
    RelayPermanent,
    RelayTemporary,
    ServerFault,
    StoreAway,
)
from pbmserv.monitoring.vitals import Pulse, Vital
from pbmserv.outbound.breaker import Breaker
from pbmserv.outbound.log_lines import log_letter
from pbmserv.outbound.outbox_writer import HEAVY
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.outbound.results import Failed, Later, Result, Sent, Untried
from pbmserv.outbound.retry import LIFETIME, delay
from pbmserv.store.delivery.letter_claims import Claim, ClaimedLetter

BATCH = 100
"""Letters claimed at once."""
RESULTS_AT_ONCE = 10
"""Results stored at once while there are letters to make, which saves round trips."""
FEW = 3
"""Letters that are made one by one, so that the first is sent before the next is made."""
RENEWAL_S = 60.0
"""Seconds between two renewals of the leases. A relay may take half an hour for one letter."""
AWAY_S = 0.2
"""Seconds of pause after the outbox could not be reached."""
TROUBLE_S = 5.0
"""Longest pause in seconds after an unexpected fault."""
SHORTEST_PAUSE_S = 0.05
"""Pause in seconds before the next attempt to claim a due letter that could not be claimed."""
GAME_WAIT = timedelta(minutes=2)
"""Time until a letter is tried again whose game cannot be played."""
LONGEST_S = 120.0
"""Seconds of silence after which the thread that makes letters counts as stuck."""

_log = logging.getLogger("pbmserv.send")


class Queue(Protocol):
    """The outbox, as the sender needs it; see `outbox.Outbox`."""

    def claim(self, claim: Claim) -> list[ClaimedLetter]: ...

    def make(self, rows: Sequence[ClaimedLetter]) -> list[OutgoingLetter]: ...

    def settle(self, results: Sequence[Result]) -> None: ...

    def renew(self, ids: Sequence[int]) -> None: ...

    def next_due(self) -> datetime | None: ...

    def game_of(self, row: ClaimedLetter) -> str: ...


@dataclass(frozen=True, slots=True)
class _Delivery:
    """A delivery that ended, with its error if it failed."""

    row: ClaimedLetter
    error: Exception | None


class Sender:
    """Sends due letters until it is stopped; call `wake` when letters were queued.

    If the process dies, nothing is lost: claimed letters become due again when their lease ends,
    and are made again from the same record, with the same Message-ID.

    Attributes:
        breaker: knows whether the relay can be reached.
    """

    def __init__(
        self,
        outbox: Queue,
        relay: Relay,
        clock: Clock,
        jitter: Callable[[], float],
        *,
        threads: int,
        poll_s: float,
        renewal_s: float = RENEWAL_S,
    ) -> None:
        """Prepare to send.

        Args:
            outbox: the queue.
            relay: accepts the letters; the caller closes it after `stop`.
            clock: decides which letters are due.
            jitter: returns 0 ≤ x < 1, see `retry.delay`.
            threads: deliveries at a time (≥ 1).
            poll_s: longest pause in seconds before the outbox is read again.
            renewal_s: seconds between two renewals of the leases.
        """
        self._outbox = outbox
        self._relay = relay
        self._clock = clock
        self._jitter = jitter
        self._poll_s = poll_s
        self._trouble_s = min(poll_s, TROUBLE_S)
        self._renewal_s = renewal_s
        self._renew_at = monotonic() + renewal_s
        self.breaker = Breaker()
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, "sender")
        self._waiting: list[ClaimedLetter] = []
        self._single: set[int] = set()  # letters that are made one by one after a fault
        self._under_way: dict[int, ClaimedLetter] = {}
        self._results: list[Result] = []
        # Letters may be claimed in our name that we do not have: by a dead predecessor, or because
        # the answer to a claim was lost. The next claim makes them due again.
        self._may_have_lost = True
        self._events: SimpleQueue[_Delivery | None] = SimpleQueue()
        self._stopping = threading.Event()
        self._pulse = Pulse(LONGEST_S)
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """Read the outbox now; cheap, from any thread."""
        self._events.put(None)

    def stop(self, timeout: float) -> bool:
        """Finish the deliveries under way and end.

        Claimed letters that are not yet under way are given back.

        Returns:
            Whether the thread ended within *timeout* seconds.
        """
        self._stopping.set()
        self._events.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout)
        self._pool.shutdown(wait=False, cancel_futures=True)
        return not self._thread.is_alive()

    def vitals(self) -> list[Vital]:
        """Return the state of the thread that makes letters."""
        return [Vital.of(self._thread, self._pulse)]

    def run_once(self) -> None:
        """Send one batch of due letters in the calling thread, for programs without `start`."""
        now = self._clock.now()
        self._claim(now, BATCH)
        while self._begin(self._next_rows()) or self._under_way:
            self._wait(None if self._under_way else 0.0)
        self._settle()

    # -- the thread that makes letters -------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._pulse.beat()
            pause = self._trouble_s
            try:
                pause = self._step()
            except StoreAway as away:
                self._may_have_lost = True
                _log.warning("the outbox is away", extra={"because": str(away)})
                pause = AWAY_S
            except Exception:  # noqa: BLE001 - the thread must survive whatever the outbox does
                self._may_have_lost = True
                _log.exception("the outbox failed", extra={"wait_s": self._trouble_s})
            self._pulse.rest()
            self._wait(pause)
        self._finish()

    def _step(self) -> float:
        """Claim, begin and settle letters; return how many seconds to wait for an event.

        While there are letters to make, results are settled in groups, to save commits.
        """
        if monotonic() >= self._renew_at:
            self._renew()
        now = self._clock.now()
        is_busy = self._begin_trial(now) if self.breaker.is_open else self._begin_letters(now)
        if not is_busy or len(self._results) >= RESULTS_AT_ONCE:
            self._settle()
        return 0.0 if is_busy or self._results else self._pause(now)

    def _begin_letters(self, now: datetime) -> bool:
        """Claim letters if too few wait, and begin the next ones; return whether there were any."""
        claimed = self._claim(now, BATCH) if self._wants_letters() else 0
        return self._begin(self._next_rows()) or claimed > 0

    def _wants_letters(self) -> bool:
        """Return whether a thread is free, and fewer letters wait than can be delivered at a time.

        Heavy letters do not count, so that other letters need not wait for them.
        """
        if len(self._under_way) >= self._threads:
            return False
        return sum(row.effort <= HEAVY for row in self._waiting) < self._threads

    def _begin_trial(self, now: datetime) -> bool:
        """While the breaker is open, give waiting letters back; begin a trial when it is due."""
        trial_at = self.breaker.next_trial or now
        self._results += [Untried(row.id, max(now, trial_at)) for row in self._waiting]
        self._waiting = []
        if now < trial_at or self._under_way or not self._claim(now, 1):
            return False
        self.breaker.begin_trial(now)
        return self._begin([self._waiting.pop()])

    def _claim(self, now: datetime, most: int) -> int:
        """Claim due letters and return their number."""
        due_at = self._outbox.next_due()
        if (due_at is None or due_at > now) and not self._may_have_lost:
            return 0
        in_hand = self._in_hand()
        claimed = self._outbox.claim(Claim(most, tuple(in_hand)))
        self._may_have_lost = False
        # A letter in hand is claimed again if its lease ended while the store was away, or if its
        # result was stored and the answer to that was lost. To hold it twice would send it twice.
        rows = [row for row in claimed if row.id not in in_hand]
        # Light letters go first: making a heavy one takes as long as making a hundred others.
        self._waiting = sorted([*self._waiting, *rows], key=lambda row: row.effort > HEAVY)
        return len(rows)

    def _next_rows(self) -> list[ClaimedLetter]:
        """Take waiting letters that can be made and delivered now, as many as possible.

        Python runs one thread at a time, so making a few beside the deliveries of many takes longer
        than making all first.
        """
        room = self._threads - len(self._under_way)
        most = min(room, 1) if len(self._waiting) <= FEW else room
        rows, waiting = list[ClaimedLetter](), list[ClaimedLetter]()
        for row in self._waiting:
            is_single = row.effort > HEAVY or row.id in self._single
            if len(rows) < most and not (rows and is_single):
                rows.append(row)
                most = 1 if is_single else most
            else:
                waiting.append(row)
        self._waiting = waiting
        return rows

    def _begin(self, rows: Sequence[ClaimedLetter]) -> bool:
        """Make letters and hand them to the pool; return whether there were any.

        Raises:
            StoreAway: the store could not be reached; the letters are given back.
        """
        if not rows:
            return False
        for row in rows:
            self._under_way[row.id] = row
        try:
            letters = self._outbox.make(rows)
        except StoreAway:
            for row in rows:
                self._end_letter(row, Untried(row.id, self._clock.now()))
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one letter must not stop others
            if len(rows) == 1:
                self._end_letter(rows[0], self._result_of_making(rows[0], error))
            else:
                self._separate(rows)
        else:
            for row, letter in zip(rows, letters, strict=True):
                self._pool.submit(self._deliver, row, letter)
        return True

    def _separate(self, rows: Sequence[ClaimedLetter]) -> None:
        """Put letters back to be made one by one, since one of them could not be made."""
        _log.warning("one of several letters could not be made", extra={"letters": len(rows)})
        for row in rows:
            del self._under_way[row.id]
        self._single |= {row.id for row in rows}
        self._waiting = [*rows, *self._waiting]

    def _result_of_making(self, row: ClaimedLetter, error: BaseException) -> Result:
        """Return the result of a letter that could not be made."""
        if isinstance(error, GameAway):  # the letter waits, however long that takes
            return Untried(row.id, self._clock.now() + GAME_WAIT, f"waits: {error}")
        if not row.attempts or isinstance(error, ServerFault):  # later attempts fail alike
            facts = {"letter": row.id, "kind": row.letter, "board": row.board_id}
            facts["game"] = self._outbox.game_of(row)
            _log.error("a letter could not be made", exc_info=error, extra=facts)
        if isinstance(error, ServerFault):
            log_letter(row, "", "refused", "our fault")
            return Failed(row.id, f"our fault: {error}", was_made=False)
        # The next version may fix the bug, so the letter is kept.
        result = self._retry(row, f"not made: {type(error).__name__}")
        return replace(result, was_made=False) if isinstance(result, Failed) else result

    def _deliver(self, row: ClaimedLetter, letter: OutgoingLetter) -> None:
        """Hand a letter to the relay; runs in the pool."""
        error: Exception | None = None
        try:
            self._relay.deliver(letter)
        except RelayError as refusal:
            error = refusal
        except Exception as fault:  # noqa: BLE001 - one letter must not stop the others
            _log.exception("the relay failed in an unknown way", extra={"letter": row.id})
            error = fault
        self._events.put(_Delivery(row, error))

    def _end_delivery(self, row: ClaimedLetter, error: Exception | None) -> None:
        """Record the end of a delivery, which also shows whether the relay can be reached."""
        if isinstance(error, RelayDown):
            self.breaker.record_failure(error, self._clock.now())
        elif error is None or isinstance(error, RelayError):
            self.breaker.record_reply()
        self._end_letter(row, self._result_of(row, error))

    def _result_of(self, row: ClaimedLetter, error: Exception | None) -> Result:
        """Return the result of a delivery, and log it."""
        domain = _domain_of(row)
        match error:
            case None:
                log_letter(row, domain, "sent", "")
                return Sent(row.id)
            case RelayPermanent():
                log_letter(row, domain, "refused", str(error))
                return Failed(row.id, str(error))
            case RelayTemporary():
                return self._retry(row, str(error))
        return self._retry(row, type(error).__name__)

    def _retry(self, row: ClaimedLetter, error: str) -> Later | Failed:
        """Return the result of a letter that was not accepted: try again, or give up an old one."""
        now, domain = self._clock.now(), _domain_of(row)
        wait = delay(row.attempts + 1, now - row.created_at, self._jitter())
        if wait is None:
            log_letter(row, domain, "refused", f"given up: {error}")
            return Failed(row.id, f"given up after {LIFETIME.days} days: {error}")
        log_letter(row, domain, "waits", error, wait)
        return Later(row.id, now + wait, error)

    def _end_letter(self, row: ClaimedLetter, result: Result) -> None:
        """Record the result of a letter under way."""
        del self._under_way[row.id]
        self._single.discard(row.id)
        self._results.append(result)

    def _settle(self) -> None:
        """Store the results. If that fails, keep them: a letter without a result is sent again."""
        if self._results:
            self._outbox.settle(self._results)
            self._results = []

    def _renew(self) -> None:
        """Extend the leases of the letters in hand, however long the relay takes."""
        if ids := self._in_hand():
            self._outbox.renew(ids)
        self._renew_at = monotonic() + self._renewal_s

    def _in_hand(self) -> list[int]:
        waiting = [row.id for row in self._waiting]
        return [*waiting, *self._under_way, *(result.id for result in self._results)]

    def _pause(self, now: datetime) -> float:
        """Return the seconds until the next due letter, trial or renewal."""
        pause = min(self._poll_s, max(0.0, self._renew_at - monotonic()))
        if not self._wants_letters():
            return pause
        due_at = self._outbox.next_due()
        if due_at is not None:
            due_at = max(due_at, self.breaker.next_trial or due_at)
            # If a due letter could not be claimed, another sender has it.
            pause = min(pause, max(SHORTEST_PAUSE_S, (due_at - now).total_seconds()))
        return pause

    def _wait(self, pause: float | None) -> None:
        """Wait for an event, then record all deliveries that have ended."""
        try:
            event = self._events.get(timeout=pause) if pause != 0.0 else self._events.get_nowait()
            while True:
                if event is not None:
                    self._end_delivery(event.row, event.error)
                event = self._events.get_nowait()
        except Empty:
            return

    def _finish(self) -> None:
        """Give back the waiting letters and settle those under way."""
        self._results += [Untried(row.id, self._clock.now()) for row in self._waiting]
        self._waiting = []
        while self._under_way:
            self._wait(None)
        try:
            self._settle()
        except Exception as error:  # noqa: BLE001 - the leases end by themselves
            facts = {"letters": len(self._results), "because": type(error).__name__}
            _log.warning("letters could not be settled", extra=facts)


def _domain_of(row: ClaimedLetter) -> str:
    return row.recipient.rpartition("@")[2].lower()
