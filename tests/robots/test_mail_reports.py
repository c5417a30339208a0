"""Reports of other mail servers are summed and dropped: no operator has to read them."""

from __future__ import annotations

import base64
import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator
from email.message import EmailMessage
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indoors import Indoors, indoors
from sqlalchemy import select

from pbmserv.inbound.mail_reports import (
    LONGEST_REPORT,
    MOST_SOURCES,
    MailReport,
    read_mail_report,
)
from pbmserv.mail.envelope import Envelope
from pbmserv.monitoring.metrics import REGISTRY
from pbmserv.service.operators.server_status import reports_line
from pbmserv.store.delivery import reported_sources
from pbmserv.store.tables.mail import inbox

RECORD = (
    "<record><row><source_ip>192.0.2.1</source_ip><count>{count}</count><policy_evaluated>"
    "<disposition>none</disposition><dkim>{dkim}</dkim><spf>{spf}</spf></policy_evaluated></row>"
    "</record>"
)
DMARC = (
    '<?xml version="1.0"?><feedback{space}><report_metadata><org_name>mail.example</org_name>'
    "</report_metadata>"
    + RECORD.format(count=40, dkim="pass", spf="fail")
    + RECORD.format(count=2, dkim="fail", spf="pass")
    + RECORD.format(count=3, dkim="fail", spf="fail")
    + "</feedback>"
)
PLAIN = DMARC.format(space="").encode()
TLS = {
    "organization-name": "Mail",
    "policies": [
        {"summary": {"total-successful-session-count": 5, "total-failure-session-count": 1}},
        {"summary": {"total-successful-session-count": 7, "total-failure-session-count": 0}},
    ],
}


