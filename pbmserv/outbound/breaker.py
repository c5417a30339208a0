"""Stops sending for a while when the relay cannot be reached."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from time import monotonic

from pbmserv.errors import RelayDown, RelayRefusesUs
from pbmserv.outbound.log_lines import without_addresses

FAILURES = 5
"""Failures in a row that open the breaker."""
SHORTEST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=15)

_log = logging.getLogger("pbmserv.send")


class Breaker:
    """A circuit breaker for one relay; used by one thread.

    Closed: letters flow. Open: no letter is sent before the pause is over. Then one letter at a
    time is sent as a trial. A reply closes the breaker; a failure doubles the next pause.

    Attributes:
        failures: attempts in a row that did not reach the relay.
        fault: the last of these failures, without addresses; ``""`` while the relay answers.
        next_trial: earliest time of the next trial, `None` while the breaker is closed.
        last_reply, last_failure: when they were, by the machine's monotonic clock, which its
            processes share; 0 if there was none.
    """

    def __init__(self) -> None:
        self._trials = 0
        self._refused_us = False
        self.failures = 0
        self.fault = ""
        self.next_trial: datetime | None = None
        self.last_reply = self.last_failure = 0.0

    @property
    def is_open(self) -> bool:
        return self.next_trial is not None

    def begin_trial(self, now: datetime) -> None:
        """Count a trial and start the next pause."""
        self._trials += 1
        self.next_trial = now + self._pause()

    def record_reply(self) -> None:
        """Close the breaker: the relay replied, if only to refuse a letter."""
        if self.is_open:
            _log.info("the relay answers again")
        self.failures = self._trials = 0
        self.fault = ""
        self.next_trial = None
        self.last_reply = monotonic()
        self._refused_us = False

    def record_failure(self, error: RelayDown, now: datetime) -> None:
        """Count an attempt that did not reach the relay, and log a change of its state."""
        self.failures += 1
        self.last_failure = monotonic()
        opens = not self.is_open and self.failures >= FAILURES
        if opens:
            self.next_trial = now + self._pause()
        self.fault = without_addresses(str(error))
        facts = {"why": self.fault}
        if isinstance(error, RelayRefusesUs):
            if not self._refused_us:
                _log.error(
                    "the relay refuses us, letters wait; it may want another login or sender"
                    " (PBMSERV_RELAY, PBMSERV_ADDRESS) or must be configured to relay for us",
                    extra=facts,
                )
            self._refused_us = True
        elif opens:
            _log.error("the relay is down, letters wait", extra=facts)

    def _pause(self) -> timedelta:
        # Ten doublings exceed the longest pause; more would overflow in a long outage.
        return min(SHORTEST_PAUSE * (1 << min(self._trials, 10)), LONGEST_PAUSE)
