"""Sends due letters: one thread makes them, a pool of threads hands them to the relay."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Protocol

from pbmserv.clock import Clock
from pbmserv.errors import RelayDown, RelayError, StoreAway
from pbmserv.monitoring.vitals import Pulse, Vital
from pbmserv.outbound.attempts import result_of_delivery, result_of_making
from pbmserv.outbound.breaker import Breaker
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.outbound.results import Result
from pbmserv.store.delivery.letter_claims import ClaimedLetter

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
LONGEST_S = 120.0
"""Seconds of silence after which the thread that makes letters counts as stuck."""

_log = logging.getLogger("pbmserv.send")


class Queue(Protocol):
    """The outbox, as the sender needs it; see `outbox.Outbox`."""

    def claim(self, most: int) -> list[ClaimedLetter]: ...

    def release_lost(self, in_hand: Collection[int]) -> None: ...

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

    Its thread repeats the same steps: it claims as many due letters as threads are free, makes
    them, hands them to the pool, and stores the results of the deliveries that have ended. So a
    letter in hand is being made, is under way, or has a result to be stored.

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
            jitter: returns 0 ≤ x < 1, see `attempts.delay`.
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
        self._under_way = set[int]()
        self._results: list[Result] = []
        # Letters may be claimed in our name that are not in hand: by a dead predecessor, because
        # the answer to a claim was lost, or because something went wrong after it.
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
        """Send the letters that are due now in the calling thread, for programs without `start`."""
        while self._begin_letters():
            self._end_deliveries()
        self._settle()

    # -- the thread that makes letters -------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._pulse.beat()
            pause = self._trouble_s
            try:
                pause = self._step()
            except StoreAway as away:
                _log.warning("the outbox is away", extra={"because": str(away)})
                pause = AWAY_S
            except Exception:  # noqa: BLE001 - the thread must survive whatever the outbox does
                _log.exception("the outbox failed", extra={"wait_s": self._trouble_s})
            self._pulse.rest()
            self._wait(pause)
        self._finish()

    def _step(self) -> float:
        """Begin due letters, and store results; return how many seconds to wait for an event."""
        if monotonic() >= self._renew_at:
            self._renew()
        if self._begin_letters() or self._results:
            self._settle()
            return 0.0
        pause = min(self._poll_s, max(0.0, self._renew_at - monotonic()))
        begin_at = self._next_beginning()
        if begin_at is None:
            return pause
        # If a due letter could not be claimed, another sender has it.
        seconds = (begin_at - self._clock.now()).total_seconds()
        return min(pause, max(SHORTEST_PAUSE_S, seconds))

    def _next_beginning(self) -> datetime | None:
        """Return when the next letter can be begun, `None` if that is not before an event."""
        trial_at = self.breaker.next_trial
        if len(self._under_way) >= (self._threads if trial_at is None else 1):
            return None
        due_at = self._outbox.next_due()
        return due_at if due_at is None or trial_at is None else max(due_at, trial_at)

    def _begin_letters(self) -> bool:
        """Claim, make and begin due letters; return whether there were any.

        While the breaker is open, one letter is begun as a trial.
        """
        if self._may_have_lost:
            self._release_lost()
        now, begin_at = self._clock.now(), self._next_beginning()
        if begin_at is None or begin_at > now:
            return False
        self._may_have_lost = True
        most = 1 if self.breaker.is_open else self._threads - len(self._under_way)
        in_hand = self._in_hand()
        # A letter in hand is claimed again if its lease ended while the store was away, or if its
        # result was stored and the answer to that was lost. To begin it twice would send it twice.
        rows = [row for row in self._outbox.claim(most) if row.id not in in_hand]
        if rows and self.breaker.is_open:
            self.breaker.begin_trial(now)
        for together in _made_together(rows):
            if self._stopping.is_set():
                return True
            self._begin(together)
        self._may_have_lost = False
        return bool(rows)

    def _begin(self, rows: Sequence[ClaimedLetter]) -> None:
        """Make letters and hand them to the pool.

        Raises:
            StoreAway: the store could not be reached.
        """
        try:
            letters = self._outbox.make(rows)
        except StoreAway:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one letter must not stop others
            if len(rows) == 1:
                now, jitter = self._clock.now(), self._jitter()
                result = result_of_making(rows[0], error, now, jitter, self._outbox.game_of)
                self._results.append(result)
                return
            _log.warning("one of several letters could not be made", extra={"letters": len(rows)})
            for row in rows:
                self._begin([row])
        else:
            for row, letter in zip(rows, letters, strict=True):
                self._pool.submit(self._deliver, row, letter)
                self._under_way.add(row.id)

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

    def _wait(self, pause: float | None) -> None:
        """Wait for an event, then note all deliveries that have ended."""
        with suppress(Empty):
            event = self._events.get(timeout=pause)
            while True:
                if event is not None:
                    self._end_delivery(event.row, event.error)
                event = self._events.get_nowait()

    def _end_deliveries(self) -> None:
        """Wait until no delivery is under way."""
        while self._under_way:
            self._wait(None)

    def _end_delivery(self, row: ClaimedLetter, error: Exception | None) -> None:
        """Note the result of a delivery, which also shows whether the relay can be reached."""
        now = self._clock.now()
        if isinstance(error, RelayDown):
            self.breaker.record_failure(error, now)
        elif error is None or isinstance(error, RelayError):
            self.breaker.record_reply()
        self._under_way.remove(row.id)
        self._results.append(result_of_delivery(row, error, now, self._jitter()))

    def _settle(self) -> None:
        """Store the results. If that fails, keep them: a letter without a result is sent again."""
        if self._results:
            self._outbox.settle(self._results)
            self._results = []

    def _release_lost(self) -> None:
        """Make letters due again that are claimed in our name and not in hand."""
        self._outbox.release_lost(self._in_hand())
        self._may_have_lost = False

    def _renew(self) -> None:
        """Extend the leases of the letters in hand, however long the relay takes."""
        if ids := self._in_hand():
            self._outbox.renew(ids)
        self._renew_at = monotonic() + self._renewal_s

    def _in_hand(self) -> list[int]:
        return [*self._under_way, *(result.id for result in self._results)]

    def _finish(self) -> None:
        """Wait for the deliveries under way, and store their results."""
        self._end_deliveries()
        try:
            self._settle()
            if self._may_have_lost:
                self._release_lost()
        except Exception as error:  # noqa: BLE001 - the leases end by themselves
            facts = {"letters": len(self._results), "because": type(error).__name__}
            _log.warning("letters could not be settled", extra=facts)


def _made_together(rows: Sequence[ClaimedLetter]) -> list[list[ClaimedLetter]]:
    """Split letters into those that are made before any of them is sent.

    Python runs one thread at a time, so making some beside the deliveries of others takes longer
    than making all first. But few letters go out one by one, and heavy ones keep no other waiting.
    """
    light = [row for row in rows if not row.is_heavy]
    heavy = [row for row in rows if row.is_heavy]
    first = [light] if len(light) > FEW else [[row] for row in light]
    return [*first, *([row] for row in heavy)]
