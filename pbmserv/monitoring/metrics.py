"""Counters of a process, for Prometheus.

Mails and letters are counted where their log lines are written, at any log level.
"""

from __future__ import annotations

import re

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

# The time at which a process made a counter says nothing of its server.
disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY = CollectorRegistry()
"""The counters of this process, without the default ones of prometheus_client."""

MAILS = Counter(
    "pbmserv_mails",
    "Mails for one of our addresses each: taken, copy, ignored, kept, put-off or refused.",
    ["outcome"],
    registry=REGISTRY,
)
MAIL_SECONDS = Histogram(
    "pbmserv_mail_seconds",
    "From a mail's last octet to our reply, the commit included.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=REGISTRY,
)
LETTERS = Counter(
    "pbmserv_letters",
    "Attempts to hand a letter to the relay: sent, waits or refused.",
    ["outcome"],
    registry=REGISTRY,
)
REFUSALS = Counter(
    "pbmserv_refusals",
    "Commands and mails that were refused, by the code of the reply.",
    ["because"],
    registry=REGISTRY,
)
BOUNCES = Counter(
    "pbmserv_bounces",
    "Letters that came back, or that a relay refused for good.",
    registry=REGISTRY,
)
TURNED_AWAY = Counter(
    "pbmserv_turned_away",
    "Connections that got no place, or had to give theirs to somebody else.",
    ["listener", "because"],
    registry=REGISTRY,
)
WRONG_PASSWORDS = Counter(
    "pbmserv_wrong_guesses",
    "Passwords in mails that were wrong, or that nobody looked at after too many wrong ones.",
    ["because"],
    registry=REGISTRY,
)
MAIL_REPORTS = Counter(
    "pbmserv_mail_reports",
    "Reports of other mail servers about our mail: dmarc, tls or abuse (a complaint).",
    ["kind"],
    registry=REGISTRY,
)
REPORTED = Counter(
    "pbmserv_reported",
    "Messages (dmarc), TLS sessions (tls) and complaints (abuse) in these reports.",
    ["kind", "result"],
    registry=REGISTRY,
)

_CODE = re.compile(r"\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?")


def count_refusal(reply: str) -> None:
    """Count an SMTP refusal by the code of its reply, with the enhanced one: ``550 5.1.1``."""
    code = _CODE.match(reply)
    REFUSALS.labels(code[0] if code else "unknown").inc()
