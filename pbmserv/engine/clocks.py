"""Clocks: how long a seat has been waited for, and what follows from it.

Pure: the caller brings the present moment and what is known of the person and the server. Time
counts while a seat is waited for, but not while its player is away and not while the server was
down: spans of time that do not count are holes in it. Every threshold (reminder, extra reminders,
forfeit) is a length of counted time, so neither an absence nor an outage can bring one nearer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pbmserv.engine.types import Seat

Span: TypeAlias = tuple[datetime, datetime]
"""From the first moment, and up to but without the second one."""

NIGHT = (time(22), time(7))
"""Local time between which nobody is reminded who has not asked for it."""


def merged(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch; return them oldest first, without empty ones."""
    found: list[Span] = []
    for begins, ends in sorted(spans):
        if ends <= begins:
            continue
        if found and begins <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], ends))
        else:
            found.append((begins, ends))
    return found


def counted(since: datetime, until: datetime, stopped: Sequence[Span]) -> timedelta:
    """Time from *since* to *until* outside of *stopped*, which is `merged`."""
    total = until - since
    for begins, ends in stopped:
        total -= max(timedelta(), min(ends, until) - max(begins, since))
    return total


def instant(since: datetime, waited: timedelta, stopped: Sequence[Span]) -> datetime:
    """The first moment at which `counted` time since *since* is *waited*."""
    at = since + waited
    for begins, ends in stopped:
        if ends <= since:
            continue
        if begins >= at:
            break
        at += ends - max(begins, since)
    return at


def daytime(at: datetime, local: tzinfo) -> datetime:
    """*at*, or the next morning if it is night there."""
    evening, morning = NIGHT
    wall = at.astimezone(local)
    if morning <= wall.time() < evening:
        return at
    day = wall.date() + timedelta(days=1) if wall.time() >= evening else wall.date()
    return datetime.combine(day, morning, local).astimezone(UTC)


@lru_cache(maxsize=1024)
def zone(name: str) -> tzinfo:
    """The time zone of that name; UTC where the machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


NOTICE = timedelta(hours=24)
"""Counted time between a wait's first reminder and its forfeit, at least; and before the forfeit
when the last of the usual reminders comes."""

TOGETHER = timedelta(hours=3)
"""A reminder of one board speaks of every board whose own would come in this time, too."""

RECOVERY = timedelta(hours=1)
"""After an outage nothing is asked or taken for so long: moves may be on their way."""

_OFFSET = re.compile(r"([0-9]{1,3})([dh])")
_NO_TIME = timedelta()


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a board's players may take, in days.

    Attributes:
        nag: counted days until the reminder; 0 = none.
        forfeit: counted days until the board is lost; 0 = never.
        total: a player's days over the whole board; ``None`` = no limit.
        alone: no other person waits: nobody is reminded, and the board ends without notice.
    """

    nag: int = 7
    forfeit: int = 21
    total: int | None = None
    alone: bool = False

    def limit(self, used: timedelta) -> timedelta | None:
        """Counted time that the present wait may take; ``None`` = as long as one likes."""
        limits = [timedelta(days=self.forfeit)] if self.forfeit else []
        if self.total is not None:
            limits.append(max(_NO_TIME, timedelta(days=self.total) - used))
        return min(limits, default=None)

    def for_answer(self) -> Terms:
        """The terms for accepting a challenge: that is no playing time yet."""
        return replace(self, total=None)


USUAL = Terms()


@dataclass(frozen=True, slots=True)
class SeatClock:
    """One seat's clock.

    Attributes:
        since: when its present wait began; ``None`` = nobody waits for it.
        reminded: when its player was reminded during this wait, oldest first.
        used: counted time of its earlier waits; kept where the terms have a total.
        covered: counted time of this wait up to which reminders are done with.
    """

    since: datetime | None = None
    reminded: tuple[datetime, ...] = ()
    used: timedelta = _NO_TIME
    covered: timedelta = _NO_TIME


@dataclass(frozen=True, slots=True)
class Person:
    """What counts of a player.

    Attributes:
        zone: where they live.
        away: their absences, in any order.
        before: how long before a forfeit they want extra reminders.
        night: may be reminded at night.
        digest: gets one mail a day, which is what reminds them.
    """

    zone: tzinfo = UTC
    away: tuple[Span, ...] = ()
    before: tuple[timedelta, ...] = ()
    night: bool = False
    digest: bool = False

    @classmethod
    def of(cls, tz: str, remind: str, away: Iterable[Span] = (), *, digest: bool = False) -> Person:
        """From a zone's name and a ``remind`` preference (``2d,6h,night``)."""
        before, night = read_remind(remind)
        return cls(zone(tz), tuple(away), before, night, digest)


