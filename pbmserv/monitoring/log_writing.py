"""Writes log lines beside the threads that log: a reader that is slow or gone stops no mail.

A line costs its writer a place in a bounded queue. One thread takes lines out, folds them and
writes what has gathered at once. When the pipe behind stderr is full, or the disk, lines are lost
and counted, and the log says how many as soon as it can.

Repeated lines are folded, so that trouble and floods cannot fill a disk. A line about a single mail
or letter is never folded, nor an answer to somebody who has just asked (``asked=``). Trouble
(WARNING and above) is written at once, and then, while it goes on, once a span with the number of
times. Refusals, which say where they come from (``network=``) and why (``because=``), are written
one by one, since fail2ban counts them, up to a flood from that network.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any

# -- folding -----------------------------------------------------------------------------------


SPAN_S = 60.0
"""Seconds over which lines are counted together."""
FLOOD = 20
"""Refusals of one kind from one network in a span that each get a line."""
WIDE_FLOOD = 600
"""Refusals of one kind in a span that each get a line, from all networks together."""
MOST_KINDS = 2_000
"""Kinds of lines that are counted at a time, about 1 kB each; then the oldest are written out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one log line says.

    Attributes:
        created: seconds since 1970.
        level: as `logging` numbers them.
        name: of the logger.
        template: the event before anything was filled in: lines of one kind have the same.
        event: what happened.
        facts: by name, in their order.
        fault: what the line says of an exception, by name.
    """

    created: float
    level: int
    name: str
    template: str
    event: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    fault: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_trouble(self) -> bool:
        """Whether an operator should know."""
        return self.level >= logging.WARNING

    @property
    def is_answer(self) -> bool:
        """Whether it says what came of what somebody asked for, as by a signal."""
        return "asked" in self.facts

    @property
    def is_refusal(self) -> bool:
        """Whether it says that somebody was turned away."""
        return "network" in self.facts and "because" in self.facts


@dataclass(slots=True)
class _Count:
    """Lines of one kind: those that may still be told, and the newest of those that were not."""

    begun: float
    left: int
    untold: int = 0
    newest: Entry | None = None


class Folding:
    """Decides which lines are written now. For one thread; times are those of the entries."""

    def __init__(self) -> None:
        self._counts: OrderedDict[Hashable, _Count] = OrderedDict()

    def take(self, entry: Entry) -> list[Entry]:
        """What to write now that this has come."""
        due = self.due(entry.created)
        if entry.is_answer:
            told = True
        elif entry.is_trouble:
            told = self._tell(entry, _trouble(entry), 1)
        elif entry.is_refusal:
            wide = self._counts.get(_wide(entry))
            if wide is not None and not wide.left:
                told = self._tell(entry, _wide(entry), WIDE_FLOOD)
            elif told := self._tell(entry, _near(entry), FLOOD):
                self._tell(entry, _wide(entry), WIDE_FLOOD)
        else:
            told = True
        if told:
            due.append(entry)
        while len(self._counts) > MOST_KINDS:
            due += _summary(self._counts.popitem(last=False)[1], entry.created)
        return due

    def due(self, now: float) -> list[Entry]:
        """The sums of the spans that are over."""
        due: list[Entry] = []
        while self._counts:
            key, count = next(iter(self._counts.items()))
            if 0 <= now - count.begun < SPAN_S:
                break
            del self._counts[key]
            if count.untold:
                due += _summary(count, now)
                # It goes on: the next line of it is not news either.
                self._counts[key] = _Count(now, 0)
        return due

    def wait_s(self, now: float) -> float | None:
        """Seconds until `due` has something to look at; ``None``: nothing is counted."""
        if not self._counts:
            return None
        return max(0.0, next(iter(self._counts.values())).begun + SPAN_S - now)

    def end(self, now: float) -> list[Entry]:
        """All sums, whether their spans are over or not."""
        due = [entry for count in self._counts.values() for entry in _summary(count, now)]
        self._counts.clear()
        return due

    def _tell(self, entry: Entry, key: Hashable, most: int) -> bool:
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = _Count(entry.created, most)
        if count.left:
            count.left -= 1
            return True
        count.untold += 1
        count.newest = entry
        return False


def _trouble(entry: Entry) -> Hashable:
    fault = entry.fault
    return entry.name, entry.template, fault.get("fault"), fault.get("because")


def _near(entry: Entry) -> Hashable:
    return entry.name, entry.template, str(entry.facts["because"]), str(entry.facts["network"])


def _wide(entry: Entry) -> Hashable:
    return entry.name, entry.template, "everywhere"


def _summary(count: _Count, now: float) -> list[Entry]:
    """The newest line that was not told, with how many there were."""
    if count.newest is None:
        return []
    repeated = {"repeated": count.untold, "span_s": round(now - count.begun)}
    return [replace(count.newest, created=now, facts={**count.newest.facts, **repeated})]


# -- writing -----------------------------------------------------------------------------------


MOST_WAITING = 10_000
"""Lines in the queue, about 1 kB each; further ones are lost."""
GATHERED = 500
"""Lines that are written at once."""
GATHERING_S = 0.02
"""Seconds between two writings: while much is logged, no line wakes the thread by itself."""
LAST_WORDS_S = 2.0
"""Seconds that lines under way have at the end, or whenever somebody waits for them."""


class Writing(logging.Handler):
    """The handler of the root logger.

    Args:
        entry_of: what a record says; it must not raise.
        line_of: the line for it, without its end.
        most_waiting: lines that may wait to be written.
    """

    def __init__(
        self,
        entry_of: Callable[[logging.LogRecord], Entry],
        line_of: Callable[[Entry], str],
        most_waiting: int = MOST_WAITING,
    ) -> None:
        super().__init__()
        self._entry_of = entry_of
        self._line_of = line_of
        self._most_waiting = most_waiting
        self._queue: SimpleQueue[Entry | threading.Event | None] = SimpleQueue()
        self._folding = Folding()
        self._turned_away = 0  # counted by those who log, one at a time (`logging.Handler.lock`)
        self._unwritten = 0  # counted by the thread
        self._told_lost = 0
        self._is_torn = False
        self._thread = threading.Thread(target=self._run, name="pbmserv-log", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """Lines that nobody will read."""
        return self._turned_away + self._unwritten

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record; never waits for anybody."""
        if self._queue.qsize() >= self._most_waiting:
            self._turned_away += 1
        else:
            self._queue.put(self._entry_of(record))

    def flush(self) -> None:
        """Wait a little until everything so far is written."""
        written = threading.Event()
        if self._thread.is_alive():
            self._queue.put(written)
            written.wait(LAST_WORDS_S)

    def close(self) -> None:
        """Write what waits, with all sums, and end; gives up after `LAST_WORDS_S`."""
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join(LAST_WORDS_S)
        super().close()

    # -- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        goes_on = True
        while goes_on:
            entries, waiting, goes_on = self._gather()
            now = time.time()
            told = self._folding.due(now)
            for entry in entries:
                told += self._folding.take(entry)
            if not goes_on:
                told += self._folding.end(now)
            self._write(told)
            if self.lost > self._told_lost and self._queue.empty():
                self._tell_lost(now)
            for one in waiting:
                one.set()
            if goes_on and not waiting:
                time.sleep(GATHERING_S)

    def _gather(self) -> tuple[list[Entry], list[threading.Event], bool]:
        """What has come, those who wait for it to be written, and whether more will come."""
        entries: list[Entry] = []
        waiting: list[threading.Event] = []
        pause = self._folding.wait_s(time.time())
        try:
            found = self._queue.get(timeout=pause)
            while found is not None:
                if isinstance(found, Entry):
                    entries.append(found)
                else:
                    waiting.append(found)
                if len(entries) == GATHERED:
                    break
                found = self._queue.get_nowait()
        except Empty:
            return entries, waiting, True
        return entries, waiting, found is not None

    def _tell_lost(self, now: float) -> None:
        lost = self.lost
        event = "log lines were lost"
        facts = {"lost": lost - self._told_lost}
        if self._write([Entry(now, logging.WARNING, "pbmserv.log", event, event, facts)]):
            self._told_lost = lost

    def _write(self, entries: list[Entry]) -> bool:
        """Write lines; whether that could be done."""
        if not entries:
            return True
        text = "".join(self._line_of(entry) + "\n" for entry in entries)
        try:
            self._put("\n" + text if self._is_torn else text)
        except (OSError, ValueError):
            is_notice = entries[0].name == "pbmserv.log"
            self._unwritten += 0 if is_notice else len(entries)
            return False
        self._is_torn = False
        return True

    def _put(self, text: str) -> None:
        """Write to what `sys.stderr` is at that moment.

        Not through its buffer: others who print there, or the interpreter at its end, would wait
        behind us.

        Raises:
            OSError, ValueError: it cannot be written to.
        """
        stream = sys.stderr
        try:
            number = stream.fileno()
        except (OSError, ValueError):  # a test's, or none at all
            stream.write(text)
            return
        octets = memoryview(text.encode())
        while octets:
            written = os.write(number, octets)
            octets = octets[written:]
            self._is_torn = bool(octets)
