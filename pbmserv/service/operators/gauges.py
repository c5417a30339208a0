"""Numbers of a server for Prometheus: counters, and gauges from one look at its health."""

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
from pbmserv.service.operators.health import Health, Snapshot


async def metrics(health: Health, counted: bytes) -> bytes:
    """Return all numbers: those *counted* so far, and gauges measured now."""
    registry = CollectorRegistry()
    registry.register(_Gauges(await health.snapshot()))
    return counted + generate_latest(registry)


class _LostLines(Collector):
    """The log lines that this process could not write."""

    def collect(self) -> Iterator[Metric]:
        words = "Log lines that could not be written."
        yield CounterMetricFamily("pbmserv_log_lines_lost", words, log.lost())


ProcessCollector(registry=counters.REGISTRY)  # memory, processor time, open files
counters.REGISTRY.register(_LostLines())


@dataclass(frozen=True, slots=True, eq=False)
class _Gauges(Collector):
    """A snapshot as Prometheus gauges."""

    snapshot: Snapshot

    def collect(self) -> Iterator[Metric]:
        snapshot = self.snapshot
        build = GaugeMetricFamily("pbmserv_build", "Versions.", labels=("version", "python"))
        build.add_metric((__version__, platform.python_version()), 1)
        yield build
        states = {name: check.state != "failing" for name, check in snapshot.report.checks.items()}
        yield _gauge("pbmserv_check_ok", "Checks of /healthz: 0 = failing.", "check", states)
        slots = snapshot.parts.slots.items()
        opened = {name: slot.open for name, slot in slots}
        yield _gauge("pbmserv_sessions", "Open sessions.", "listener", opened)
        most = {name: slot.most for name, slot in slots}
        yield _gauge("pbmserv_sessions_most", "Limit of open sessions.", "listener", most)
        yield GaugeMetricFamily(
            "pbmserv_relay_failures",
            "Attempts in a row that did not reach the relay.",
            value=snapshot.parts.relay.failures,
        )
        yield GaugeMetricFamily(
            "pbmserv_relay_waits",
            "1 while letters wait for the relay.",
            value=snapshot.parts.relay.is_open,
        )
        sizes = {**snapshot.sizes, "free": snapshot.free}
        yield _gauge(
            "pbmserv_bytes", "Size of the database and its log; free disk space.", "what", sizes
        )
        moments = {
            "backup": ("Time of the newest copy of the database.", snapshot.backup_at),
            "certificate_end": (
                "End of the certificate of the mail ports.",
                snapshot.parts.certificate_ends,
            ),
        }
        for name, (words, moment) in moments.items():
            if moment is not None:
                stamp = moment.timestamp()
                yield GaugeMetricFamily(f"pbmserv_{name}_timestamp_seconds", words, value=stamp)
        yield from self._queues()

    def _queues(self) -> Iterator[Metric]:
        queues = self.snapshot.queues
        if queues is None:
            return
        waiting = {
            "mails": queues.mails,
            "kept": queues.kept,
            "mails-of-stopped-games": queues.paused,
            "letters-due": queues.due,
            "letters-queued": queues.queued,
            "house": queues.house,
            "clocks": queues.clocks,
            "digests": queues.digests,
        }
        counted = {name: float(queue.count) for name, queue in waiting.items()}
        counted |= {f"letters-{state}": n for state, n in queues.letters.items()}
        yield _gauge("pbmserv_waiting", "Entries of each queue.", "queue", counted)
        ages = {name: queue.oldest_s for name, queue in waiting.items()}
        yield _gauge(
            "pbmserv_waiting_seconds", "Age of the oldest entry of each queue.", "queue", ages
        )
        away = {game.game: game.boards for game in queues.away}
        yield _gauge(
            "pbmserv_game_away_boards",
            "Running boards of a game that cannot be played.",
            "game",
            away,
        )
        newest = {"mails": queues.newest_mail, "letters": queues.newest_letter}
        yield _gauge(
            "pbmserv_newest_number", "Numbers of the newest mail and letter.", "of", newest
        )


def _gauge(name: str, words: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, words, labels=(label,))
    for label_value, value in values.items():
        family.add_metric((label_value,), value)
    return family