@dataclass(frozen=True, slots=True)
class Server:
    """What counts of the server.

    Attributes:
        down: its outages, in any order.
        up_since: when it came up last.
    """

    down: tuple[Span, ...]
    up_since: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing is due; look again at `until` (``None`` = never, unless something changes)."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Remind:
    """The player must be reminded now; `reminded` gives the clock after it."""


@dataclass(frozen=True, slots=True)
class Forfeit:
    """The player has taken too long; `total`: over the whole board, not in this wait."""

    total: bool


Decision: TypeAlias = Wait | Remind | Forfeit


def decide(
    clock: SeatClock, terms: Terms, person: Person, server: Server, now: datetime
) -> Decision:
    """What is due for a seat at *now*.

    A reminder covers every threshold that was reached before it, so one that had to wait for
    the morning does not come twice. A forfeit needs a reminder that came `NOTICE` earlier; where
    there was none, one becomes due in its place. The reader of a digest is reminded when that is
    made; until then it is only said when to look again.
    """
    if clock.since is None:
        return Wait(None)
    forfeit = forfeit_at(clock, terms, person, server, now)
    if forfeit is not None and forfeit <= now and (clock.reminded or terms.alone):
        return Forfeit(_is_total(clock, terms))
    if terms.alone or person.digest:
        return Wait(forfeit)
    forfeit = forfeit if clock.reminded else None
    reminder = _reminder_at(clock, terms, person, server, now)
    if reminder is not None and reminder <= now:
        return Remind()
    return Wait(min((at for at in (forfeit, reminder) if at is not None), default=None))


def forfeit_at(
    clock: SeatClock, terms: Terms, person: Person, server: Server, now: datetime
) -> datetime | None:
    """When the board would be lost, as far as is known at *now*; ``None`` = never.

    For a player who was not reminded yet it is the moment for one who is reminded at *now*.
    """
    limit = terms.limit(clock.used)
    if clock.since is None or limit is None:
        return None
    stopped = merged((*person.away, *server.down))
    first = clock.reminded[0] if clock.reminded else now
    notice = _NO_TIME if terms.alone else counted(clock.since, first, stopped) + NOTICE
    reached = instant(clock.since, max(limit, notice), stopped)
    return _allowed(max(reached, now), person, server, awake=False)


def reminded(
    clock: SeatClock,
    terms: Terms,
    person: Person,
    server: Server,
    now: datetime,
    ahead: timedelta = TOGETHER,
) -> SeatClock | None:
    """The clock after a letter that goes to its player at *now* and reminds of all that becomes
    due until *ahead* later; ``None`` = nothing does, or the player must not be bothered."""
    if clock.since is None or terms.alone:
        return None
    if _allowed(now, person, server, awake=False) != now:
        return None
    covered = counted(clock.since, now, merged((*person.away, *server.down))) + ahead
    if not any(mark <= covered for mark in _open_marks(clock, terms, person)):
        return None
    return replace(clock, reminded=(*clock.reminded, now), covered=covered)


def turned(
    clocks: Sequence[SeatClock],
    waiting: Collection[Seat],
    ended: Collection[Seat],
    now: datetime,
    spent: Mapping[Seat, timedelta],
    terms: Terms,
    before: Sequence[tuple[timedelta, ...]],
    due_at: datetime | None = None,
) -> tuple[tuple[SeatClock, ...], datetime | None]:
    """The clocks after a turn, and a moment before which nothing is due (``None`` = never will
    be): absences, outages and nights only put off, and need not be known.

    Args:
        clocks: by seat, as they were.
        waiting: seats that are waited for from now on.
        ended: seats whose wait is over even if they are waited for again.
        now: the moment of the turn.
        spent: counted time of waits that ended, where it must be known.
        terms: what the waits that begin are measured by.
        before: by seat, as of `Person`.
        due_at: that moment as it was for *clocks*.
    """
    found, looks = [], []
    for number, clock in enumerate(clocks):
        seat = Seat(number)
        if clock.since is not None and seat in waiting and seat not in ended:
            found.append(clock)
            looks.append(due_at)
            continue
        used = clock.used + spent.get(seat, _NO_TIME) if clock.since is not None else clock.used
        found.append(SeatClock(now if seat in waiting else None, (), used))
        if seat in waiting and (first := _first(terms, used, before[seat])) is not None:
            looks.append(now + first)
    return tuple(found), min([at for at in looks if at is not None], default=None)


