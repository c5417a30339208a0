"""The threads that take due letters out of the outbox and hand them to the relay."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice
from os import sched_yield
from time import monotonic
from typing import TypeAlias

from pbmserv.clock import Clock
from pbmserv.errors import (
    RelayBusy,
    RelayDown,
    RelayPermanent,
    RelayTemporary,
    ServerFault,
    StoreAway,
)
from pbmserv.monitoring.metrics import Pulse, Vital
from pbmserv.outbound.concurrency import Domains, Held, Turn
from pbmserv.outbound.outbox import (
    HEAVY,
    Failed,
    Later,
    Outbox,
    Result,
    Sent,
    Untried,
    in_steps,
    note_letter,
    try_again,
)
from pbmserv.outbound.relay import Breaker, OutgoingLetter, Relay
from pbmserv.store.delivery.outbox import QueuedLetter

#: Claiming pays in batches of 20 to 100.
BATCH = 100
#: As few go out as they are made: what a move on a quiet server leads to.
FEW = 3
#: Of others so many are made before the first of them is sent: to make many together saves work,
#: and each of them takes 40 kB until it is gone, in each thread.
TOGETHER = 50
#: After this time no further letter of a batch is begun: others wait for it.
BATCH_TIME = timedelta(minutes=3)
#: How often leases are renewed. A relay may take half an hour over a letter (`smtp_client`).
RENEWAL_S = 60.0
#: Pause after the outbox could not be reached; whoever asks has waited for it.
AWAY_S = 0.2
#: Longest pause after the outbox itself failed (database gone).
_TROUBLE_PAUSE_S = 5.0
_SHORTEST_PAUSE_S = 0.05
#: A thread that is silent for longer is stuck: a batch, a relay's half hour over its last letter.
LONGEST_S = 3600.0
#: A letter that took longer is followed by no other of its batch: those are given back.
SLOW_S = 5.0

_log = logging.getLogger("pbmserv.send")

_Ready: TypeAlias = tuple[QueuedLetter, OutgoingLetter]


class Sender:
    """Sends what is due; `start`, then `wake` whenever letters were queued, then `stop`.

    Nothing is lost when it dies: letters that were claimed and not settled become due again when
    their lease ends, and go out with the same Message-ID.
    """

    def __init__(
        self,
        outbox: Outbox,
        relay: Relay,
        clock: Clock,
        jitter: Callable[[], float],
        *,
        threads: int,
        poll_s: float,
        domain_letters: int = 0,
        renewal_s: float = RENEWAL_S,
        held: Held,
    ) -> None:
        """
        Args:
            outbox: the queue.
            relay: where letters go; the caller closes it after `stop`.
            clock: tells what is due.
            jitter: draws 0 ≤ x < 1, see `relay.delay`.
            threads: how many batches may wait for the relay at once (≥ 1).
            poll_s: longest pause in seconds between two looks into the outbox: 30 where every
                change is told by `wake`, 1 where other processes queue letters, too.
            domain_letters: how many of them at most to one recipient domain; 0 = all.
            renewal_s: seconds between two renewals of the leases of letters in hand.
            held: knows which letters are in hand.
        """
        self._outbox = outbox
        self._relay = relay
        self._clock = clock
        self._again = partial(try_again, clock, jitter)
        self._poll_s = poll_s
        self._trouble_s = min(poll_s, _TROUBLE_PAUSE_S)
        self._breaker = Breaker()
        self._at_once = min(relay.at_once, domain_letters or relay.at_once)
        self._domains = Domains(domain_letters, self._at_once, threads, self.wake)
        self._claiming = threading.Lock()
        self._renewal_s = renewal_s
        self._held = held
        self._is_heavy = False
        self._turn = Turn()
        self._stopping = threading.Event()
        self._woken = False
        self._bell = threading.Condition()
        self._pulses = [Pulse(LONGEST_S) for _ in range(threads + 1)]
        works = [(self._work, f"sender-{n}") for n in range(1, threads + 1)]
        works.append((self._renew, "sender-lease"))
        self._threads = [
            threading.Thread(target=work, args=(pulse,), name=name, daemon=True)
            for (work, name), pulse in zip(works, self._pulses, strict=True)
        ]

    def start(self) -> None:
        """Begin to send."""
        for thread in self._threads:
            thread.start()

    def vitals(self) -> list[Vital]:
        """How its threads are."""
        return [Vital.of(*one) for one in zip(self._threads, self._pulses, strict=True)]

    @property
    def failures(self) -> tuple[int, bool]:
        """Attempts in a row that did not reach the relay, and whether letters wait for it."""
        return self._breaker.failures, self._breaker.next_trial is not None

    def wake(self) -> None:
        """Look into the outbox now; cheap, from any thread."""
        with self._bell:
            self._woken = True
            self._bell.notify()

    def stop(self, timeout: float) -> bool:
        """Finish the letters in hand and end; whether all threads did within so many seconds."""
        with self._bell:
            self._stopping.set()
            self._bell.notify_all()
        end = monotonic() + timeout
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, end - monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self, pulse: Pulse) -> None:
        while not self._stopping.is_set():
            pulse.beat()
            try:
                if (claimed := self.run_once()) < BATCH:
                    self._rest(is_idle=not claimed)
            except StoreAway as away:
                _log.warning("the outbox is away", extra={"because": str(away)})
                self._stopping.wait(AWAY_S)
            except Exception:  # noqa: BLE001 - the thread must outlive whatever the outbox does
                _log.exception("the outbox failed", extra={"wait_s": self._trouble_s})
                self._stopping.wait(self._trouble_s)

    def _renew(self, pulse: Pulse) -> None:
        """Keep the letters in hand ours, however long the relay takes over one of them."""
        while not self._stopping.wait(self._renewal_s):
            pulse.beat()
            held = self._held.all()
            try:
                if held:
                    self._outbox.renew(held)
            except Exception:  # noqa: BLE001 - the lease is longer than one renewal
                _log.exception("leases could not be renewed", extra={"letters": len(held)})

    def _rest(self, *, is_idle: bool) -> None:
        """Wait for `wake`, the next due letter, or the poll interval. Unless nothing could be
        claimed a moment ago, what is due is not waited for: to look takes less than to claim."""
        if not is_idle:
            self._woken = False  # what was told of until now is seen below
        now = self._clock.now()
        closed = self._domains.closed(now)
        opening = self._domains.next_opening(now) if closed else None
        due = min(filter(None, (self._outbox.next_due(closed), opening)), default=None)
        trial = self._breaker.next_trial
        if due is not None and trial is not None:
            due = max(due, trial)
        pause = self._poll_s
        if due is not None:  # if it cannot be claimed, it is in another's hands: no spinning
            shortest = _SHORTEST_PAUSE_S if is_idle else 0.0
            pause = min(pause, max(shortest, (due - now).total_seconds()))
        with self._bell:
            if pause and not self._woken and not self._stopping.is_set():
                self._bell.wait(pause)
            self._woken = False

    def run_once(self) -> int:
        """Claim, send and settle one batch; how many letters there were."""
        with ExitStack() as turn:
            waits = self._is_heavy
            if waits:  # else each thread would have one in hand, and others' letters wait for all
                turn.enter_context(self._turn.taken(self._stopping))
            now = self._clock.now()
            is_trial = self._breaker.next_trial is not None
            if is_trial and not self._breaker.grants_trial(now):
                return 0
            with self._claiming:  # one after the other: each knows what others have in hand
                most = 1 if is_trial else BATCH
                closed = self._domains.closed(now)
                # A look costs others less than a claim that brings nothing.
                since = self._outbox.next_due(closed) if closed else now
                claimed = self._outbox.claim(most, closed, since) if since and since <= now else []
                domains = self._domains.take([row.recipient for row in claimed])
            self._is_heavy = max([row.effort for row in claimed], default=0) > HEAVY
            if not claimed:
                if is_trial:
                    self._breaker.untried(now)
                return 0
            ids = [row.id for row in claimed]
            self._held.add(ids)
            turn.callback(self._domains.put_down)
            try:
                if not waits:
                    turn.enter_context(self._turn.taken(self._stopping, self._domains.has_room))
                domain_of = dict(zip(ids, domains, strict=True))
                results = self._results(claimed, domain_of, now, is_trial=is_trial)
                turn.close()
                self._settle(results)
            finally:
                self._held.remove(ids)
        return len(claimed)

    def _results(
        self,
        claimed: Sequence[QueuedLetter],
        domain_of: Mapping[int, str],
        now: datetime,
        *,
        is_trial: bool,
    ) -> list[Result]:
        """Try all letters of a batch; what became of each."""
        if len(claimed) == BATCH:
            self.wake()  # there may be more: another thread can begin on it
        results, slow = list[Result](), False
        under_way = deque[tuple[float, Iterator[None]]]()
        # What is few shall be there soon, and nothing waits until a heavy letter is made; else the
        # next hop has time while others are begun.
        lag = 0 if len(claimed) <= FEW or self._is_heavy else self._at_once // 2
        for row, letter in self._made(claimed, results):
            domain = domain_of[row.id]
            while len(under_way) >= self._at_once or (under_way and self._domains.is_full(domain)):
                begun, steps = under_way.popleft()
                deque(steps, maxlen=0)
                slow |= monotonic() - begun > SLOW_S
            # After a slow one others need not wait behind it.
            untried = Untried(row.id, now) if slow else self._not_now(row, domain, now, is_trial)
            if untried is not None:
                results.append(untried)
                continue
            under_way.append((monotonic(), self._handed_over(row, domain, letter, results)))
            next(under_way[-1][1], None)
            if len(under_way) > lag:
                next(under_way[-1 - lag][1], None)
                if not lag:
                    sched_yield()  # a relay on this machine has it before the next one is made
        for _, steps in islice(under_way, max(0, len(under_way) - lag), None):
            next(steps, None)
        deque(chain.from_iterable([steps for _, steps in under_way]), maxlen=0)
        return results

    def _made(self, claimed: Sequence[QueuedLetter], results: list[Result]) -> Iterator[_Ready]:
        """The letters of a batch; while some are being kept, the next are made. What became of
        others goes to *results*."""
        is_few = len(claimed) <= FEW
        ahead = deque[Iterator[_Ready]]()
        for rows in in_steps(claimed, 1 if is_few else TOGETHER):
            while ahead and rows[0].effort > HEAVY:
                yield from ahead.popleft()
            prepared = self._prepared(rows, results)
            ahead.append(chain(next(prepared), chain.from_iterable(prepared)))
            if is_few or len(ahead) > 1:
                yield from ahead.popleft()
        yield from chain.from_iterable(ahead)

    def _prepared(
        self, rows: Sequence[QueuedLetter], results: list[Result]
    ) -> Iterator[list[_Ready]]:
        """Make letters; none come at first, and once they are kept those that can be sent."""
        if self._stopping.is_set():  # whoever starts next has them at once
            results += [Untried(row.id, self._clock.now()) for row in rows]
            yield []
            return
        try:
            kept = self._outbox.prepare(rows)
            yield []
            yield list(zip(rows, kept(), strict=True))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one letter must not stop the others
            yield self._unmade(rows, error, results)

    def _unmade(
        self, rows: Sequence[QueuedLetter], error: BaseException, results: list[Result]
    ) -> list[_Ready]:
        """Note why a letter was not made; of several, try each alone."""
        row = rows[0]
        if isinstance(error, StoreAway):
            _log.warning("letters could not be kept", extra={"because": str(error)})
            results += [Untried(one.id, self._clock.now()) for one in rows]
        elif len(rows) > 1:
            told = "a letter of several could not be made; trying each alone"
            _log.warning(told, extra={"letters": len(rows)})
            alone = [self._prepared([row], results) for row in rows]
            return [*chain.from_iterable(chain.from_iterable(alone))]
        else:
            if not row.attempts or isinstance(error, ServerFault):  # in between it is the same one
                facts = {"letter": row.id, "kind": row.letter, "board": row.board_id}
                facts["game"] = self._outbox.game_of(row)
                _log.error("a letter could not be made", exc_info=error, extra=facts)
            if isinstance(error, ServerFault):
                note_letter(row, "", "refused", "our fault")
                results.append(Failed(row.id, f"our fault: {error}"))
            else:  # a bug that the next version mends, or no database: no reason to lose it
                results.append(self._again(row, "", f"not made: {type(error).__name__}"))
        return []

    def _not_now(
        self, row: QueuedLetter, domain: str, begun: datetime, is_trial: bool
    ) -> Untried | None:
        """Why a letter cannot be begun now; else it is on its way to its domain."""
        now = self._clock.now()
        trial_at = self._breaker.next_trial
        if trial_at is not None and not is_trial:
            return Untried(row.id, max(now, trial_at))
        if self._stopping.is_set() or now >= begun + BATCH_TIME:
            return Untried(row.id, now)
        again_at = self._domains.enter(domain, now)
        if again_at is not None:
            why = f"{domain} wants fewer letters" if again_at > now else ""
            return Untried(row.id, again_at, why)
        return None

    def _handed_over(
        self, row: QueuedLetter, domain: str, letter: OutgoingLetter, results: list[Result]
    ) -> Iterator[None]:
        """Hand a letter over in the relay's steps; what became of it goes to *results*."""
        result: Result = Sent(row.id)
        took = False
        try:
            yield from self._relay.steps(letter)
        except RelayDown as down:
            self._breaker.broke(down, self._clock.now())
            result = self._again(row, domain, str(down))
        except RelayBusy as refusal:
            self._breaker.answered()
            until = self._domains.rest(domain, self._clock.now())
            _log.info("a domain wants fewer letters", extra={"domain": domain, "until": until})
            result = self._again(row, domain, str(refusal))
            if isinstance(result, Later):
                result = replace(result, at=max(result.at, until))
        except RelayTemporary as refusal:
            self._breaker.answered()
            result = self._again(row, domain, str(refusal))
        except RelayPermanent as refusal:
            self._breaker.answered()
            note_letter(row, domain, "refused", str(refusal))
            result = Failed(row.id, str(refusal))
        except Exception as error:  # noqa: BLE001 - one letter must not stop the others
            _log.exception("the relay broke down in an unknown way", extra={"letter": row.id})
            result = self._again(row, domain, type(error).__name__)
        else:
            took = True
            if self._breaker.failures:
                self._breaker.answered()
            note_letter(row, domain, "sent", "")
        finally:
            self._domains.leave(domain, took=took)
        results.append(result)

    def _settle(self, results: Sequence[Result]) -> None:
        """Write the results down, however long the database is away.

        Forgetting them would send every letter of the batch twice.
        """
        while True:
            try:
                return self._outbox.settle(results)
            except StoreAway as away:
                _log.warning("letters could not be settled", extra={"because": str(away)})
                pause = AWAY_S
            except Exception:  # noqa: BLE001 - whatever ails the database, the results are kept
                _log.exception("letters could not be settled", extra={"letters": len(results)})
                pause = self._trouble_s
            if self._stopping.wait(pause):
                return None
