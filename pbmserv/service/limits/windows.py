"""Moving windows on our own clock for whatever is counted by time, and locks that last a while.

They are kept in memory, where the event loop may ask them, by hashes of what they are about. Each
change is told as an `Event`, so that other processes can be told of it (`shared_counts`), and
learned from theirs.
"""

from __future__ import annotations

import struct
import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from functools import lru_cache
from hashlib import blake2b
from typing import TypeVar

from limits import RateLimitItem

from pbmserv.clock import Clock

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 20_000
"""Windows kept, and locks, and usual sources; the least recently used one goes first."""

USUAL_FOR = timedelta(days=30)
"""How long others are told of a usual source."""

_FORM = struct.Struct("!B16sddH")
_MOST = 0xFFFF


class Kind(IntEnum):
    """What happened."""

    HIT = 1
    """`level` hits in a window, which leave it at `until`."""
    CLEAR = 2
    """A window is empty from now on."""
    LOCK = 3
    """Something is locked until `until`, for the `level`th time in a row."""
    USUAL = 4
    """A source is known to be somebody's."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was counted.

    Attributes:
        key: a hash of what it is about, 16 octets.
        at: when, seconds since 1970.
        until: until when it counts, likewise.
    """

    kind: Kind
    key: bytes
    at: float
    until: float
    level: int = 0


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that holds, or held; `level` counts how often in a row, from 0."""

    until: datetime
    level: int


def packed(events: Iterable[Event]) -> bytes:
    """Events as octets, 35 each."""
    return b"".join(
        _FORM.pack(one.kind, one.key, one.at, one.until, min(one.level, _MOST)) for one in events
    )


def unpacked(octets: bytes) -> Iterator[Event]:
    """What `packed` made; events of a later version are left out."""
    known = {int(kind) for kind in Kind}
    for kind, key, at, until, level in _FORM.iter_unpack(octets):
        if kind in known:
            yield Event(Kind(kind), key, at, until, level)


@lru_cache(maxsize=1_024)  # a mail asks for the same ones again and again
def name(key: str) -> bytes:
    """What stands for a key: nobody reads an address off it."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_NO_HITS = array("d")
"""Eight octets for each hit that comes: a deque takes 600 for the first, and 32 for each."""


class Windows:
    """Moving windows on our own clock, bounded. Thread-safe, and never slow.

    Args:
        tell: called with each change that is made here, quickly; ``None``: nobody else counts.
    """

    def __init__(self, clock: Clock, tell: Callable[[Event], None] | None = None) -> None:
        self._clock = clock
        self._tell = tell
        self._hits: OrderedDict[bytes, array[float]] = OrderedDict()
        self._locks: OrderedDict[bytes, Lock] = OrderedDict()
        self._usual: OrderedDict[bytes, float] = OrderedDict()
        self._guard = threading.RLock()

    # -- what is limited -------------------------------------------------------------------

    def hit(self, limit: RateLimitItem, *who: str, cost: int = 1) -> bool:
        """Count so many hits, unless the window would overflow."""
        key, lasts = name(limit.key_for(*who)), limit.get_expiry()
        now = self._clock.now().timestamp()
        with self._guard:
            if len(self._counting(key, now - lasts)) + cost > limit.amount:
                return False
            if self._tell is not None:
                self._tell(Event(Kind.HIT, key, now, now + lasts, cost))
            self._count(key, now, cost)
            return True

    def has_room(self, limit: RateLimitItem, *who: str, cost: int = 1) -> bool:
        """Whether so many hits could be counted now."""
        since = self._clock.now().timestamp() - limit.get_expiry()
        with self._guard:
            return len(self._counting(name(limit.key_for(*who)), since)) + cost <= limit.amount

    def again_at(self, limit: RateLimitItem, *who: str) -> datetime:
        """When the oldest hit in the window counts no longer."""
        key, now, lasts = name(limit.key_for(*who)), self._now(), limit.get_expiry()
        with self._guard:
            hits = self._counting(key, now - lasts)
            return datetime.fromtimestamp((hits[0] if hits else now) + lasts, UTC)

    def _counting(self, key: bytes, since: float) -> array[float]:
        """The hits of a window that are later than *since*; others are forgotten."""
        hits = self._hits.get(key, _NO_HITS)
        if hits and hits[0] <= since:
            del hits[: bisect_right(hits, since)]
        return hits

    def _count(self, key: bytes, at: float, cost: int) -> None:
        """Add hits to a window, in their order: others' news come late."""
        hits = self._hits.get(key)
        if hits is None:
            hits = array("d")
        hits.extend([at] * cost)
        if len(hits) > cost and hits[-cost - 1] > at:
            hits = array("d", sorted(hits))
        remember(self._hits, key, hits)

    def clear(self, key: str) -> None:
        """Forget one window."""
        with self._guard:
            hits = self._hits.get(name(key))
            if hits:
                # By its last hit, whose clock may be another host's and ahead of ours.
                at = max(self._now(), hits[-1])
                self._happens(Event(Kind.CLEAR, name(key), at, at + USUAL_FOR.total_seconds()))

    # -- locks and sources -----------------------------------------------------------------

    def lock(self, key: str) -> Lock | None:
        """The lock that holds, or held last; ``None`` = there was none."""
        return self._locks.get(name(key))

    def close(self, key: str, until: datetime, level: int) -> None:
        """Lock it."""
        self._happens(Event(Kind.LOCK, name(key), self._now(), until.timestamp(), level))

    def open(self, key: str) -> None:
        """Unlock it, and forget that it was locked."""
        if self.lock(key) is not None:
            self._happens(Event(Kind.LOCK, name(key), self._now(), 0.0))

    def is_usual(self, key: str) -> bool:
        """Whether a source is known."""
        return name(key) in self._usual

    def note_usual(self, key: str) -> None:
        """Know a source from now on; others are told now and then."""
        now, known = self._now(), self._usual.get(name(key))
        event = Event(Kind.USUAL, name(key), now, now + USUAL_FOR.total_seconds())
        if known is not None and now < known + USUAL_FOR.total_seconds() / 2:
            with self._guard:
                remember(self._usual, event.key, known)
        else:
            self._happens(event)

    # -- events ----------------------------------------------------------------------------

    def learn(self, events: Iterable[Event]) -> None:
        """Count what others have counted."""
        now = self._now()
        for event in sorted(events, key=lambda one: one.at):
            if event.until > now or event.kind in {Kind.CLEAR, Kind.LOCK}:
                with self._guard:
                    self._apply(event)

    def _happens(self, event: Event) -> None:
        with self._guard:
            if self._tell is not None:
                self._tell(event)
            self._apply(event)

    def _apply(self, event: Event) -> None:
        if event.kind is Kind.LOCK:
            self._apply_lock(event)
        elif event.kind is Kind.USUAL:
            remember(self._usual, event.key, event.at)
        elif event.kind is Kind.CLEAR:
            if not self._counting(event.key, event.at):
                self._hits.pop(event.key, None)
        else:
            self._count(event.key, event.at, event.level)

    def _apply_lock(self, event: Event) -> None:
        if not event.until:
            self._locks.pop(event.key, None)
            return
        found = Lock(datetime.fromtimestamp(event.until, UTC), event.level)
        known = self._locks.get(event.key)
        # Two processes may set one lock at the same moment: that is once.
        if known is None or (known.until, known.level) < (found.until, found.level):
            remember(self._locks, event.key, found)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def remember(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Keep a value as the newest; the least recently used one goes when there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)
