"""How each stage is, for those who look after the server: pages, Prometheus, `pbmserv status`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from pbmserv.clock import span
from pbmserv.monitoring import metrics
from pbmserv.monitoring.metrics import Vital
from pbmserv.service.operators.health import Parts, RelayState, Slots
from pbmserv.stages.link import Asking, Unanswered
from pbmserv.store.operators.health import Queues

PATIENCE_S = 2.0
"""Seconds that a stage has to answer."""
NO_PATIENCE_S = 0.1
FRESH_S = 0.5
WRITING = ("door", "play")
"""Stages that store something for good."""
RUNS_S = 90
"""Seconds since it was last heard of for which a server is said to run: it beats every 30."""


@dataclass(frozen=True, slots=True)
class StageState:
    """One stage as it is now.

    Attributes:
        vitals: its threads.
        slots: connections by listener.
        relay: how the relay is, if the stage sends.
        texts: octets that texts of mails take, and may take; ``None``: it does not know.
        counted: what it has counted, as Prometheus reads it.
        doing: what is in hand, for people; ``""``: nothing, or nothing of interest.
    """

    vitals: Sequence[Vital]
    slots: Mapping[str, Slots] = field(default_factory=dict)
    relay: RelayState | None = None
    texts: tuple[int, int] | None = None
    counted: bytes = b""
    doing: str = ""


def counted() -> bytes:
    """What this process has counted."""
    return generate_latest(metrics.REGISTRY)


def heard(folder: Path) -> dict[str, StageState]:
    """The stages of the server that meets there; of one that is stuck only that it is."""
    found = {}
    for path in sorted(folder.glob("*.sock")):
        try:
            found[path.stem] = Asking(path, NO_PATIENCE_S, PATIENCE_S).ask("state")
        except Unanswered as error:
            # A socket that nobody listens at was left behind.
            if not isinstance(error.__cause__, (ConnectionRefusedError, FileNotFoundError)):
                found[path.stem] = StageState((_ended(path.stem),), doing="does not answer")
    return found


def runs(queues: Queues) -> bool:
    """Whether a server has been heard of."""
    return queues.beat_s is not None and abs(queues.beat_s) <= RUNS_S


def running(queues: Queues) -> str:
    """The same as a sentence for operators."""
    if queues.beat_s is None or queues.up_since is None:
        return "No server has ever run on this database."
    if queues.beat_s < -RUNS_S:
        ahead = span(-queues.beat_s)
        return f"A clock is wrong: the server's last sign of life lies {ahead} ahead of now."
    heard_ago = f"its last sign of life was {span(max(0.0, queues.beat_s))} ago"
    if not runs(queues):
        return f"No server runs: {heard_ago}."
    return f"A server has been running since {queues.up_since:%Y-%m-%d %H:%M} UTC; {heard_ago}."


def waiting(queues: Queues) -> list[tuple[str, str, str]]:
    """What waits, how many of it, and for how long the oldest has."""
    found = {
        "mails to carry out": queues.mails,
        "mails kept for the operator": queues.kept,
        "letters due": queues.due,
        "letters in the queue": queues.queued,
        "boards on which the house moves next": queues.house,
        "boards with late clocks": queues.clocks,
        "digests due": queues.digests,
    }
    rows = [
        (what, str(one.count), span(one.oldest_s) if one.count else "")
        for what, one in found.items()
    ]
    return rows + [(f"letters {state}", str(n), "") for state, n in sorted(queues.letters.items())]


class Stages:
    """Asks the stages of this machine how they are.

    Args:
        folder: where their sockets are.
        names: of those that are to be there.
        own: of the stage in which this is.
    """

    def __init__(self, folder: Path, names: Sequence[str], own: Callable[[], StageState]) -> None:
        self._asked = {
            name: Asking(folder / f"{name}.sock", PATIENCE_S, PATIENCE_S) for name in names
        }
        self._writes = [Asking(folder / f"{n}.sock", PATIENCE_S) for n in names if n in WRITING]
        self._own = own
        self._turn = threading.Lock()
        self._seen: dict[str, StageState] | None = None
        self._seen_at = 0.0
        self._looking = ThreadPoolExecutor(max(1, len(names)), "look")
        self._writing = ThreadPoolExecutor(1, "probe")

    def look(self) -> dict[str, StageState]:
        """All of them, as they were `FRESH_S` ago at most; one that does not answer has a thread
        that has ended."""
        with self._turn:
            if self._seen is None or monotonic() - self._seen_at >= FRESH_S:
                self._seen = {
                    "web": self._own(),
                    **dict(self._looking.map(_state, self._asked.items())),
                }
                self._seen_at = monotonic()
            return self._seen

    def parts(self) -> Parts:
        """The same, as `Health` wants it."""
        found = list(self.look().values())
        return Parts(
            [vital for one in found for vital in one.vitals],
            {name: slots for one in found for name, slots in one.slots.items()},
            next((one.relay for one in found if one.relay), RelayState(0, False)),
            next((one.texts for one in found if one.texts), (0, 1)),
        )

    def write(self) -> Future[None]:
        """Has all that store something here do so, as `Health` tries it."""
        return self._writing.submit(self._write)

    def _write(self) -> None:
        for asking in self._writes:
            asking.ask("write")

    def counted(self) -> bytes:
        """What all of them have counted, added up; memory and time by stage."""
        registry = CollectorRegistry()
        registry.register(_Sum({name: one.counted for name, one in self.look().items()}))
        return generate_latest(registry)

    def close(self) -> None:
        """Ask no more."""
        for pool in (self._looking, self._writing):
            pool.shutdown(wait=False, cancel_futures=True)


def _state(item: tuple[str, Asking]) -> tuple[str, StageState]:
    name, asking = item
    try:
        found: StageState = asking.ask("state")
    except Unanswered:
        found = StageState((_ended(name),))
    return name, found


def _ended(name: str) -> Vital:
    return Vital(name, False, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Sum(Collector):
    """Texts of several processes as one."""

    texts: Mapping[str, bytes]

    def collect(self) -> list[Metric]:
        families: dict[str, Metric] = {}
        samples: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], float]] = {}
        for stage, text in self.texts.items():
            for family in text_string_to_metric_families(text.decode()):
                kept = families.setdefault(
                    family.name, Metric(family.name, family.documentation, family.type)
                )
                values = samples.setdefault(kept.name, {})
                for one in family.samples:
                    if one.name.endswith("_created"):
                        continue
                    is_own = one.name.startswith("process_")
                    labels = {**one.labels, "stage": stage} if is_own else one.labels
                    key = one.name, tuple(sorted(labels.items()))
                    values[key] = values.get(key, 0.0) + one.value
        for name, family in families.items():
            for (sample, pairs), value in samples[name].items():
                family.add_sample(sample, dict(pairs), value)
        return list(families.values())
