"""Reads reports of letters that came back: those of RFC 3464, and those of other forms.

Any stranger may send a report. So nothing here raises, the number of parts is limited, and the
returned letter itself is not read.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from functools import cache

from pbmserv.errors import MailError
from pbmserv.inbound.headers import (
    ContentType,
    Headers,
    content_type,
    first,
    read_headers,
    readable_value,
    split_block,
)
from pbmserv.inbound.html import read_html
from pbmserv.inbound.parts import leaves, octets_of
from pbmserv.inbound.robot_phrases import UNDELIVERED
from pbmserv.inbound.text import decode
from pbmserv.mail.bounce_codes import Failure, judge, one_line, status_in
from pbmserv.mail.envelope import Envelope

MOST_PARTS = 30
DEEPEST = 4
MOST_RECIPIENTS = 50
STATUS_LIMIT = 64 * 1024
"""Octets of a part that are read."""
TEXT_LIMIT = 16 * 1024
"""Characters of a report's text for people that are read."""
LINE_LIMIT = 400
"""Characters of each line of that text: more than an address has, and few enough for patterns."""

_STATUS_KINDS = frozenset(("message/delivery-status", "message/global-delivery-status"))
_REPORT_TYPES = frozenset(("", "delivery-status", "global-delivery-status"))
_SERVERS = frozenset(
    ("mailer-daemon", "mailerdaemon", "postmaster", "mail-daemon", "mailer_daemon")
)
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,60})[ \t]*:(.*)")
"""A field of a status part: "Final-Recipient: rfc822; bob@example.org"."""

_REPLY = re.compile(r"\W{0,5}(?:[\w.-]{1,40}[^\w.-]{1,3}){0,6}?[45]\d\d[ -]")
"""A mail server's reply behind up to six words: "host mx.example.org said: 550 No such user"
(Postfix)."""

_REFUSAL = re.compile(r"(?<![\d.])5\d\d[ -]#?5\.\d{1,3}\.\d{1,3}(?![\d.]\d)[^'\"\n]{0,300}")
"""A refusal with both its codes: "550 5.1.10 RESOLVER.ADR.RecipientNotFound" (Microsoft 365)."""

_STILL_TRYING = re.compile(
    r"delay|not yet been delivered|will (?:be retried|continue|keep trying|retry|try again)"
    r"|attempts will continue|still being retried|warning|verzöger|retard|retras|ritard",
    re.IGNORECASE,
)
"""Words of a report about a delay: "Your message has not yet been delivered"."""

_ADDRESS = re.compile(r"[^\s<>;,()\"]{1,64}@[^\s<>;,()\"]{1,254}")

log = logging.getLogger("pbmserv.receive")

Detector = Callable[[Message], tuple[frozenset[bytes], frozenset[bytes]]]
"""A function that returns the recipients of a report: those that are still tried, and the others.
"""


def reported_failures(envelope: Envelope) -> tuple[Failure, ...]:
    """Return the recipients that will never get the letter, as a report says; none for other mails.

    Delays, deliveries, receipts and complaints have no such recipients. Reports have the null
    sender (RFC 3461 section 6.1), or MAILER-DAEMON if they come from a few old servers. Never
    raises.
    """
    if not _is_server(envelope.sender):
        return ()
    try:
        block, body = split_block(envelope.raw)
        headers = read_headers(block)
        kind = content_type(first(headers, "content-type"))
        parts = list(leaves(headers, body, most=MOST_PARTS, deepest=DEEPEST))
    except MailError:
        return ()
    all_leaves = [
        _Leaf(content_type(first(fields, "content-type")), fields, inner) for fields, inner in parts
    ]
    statuses = [leaf for leaf in all_leaves if leaf.kind.kind in _STATUS_KINDS]
    if statuses:
        return tuple(_by_status(statuses[0].octets, _notice(all_leaves)))
    if kind.kind == "multipart/report" and kind.param("report-type") not in _REPORT_TYPES:
        return ()  # a receipt (RFC 8098), a complaint (RFC 5965)
    return tuple(_by_other_forms(headers, kind, all_leaves))


