"""Folds repeated log lines, so that trouble and floods cannot fill a disk.

What is told of a single mail or letter is never folded, nor what somebody has just asked for
(``asked=``). Trouble (WARNING and above) is told at
once, and then, while it goes on, once a span with the number of times. Refusals, which say where
they come from (``network=``) and why (``because=``), are told one by one, as fail2ban counts
them, up to a flood from that network.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

SPAN_S = 60.0
"""Seconds over which lines are counted together."""
FLOOD = 20
"""Refusals of one kind from one network in a span that each get a line."""
WIDE_FLOOD = 600
"""Refusals of one kind in a span that each get a line, from all networks together."""
MOST = 2_000
"""Kinds of lines that are counted at a time, about 1 kB each; beyond it the oldest are told."""


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
        fault: what is told of an exception, by name.
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
    """Says of each line whether it is written now; for one thread. Times are the entries' own."""

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
        while len(self._counts) > MOST:
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
