"""Whether the server lives, and whether it would take a mail and get its letters out, and why not.

Live: every thread is there and heard of; if not, a restart helps. Ready: a mail would be stored
for good within `WRITE_S`, a client would find a free session, nothing waits too long, the relay
answers, and there is room on the disk; if not, an operator should know. `metrics` tells the same
to Prometheus.
"""

from __future__ import annotations

import asyncio
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from pbmserv import __version__, log
from pbmserv.clock import Clock, span
from pbmserv.errors import ServerFault
from pbmserv.log import reason
from pbmserv.monitoring import metrics as counters
from pbmserv.monitoring.vitals import Vital
from pbmserv.service.time.retention import FULL
from pbmserv.store.core.database import Database
from pbmserv.store.operators import health as rows
from pbmserv.store.operators.health import Queues, Waiting

FRESH_S = 1.0
"""Seconds for which an answer is given again: a flood of questions costs one look."""
WRITE_S = 5.0
"""Seconds that a mail may wait for the disk; a look at the database has as many."""
NEARLY = 0.8
"""Part of the sessions from which on an operator should know."""
LEAST_ROOM = 32 * 2**20
"""Octets free on the disk below which mails are about to be put off."""
LITTLE_ROOM = 256 * 2**20
"""Octets free on the disk below which an operator should know."""
MANY_FAILURES = 2
"""Attempts in a row in which the relay could not be reached, until it counts as dead."""

State: TypeAlias = Literal["ok", "degraded", "failing"]

_LATE: Mapping[str, tuple[float, float, str]] = {
    # seconds until an operator should know, until it is a failure, and what waits
    "mails": (60, 300, "a mail has waited to be carried out for {age}"),
    "letters": (300, 900, "a letter has been due for {age}"),
    "house": (300, 1800, "a board has waited for the house's move for {age}"),
    "clocks": (300, 1800, "a clock is {age} behind"),
    "digests": (1800, 7200, "a digest is {age} late"),
    "kept": (3 * 86_400, float("inf"), "a mail has waited for the operator for {age}"),
}


@dataclass(frozen=True, slots=True)
class Slots:
    """Sessions of one listener: those that are open, and how many may be."""

    open: int
    most: int


@dataclass(frozen=True, slots=True)
class RelayState:
    """How the relay is: failures in a row, and whether letters wait for it to come back."""

    failures: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        reason: why it is not ok, for the operator; no secrets.
        numbers: what was measured.
    """

    state: State = "ok"
    reason: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)

    def as_json(self, *, numbers: bool) -> dict[str, Any]:
        """The same for a program; strangers are not told numbers."""
        found: dict[str, Any] = {"ok": self.state != "failing", "state": self.state}
        if self.reason:
            found["reason"] = self.reason
        return found | (dict(self.numbers) if numbers else {})


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was looked at, by name."""

    checks: Mapping[str, Check]

    @property
    def status(self) -> State:
        """The worst of all."""
        states = {check.state for check in self.checks.values()}
        return "failing" if "failing" in states else "degraded" if "degraded" in states else "ok"

    def as_json(self, *, numbers: bool) -> dict[str, Any]:
        """What a probe reads."""
        checks = {name: one.as_json(numbers=numbers) for name, one in self.checks.items()}
        return {"status": self.status, "checks": checks}


