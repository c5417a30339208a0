"""The state of all stages for operators: health pages, Prometheus, `pbmserv status`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from sqlalchemy import Connection

from pbmserv.clock import span
from pbmserv.monitoring import metrics
from pbmserv.monitoring.vitals import Vital
from pbmserv.service.operators.health import Parts, RelayState
from pbmserv.stages.messages import AskState, ProbeWrite, StageState
from pbmserv.stages.questions import Asking, Unanswered
from pbmserv.store.delivery import reported_sources
from pbmserv.store.operators.health import Queues

PATIENCE_S = 2.0
"""Seconds that a stage has for its answer."""
NO_PATIENCE_S = 0.1
"""Seconds that a command waits for a stage that does not listen."""
FRESH_S = 0.5
"""Seconds for which states that were asked for are used again."""
WRITING = ("door", "play")
"""Stages that store something for good."""
RUNS_S = 90
"""Seconds since its last sign of life for which a server counts as running: it gives one every
30."""


def own_numbers() -> bytes:
    """Return the numbers of this process in the format of Prometheus."""
    return generate_latest(metrics.REGISTRY)


def states(folder: Path) -> dict[str, StageState]:
    """Return the states of the stages that meet in a folder.

    A stage that does not answer is included; the socket of a process that has ended is not.
    """
    answers = {}
    for path in sorted(folder.glob("*.sock")):
        try:
            with closing(Asking(path, NO_PATIENCE_S, PATIENCE_S)) as asking:
                answers[path.stem] = asking.ask(AskState())
        except Unanswered as error:
            if not isinstance(error.__cause__, (ConnectionRefusedError, FileNotFoundError)):
                answers[path.stem] = StageState((_ended(path.stem),), doing="does not answer")
    return answers


def answers(path: Path) -> bool:
    """Return whether a stage answers at the path of its socket."""
    try:
        with closing(Asking(path, NO_PATIENCE_S, PATIENCE_S)) as asking:
            asking.ask(AskState())
    except Unanswered:
        return False
    return True


def certificate_ends(states_: Iterable[StageState]) -> datetime | None:
    """Return when the certificate of the mail ports ends, if one of the stages knows."""
    return next((state.certificate_ends for state in states_ if state.certificate_ends), None)


def relay_of(states_: Iterable[StageState]) -> RelayState:
    """Return the worst state of the relay that one of the stages has seen."""
    relays = [state.relay for state in states_ if state.relay is not None]
    worst = max(relays, key=lambda relay: (relay.is_open, relay.failures), default=None)
    return worst or RelayState(0, False)


def reports_line(connection: Connection) -> str:
    """Return what other mail servers reported about mail in our name, ``""`` if nothing."""
    count, passed, failed = reported_sources.totals(connection)
    if not count:
        return ""
    line = (
        f"Reports (DMARC) of {reported_sources.KEPT.days} days: {passed:,} messages passed and "
        f"{failed:,} failed, from {count} addresses"
    )
    worst = [
        f"{source.source} ({source.failed:,})" for source in reported_sources.worst(connection, 3)
    ]
    return f"{line}; most failed: {', '.join(worst)}." if worst else f"{line}."


def relay_line(relay: RelayState) -> str:
    """Return a sentence for operators about a relay that does not answer; ``""`` if it does."""
    if not relay.failures:
        return ""
    waits = ", and letters wait" if relay.is_open else ""
    return f"The relay has failed {relay.failures} times in a row{waits}: {relay.fault}"


def started(states_: Iterable[StageState]) -> datetime | None:
    """Return when the server of this machine started; `None` if no stage of it answers."""
    return min((state.since for state in states_ if state.since is not None), default=None)


def runs(queues: Queues) -> bool:
    """Whether a server has given a sign of life lately."""
    return queues.beat_s is not None and abs(queues.beat_s) <= RUNS_S


def running(queues: Queues, since: datetime | None) -> str:
    """Return a sentence for operators that says whether a server runs.

    Args:
        since: when the server of this machine started; `None` if none runs here. Of a server
            elsewhere only its signs of life are known.
    """
    if queues.beat_s is None or queues.up_since is None:
        return "No server has ever run on this database."
    if queues.beat_s < -RUNS_S:
        ahead = span(-queues.beat_s)
        return f"A clock is wrong: the server's last sign of life lies {ahead} ahead of now."
    last_sign = f"its last sign of life was {span(max(0.0, queues.beat_s))} ago"
    if not runs(queues):
        return f"No server runs: {last_sign}."
    if since is None:
        up_since = f"{queues.up_since:%Y-%m-%d %H:%M} UTC"
        return f"A server runs, without a long interruption since {up_since}; {last_sign}."
    return f"A server has been running since {since:%Y-%m-%d %H:%M} UTC; {last_sign}."


def waiting(queues: Queues) -> list[tuple[str, str, str]]:
    """Return the rows of a table of queues: name, number of entries, age of the oldest."""
    lines = {
        "mails to carry out": queues.mails,
        "mails kept for the operator": queues.kept,
        "mails of games that cannot be played": queues.paused,
        "letters due": queues.due,
        "letters in the queue": queues.queued,
        "boards on which the house moves next": queues.house,
        "boards with late clocks": queues.clocks,
        "digests due": queues.digests,
    }
    rows = [
        (name, str(queue.count), span(queue.oldest_s) if queue.count else "")
        for name, queue in lines.items()
    ]
    return rows + [(f"letters {state}", str(n), "") for state, n in sorted(queues.letters.items())]


class Stages:
    """Asks the stages of this machine for their states.

    Args:
        folder: of their sockets.
        names: the other processes of this server.
        own: returns the state of this process.
    """

    def __init__(self, folder: Path, names: Sequence[str], own: Callable[[], StageState]) -> None:
        self._asked = {
            name: Asking(folder / f"{name}.sock", PATIENCE_S, PATIENCE_S) for name in names
        }
        self._probed = [
            Asking(folder / f"{name}.sock", PATIENCE_S) for name in names if name in WRITING
        ]
        self._door = folder / "door.sock"
        self._has_own_door = "door" in names
        self._own = own
        self._turn = threading.Lock()
        self._states: dict[str, StageState] | None = None
        self._asked_at = 0.0
        self._looking = ThreadPoolExecutor(max(1, len(names)), "look")
        self._probing = ThreadPoolExecutor(1, "probe")

    def look(self) -> dict[str, StageState]:
        """Return all states, at most `FRESH_S` old; a stage that does not answer has ended."""
        with self._turn:
            if self._states is None or monotonic() - self._asked_at >= FRESH_S:
                others = self._looking.map(_state, self._asked.items())
                self._states = {"web": self._own(), **dict(others)}
                self._asked_at = monotonic()
            return self._states

    def parts(self) -> Parts:
        """Return the states as `Health` needs them."""
        states_ = list(self.look().values())
        return Parts(
            [vital for state in states_ for vital in state.vitals],
            {name: slots for state in states_ for name, slots in state.slots.items()},
            relay_of(states_),
            next((state.texts for state in states_ if state.texts), (0, 1)),
            certificate_ends(states_),
            self._has_own_door or answers(self._door),
            any(state.damage for state in states_),
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
                    if sample.name.endswith("_created"):
                        continue
                    is_own = sample.name.startswith("process_")
                    labels = {**sample.labels, "stage": stage} if is_own else sample.labels
                    key = sample.name, tuple(sorted(labels.items()))
                    values[key] = values.get(key, 0.0) + sample.value
        for name, family in families.items():
            for (sample_name, pairs), value in samples[name].items():
                family.add_sample(sample_name, dict(pairs), value)
        return list(families.values())
