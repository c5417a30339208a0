"""A certificate that ends soon is told in time: in the log, at /healthz, /metrics and `status`."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from probing import get
from processes import Process
from programs import free_port
from prometheus_client.parser import text_string_to_metric_families

from pbmserv.monitoring.upkeep import CertificateWatch


def certificate(folder: Path, days: float) -> tuple[Path, Path]:
    """Write a certificate that ends in some days, and its key; return both files."""
    ends = datetime.now(UTC) + timedelta(days=days)
    issued = trustme.CA().issue_cert("games.example", not_after=ends)
    chain, key = folder / "chain.pem", folder / "key.pem"
    issued.cert_chain_pems[0].write_to_path(str(chain))
    issued.private_key_pem.write_to_path(str(key))
    return chain, key


def test_a_server_tells_of_a_certificate_that_ends_soon(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path, 10.5)
    port = free_port()
    settings = {"tls_cert": str(chain), "tls_key": str(key), "metrics": f"127.0.0.1:{port}"}
    with Process(tmp_path, **settings) as served:
        status, page = get(port, "/healthz")
        _, numbers = get(port, "/metrics")
        shown = served.command("status")
        facts = json.loads(served.command("status", "--json"))
        assert 'warning receive "the certificate ends soon"' in served.errors
    check = json.loads(page)["checks"]["certificate"]
    assert (status, check["state"]) == (200, "degraded")
    assert "the certificate of the mail ports ends" in check["reason"]
    ends = datetime.fromisoformat(facts["certificate_ends"])
    name = "pbmserv_certificate_end_timestamp_seconds"
    (family,) = [
        metric for metric in text_string_to_metric_families(numbers) if metric.name == name
    ]
    assert family.samples[0].value == ends.timestamp()
    assert f"The certificate of the mail ports ends {ends:%Y-%m-%d}, in 10 days." in shown


def test_an_operator_is_told_that_the_certificate_has_ended(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path, -0.5)
    with Process(tmp_path, tls_cert=str(chain), tls_key=str(key)) as served:
        shown = served.command("status")
        ends = datetime.fromisoformat(
            json.loads(served.command("status", "--json"))["certificate_ends"]
        )
    assert f"The certificate of the mail ports ended {ends:%Y-%m-%d}." in shown


@pytest.mark.parametrize(("days", "words"), [(30, set()), (10, {"ends soon"}), (-1, {"has ended"})])
def test_the_log_warns_once_a_day(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, days: int, words: set[str]
) -> None:
    chain, _ = certificate(tmp_path, days + 0.5)
    hours = iter(range(48))
    now = datetime.now(UTC)
    watch = CertificateWatch(chain, lambda: now + timedelta(hours=next(hours)))
    with caplog.at_level(logging.INFO, "pbmserv.receive"):
        for _ in range(48):
            watch.look()
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2 * len(words)
    assert all(any(word in message for word in words) for message in messages)


def test_a_certificate_that_cannot_be_read_is_no_fault_of_the_watch(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    for path in (None, tmp_path / "missing.pem"):
        watch = CertificateWatch(path, lambda: now)
        watch.look()
        assert watch.ends is None
