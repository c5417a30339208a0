"""Clocks, which measure the waiting time of seats and decide on reminders and forfeits.

The module is pure: the caller supplies the present time and the facts about player and server. Time
counts while a seat is waited for, except during absences of its player and outages of the server.
All thresholds (reminder, extra reminders, forfeit) are lengths of counted time, so that neither an
absence nor an outage can cause one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, TypeAlias

from pbmserv.engine.time_spans import (
    Span,
    counted_time,
    merge_spans,
    next_daytime,
    time_after,
    weekends,
    zone,
)
from pbmserv.engine.types import Seat

NOTICE = timedelta(hours=24)
"""The least counted time between the first reminder of a wait and its forfeit.

The last of the usual reminders comes this time before the forfeit.
"""

WARNING = timedelta(hours=34)
"""The counted time before the end of a bank at which its player is warned: `NOTICE`, a night and an
hour after an outage."""

REMIND_AHEAD = timedelta(hours=3)
"""A reminder of one board includes all boards whose own reminder is due within this time."""

RECOVERY = timedelta(hours=1)
"""Time after an outage without reminders and forfeits, since moves may be on their way."""

_OFFSET = re.compile(r"([0-9]{1,3})([dh])")
_NO_TIME = timedelta()
_AT_ONCE = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Terms:
    """The time limits of a board, in days.

    Attributes:
        nag: counted days until the reminder, 0 for none.
        forfeit: counted days until the board is lost, 0 for never.
        total: days of a player for the whole board, `None` for no limit.
        increment: days that each turn of a player adds to the total.
        cap: the most days that increments may leave to a player. If it is set, the total is a
            *bank*: it ends exactly when it is used up, and letters say how much is left.
        weekdays: Saturdays and Sundays do not count, in the player's time zone.
        away: the most days of absence that do not count, `None` for no limit. Only boards of events
            have this.
        alone: no other person waits, at the board or in an event. Then there are no reminders, and
            the board ends without notice.
    """

    nag: int = 7
    forfeit: int = 21
    total: int | None = None
    increment: int = 0
    cap: int | None = None
    weekdays: bool = False
    away: int | None = None
    alone: bool = field(default=False, kw_only=True)

    @property
    def has_bank(self) -> bool:
        """Return whether players have a bank, whose end no missing reminder puts off."""
        return self.cap is not None

    @property
    def of_event(self) -> bool:
        """Return whether the board belongs to an event or a ladder."""
        return self.away is not None

    def limit(self, clock: SeatClock) -> timedelta | None:
        """Return the counted time that the present wait may take, `None` for no limit."""
        limits = [timedelta(days=self.forfeit) + clock.extra_time] if self.forfeit else []
        if self.total is not None:
            limits.append(max(_NO_TIME, timedelta(days=self.total) - clock.used))
        return min(limits, default=None)

    def used_after(self, used: timedelta, spent: timedelta, *, has_moved: bool) -> timedelta:
        """Return the used part of the total after a wait.

        An increment never raises the rest above the cap; given time stays above it.
        """
        used += spent
        if not has_moved or self.total is None or self.cap is None:
            return used
        most = timedelta(days=self.total - self.cap)
        return max(used - timedelta(days=self.increment), min(used, most))

    def for_answer(self) -> Terms:
        """Return the terms for accepting a challenge, which is not playing time."""
        if not self.has_bank:
            return replace(self, total=None)
        forfeit = self.forfeit or USUAL.forfeit
        nag = self.nag if self.nag < forfeit else 0
        return Terms(nag, forfeit, alone=self.alone)

    def as_list(self) -> list[Any]:
        """Return the terms for JSON; ``Terms(*stored)`` reads them."""
        listed = [self.nag, self.forfeit, self.total]
        return [*listed, self.increment, self.cap, self.weekdays, self.away]


USUAL = Terms()

EVENT_CLOCK = Terms(nag=5, forfeit=10, total=30, cap=30, away=14)
"""The clock of events: ten days for a move, thirty for all, and fourteen days of absence.

