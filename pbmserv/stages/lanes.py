"""Who waits for whom: mails of a lane in their order, lanes by the time that theirs have taken."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pbmserv.service.core.context import IncomingMail
from pbmserv.store.delivery.arrivals import Arrival

FORGET = 0.5
"""What the used time of all lanes is multiplied by, each `FORGET_EVERY` mails: what was long ago
counts less and less."""
FORGET_EVERY = 500
NOT_WORTH_KEEPING_S = 0.01


@dataclass(slots=True)
class Task:
    """One arrival on its way through play.

    Attributes:
        begun: when it was taken up, as `time.perf_counter` has it.
        incoming: what was read of it.
        changes: how often its passwords were looked at once more, since one had been changed.
        is_to_keep: it could not be carried out; that it is kept is what is left to do.
    """

    arrival: Arrival
    begun: float
    incoming: IncomingMail | None = None
    changes: int = 0
    is_to_keep: bool = False


@dataclass(slots=True)
class Lane:
    """Those who wait for each other.

    Attributes:
        used_s: processor time that was taken for it lately.
        is_held: its first mail is being looked at, or carried out where writers are several.
    """

    name: str
    used_s: float = 0.0
    waiting: deque[Task] = field(default_factory=deque)
    is_held: bool = False


class Lanes:
    """All lanes in which somebody waits, or whose used time is worth knowing."""

    def __init__(self) -> None:
        self._by_name: dict[str, Lane] = {}
        self._taken = 0

    def add(self, task: Task) -> None:
        """Have a mail wait in its lane."""
        self._lane(task).waiting.append(task)

    def put_back(self, task: Task) -> None:
        """Have a mail wait again, in its turn."""
        waiting = self._lane(task).waiting
        later = (n for n, one in enumerate(waiting) if one.arrival.id > task.arrival.id)
        waiting.insert(next(later, len(waiting)), task)

    def next(self) -> Lane | None:
        """The lane that has had the least of the time, among those with something to begin."""
        open_ = [one for one in self._by_name.values() if one.waiting and not one.is_held]
        return min(open_, key=lambda lane: lane.used_s) if open_ else None

    def used(self, lane: Lane, seconds: float) -> None:
        """A mail of a lane has taken so much processor time."""
        lane.used_s += seconds
        self._taken += 1
        if self._taken % FORGET_EVERY == 0:
            for one in self._by_name.values():
                one.used_s *= FORGET

    def tidy(self, lane: Lane) -> None:
        """Forget a lane in which nothing waits, but not what it has used lately."""
        if not lane.waiting and not lane.is_held and lane.used_s < NOT_WORTH_KEEPING_S:
            self._by_name.pop(lane.name, None)

    def _lane(self, task: Task) -> Lane:
        """Where a mail waits; a lane that was forgotten meanwhile is there again."""
        name = task.arrival.lane
        lane = self._by_name.get(name)
        if lane is None:
            lane = self._by_name[name] = Lane(name)
        return lane
