"""Reads reports of other mail servers: DMARC aggregates (RFC 7489 section 7.2), TLS reports
(RFC 8460) and complaints in the Abuse Reporting Format (RFC 5965).

Any stranger may send one. So nothing here raises, and the number and size of all parts is limited.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from ipaddress import ip_address
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree as ET

from pbmserv.errors import MailError
from pbmserv.inbound.headers import content_type, first
from pbmserv.inbound.parts import leaves_of, octets_of

MOST_PARTS = 10
DEEPEST = 3
LONGEST_REPORT = 2_000_000
"""Octets of a report after decompression."""
MOST_SOURCES = 100
"""Sources of one report that are told apart."""
LONGEST_ADDRESS = 45
MOST_MESSAGES = 10**9
"""Largest number that a report may claim; larger ones are nonsense."""

Kind: TypeAlias = Literal["dmarc", "tls", "abuse"]


@dataclass(frozen=True, slots=True)
class MailReport:
    """A report, in numbers.

    Attributes:
        passed, failed: messages (``dmarc``) or sessions (``tls``) that passed and failed; a
            complaint is one failed message.
        sources: network addresses that sent the messages, with the numbers of those that passed and
            failed (``dmarc``).
    """

    kind: Kind
    passed: int
    failed: int
    sources: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False)


def read_mail_report(raw: bytes) -> MailReport | None:
    """Return the report that a mail brings; `None` if it brings none. Never raises."""
    try:
        parts = list(leaves_of(raw, most=MOST_PARTS, deepest=DEEPEST))
    except MailError:
        return None
    for headers, inner in parts:
        reader = _READERS.get(content_type(first(headers, "content-type")).kind)
        report = reader(octets_of(headers, inner)) if reader else None
        if report is not None:
            return report
    return None


def _dmarc(octets: bytes) -> MailReport | None:
    """Return the sums of an aggregate report, which may be compressed."""
    text = _unpacked(octets)
    # A report has no entities. NUL: UTF-16, in which they would not be noticed.
    if not text or any(word in text for word in (b"<!DOCTYPE", b"<!ENTITY", b"\0")):
        return None
    try:
        root = ET.fromstring(text)  # noqa: S314 - no entities, and a limited size
    except (ET.ParseError, ValueError, LookupError):
        return None
    local = {element.tag.rpartition("}")[2] for element in root}
    if root.tag.rpartition("}")[2] != "feedback" or "report_metadata" not in local:
        return None
    sources: dict[str, tuple[int, int]] = {}
    for row in root.iterfind("{*}record/{*}row"):
        count = _number(row.findtext("{*}count"))
        policy = "{*}policy_evaluated"
        results = {row.findtext(f"{policy}/{{*}}{check}") for check in ("dkim", "spf")}
        has_passed = "pass" in {(result or "").strip().lower() for result in results}
        source = _address(row.findtext("{*}source_ip"))
        if source not in sources and len(sources) >= MOST_SOURCES:
            source = ""
        passed, failed = sources.get(source, (0, 0))
        sources[source] = (passed + count, failed) if has_passed else (passed, failed + count)
    return MailReport(
        "dmarc",
        sum(passed for passed, _ in sources.values()),
        sum(failed for _, failed in sources.values()),
        sources,
    )


def _address(text: str | None) -> str:
    """Return a network address in its usual form, ``""`` if it is none."""
    try:
        return str(ip_address((text or "").strip()[:LONGEST_ADDRESS]))
    except ValueError:
        return ""


def _tls(octets: bytes) -> MailReport | None:
    """Return the sums of a TLS report."""
    try:
        report = json.loads(_unpacked(octets))
    except (ValueError, RecursionError):
        return None
    if not isinstance(report, dict) or not isinstance(report.get("policies"), list):
        return None
    summaries = list(_summaries(report["policies"]))
    return MailReport(
        "tls",
        sum(_number(summary.get("total-successful-session-count")) for summary in summaries),
        sum(_number(summary.get("total-failure-session-count")) for summary in summaries),
    )


def _summaries(policies: list[Any]) -> Iterator[Mapping[str, Any]]:
    for policy in policies:
        summary = policy.get("summary") if isinstance(policy, dict) else None
        if isinstance(summary, dict):
            yield summary


def _abuse(octets: bytes) -> MailReport | None:
    """Return a complaint."""
    is_complaint = b"feedback-type:" in octets[:10_000].lower()
    return MailReport("abuse", 0, 1) if is_complaint else None


_READERS: Mapping[str, Callable[[bytes], MailReport | None]] = {
    "application/gzip": _dmarc,
    "application/octet-stream": _dmarc,
    "application/x-gzip": _dmarc,
    "application/zip": _dmarc,
    "application/x-zip-compressed": _dmarc,
    "application/xml": _dmarc,
    "text/xml": _dmarc,
    "application/tlsrpt+gzip": _tls,
    "application/tlsrpt+json": _tls,
    "message/feedback-report": _abuse,
}
"""Functions that read a part, by its media type."""


def _unpacked(octets: bytes) -> bytes:
    """Return octets without gzip or zip; ``b""`` if they are damaged or too long."""
    if octets.startswith(b"\x1f\x8b"):
        unpacking = zlib.decompressobj(wbits=31)
        try:
            text = unpacking.decompress(octets, LONGEST_REPORT)
        except zlib.error:
            return b""
        return text if unpacking.eof else b""
    if octets.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(BytesIO(octets)) as archive:
                (name, *_) = archive.namelist()
                with archive.open(name) as member:
                    text = member.read(LONGEST_REPORT + 1)
        except Exception:  # noqa: BLE001 - zipfile raises many errors for a stranger's octets
            return b""
        return text if len(text) <= LONGEST_REPORT else b""
    return octets[:LONGEST_REPORT]


def _number(value: object) -> int:
    """Return a count, 0 if it is not a sensible number."""
    digits = str(value).strip() if isinstance(value, str | int) else ""
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(MOST_MESSAGES))
    return min(int(digits), MOST_MESSAGES) if is_number else 0
