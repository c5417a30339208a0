"""Writes log lines beside the threads that log: a reader that is slow or gone stops no mail.

A line costs its writer a place in a bounded queue. One thread takes lines out, folds them
(`log_folding`) and writes what has gathered at once. When the pipe behind stderr is full, or the
disk, lines are lost and counted, and the log says how many as soon as it can.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from pbmserv.monitoring.log_folding import Entry, Folding

MOST_WAITING = 10_000
"""Lines in the queue, about 1 kB each; further ones are lost."""
GATHERED = 500
"""Lines that are written at once."""
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

        Not through its buffer: whoever else prints there, or the interpreter at its end, would
        wait behind us.

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