@dataclass(frozen=True, slots=True)
class Parts:
    """How the parts of a server are.

    Attributes:
        vitals: its threads.
        slots: sessions by listener.
        relay: how it is.
        texts: octets that the texts of mails take, and may take.
    """

    vitals: Sequence[Vital]
    slots: Mapping[str, Slots]
    relay: RelayState
    texts: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look has found; `queues` and `sizes` are empty when the database did not answer."""

    report: Report
    slots: Mapping[str, Slots]
    relay: RelayState
    queues: Queues | None
    sizes: Mapping[str, int]
    free: int


class Health:
    """Looks, at most once in `FRESH_S`; for one event loop.

    Args:
        look: at the parts; asks other processes, so it may take a second or two.
        folder: where the server's files lie.
        write: stores something for good; the future is resolved once that is committed.
    """

    def __init__(
        self,
        look: Callable[[], Parts],
        folder: Path,
        mail: Database,
        game: Database,
        write: Callable[[], Future[None]],
        clock: Clock,
    ) -> None:
        self._look_at_parts = look
        self._folder = folder
        self._mail = mail
        self._game = game
        self._write = write
        self._clock = clock
        self._turn = asyncio.Lock()
        self._seen: tuple[float, Seen] | None = None
        self._written: Future[None] | None = None
        self._looked: asyncio.Task[tuple[Queues, dict[str, int]]] | None = None

    async def live(self) -> Report:
        """Whether every thread is there and heard of. That somebody asks this in the event loop
        and gets an answer says the same of the loop."""
        parts = await asyncio.to_thread(self._look_at_parts)
        return Report({"threads": _threads(parts.vitals)})

    async def ready(self) -> Report:
        """Whether mail would be taken and letters got out."""
        return (await self.seen()).report

    async def seen(self) -> Seen:
        """All that was found out, not longer than `FRESH_S` ago."""
        async with self._turn:
            now = asyncio.get_running_loop().time()
            if self._seen is None or now - self._seen[0] >= FRESH_S:
                seen = await self._look()
                self._seen = (asyncio.get_running_loop().time(), seen)
            return self._seen[1]

    async def _look(self) -> Seen:
        parts, write, looked = await asyncio.gather(
            asyncio.to_thread(self._look_at_parts), self._try_write(), self._try_look()
        )
        slots, relay = parts.slots, parts.relay
        free = shutil.disk_usage(self._folder).free
        checks = {
            "threads": _threads(parts.vitals),
            "write": write,
            "sessions": _sessions(slots),
            "relay": _relay(relay),
            "disk": _disk(free),
            "texts": _texts(*parts.texts),
        }
        if isinstance(looked, Check):
            checks["database"] = looked
            return Seen(Report(checks), slots, relay, None, {}, free)
        queues, sizes = looked
        sizes["mail_texts"] = parts.texts[0]
        checks |= {name: _late(name, one) for name, one in _queues(queues).items()}
        return Seen(Report(checks), slots, relay, queues, sizes, free)

    async def _try_write(self) -> Check:
        """Store something for good. One that hangs is not followed by others."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        try:
            if self._written is None:
                self._written = self._write()
            waiting = asyncio.shield(asyncio.wrap_future(self._written))
            await asyncio.wait_for(waiting, WRITE_S)
        except TimeoutError:
            return Check("failing", f"nothing could be written within {WRITE_S:g} seconds")
        except (SQLAlchemyError, ServerFault, OSError) as fault:
            self._written = None
            return Check("failing", reason(fault) or type(fault).__name__)
        self._written = None
        return Check(numbers={"ms": round((clock() - begun) * 1000, 1)})

    async def _try_look(self) -> tuple[Queues, dict[str, int]] | Check:
        """Ask the database what waits. A question that hangs is not followed by others."""
        try:
            if self._looked is None:
                self._looked = asyncio.create_task(asyncio.to_thread(self._ask))
            found = await asyncio.wait_for(asyncio.shield(self._looked), WRITE_S)
        except TimeoutError:
            return Check("failing", f"the database did not answer within {WRITE_S:g} seconds")
        except (SQLAlchemyError, ServerFault, OSError) as fault:
            self._looked = None
            return Check("failing", reason(fault) or type(fault).__name__)
        self._looked = None
        return found

    def _ask(self) -> tuple[Queues, dict[str, int]]:
        with self._mail.reading.connect() as mail, self._game.reading.connect() as game:
            found = rows.queues(mail, game, self._clock.now())
        return found, rows.sizes(self._game)


def _threads(vitals: Sequence[Vital]) -> Check:
    wrong = [f"{one.name} has ended" for one in vitals if not one.is_alive]
    wrong += [
        f"{one.name} has not been heard of for {span(one.silent_s)}"
        for one in vitals
        if one.is_alive and one.is_stuck
    ]
    numbers = {"threads": len(vitals), "silent_s": round(max(v.silent_s for v in vitals), 1)}
    return Check("failing" if wrong else "ok", "; ".join(wrong), numbers)


def _sessions(slots: Mapping[str, Slots]) -> Check:
    full = [
        f"all {one.most} sessions of {name} are taken"
        for name, one in slots.items()
        if one.open >= one.most
    ]
    many = [
        f"{one.open} of {one.most} sessions of {name} are taken"
        for name, one in slots.items()
        if NEARLY * one.most <= one.open < one.most
    ]
    numbers = {
        f"{name}_{what}": getattr(one, what)
        for name, one in slots.items()
        for what in ("open", "most")
    }
    state: State = "failing" if full else "degraded" if many else "ok"
    return Check(state, "; ".join(full + many), numbers)


