"""How each stage is, for those who look after the server: pages, Prometheus, `pbmserv status`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from pbmserv.monitoring import metrics
from pbmserv.monitoring.pulse import Vital
from pbmserv.service.operators.health import Parts, RelayState, Slots
from pbmserv.stages.link import Asking, Unanswered

PATIENCE_S = 1.0
NO_PATIENCE_S = 0.1


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
    """The stages of the server that meets there, as far as they answer."""
    found = {}
    for path in sorted(folder.glob("*.sock")):
        with contextlib.suppress(Unanswered):
            found[path.stem] = Asking(path, NO_PATIENCE_S).ask("state")
    return found


class Stages:
    """Asks the stages of this machine how they are.

    Args:
        folder: where their sockets are.
        names: of those that are to be there.
        own: of the stage in which this is.
    """

    def __init__(self, folder: Path, names: Sequence[str], own: Callable[[], StageState]) -> None:
        self._asked = {name: Asking(folder / f"{name}.sock", PATIENCE_S) for name in names}
        self._own = own
        self._writing = ThreadPoolExecutor(1, "probe")

    def look(self) -> dict[str, StageState]:
        """All of them; one that does not answer has a thread that has ended."""
        found = {"web": self._own()}
        for name, asking in self._asked.items():
            try:
                found[name] = asking.ask("state")
            except Unanswered:
                found[name] = StageState((Vital(name, False, 0.0, 0.0),))
        return found

    def parts(self, folder: Path) -> Parts:
        """The same, as `Health` wants it."""
        return Parts(
            lambda: [vital for one in self.look().values() for vital in one.vitals],
            lambda: {k: v for one in self.look().values() for k, v in one.slots.items()},
            lambda: next((s.relay for s in self.look().values() if s.relay), RelayState(0, False)),
            lambda: next((s.texts for s in self.look().values() if s.texts), (0, 1)),
            folder,
        )

    def submit(self, _job: Any) -> Future[None]:
        """Has play store something for good, as `Health` tries it."""
        return self._writing.submit(partial(self._asked["play"].ask, "write"))

    def counted(self) -> bytes:
        """What all of them have counted, added up; memory and time by stage."""
        registry = CollectorRegistry()
        registry.register(_Sum({name: one.counted for name, one in self.look().items()}))
        return generate_latest(registry)

    def close(self) -> None:
        """Ask no more."""
        self._writing.shutdown(wait=False, cancel_futures=True)


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
