"""Checks whether a server is alive, and whether it is ready to accept mail and send letters.

Alive: every thread runs and beats; if not, a restart helps. Ready: a mail would be stored within
`WRITE_S`, a client would find a free session, nothing waits too long, the relay answers, and the
disk has room; if not, an operator should know. `gauges` reports the same to Prometheus.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from pbmserv.clock import Clock, duration_text
from pbmserv.errors import ServerFault
from pbmserv.log import reason
from pbmserv.monitoring.upkeep import SOON, last_backup
from pbmserv.monitoring.vitals import Vital
from pbmserv.plurals import counted
from pbmserv.service.limits.text_quota import FULL
from pbmserv.store.core.database import Database
from pbmserv.store.operators import health as rows
from pbmserv.store.operators.health import Away, Queues, Waiting
from pbmserv.store.tables.downtime import PauseKind

T = TypeVar("T")

FRESH_S = 1.0
"""Seconds for which a result is used again, so that a flood of requests costs one look."""
WRITE_S = 5.0
"""Longest wait in seconds for the disk, and for the database."""
NEARLY = 0.8
"""Share of taken sessions from which on an operator should know."""
LEAST_ROOM = 32 * 2**20
"""Free octets on the disk below which mails will soon be put off."""
LITTLE_ROOM = 256 * 2**20
"""Free octets on the disk below which an operator should know."""
MANY_FAILURES = 2
"""Failed attempts in a row after which the relay counts as down."""

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
    """The open and the allowed sessions of one listener."""

    open: int
    most: int


@dataclass(frozen=True, slots=True)
class RelayState:
    """The state of the relay.

    Attributes:
        failures: attempts in a row that did not reach it.
        is_open: whether letters wait for it.
        fault: the last of these failures, without addresses.
        last_reply, last_failure: see `pbmserv.outbound.breaker.Breaker`.
    """

    failures: int
    is_open: bool
    fault: str = ""
    last_reply: float = 0.0
    last_failure: float = 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Attributes:
        reason: why it is not ok, for the operator, without secrets.
        numbers: measured values.
    """

    state: State = "ok"
    reason: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)

    def as_json(self, *, numbers: bool) -> dict[str, Any]:
        """Return the result for JSON; strangers get no numbers."""
        facts: dict[str, Any] = {"ok": self.state != "failing", "state": self.state}
        if self.reason:
            facts["reason"] = self.reason
        return facts | (dict(self.numbers) if numbers else {})


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all checks by name."""

    checks: Mapping[str, Check]

    @property
    def status(self) -> State:
        """Return the worst state."""
        states = {check.state for check in self.checks.values()}
        return "failing" if "failing" in states else "degraded" if "degraded" in states else "ok"

    def as_json(self, *, numbers: bool) -> dict[str, Any]:
        """Return the report for JSON."""
        checks = {name: check.as_json(numbers=numbers) for name, check in self.checks.items()}
        return {"status": self.status, "checks": checks}


@dataclass(frozen=True, slots=True)
class Parts:
    """The states of the parts of a server.

    Attributes:
        vitals: states of its threads.
        slots: sessions by listener.
        relay: state of the relay.
        texts: octets that the texts of mails take, and may take.
        certificate_ends: end of the certificate of the mail ports; `None` if there is none.
        has_door: whether a door takes the forms and moves of pages, in this server or beside it.
        is_damaged: whether a page of the database is damaged.
    """

    vitals: Sequence[Vital]
    slots: Mapping[str, Slots]
    relay: RelayState
    texts: tuple[int, int]
    certificate_ends: datetime | None = None
    has_door: bool = True
    is_damaged: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The results of one look.

    Attributes:
        queues: `None` if the database did not answer.
        backup_at: time of the newest copy of the database; `None` if none was made here.
    """

    report: Report
    parts: Parts
    queues: Queues | None
    sizes: Mapping[str, int]
    free: int
    backup_at: datetime | None


def sentence_about(away: Away) -> str:
    """Return a sentence for operators about a game that cannot be played."""
    boards = counted(away.boards, "running board waits", "running boards wait")
    if away.kind == PauseKind.GONE:
        return f"{away.game}: {away.why}; {boards}"
    return f"{away.game} is stopped ({away.why}); {boards}; try `pbmserv game resume {away.game}`"


class _Question(Generic[T]):
    """A question to the database. While one hangs, no further ones are asked.

    Args:
        ask: asks it.
        late: reason of the check if there is no answer in `WRITE_S`.
    """

    def __init__(self, ask: Callable[[], asyncio.Future[T]], late: str) -> None:
        self._ask = ask
        self._late = late
        self._asked: asyncio.Future[T] | None = None

    async def answer(self) -> T | Check:
        """Return the answer, or a failing check."""
        try:
            if self._asked is None:
                self._asked = self._ask()
            answer = await asyncio.wait_for(asyncio.shield(self._asked), WRITE_S)
        except TimeoutError:
            return Check("failing", self._late.format(WRITE_S))
        except (SQLAlchemyError, ServerFault, OSError) as fault:
            self._asked = None
            return Check("failing", reason(fault) or type(fault).__name__)
        self._asked = None
        return answer


