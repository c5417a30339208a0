"""The expected effects of a wait, computed from the rules without the engine's clocks.

It walks through time from one moment at which something changes to the next, and asks at each
of them what is owed now. Slow and simple, so that it can be believed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
AHEAD = timedelta(hours=3)
"""A reminder is also one of what becomes due in so much counted time."""
HOUR = timedelta(hours=1)
QUARTER = timedelta(minutes=15)
"""Local hours begin at quarters of an hour everywhere on Earth."""

Span = tuple[datetime, datetime]


@dataclass(eq=False)
class Human:
    """A simulated player."""

    number: int
    zone: ZoneInfo
    offsets: tuple[timedelta, ...] = ()
    night: bool = False
    digest: int | None = None
    away: list[Span] = field(default_factory=list)

    @property
    def remind(self) -> str:
        """The preference as a player would write it."""
        words = [f"{int(o / HOUR)}h" for o in self.offsets]
        return ",".join([*words, *(["night"] if self.night else [])])


@dataclass(eq=False)
class Waiting:
    """A seat was waited for from `began` to `ended`; `lost`: until the clock ended the board."""

    board: int
    seat: int
    human: Human
    began: datetime
    nag: int
    forfeit: int
    total: int | None
    answer: bool
    ended: datetime | None = None
    lost: bool = False
    happened: list[tuple[datetime, str]] = field(default_factory=list)


def is_within(moment: datetime, spans: list[Span]) -> bool:
    return any(begins <= moment < ends for begins, ends in spans)


def is_night(moment: datetime, zone: ZoneInfo) -> bool:
    hour = moment.astimezone(zone).hour
    return hour >= 22 or hour < 7


def next_quarter(moment: datetime) -> datetime:
    whole = moment.replace(minute=0, second=0, microsecond=0)
    while whole <= moment:
        whole += QUARTER
    return whole


def changes(wait: Waiting, outages: list[Span]) -> list[datetime]:
    """Moments at which clocks stop, go on, or may be acted upon again."""
    edges = {edge for span in (*wait.human.away, *outages) for edge in span}
    return sorted(edges | {ends + HOUR for _, ends in outages})


def counted(wait: Waiting, outages: list[Span], until: datetime) -> timedelta:
    """Waiting time up to a moment, away and down left out."""
    total, at = timedelta(0), wait.began
    edges = [edge for edge in changes(wait, outages) if wait.began < edge < until]
    for edge in [*edges, until]:
        if not is_within(at, wait.human.away) and not is_within(at, outages):
            total += edge - at
        at = edge
    return total


def thresholds(wait: Waiting, used: timedelta) -> tuple[timedelta | None, list[timedelta]]:
    """Counted time after which a board is lost, and after which reminders are owed before that."""
    limits = [wait.forfeit * DAY] if wait.forfeit else []
    if wait.total is not None and not wait.answer:
        limits.append(max(timedelta(0), wait.total * DAY - used))
    limit = min(limits, default=None)
    goals = [wait.nag * DAY] if wait.nag else []
    if limit is not None:
        goals += [limit - offset for offset in (DAY, *wait.human.offsets)]
        goals = [goal for goal in goals if timedelta(0) < goal < limit]
    return limit, goals


def until_next_digest(human: Human, at: datetime) -> timedelta:
    """From a digest to the next one, by the clocks where its reader lives."""
    assert human.digest is not None
    day = at.astimezone(human.zone).date()
    while True:
        wall = datetime.combine(day, time(*divmod(human.digest, 60)), human.zone)
        if wall.astimezone(UTC) > at:
            return wall.astimezone(UTC) - at
        day += DAY


def spoken_of(human: Human, at: datetime, letters: list[datetime]) -> timedelta:
    """Return how far ahead a reminder looks at this moment; negative if none may come now."""
    if letters[:1] == [at]:
        return AHEAD if human.digest is None else until_next_digest(human, at)
    return timedelta(0) if human.digest is None else -1000 * DAY


def expected(
    wait: Waiting,
    outages: list[Span],
    used: timedelta,
    until: datetime,
    letters: list[datetime],
    in_time: set[datetime],
) -> list[tuple[datetime, str]]:
    """Return the expected events before *until*, in order.

    Args:
        outages: the server's, its first start being the end of one.
        used: counted time of the seat's earlier turns.
        letters: when a letter went to the player in which this board can be, ascending: one that
            reminds of any board, or the digest.
        in_time: takes the moments at which this board alone was reason enough for a reminder.
    """
    limit, goals = thresholds(wait, used)
    edges = changes(wait, outages)
    events: list[tuple[datetime, str]] = []
    at, waited = wait.began, timedelta(0)
    first = last = None
    letters = [moment for moment in letters if moment >= wait.began]
    digest = wait.human.digest is not None
    while at < until:
        counting = not is_within(at, wait.human.away) and not is_within(at, outages)
        fresh = any(ends <= at < ends + HOUR for _, ends in outages)
        soon = waited + spoken_of(wait.human, at, letters)
        left = [goal for goal in goals if last is None or last < goal]
        if limit is not None and first is None:
            left.append(limit)
        owed = any(goal <= soon for goal in left)
        reached = limit is not None and waited >= limit
        if reached and first is not None and waited >= first + DAY and counting and not fresh:
            return [*events, (at, "forfeit")]
        awake = digest or wait.human.night or not is_night(at, wait.human.zone)
        if owed and counting and not fresh and awake:
            events.append((at, "remind"))
            in_time |= {at} if any(goal <= waited for goal in left) else set()
            last = waited + spoken_of(wait.human, at, [at])
            first = first if first is not None else waited
            continue
        letters = [moment for moment in letters if moment > at]
        nexts = [*[edge for edge in edges if edge > at][:1], *letters[:1]]
        if owed:
            nexts.append(next_quarter(at))
        if counting:
            marks = [*goals, *([limit] if limit is not None else [])]
            marks += [first + DAY] if first is not None else []
            nexts += [at + (mark - waited) for mark in marks if mark > waited]
        if not nexts:
            return events
        step = min(nexts)
        if counting:
            waited += step - at
        at = step
    return events