def _is_server(sender: str) -> bool:
    """Return whether mail servers send reports with this envelope sender."""
    return sender in {"", "<>"} or sender.partition("@")[0].lower() in _SERVERS


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part that has no parts."""

    kind: ContentType
    headers: Headers
    body: bytes

    @property
    def octets(self) -> bytes:
        return octets_of(self.headers, self.body[: 2 * STATUS_LIMIT])[:STATUS_LIMIT]

    @property
    def text(self) -> str:
        text = decode(self.octets, self.kind.param("charset"))
        if self.kind.kind == "text/html":  # rendered first, since its head may be long
            shown = read_html(text)
            text = shown.text if shown is not None else ""
        text = text[:TEXT_LIMIT]
        return "\n".join(line[:LINE_LIMIT] for line in text.splitlines())


# -- RFC 3464 ----------------------------------------------------------------------------------


def _by_status(octets: bytes, notice: str) -> Iterator[Failure]:
    """Yield the failed recipients of a delivery-status part (section 2).

    Args:
        notice: the report's text for people; it may hold a reason that the status part lacks.
    """
    text = octets.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    groups = [group for group in text.split("\n\n", MOST_RECIPIENTS * 2) if group.strip()]
    # The first group is about the letter (section 2.2). Some servers omit it, or the blank line.
    statuses = [_status_fields(group) for group in groups[: MOST_RECIPIENTS + 1]]
    groups_of_recipients = [_recipients(fields) for fields in statuses]
    everybody = frozenset().union(*groups_of_recipients)
    for fields, recipients in zip(statuses, groups_of_recipients, strict=True):
        if recipients and _has_failed(fields):
            yield _failure(fields, recipients, notice, everybody - recipients)


def _recipients(fields: Mapping[str, str]) -> frozenset[str]:
    """Return the addresses of one recipient, before and after it was forwarded."""
    values = (fields.get(name, "") for name in ("final-recipient", "original-recipient"))
    return frozenset(address for value in values if (address := _address(value)))


def _status_fields(group: str) -> Mapping[str, str]:
    """Return field values by lower-case name; lines that are not fields belong to the one above.

    Some servers copy a reply of several lines into a field without indenting it.
    """
    fields: dict[str, str] = {}
    last = ""
    for line in group.split("\n"):
        field = None if line[:1] in {" ", "\t"} else _FIELD.fullmatch(line[:2000])
        if field is not None:
            last = field[1].lower()
            fields.setdefault(last, field[2].strip())
        elif last and len(fields[last]) < 2000:
            fields[last] += f" {line.strip()}"
    return fields


def _has_failed(fields: Mapping[str, str]) -> bool:
    """Return whether the letter is given up (section 2.3.3); OpenSMTPD says ``error``."""
    action = fields.get("action", "").lower()
    if not action:
        return fields.get("status", "").startswith("5")
    return action.startswith(("fail", "error"))


def _failure(
    fields: Mapping[str, str], recipients: frozenset[str], notice: str, others: frozenset[str]
) -> Failure:
    """Return the failure that the status fields of a recipient report.

    Args:
        recipients: the addresses of the recipient.
        notice: the report's text for people.
        others: other recipients of the report.
    """
    diagnostic = one_line(fields.get("diagnostic-code", ""))
    kind, mark, words = diagnostic.partition(";")
    if mark and " " not in kind.strip():  # "smtp; 550 …" (section 2.3.6)
        diagnostic = words.strip()
    status = status_in(fields.get("status", ""))
    if not diagnostic:
        diagnostic = _quoted_reply(notice, recipients, others, is_needed=status[2:4] in {"", "0."})
    verdict = judge(status, diagnostic)
    if status[2:] in {"", "0.0"}:
        status = status_in(diagnostic) or status
    return Failure(verdict, status, diagnostic or status, recipients)


def _quoted_reply(
    notice: str, recipients: frozenset[str], others: frozenset[str], *, is_needed: bool
) -> str:
    """Return the reason that a report's text gives for a recipient; ``""`` for none.

    Args:
        others: other recipients, whose reasons may follow.
        is_needed: the status says nothing, so any words will do. Otherwise only a mail server's
            reply counts, because the sentences around it are the same in all reports.
    """
    lower = notice.lower()
    for address in sorted(recipients):
        if address in lower:
            reason = _reason(notice, lower, address, others)
            if is_needed or _REPLY.match(reason):
                return reason
    return ""


def _address(value: str) -> str:
    """Return the address in ``rfc822; alice@players.example`` in lower case; ``""`` for none."""
    address = _ADDRESS.search(value.partition(";")[2] or value)
    return address[0].lower() if address else ""


# -- other forms -------------------------------------------------------------------------------


def _by_other_forms(headers: Headers, kind: ContentType, parts: list[_Leaf]) -> Iterator[Failure]:
    """Yield the failed recipients of reports by qmail, old Exchange, Exim, Yahoo and others.

    flufl.bounce recognises them. It gets a small mail rebuilt from the first text, so it never
    parses a stranger's MIME. If it finds nothing, the text may quote a server's refusal, as reports
    of Microsoft 365 do.
    """
    leaf = _notice_part(parts)
    text = _notice(parts)
    try:
        _, failed = _detector()(_rebuilt(headers, kind, text, leaf))
    except Exception as error:  # noqa: BLE001 - the library may fail in any way on a stranger's text
        log.warning("a report could not be read", extra={"fault": type(error).__name__})
        return
    lower = text.lower()
    has_recipient = False
    for recipient in sorted(failed)[:MOST_RECIPIENTS]:
        address = _address(recipient.decode("ascii", "replace"))
        if address:
            has_recipient = True
            reason = _reason(text, lower, address)
            status = status_in(reason)
            yield Failure(judge(status, reason), status, one_line(reason), frozenset({address}))
    if not has_recipient:
        yield from _by_quoted_refusal(headers, text)


def _by_quoted_refusal(headers: Headers, text: str) -> Iterator[Failure]:
    """Yield the recipient of a mail whose text quotes a refusal with both its codes.

    The subject must say that a letter was not delivered.
    """
    subject = readable_value(first(headers, "subject")).casefold()
    refusal = _REFUSAL.search(text)
    recipient = _ADDRESS.search(text)
    if refusal is None or recipient is None or not subject.startswith(UNDELIVERED):
        return
    if _STILL_TRYING.search(subject) or _STILL_TRYING.search(text):
        return
    diagnostic = one_line(refusal[0])
    status = status_in(diagnostic)
    address = recipient[0].lower().strip("'.:*[]")
    yield Failure(judge(status, diagnostic), status, diagnostic, frozenset({address}))


def _notice(parts: list[_Leaf]) -> str:
    """Return a report's text for people; ``""`` for none."""
    leaf = _notice_part(parts)
    return "" if leaf is None else leaf.text