def _relay(relay: RelayState) -> Check:
    numbers = {"failures": relay.failures}
    if relay.is_open or relay.failures >= MANY_FAILURES:
        why = f"the last {relay.failures} attempts did not reach the relay, or it refuses us"
        return Check("failing", why + ("; letters wait" if relay.is_open else ""), numbers)
    if relay.failures:
        return Check("degraded", "the last attempt did not reach the relay", numbers)
    return Check(numbers=numbers)


def _disk(free: int) -> Check:
    state: State = "failing" if free < LEAST_ROOM else "degraded" if free < LITTLE_ROOM else "ok"
    why = "" if state == "ok" else f"{free // 2**20} MB are free on the disk"
    return Check(state, why, {"free": free})


def _texts(taken: int, most: int) -> Check:
    state: State = "ok" if taken <= most * FULL else "degraded"
    why = "" if state == "ok" else "the texts of mails take nearly all that they may"
    return Check(state, why, {"taken": taken, "most": most})


def _queues(queues: Queues) -> dict[str, Waiting]:
    return {
        "mails": queues.mails,
        "letters": queues.due,
        "house": queues.house,
        "clocks": queues.clocks,
        "digests": queues.digests,
        "kept": queues.kept,
    }


def _late(name: str, waiting: Waiting) -> Check:
    soon, late, words = _LATE[name]
    age = waiting.oldest_s
    state: State = "failing" if age > late else "degraded" if age > soon else "ok"
    numbers = {"count": waiting.count, "oldest_s": round(age, 1)}
    return Check(state, "" if state == "ok" else words.format(age=span(age)), numbers)


async def metrics(health: Health, counted: bytes) -> bytes:
    """Everything there is to tell, measured now and *counted* so far."""
    registry = CollectorRegistry()
    registry.register(_Gauges(await health.seen()))
    return counted + generate_latest(registry)


ProcessCollector(registry=counters.REGISTRY)  # memory, processor time, open files


@dataclass(frozen=True, slots=True, eq=False)
class _Gauges(Collector):
    """One look, as Prometheus wants it."""

    seen: Seen

    def collect(self) -> Iterator[Metric]:
        seen = self.seen
        build = GaugeMetricFamily("pbmserv_build", "Versions.", labels=("version", "python"))
        build.add_metric((__version__, platform.python_version()), 1)
        yield build
        lost = CounterMetricFamily("pbmserv_log_lines_lost", "Lines of the log nobody will read.")
        lost.add_metric((), log.lost())
        yield lost
        states = {name: one.state != "failing" for name, one in seen.report.checks.items()}
        yield _one("pbmserv_check_ok", "Checks of /healthz: 0 = failing.", "check", states)
        slots = seen.slots.items()
        opened = {name: one.open for name, one in slots}
        yield _one("pbmserv_sessions", "Open sessions.", "listener", opened)
        most = {name: one.most for name, one in slots}
        yield _one("pbmserv_sessions_most", "Sessions that may be open.", "listener", most)
        yield GaugeMetricFamily(
            "pbmserv_relay_failures",
            "Attempts in a row that did not reach the relay.",
            value=seen.relay.failures,
        )
        yield GaugeMetricFamily(
            "pbmserv_relay_waits", "1 while letters wait for the relay.", value=seen.relay.is_open
        )
        sizes = {**seen.sizes, "free": seen.free}
        yield _one("pbmserv_bytes", "Database, its log, free disk.", "what", sizes)
        yield from self._queues()

    def _queues(self) -> Iterator[Metric]:
        queues = self.seen.queues
        if queues is None:
            return
        waiting = {
            "mails": queues.mails,
            "kept": queues.kept,
            "letters-due": queues.due,
            "letters-queued": queues.queued,
            "house": queues.house,
            "clocks": queues.clocks,
            "digests": queues.digests,
        }
        counted = {name: float(one.count) for name, one in waiting.items()}
        counted |= {f"letters-{state}": n for state, n in queues.letters.items()}
        yield _one("pbmserv_waiting", "Mails, letters, boards that wait.", "queue", counted)
        ages = {name: one.oldest_s for name, one in waiting.items()}
        yield _one("pbmserv_waiting_seconds", "For how long the first has.", "queue", ages)
        newest = {"mails": queues.newest_mail, "letters": queues.newest_letter}
        yield _one("pbmserv_newest_number", "Of a mail and of a letter.", "of", newest)


def _one(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    found = GaugeMetricFamily(name, words, labels=(label,))
    for given, value in values.items():
        found.add_metric((given,), value)
    return found
