"""The status of a server, for ``pbmserv status`` and the operators' first page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pbmserv.clock import duration_text
from pbmserv.plurals import counted
from pbmserv.service.operators.health import RelayState, sentence_about
from pbmserv.store.delivery import reported_sources
from pbmserv.store.delivery.reported_sources import ReportedSource
from pbmserv.store.operators.health import Queues

RUNS_S = 90
"""Seconds since its last sign of life for which a server counts as running: it gives one every
30."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The queues and sizes of a server, and the states of its stages on this machine.

    Attributes:
        octets: sizes of files and tables, by name.
        reports: what other mail servers reported, as a sentence.
        sources: addresses that sent messages which failed DMARC.
        stages: what each stage is doing.
        started: when the server of this machine started; `None` if none runs here.
        certificate_ends: end of the certificate of the mail ports; `None` if there is none.
    """

    queues: Queues
    octets: Mapping[str, int]
    reports: str
    sources: Sequence[ReportedSource]
    stages: Mapping[str, str]
    started: datetime | None
    relay: RelayState
    certificate_ends: datetime | None

    def sentences(self, now: datetime) -> Iterator[str]:
        """Yield what an operator should know of the server."""
        yield running_line(self.queues, self.started)
        if self.stages:
            parts = [f"{name} ({doing})" if doing else name for name, doing in self.stages.items()]
            yield f"Stages on this machine: {', '.join(parts)}."
        elif is_running(self.queues.beat_s):
            yield "None of its stages is on this machine: it has just ended, or runs elsewhere."
        if line := relay_line(self.relay):
            yield line
        if self.certificate_ends is not None:
            yield certificate_line(self.certificate_ends, now)
        for away in self.queues.away:
            yield f"Game {sentence_about(away)}."


def is_running(beat_s: float | None) -> bool:
    """Return whether a server has given a sign of life lately.

    Args:
        beat_s: see `Queues.beat_s`.
    """
    return beat_s is not None and abs(beat_s) <= RUNS_S


def running_line(queues: Queues, since: datetime | None) -> str:
    """Return a sentence for operators that says whether a server runs.

    Args:
        since: when the server of this machine started; `None` if none runs here. Of a server
            elsewhere only its signs of life are known.
    """
    if queues.beat_s is None or queues.up_since is None:
        if since is not None:
            return f"A server has been running since {since:%Y-%m-%d %H:%M} UTC; it is starting."
        return "No server has ever run on this database."
    if queues.beat_s < -RUNS_S:
        ahead = duration_text(-queues.beat_s)
        return f"A clock is wrong: the server's last sign of life lies {ahead} ahead of now."
    last_sign = f"its last sign of life was {duration_text(max(0.0, queues.beat_s))} ago"
    if not is_running(queues.beat_s):
        return f"No server runs: {last_sign}."
    if since is None:
        up_since = f"{queues.up_since:%Y-%m-%d %H:%M} UTC"
        return f"A server runs, without a long interruption since {up_since}; {last_sign}."
    return f"A server has been running since {since:%Y-%m-%d %H:%M} UTC; {last_sign}."


def relay_line(relay: RelayState) -> str:
    """Return a sentence for operators about a relay that does not answer; ``""`` if it does."""
    if not relay.failures:
        return ""
    waits = ", and letters wait" if relay.is_open else ""
    return f"The relay has failed {counted(relay.failures, 'time')} in a row{waits}: {relay.fault}"


def certificate_line(ends: datetime, now: datetime) -> str:
    """Return a sentence for operators about the end of a certificate."""
    days = (ends - now) // timedelta(days=1)
    if days < 0:
        return f"The certificate of the mail ports ended {ends:%Y-%m-%d}."
    return f"The certificate of the mail ports ends {ends:%Y-%m-%d}, in {counted(days, 'day')}."


def reports_line(connection: Connection) -> str:
    """Return what other mail servers reported about mail in our name, ``""`` if nothing."""
    count, passed, failed = reported_sources.totals(connection)
    if not count:
        return ""
    line = (
        f"Reports (DMARC) of {reported_sources.KEPT.days} days: {counted(passed, 'message')} "
        f"passed and {failed:,} failed, from {counted(count, 'address', 'addresses')}"
    )
    worst = [
        f"{source.source} ({source.failed:,})" for source in reported_sources.worst(connection, 3)
    ]
    return f"{line}; most failed: {', '.join(worst)}." if worst else f"{line}."


def queue_rows(queues: Queues) -> list[tuple[str, str, str]]:
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
        (name, str(queue.count), duration_text(queue.oldest_s) if queue.count else "")
        for name, queue in lines.items()
    ]
    return rows + [(f"letters {state}", str(n), "") for state, n in sorted(queues.letters.items())]
