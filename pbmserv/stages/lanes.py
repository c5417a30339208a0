"""The order in which arrivals are carried out: by arrival in a lane, by processor time between
lanes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from time import perf_counter

from pbmserv.stages.tasks import Task

FORGET = 0.5
"""Factor for the used time of all lanes, every `FORGET_EVERY` mails: old use counts less."""
FORGET_EVERY = 500
NOT_WORTH_KEEPING_S = 0.01
"""Lanes whose used times differ by less count as equal; an idle lane that used less is dropped."""
HEAVY_S = 0.03
"""Processor time in seconds that makes a mail heavy."""


@dataclass(slots=True)
class Lane:
    """Arrivals that wait for each other.

    Attributes:
        used_s: processor time used lately.
        heaviest_s: processor time of its heaviest mail; each later mail halves it.
        is_busy: one of its mails is in play's hands.
    """

    name: str
    used_s: float = 0.0
    heaviest_s: float = 0.0
    waiting: deque[Task] = field(default_factory=deque)
    is_busy: bool = False

    @property
    def is_heavy(self) -> bool:
        """Whether the next mail is expected to be heavy."""
        return self.heaviest_s > HEAVY_S


class Lanes:
    """The waiting arrivals of all lanes.

    Of each lane one arrival at a time is in play's hands. Heavy lanes take turns, and after a heavy
    mail all of them rest for as long as it took. Meanwhile other mails are carried out, and post
    stores their letters, so that these wait for one heavy mail at most.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Lane] = {}
        self._ended = 0
        self._heavy: Lane | None = None  # the heavy lane that is busy
        self._rests_until = 0.0

    def add(self, task: Task) -> None:
        """Append an arrival to its lane."""
        self._lane(task).waiting.append(task)

    def ready(self) -> list[Lane]:
        """Return the lanes whose first arrival may begin, in the order in which they should.

        The lane that has used the least processor time comes first, of equal ones the lane whose
        mail arrived first. Without that rule a sender with two waiting mails would wait for
        everybody who comes later with one. Mails that play may die with come last.
        """
        lanes = [lane for lane in self._by_name.values() if lane.waiting and not lane.is_busy]
        lanes.sort(key=_order)
        heavy = [lane for lane in lanes if lane.is_heavy]
        if not heavy:
            return lanes
        is_resting = self._heavy is not None or perf_counter() < self._rests_until
        may_begin = [] if is_resting else heavy[:1]
        return [lane for lane in lanes if not lane.is_heavy or lane in may_begin]

    def rest_s(self) -> float:
        """Return the seconds until a heavy lane may begin, 0 if none waits for that alone."""
        rest_s = self._rests_until - perf_counter()
        if rest_s <= 0 or self._heavy is not None:
            return 0.0
        lanes = self._by_name.values()
        return rest_s if any(lane.is_heavy and lane.waiting for lane in lanes) else 0.0

    def begin(self, lane: Lane) -> Task:
        """Take the first arrival of a lane, which is busy until `end` or `put_back`."""
        lane.is_busy = True
        if lane.is_heavy:
            self._heavy = lane
        return lane.waiting.popleft()

    def end(self, task: Task) -> None:
        """Note that an arrival is done."""
        lane = self._lane(task)
        self._free(lane)
        lane.heaviest_s = max(task.took_s, lane.heaviest_s / 2)
        if task.took_s > HEAVY_S:
            self._rests_until = perf_counter() + task.took_s
        self._drop_if_idle(lane)
        self._ended += 1
        if self._ended % FORGET_EVERY == 0:
            for other in list(self._by_name.values()):
                other.used_s *= FORGET
                self._drop_if_idle(other)

    def put_back(self, task: Task) -> None:
        """Have an arrival wait again, as the first one of its lane."""
        lane = self._lane(task)
        self._free(lane)
        lane.waiting.appendleft(task)

    def charge(self, task: Task, seconds: float) -> None:
        """Add processor time to what a lane has used."""
        self._lane(task).used_s += seconds

    def _lane(self, task: Task) -> Lane:
        return self._by_name.setdefault(task.arrival.lane, Lane(task.arrival.lane))

    def _drop_if_idle(self, lane: Lane) -> None:
        """Drop a lane that has nothing to do and has used little."""
        if not lane.waiting and not lane.is_busy and lane.used_s < NOT_WORTH_KEEPING_S:
            del self._by_name[lane.name]

    def _free(self, lane: Lane) -> None:
        lane.is_busy = False
        if self._heavy is lane:
            self._heavy = None


def _order(lane: Lane) -> tuple[bool, int, int]:
    first = lane.waiting[0]
    return first.may_kill, int(lane.used_s / NOT_WORTH_KEEPING_S), first.arrival.id