def _notice_part(parts: list[_Leaf]) -> _Leaf | None:
    """Return the part with a report's text for people."""
    return _first(parts, "text/plain") or _first(parts, "text/html")


def _first(parts: list[_Leaf], kind: str) -> _Leaf | None:
    return next((leaf for leaf in parts if leaf.kind.kind == kind), None)


def _rebuilt(headers: Headers, kind: ContentType, text: str, leaf: _Leaf | None) -> Message:
    """Return a small mail that holds the parts of a report that flufl.bounce reads."""
    shown = Message()
    for name in ("from", "subject", "x-mailer", "x-failed-recipients"):
        if value := readable_value(first(headers, name)[:1000]):
            shown[name] = value
    if not kind.kind.startswith("multipart/"):
        shown.set_payload(text)
        return shown
    shown["Content-Type"] = "multipart/report" if "report" in kind.kind else "multipart/mixed"
    part = Message()
    part["Content-Type"] = "text/plain"
    if leaf is not None:
        part["Content-Description"] = readable_value(
            first(leaf.headers, "content-description")[:200]
        )
    part.set_payload(text)
    shown.attach(part)
    return shown


def _reason(text: str, lower: str, address: str, others: frozenset[str] = frozenset()) -> str:
    """Return the words below a failed address, up to another one or the copy of the letter."""
    start = max(0, lower.find(address)) + len(address)
    end = start + 1000
    for other in others:
        at = lower.find(other, start, end)
        end = end if at < 0 else at
    below = text[start:end].partition("\n--")[0]
    words = one_line(below.lstrip(">:)\"' \t"))
    if status_in(words) or not status_in(text) or others:
        return words
    return one_line(f"{status_in(text)} {words}")


@cache
def _detector() -> Detector:
    """Return the detector of flufl.bounce, loaded at the first report, with its log turned off."""
    from flufl.bounce import all_failures

    logging.getLogger("flufl.bounce").setLevel(logging.CRITICAL + 1)
    detector: Detector = all_failures
    return detector
