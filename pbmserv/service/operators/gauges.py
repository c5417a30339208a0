"""What is true at the moment, for Prometheus: queues, sessions, the relay, sizes."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from pbmserv import __version__, log
from pbmserv.monitoring import metrics as counters
from pbmserv.service.operators.health import Health, Seen


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
        yield _one(
            "pbmserv_sessions",
            "Open sessions.",
            "listener",
            {name: one.open for name, one in slots},
        )
        yield _one(
            "pbmserv_sessions_most",
            "Sessions that may be open.",
            "listener",
            {name: one.most for name, one in slots},
        )
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
        yield _one(
            "pbmserv_waiting_seconds",
            "For how long the first has.",
            "queue",
            {name: one.oldest_s for name, one in waiting.items()},
        )
        ever = {"mails": queues.mails_ever, "letters": queues.letters_ever}
        yield _one("pbmserv_newest_number", "Mails and letters so far.", "of", ever)


def _one(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    found = GaugeMetricFamily(name, words, labels=(label,))
    for given, value in values.items():
        found.add_metric((given,), value)
    return found
