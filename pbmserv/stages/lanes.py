"""Who waits for whom: mails of a lane in their order, lanes by the time that theirs have taken, and
play for post."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from time import perf_counter

from pbmserv.mail.envelope import Source
from pbmserv.service.delivery.incoming import IncomingMail
from pbmserv.store.delivery.arrivals import Arrival

FORGET = 0.5
"""What the used time of all lanes is multiplied by, each `FORGET_EVERY` mails: what was long ago
counts less and less."""
FORGET_EVERY = 500
NOT_WORTH_KEEPING_S = 0.01
LANE_MAILS = 100
LANE_OCTETS = 8 * 1_048_576
"""What may wait in one lane, eight of the largest mails: others' share of the room is not its to
take, and what it sends now would only wait for what it has sent."""
WARY_S = 2.0
"""Seconds after its start in which play leaves alone what it may die with: the others come first,
and their letters."""
MOST_DEATHS = 2
"""Times that play may die with a mail before that is kept for a person instead."""
MUCH = 300
"""Letters that may wait while play goes on: three claims, so that post need not wait for play."""
HEAVY_S, REST_S = 0.03, 0.05
"""Processor time that a mail of a lane has taken, and seconds for which the lane waits then: post
fetches meanwhile what others have led to, which it cannot while a mail is carried out."""
AT_WORK_S = 1.0
"""A post that has claimed nothing for so long is not waited for: it is away, or its relay is."""


@dataclass(slots=True)
class Task:
    """One arrival on its way through play.

    Attributes:
        begun: when it was taken up, as `time.perf_counter` has it.
        incoming: what was read of it.
        changes: how often its passwords were looked at once more, since one had been changed.
        is_to_keep: it could not be carried out; that it is kept is what is left to do.
        deaths: how often play has died with it in hand.
        took_s: processor time that the writer took for it when it tried last.
    """

    arrival: Arrival
    begun: float
    incoming: IncomingMail | None = None
    changes: int = 0
    is_to_keep: bool = False
    deaths: int = 0
    took_s: float = 0.0

    @property
    def may_kill(self) -> bool:
        """Whether play may die with it once more; after `MOST_DEATHS` it is not tried again."""
        return 0 < self.deaths < MOST_DEATHS


@dataclass(slots=True)
class Lane:
    """Those who wait for each other.

    Attributes:
        used_s: processor time that was taken for it lately.
        heaviest_s: what one of its last mails took; of each mail before half as much counts.
        is_held: its first mail is being looked at, or carried out where writers are several.
    """

    name: str
    used_s: float = 0.0
    heaviest_s: float = 0.0
    waiting: deque[Task] = field(default_factory=deque)
    is_held: bool = False


class Lanes:
    """All lanes in which somebody waits, or whose used time is worth knowing.

    Attributes:
        rest_s: seconds for which a lane with heavy mails waits behind the mail before.
    """

    def __init__(self) -> None:
        self.rest_s = 0.0
        self._by_name: dict[str, Lane] = {}
        self._over = 0
        self._over_at = self._rests_since = 0.0
        self._wary_until = perf_counter() + WARY_S

    def add(self, task: Task) -> None:
        """Have a mail wait in its lane."""
        name = task.arrival.lane
        lane = self._by_name.get(name)
        if lane is None:  # it is new, or was forgotten meanwhile
            lane = self._by_name[name] = Lane(name)
        lane.waiting.append(task)

    def put_back(self, task: Task) -> None:
        """Have a mail wait again, in its turn."""
        name = task.arrival.lane
        waiting = self._by_name.setdefault(name, Lane(name)).waiting
        later = (n for n, one in enumerate(waiting) if one.arrival.id > task.arrival.id)
        waiting.insert(next(later, len(waiting)), task)

    def in_turn(self) -> Iterator[Lane]:
        """Each time the lane that has had the least of the time, among those with something to
        begin; who asks for the next one has begun it. Hundreds, when many wait, are looked at once.

        Of lanes that have had about as much the one whose mail came first: where there is more than
        can be done, who has two mails waiting would else be behind all that come with one.
        """
        ready = [
            (int(one.used_s / NOT_WORTH_KEEPING_S), 0, one.waiting[0].arrival.id, one)
            for one in self._by_name.values()
            if one.waiting and not one.is_held
        ]
        heapify(ready)
        is_first = True
        while ready:
            used, begun, _, lane = heappop(ready)
            if perf_counter() < self._wary_until and lane.waiting[0].may_kill:
                continue
            if self.rest_s and lane.heaviest_s > HEAVY_S and (not is_first or self._rests()):
                continue  # what was begun is committed before
            yield lane
            is_first = False
            if lane.waiting and not lane.is_held:  # next time behind what others have waiting
                heappush(ready, (used, begun + 1, lane.waiting[0].arrival.id, lane))

    def _rests(self) -> bool:
        """Whether a lane with heavy mails must still wait, however many others come meanwhile."""
        now = perf_counter()
        since = self._rests_since or now
        is_over = now >= min(since, self._over_at) + self.rest_s
        self._rests_since = 0.0 if is_over else since
        return not is_over

    def pause(self, longest_s: float) -> float:
        """Seconds until somebody may be in turn who was not; who rested may have begun since."""
        rests = perf_counter() < self._rests_since + 2 * self.rest_s
        return self.rest_s if rests else longest_s

    def over(self, lane: Lane) -> None:
        """A mail of a lane is over: forget a lane in which nothing waits, but not what it has used
        lately."""
        self._over += 1
        self._over_at = perf_counter()
        if self._over % FORGET_EVERY == 0:
            for one in self._by_name.values():
                one.used_s *= FORGET
        is_known = self._by_name.get(lane.name) is lane  # else it was forgotten, and began anew
        is_idle = not lane.waiting and not lane.is_held and lane.used_s < NOT_WORTH_KEEPING_S
        if is_known and is_idle:
            del self._by_name[lane.name]


class Shares:
    """What of each lane waits, as a door knows it: what it found in the store when it last looked,
    and what it has stored since. Thread-safe."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[int, int]] = {}

    def found(self, waiting: Mapping[str, tuple[int, int]]) -> None:
        """So many mails and octets of each lane wait now."""
        self._waiting = dict(waiting)

    def lane_for(self, source: Source, player: int, octets: int) -> str | None:
        """The lane in which one more mail may wait, which is counted there; ``None``: too many do.

        It is that of its reply address's player, else of who sends it from where.
        """
        lane = f"player {player}" if player else f"{source.network} {source.sender}"[:300]
        mails, before = self._waiting.get(lane, (0, 0))
        if mails >= LANE_MAILS or before + octets > LANE_OCTETS:
            return None
        self._waiting[lane] = mails + 1, before + octets
        return lane


def blamed(deaths: Mapping[int, int], in_hand: Sequence[int]) -> dict[int, int]:
    """How often play has died with which mails, after it has died with these in hand.

    When it dies with one alone that it has died with before, beside others, then the others are
    cleared: they need not wait for their trial.
    """
    found = dict(deaths)
    for number in in_hand:
        found[number] = found.get(number, 0) + 1
    if len(in_hand) == 1 and found[in_hand[0]] > 1:
        return {number: times for number, times in found.items() if times > 1}
    return found