# -- what people chose -----------------------------------------------------------------------


@lru_cache(maxsize=1024)
def read_remind(text: str) -> tuple[tuple[timedelta, ...], bool]:
    """How long before a forfeit (``2d,6h``), and whether at night, too (``night``)."""
    words = text.split(",")
    found = [_OFFSET.fullmatch(word.strip()) for word in words]
    before = {timedelta(hours=int(m[1]) * (24 if m[2] == "d" else 1)) for m in found if m}
    return tuple(sorted(before, reverse=True)), any(word.strip() == "night" for word in words)


# -- as rows keep them -----------------------------------------------------------------------


def to_json(clocks: Sequence[SeatClock]) -> list[dict[str, Any]] | None:
    """Clocks by seat, ready for JSON: moments in ISO 8601, time used in seconds; ``None`` where
    nobody has started them."""
    return [
        {
            "since": clock.since.isoformat() if clock.since else None,
            "reminded": [at.isoformat() for at in clock.reminded],
            "used": clock.used.total_seconds(),
            "covered": clock.covered.total_seconds(),
        }
        for clock in clocks
    ] or None


def from_json(kept: Sequence[Mapping[str, Any]] | None) -> tuple[SeatClock, ...]:
    """The clocks again; none for a board whose clocks nobody has started."""
    return tuple(
        [
            SeatClock(
                datetime.fromisoformat(one["since"]) if one["since"] else None,
                tuple(map(datetime.fromisoformat, one["reminded"])),
                timedelta(seconds=one["used"]) if one["used"] else _NO_TIME,
                timedelta(seconds=one["covered"]) if one.get("covered") else _NO_TIME,
            )
            for one in kept or ()
        ]
    )


def _marks(terms: Terms, limit: timedelta | None, before: Sequence[timedelta]) -> list[timedelta]:
    """Counted times at which a reminder is due, all of them before the limit."""
    if terms.alone:
        return []
    marks = [timedelta(days=terms.nag)] if terms.nag else []
    if limit is not None:
        marks += [limit - ahead for ahead in (NOTICE, *before)]
        return [mark for mark in marks if _NO_TIME < mark < limit]
    return marks


@lru_cache(maxsize=256)  # most boards have the usual terms
def _first(terms: Terms, used: timedelta, before: tuple[timedelta, ...]) -> timedelta | None:
    """The counted time at which anything is due; ``None`` = never."""
    limit = terms.limit(used)
    marks = [*_marks(terms, limit, before), *([] if limit is None else [limit])]
    return min(marks, default=None)


def _open_marks(clock: SeatClock, terms: Terms, person: Person) -> list[timedelta]:
    """Those of the marks that no reminder has covered yet."""
    limit = terms.limit(clock.used)
    marks = [mark for mark in _marks(terms, limit, person.before) if mark > clock.covered]
    if not clock.reminded and limit is not None:
        marks.append(limit)  # nobody loses without a reminder, whatever the terms say
    return marks


def _reminder_at(
    clock: SeatClock, terms: Terms, person: Person, server: Server, now: datetime
) -> datetime | None:
    assert clock.since is not None
    marks = _open_marks(clock, terms, person)
    if not marks:
        return None
    reached = instant(clock.since, min(marks), merged((*person.away, *server.down)))
    return _allowed(max(reached, now), person, server, awake=not person.night)


def _allowed(at: datetime, person: Person, server: Server, *, awake: bool) -> datetime:
    """The first moment from *at* on at which the player may be bothered."""
    while True:
        later = max(at, server.up_since + RECOVERY)
        for begins, ends in merged(person.away):
            if begins <= later < ends:
                later = ends
        if awake:
            later = daytime(later, person.zone)
        if later == at:
            return at
        at = later


def _is_total(clock: SeatClock, terms: Terms) -> bool:
    """Whether it is the whole board's time that was too much."""
    return terms.limit(clock.used) != terms.for_answer().limit(_NO_TIME)