class Health:
    """Checks the server, at most once in `FRESH_S`; for one event loop.

    Args:
        look: returns the states of the parts; it asks other processes, for up to two seconds.
        folder: folder of the server's files.
        mail, game: the stores, for reading.
        write: stores a probe; the future is resolved after the commit.
        clock: decides what is late.
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
        self._clock = clock
        self._turn = asyncio.Lock()
        self._latest: tuple[float, Snapshot] | None = None
        self._probe = _Question(
            lambda: asyncio.wrap_future(write()), "nothing could be written within {:g} seconds"
        )
        self._queues = _Question(
            lambda: asyncio.create_task(asyncio.to_thread(self._ask)),
            "the database did not answer within {:g} seconds",
        )

    async def live(self) -> Report:
        """Return whether every thread runs and beats; the event loop works if it answers."""
        parts = await asyncio.to_thread(self._look_at_parts)
        return Report({"threads": _threads(parts.vitals)})

    async def ready(self) -> Report:
        """Return whether mail would be accepted and letters sent."""
        return (await self.snapshot()).report

    async def snapshot(self) -> Snapshot:
        """Return the newest results, at most `FRESH_S` old."""
        async with self._turn:
            now = asyncio.get_running_loop().time()
            if self._latest is None or now - self._latest[0] >= FRESH_S:
                snapshot = await self._look()
                self._latest = (asyncio.get_running_loop().time(), snapshot)
            return self._latest[1]

    async def _look(self) -> Snapshot:
        parts, write, answer = await asyncio.gather(
            asyncio.to_thread(self._look_at_parts), self._try_write(), self._queues.answer()
        )
        free = shutil.disk_usage(self._folder).free
        checks = {
            "threads": _threads(parts.vitals),
            "write": write,
            "sessions": _sessions(parts.slots),
            "relay": _relay(parts.relay),
            "disk": _disk(free),
            "texts": _texts(*parts.texts),
        }
        if parts.is_damaged:
            why = "the database is damaged, as the log says; restore a copy"
            checks["integrity"] = Check("failing", why)
        if not parts.has_door:
            why = "no door runs beside the pages, so moves and forms on them fail"
            checks["door"] = Check("failing", why)
        if parts.certificate_ends is not None:
            checks["certificate"] = _certificate(parts.certificate_ends, self._clock.now())
        backup_at = last_backup(self._folder)
        if isinstance(answer, Check):
            checks["database"] = answer
            return Snapshot(Report(checks), parts, None, {}, free, backup_at)
        queues, sizes = answer
        if queues.away:
            checks["games"] = Check("degraded", "; ".join(map(sentence_about, queues.away)))
        sizes["mail_texts"] = parts.texts[0]
        checks |= {name: _late(name, queue) for name, queue in _queues(queues).items()}
        return Snapshot(Report(checks), parts, queues, sizes, free, backup_at)

    async def _try_write(self) -> Check:
        clock = asyncio.get_running_loop().time
        begun = clock()
        fault = await self._probe.answer()
        return fault or Check(numbers={"ms": round((clock() - begun) * 1000, 1)})

    def _ask(self) -> tuple[Queues, dict[str, int]]:
        with self._mail.reading.connect() as mail, self._game.reading.connect() as game:
            queues = rows.queues(mail, game, self._clock.now())
        return queues, rows.sizes(self._game)


def _threads(vitals: Sequence[Vital]) -> Check:
    wrong = [f"{vital.name} has ended" for vital in vitals if not vital.is_alive]
    wrong += [
        f"{vital.name} has not been heard of for {duration_text(vital.silent_s)}"
        for vital in vitals
        if vital.is_alive and vital.is_stuck
    ]
    numbers = {"threads": len(vitals), "silent_s": round(max(v.silent_s for v in vitals), 1)}
    return Check("failing" if wrong else "ok", "; ".join(wrong), numbers)


def _sessions(slots: Mapping[str, Slots]) -> Check:
    full = [
        f"all {slot.most} sessions of {name} are taken"
        for name, slot in slots.items()
        if slot.open >= slot.most
    ]
    many = [
        f"{slot.open} of {slot.most} sessions of {name} are taken"
        for name, slot in slots.items()
        if NEARLY * slot.most <= slot.open < slot.most
    ]
    numbers = {
        f"{name}_{field}": getattr(slot, field)
        for name, slot in slots.items()
        for field in ("open", "most")
    }
    state: State = "failing" if full else "degraded" if many else "ok"
    return Check(state, "; ".join(full + many), numbers)


def _relay(relay: RelayState) -> Check:
    numbers = {"failures": relay.failures}
    if relay.is_open or relay.failures >= MANY_FAILURES:
        attempts = counted(relay.failures, "attempt")
        why = f"the last {attempts} did not reach the relay, or it refuses us"
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


def _certificate(ends: datetime, now: datetime) -> Check:
    if ends <= now:
        return Check("degraded", f"the certificate of the mail ports ended {ends:%Y-%m-%d}")
    if ends - now < SOON:
        return Check("degraded", f"the certificate of the mail ports ends {ends:%Y-%m-%d}")
    return Check()


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
    return Check(state, "" if state == "ok" else words.format(age=duration_text(age)), numbers)
