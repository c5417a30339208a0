"""Asks the stages for their states, and adds them up for health pages and Prometheus."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from pbmserv.monitoring import metrics
from pbmserv.monitoring.vitals import Vital
from pbmserv.service.operators.health import Parts, RelayState
from pbmserv.stages.messages import AskState, ProbeWrite, StageState
from pbmserv.stages.questions import Asking, Unanswered

PATIENCE_S = 2.0
"""Seconds that a stage has for its answer."""
NO_PATIENCE_S = 0.1
"""Seconds that a command waits for a stage that does not listen."""
FRESH_S = 0.5
"""Seconds for which states that were asked for are used again."""
WRITING = ("door", "play")
"""Stages that store something for good."""


def own_numbers() -> bytes:
    """Return the numbers of this process in the format of Prometheus."""
    return generate_latest(metrics.REGISTRY)


def states(folder: Path) -> dict[str, StageState]:
    """Return the states of the stages in a run folder.

    A stage that does not answer is included; the socket of a process that has ended is not.
    """
    states_by_name = {}
    for path in sorted(folder.glob("*.sock")):
        try:
            states_by_name[path.stem] = _state_at(path)
        except Unanswered as error:
            if not isinstance(error.__cause__, (ConnectionRefusedError, FileNotFoundError)):
                states_by_name[path.stem] = StageState(
                    (_ended(path.stem),), doing="does not answer"
                )
    return states_by_name


def is_answering(path: Path) -> bool:
    """Return whether a stage answers at the path of its socket."""
    try:
        _state_at(path)
    except Unanswered:
        return False
    return True


def _state_at(path: Path) -> StageState:
    with closing(Asking(path, NO_PATIENCE_S, PATIENCE_S)) as asking:
        return asking.ask(AskState())


def certificate_ends(stage_states: Iterable[StageState]) -> datetime | None:
    """Return when the certificate of the mail ports ends, if one of the stages knows."""
    return next((state.certificate_ends for state in stage_states if state.certificate_ends), None)


def worst_relay(stage_states: Iterable[StageState]) -> RelayState:
    """Return the worst state of the relay that one of the stages has seen.

    The failures of a stage count no longer once the relay has replied to another: a stage without
    letters to send would never learn that the relay is back.
    """
    relays = [state.relay for state in stage_states if state.relay is not None]
    last_reply = max((relay.last_reply for relay in relays), default=0.0)
    current = [relay for relay in relays if relay.last_failure >= last_reply]
    worst = max(current, key=lambda relay: (relay.is_open, relay.failures), default=None)
    return worst or RelayState(0, False)


def started_at(stage_states: Iterable[StageState]) -> datetime | None:
    """Return when the server of this machine started; `None` if no stage of it answers."""
    return min((state.since for state in stage_states if state.since is not None), default=None)


class Stages:
    """Asks the stages of this machine for their states.

    Args:
        folder: the run folder of this server.
        names: the processes of this server.
    """

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._asked = {
            name: Asking(folder / f"{name}.sock", PATIENCE_S, PATIENCE_S) for name in names
        }
        self._probed = [
            Asking(folder / f"{name}.sock", PATIENCE_S) for name in names if name in WRITING
        ]
        self._door = folder / "door.sock"
        self._has_own_door = "door" in names
        self._turn = threading.Lock()
        self._states: dict[str, StageState] | None = None
        self._asked_at = 0.0
        self._looking = ThreadPoolExecutor(len(names), "look")
        self._probing = ThreadPoolExecutor(1, "probe")

    def look(self) -> dict[str, StageState]:
        """Return all states, at most `FRESH_S` old; a stage that does not answer has ended."""
        with self._turn:
            if self._states is None or monotonic() - self._asked_at >= FRESH_S:
                self._states = dict(self._looking.map(_state, self._asked.items()))
                self._asked_at = monotonic()
            return self._states

    def parts(self) -> Parts:
        """Return the states as `Health` needs them."""
        stage_states = list(self.look().values())
        return Parts(
            [vital for state in stage_states for vital in state.vitals],
            {name: slots for state in stage_states for name, slots in state.slots.items()},
            worst_relay(stage_states),
            next((state.texts for state in stage_states if state.texts), (0, 1)),
            certificate_ends(stage_states),
            self._has_own_door or is_answering(self._door),
            any(state.damage for state in stage_states),
        )

    def write(self) -> Future[None]:
        """Have every stage that stores something write a row, as `Health` needs it."""
        return self._probing.submit(self._write)

    def _write(self) -> None:
        for asking in self._probed:
            asking.ask(ProbeWrite())

    def counted(self) -> bytes:
        """Return the numbers of all stages: memory and time by stage, sums of all others."""
        registry = CollectorRegistry()
        registry.register(_Sum({name: state.counted for name, state in self.look().items()}))
        return generate_latest(registry)

    def close(self) -> None:
        """Stop asking."""
        for pool in (self._looking, self._probing):
            pool.shutdown(wait=False, cancel_futures=True)
        for asking in (*self._asked.values(), *self._probed):
            asking.close()


def _state(item: tuple[str, Asking]) -> tuple[str, StageState]:
    name, asking = item
    try:
        return name, asking.ask(AskState())
    except Unanswered:
        return name, StageState((_ended(name),))


def _ended(name: str) -> Vital:
    return Vital(name, False, 0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Sum(Collector):
    """The numbers of several processes as one; `texts` has those of each stage."""

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
                for sample in family.samples:
                    is_own = sample.name.startswith("process_")
                    labels = {**sample.labels, "stage": stage} if is_own else sample.labels
                    key = sample.name, tuple(sorted(labels.items()))
                    values[key] = values.get(key, 0.0) + sample.value
        for name, family in families.items():
            for (sample_name, pairs), value in samples[name].items():
                family.add_sample(sample_name, dict(pairs), value)
        return list(families.values())