def zipped(text: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mail.example!games.example!1!2.xml", text)
    return file.getvalue()


def with_part(octets: bytes, kind: str) -> bytes:
    message = EmailMessage()
    message["From"] = "noreply-dmarc-support@mail.example"
    message["Subject"] = "Report domain: games.example Submitter: mail.example Report-ID: 1"
    message["Message-ID"] = f"<{zlib.crc32(octets)}@mail.example>"
    message.set_content("This is a report.")
    main, _, sub = kind.partition("/")
    message.add_attachment(octets, maintype=main, subtype=sub, filename="report")
    return message.as_bytes().replace(b"\n", b"\r\n")


def complaint() -> bytes:
    message = MIMEMultipart("report", report_type="feedback-report")
    message["From"] = "feedback@mail.example"
    message["Subject"] = "complaint"
    message.attach(MIMEText("Somebody pressed the button."))
    facts = MIMEBase("message", "feedback-report")
    facts.set_payload("Feedback-Type: abuse\nVersion: 1\nUser-Agent: X/1\n")
    message.attach(facts)
    return message.as_bytes().replace(b"\n", b"\r\n")


REPORTS = {
    "gzip": (with_part(gzip.compress(PLAIN), "application/gzip"), MailReport("dmarc", 42, 3)),
    "zip": (with_part(zipped(PLAIN), "application/zip"), MailReport("dmarc", 42, 3)),
    "xml": (with_part(PLAIN, "text/xml"), MailReport("dmarc", 42, 3)),
    "namespace": (
        with_part(DMARC.format(space=' xmlns="urn:x"').encode(), "application/xml"),
        MailReport("dmarc", 42, 3),
    ),
    "tls": (
        with_part(gzip.compress(json.dumps(TLS).encode()), "application/tlsrpt+gzip"),
        MailReport("tls", 12, 1),
    ),
    "abuse": (complaint(), MailReport("abuse", 0, 1)),
    "nothing but the archive": (
        b"From: noreply-dmarc-support@mail.example\r\n"
        b"Content-Type: application/zip; name=report.zip\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\n" + base64.encodebytes(zipped(PLAIN)),
        MailReport("dmarc", 42, 3),
    ),
    "of no type": (
        with_part(gzip.compress(b"\xef\xbb\xbf" + PLAIN), "application/octet-stream"),
        MailReport("dmarc", 42, 3),
    ),
}


def test_few_of_many_sources_are_told_apart_and_all_messages_count() -> None:
    record = RECORD.format(count=1, dkim="pass", spf="fail")
    rows = [record.replace("192.0.2.1", f"10.0.{n // 250}.{n % 250}") for n in range(1_000)]
    octets = PLAIN.replace(b"</feedback>", "".join(rows).encode() + b"</feedback>")
    report = read_mail_report(with_part(octets, "text/xml"))
    assert report is not None
    assert (report.passed, report.failed) == (1_042, 3)
    assert len(report.sources) == MOST_SOURCES + 1  # and the others together


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_read(name: str) -> None:
    raw, expected = REPORTS[name]
    assert read_mail_report(raw) == expected


def test_other_files_and_bombs_are_no_reports() -> None:
    bomb = gzip.compress(PLAIN + b" " * LONGEST_REPORT)
    entities = b'<!DOCTYPE f [<!ENTITY a "aaaa">]>' + PLAIN.partition(b"?>")[2]
    for octets, kind in (
        (bomb, "application/gzip"),
        (zipped(PLAIN + b" " * LONGEST_REPORT), "application/zip"),
        (entities, "text/xml"),
        (entities.decode().encode("utf-16"), "text/xml"),
        (b"<html/>", "text/xml"),
        (zipped(b"my holiday"), "application/zip"),
        (gzip.compress(PLAIN)[:50], "application/gzip"),
        (b"[" * 100_000, "application/tlsrpt+json"),
        (b"PK\x03\x04 and nonsense", "application/zip"),
        (PLAIN, "text/plain"),
    ):
        assert read_mail_report(with_part(octets, kind)) is None, kind


@given(
    st.binary(max_size=300),
    st.sampled_from(("application/zip", "application/gzip", "text/xml", "application/tlsrpt+gzip")),
)
def test_nothing_that_a_stranger_sends_raises(octets: bytes, kind: str) -> None:
    for body in (octets, b"PK\x03\x04" + octets, b"\x1f\x8b\x08" + octets):
        read_mail_report(with_part(body, kind))
    read_mail_report(octets)


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        yield server


def count(kind: str, result: str) -> float:
    labels = {"kind": kind, "result": result}
    return REGISTRY.get_sample_value("pbmserv_reported_total", labels) or 0.0


def deliver(house: Indoors, raw: bytes, to: str) -> None:
    envelope = Envelope("noreply-dmarc-support@mail.example", to, raw)
    arriving = house.server.door.receive(envelope)
    assert house.loop.run_until_complete(arriving).startswith("250")
    house.server.settle()


@pytest.mark.parametrize("local", ["postmaster", "abuse", "pbmserv"])
def test_a_report_is_counted_once_and_never_kept(house: Indoors, local: str) -> None:
    to = f"{local}@{house.server.mail_domain.domain}"
    before = count("dmarc", "passed"), count("dmarc", "failed")
    for _ in range(2):  # the second one is a copy
        deliver(house, REPORTS["gzip"][0], to)
    assert (count("dmarc", "passed") - before[0], count("dmarc", "failed") - before[1]) == (42, 3)
    rows = house.server.rows(select(inbox.c.state, inbox.c.error, inbox.c.octets))
    assert [tuple(row) for row in rows] == [("ignored", "mail-report", 0)]
    assert house.letters() == []


def row(source: str, count: int, dkim: str) -> str:
    record = RECORD.format(count=count, dkim=dkim, spf="fail")
    return record.replace("192.0.2.1", source)


def report_of(*rows: str) -> bytes:
    begin, _, _ = DMARC.format(space="").partition("<record>")
    return f"{begin}{''.join(rows)}</feedback>".encode()


@pytest.mark.both_databases
def test_messages_are_summed_by_the_address_that_sent_them(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator sees in `pbmserv status` who else sends in the server's name."""
    monkeypatch.setattr(reported_sources, "MOST", 3)
    to = f"postmaster@{house.server.mail_domain.domain}"
    first = report_of(row("192.0.2.1", 40, "pass"), row("2001:DB8::1", 2, "fail"))
    second = report_of(
        row("192.0.2.1", 5, "pass"),
        row("2001:db8:0::1", 7, "fail"),
        row("nobody", 1, "fail"),
        row("192.0.2.9", 9, "fail"),
    )
    for text in (first, second, first):  # the last one is a copy
        deliver(house, with_part(gzip.compress(text, mtime=0), "application/gzip"), to)
    assert house.server.read(reports_line) == (
        "Reports (DMARC) of 60 days: 45 messages passed and 19 failed, from 3 addresses; "
        "most failed: others (10), 2001:db8::1 (9)."
    )
    house.live(days=61)
    deliver(house, with_part(report_of(row("192.0.2.7", 1, "pass")), "text/xml"), to)
    assert house.server.read(reports_line).endswith(
        "1 message passed and 0 failed, from 1 address."
    )