A game ends after at most 2 * (30 + 14) = 88 days in which the server was up.
"""


@dataclass(frozen=True, slots=True)
class SeatClock:
    """One seat's clock.

    Attributes:
        since: the beginning of its present wait, `None` if nobody waits for it.
        reminded: the times of reminders during this wait, oldest first.
        used: the counted time of its earlier waits, if the terms have a total; increments and given
            time are taken off, so it may be negative.
        covered: the counted time of this wait up to which reminders were sent.
        extra_time: time that opponents gave for this wait, beyond that for a move.
    """

    since: datetime | None = None
    reminded: tuple[datetime, ...] = ()
    used: timedelta = _NO_TIME
    covered: timedelta = _NO_TIME
    extra_time: timedelta = _NO_TIME

    def with_time(self, terms: Terms, time_given: timedelta) -> SeatClock:
        """Return the clock after an opponent gave time."""
        used = self.used if terms.total is None else self.used - time_given
        extra_time = (
            self.extra_time + time_given if terms.forfeit and self.since else self.extra_time
        )
        return replace(self, used=used, extra_time=extra_time)


@dataclass(frozen=True, slots=True)
class Person:
    """The facts about a player that matter for clocks.

    Attributes:
        zone: the time zone.
        away: the absences, in any order.
        before: the times before a forfeit at which the player wants extra reminders.
        night: whether reminders may come at night.
        digest: whether the player gets one mail a day, which reminds of all boards.
    """

    zone: tzinfo = UTC
    away: tuple[Span, ...] = ()
    before: tuple[timedelta, ...] = ()
    night: bool = False
    digest: bool = False

    @classmethod
    def of(cls, tz: str, remind: str, away: Iterable[Span] = (), *, digest: bool = False) -> Person:
        """Return a person with the name of a zone and a ``remind`` preference (``2d,6h,night``)."""
        before, night = read_remind(remind)
        return cls(zone(tz), tuple(away), before, night, digest)


@dataclass(frozen=True, slots=True)
class Server:
    """The facts about the server that matter for clocks.

    Attributes:
        down: the outages, in any order.
        up_since: the time of the last start.
    """

    down: tuple[Span, ...]
    up_since: datetime


@dataclass(frozen=True, slots=True)
class Wait:
    """A clock that waits until a moment; `None` = it does not run."""

    until: datetime | None


@dataclass(frozen=True, slots=True)
class Remind:
    """The player must be reminded now; `clock_after_reminder` returns the clock afterwards."""


@dataclass(frozen=True, slots=True)
class Forfeit:
    """The player took too long, in this wait or, if `total`, in the whole board."""

    total: bool


Decision: TypeAlias = Wait | Remind | Forfeit


def stopped_time(
    since: datetime, waited: timedelta, terms: Terms, person: Person, server: Server
) -> list[Span]:
    """Return the spans that do not count, as far as they matter for a wait.

    Args:
        since: the beginning of the wait.
        waited: the counted time of the wait, at most.
        terms, person, server: the facts about board, player and server.
    """
    spans = [*person.away, *server.down]
    if terms.weekdays:
        stopped = sum((ends - begins for begins, ends in spans), timedelta(days=5))
        spans += weekends(since, since + (waited + stopped) * 7 / 5, person.zone)
    return merge_spans(spans)


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """A player's time for the present wait, or for the next one if the clock does not run.

    Attributes:
        counted: the counted time until the board is lost.
        until: when it is lost, as far as known; `None` if the clock does not run.
    """

    counted: timedelta
    until: datetime | None


def time_left(
    clock: SeatClock, terms: Terms, person: Person, server: Server, now: datetime
) -> TimeLeft | None:
    """Return the time that a player has left at *now*; `None` for no limit.

    All other functions decide by this one. If the player was not reminded yet and has no bank, it
    assumes a reminder at *now*.
    """
    limit = terms.limit(clock)
    if limit is None:
        return None
    if clock.since is None:
        return TimeLeft(limit, None)
    waited = counted_wait(clock.since, now, terms, person, server)
    lost_after = limit
    if not (terms.alone or terms.has_bank):
        first = clock.reminded[0] if clock.reminded else now
        reminded = counted_wait(clock.since, first, terms, person, server)
        lost_after = max(limit, reminded + NOTICE)
    stopped = stopped_time(clock.since, lost_after, terms, person, server)
    reached = time_after(clock.since, lost_after, stopped)
    until = _allowed(max(reached, now), person, server, awake=False)
    return TimeLeft(max(_NO_TIME, lost_after - waited), until)


def counted_wait(
    since: datetime, until: datetime, terms: Terms, person: Person, server: Server
) -> timedelta:
    """Return the counted time of a wait."""
    return counted_time(since, until, stopped_time(since, until - since, terms, person, server))


def decide(
    clock: SeatClock, terms: Terms, person: Person, server: Server, now: datetime
) -> Decision:
    """Decide if a reminder or a forfeit is due for a seat at *now*.

    A reminder covers all thresholds before it, so that a reminder delayed until the morning does
    not come twice. A forfeit needs a reminder `NOTICE` before it. Without one, a reminder becomes
    due instead. Only a bank ends without: the letter of the turn says when. Readers of digests are
    reminded by the digest, and get a `Remind` only if a bank ends before the next one.
    """
    if clock.since is None:
        return Wait(None)
    is_sure = bool(clock.reminded) or terms.alone or terms.has_bank
    forfeit = forfeit_at(clock, terms, person, server, now)
    if forfeit is not None and forfeit <= now and is_sure:
        return Forfeit(_is_total(clock, terms))
    if terms.alone or (person.digest and not terms.has_bank):
        return Wait(forfeit)
    forfeit = forfeit if is_sure else None
    reminder = _reminder_at(clock, terms, person, server, now)
    if reminder is not None and reminder <= now:
        return Remind()
    return Wait(min((at for at in (forfeit, reminder) if at is not None), default=None))


def forfeit_at(
    clock: SeatClock, terms: Terms, person: Person, server: Server, now: datetime
) -> datetime | None:
    """Return the time at which the board would be lost, as far as known at *now*; `None` for never.

    If the player was not reminded yet, it is the time for a reminder at *now*.
    """
    left = time_left(clock, terms, person, server, now)
    return None if left is None else left.until


def clock_after_reminder(
    clock: SeatClock,
    terms: Terms,
    person: Person,
    server: Server,
    now: datetime,
    ahead: timedelta = REMIND_AHEAD,
) -> SeatClock | None:
    """Return the clock after a reminder at *now*, which covers all that is due until *ahead* later.

    Return `None` if nothing is due until then, or the player must not be reminded now.
    """
    if clock.since is None or terms.alone:
        return None
    if _allowed(now, person, server, awake=False) != now:
        return None
    covered = counted_wait(clock.since, now, terms, person, server) + ahead
    if not any(mark <= covered for mark in _open_marks(clock, terms, person)):
        return None
    return replace(clock, reminded=(*clock.reminded, now), covered=covered)


def clocks_after_turn(
    clocks: Sequence[SeatClock],
    waiting: Collection[Seat],
    ended: Collection[Seat],
    now: datetime,
    spent: Mapping[Seat, timedelta],
    terms: Terms,
    before: Sequence[tuple[timedelta, ...]],
    due_at: datetime | None = None,
) -> tuple[tuple[SeatClock, ...], datetime | None]:
    """Return the clocks after a turn, and a time before which nothing is due (`None` for never).

    Absences, outages and nights can only delay, and are ignored.

    Args:
        clocks: the clocks before, by seat.
        waiting: the seats that are waited for from now on.
        ended: the seats whose wait is over, even if they are waited for again.
        now: the time of the turn.
        spent: the counted time of waits that ended, if needed.
        terms: the time limits.
        before: `Person.before` by seat.
        due_at: the time before which nothing was due for *clocks*.
    """
    after, due_times = [], []
    for number, clock in enumerate(clocks):
        seat = Seat(number)
        if clock.since is not None and seat in waiting and seat not in ended:
            after.append(clock)
            due_times.append(due_at)
            continue
        used = clock.used
        if clock.since is not None:
            has_moved = seat in spent and seat in ended
            used = terms.used_after(used, spent.get(seat, _NO_TIME), has_moved=has_moved)
        after.append(SeatClock(now if seat in waiting else None, (), used))
        if seat in waiting and (first := _first_due(terms, used, before[seat])) is not None:
            due_times.append(now + first)
    return tuple(after), min([at for at in due_times if at is not None], default=None)


# -- preferences ----------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def read_remind(text: str) -> tuple[tuple[timedelta, ...], bool]:
    """Return the times before a forfeit (``2d,6h``), and whether ``night`` is allowed."""
    words = text.split(",")
    offsets = [_OFFSET.fullmatch(word.strip()) for word in words]
    before = {timedelta(hours=int(m[1]) * (24 if m[2] == "d" else 1)) for m in offsets if m}
    return tuple(sorted(before, reverse=True)), any(word.strip() == "night" for word in words)


# -- storage --------------------------------------------------------------------------------


def to_json(clocks: Sequence[SeatClock]) -> list[dict[str, Any]] | None:
    """Return clocks by seat for JSON, with times in ISO 8601 and durations in seconds.

    Return `None` if there are no clocks.
    """
    return [
        {
            "since": clock.since.isoformat() if clock.since else None,
            "reminded": [at.isoformat() for at in clock.reminded],
            "used": clock.used.total_seconds(),
            "covered": clock.covered.total_seconds(),
            **({"given": clock.extra_time.total_seconds()} if clock.extra_time else {}),
        }
        for clock in clocks
    ] or None


def from_json(stored: Sequence[Mapping[str, Any]] | None) -> tuple[SeatClock, ...]:
    """Return the clocks that `to_json` stored, none if they were not started."""
    return tuple(
        [
            SeatClock(
                datetime.fromisoformat(clock["since"]) if clock["since"] else None,
                tuple(map(datetime.fromisoformat, clock["reminded"])),
                timedelta(seconds=clock["used"]) if clock["used"] else _NO_TIME,
                timedelta(seconds=clock["covered"]) if clock.get("covered") else _NO_TIME,
                timedelta(seconds=clock["given"]) if clock.get("given") else _NO_TIME,
            )
            for clock in stored or ()
        ]
    )


def _marks(
    terms: Terms, limit: timedelta | None, before: Sequence[timedelta], *, digest: bool = False
) -> list[timedelta]:
    """Return the counted times of reminders, all before the limit.

    Args:
        digest: the player's digest reminds, if it comes in time.
    """
    if terms.alone:
        return []
    if terms.has_bank and digest:
        return [] if limit is None else [max(_AT_ONCE, limit - NOTICE)]
    marks = [timedelta(days=terms.nag)] if terms.nag else []
    if limit is not None:
        last = WARNING if terms.has_bank else NOTICE
        marks += [limit - ahead for ahead in (last, *before)]
        return [mark for mark in marks if _NO_TIME < mark < limit]
    return marks


def _first_due(terms: Terms, used: timedelta, before: tuple[timedelta, ...]) -> timedelta | None:
    """Return the first counted time at which a reminder or forfeit is due, `None` for never."""
    limit = terms.limit(SeatClock(used=used))
    marks = _marks(terms, limit, before)
    if limit is not None:
        marks.append(max(_NO_TIME, limit - WARNING) if terms.has_bank else limit)
    return min(marks, default=None)


def _open_marks(clock: SeatClock, terms: Terms, person: Person) -> list[timedelta]:
    """Return the counted times of reminders that were not sent yet."""
    limit = terms.limit(clock)
    marks = _marks(terms, limit, person.before, digest=person.digest)
    marks = [mark for mark in marks if mark > clock.covered]
    if not (clock.reminded or limit is None or terms.has_bank):
        marks.append(limit)  # a forfeit needs a reminder
    return marks


def _reminder_at(
    clock: SeatClock, terms: Terms, person: Person, server: Server, now: datetime
) -> datetime | None:
    assert clock.since is not None
    marks = _open_marks(clock, terms, person)
    if not marks:
        return None
    stopped = stopped_time(clock.since, min(marks), terms, person, server)
    reached = time_after(clock.since, min(marks), stopped)
    return _allowed(max(reached, now), person, server, awake=not person.night)


def _allowed(at: datetime, person: Person, server: Server, *, awake: bool) -> datetime:
    """Return the first time from *at* on at which the player may be reminded."""
    while True:
        later = max(at, server.up_since + RECOVERY)
        for begins, ends in merge_spans(person.away):
            if begins <= later < ends:
                later = ends
        if awake:
            later = next_daytime(later, person.zone)
        if later == at:
            return at
        at = later


def _is_total(clock: SeatClock, terms: Terms) -> bool:
    """Return whether the total of the board is the limit that was exceeded."""
    return terms.limit(clock) != replace(terms, total=None).limit(clock)
