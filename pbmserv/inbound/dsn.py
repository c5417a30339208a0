"""Reads reports of letters that came back: by RFC 3464, and by what other servers write.

A report is what any stranger may send, so nothing here raises, and all of it is bounded: a walk
over at most `MOST_PARTS` parts that never looks into the letter that is returned.
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
    octets_of,
    read_headers,
    split_block,
    split_parts,
)
from pbmserv.inbound.headers import one_line as header_line
from pbmserv.inbound.quotes.phrases import UNDELIVERED
from pbmserv.inbound.text import decode, read_html
from pbmserv.mail.bounce_codes import Failure, judge, one_line, status_in
from pbmserv.mail.envelope import Envelope

MOST_PARTS = 30
DEEPEST = 4
MOST_RECIPIENTS = 50
STATUS_LIMIT = 64 * 1024
"""Octets of a delivery-status part that are read."""
TEXT_LIMIT = 16 * 1024
"""Characters of a text in which other forms of reports are looked for."""
LINE_LIMIT = 400
"""Characters of each line of it: an address has at most 254, and patterns like short lines."""

_STATUS_KINDS = frozenset(("message/delivery-status", "message/global-delivery-status"))
_REPORT_TYPES = frozenset(("", "delivery-status", "global-delivery-status"))
_SERVERS = frozenset(
    ("mailer-daemon", "mailerdaemon", "postmaster", "mail-daemon", "mailer_daemon")
)
_FIELD = re.compile(r"([A-Za-z][A-Za-z0-9-]{0,60})[ \t]*:(.*)")
_REPLY = re.compile(r"\W{0,5}(?:[\w.-]{1,40}[^\w.-]{1,3}){0,6}?[45]\d\d[ -]")
_REFUSAL = re.compile(r"(?<![\d.])5\d\d[ -]#?5\.\d{1,3}\.\d{1,3}(?![\d.]\d)[^'\"\n]{0,300}")
_STILL_TRYING = re.compile(
    r"delay|not yet been delivered|will (?:be retried|continue|keep trying|retry|try again)"
    r"|attempts will continue|still being retried|warning|verzöger|retard|retras|ritard",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[^\s<>;,()\"]{1,64}@[^\s<>;,()\"]{1,254}")

log = logging.getLogger("pbmserv.receive")

Find = Callable[[Message], tuple[frozenset[bytes], frozenset[bytes]]]


def read_report(envelope: Envelope) -> tuple[Failure, ...]:
    """The recipients that a report says will never get the letter; none for other mails.

    Delays, deliveries, receipts and complaints name nobody. Reports have the null sender (RFC
    3461 section 6.1); that of a few old servers is their MAILER-DAEMON. Never raises.
    """
    if not _is_server(envelope.sender):
        return ()
    try:
        block, body = split_block(envelope.raw)
        headers = read_headers(block)
        kind = content_type(first(headers, "content-type"))
        leaves = list(_leaves(headers, body))
    except MailError:
        return ()
    statuses = [leaf for leaf in leaves if leaf.kind.kind in _STATUS_KINDS]
    if statuses:
        return tuple(_by_status(statuses[0].octets, _notice(leaves)))
    if kind.kind == "multipart/report" and kind.param("report-type") not in _REPORT_TYPES:
        return ()  # a receipt (RFC 8098), a complaint (RFC 5965)
    return tuple(_by_other_forms(headers, kind, leaves))


def _is_server(sender: str) -> bool:
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
        if self.kind.kind == "text/html":  # its head alone may be longer than that
            shown = read_html(text)
            text = shown.text if shown is not None else ""
        text = text[:TEXT_LIMIT]
        return "\n".join(line[:LINE_LIMIT] for line in text.splitlines())


def _leaves(headers: Headers, body: bytes) -> Iterator[_Leaf]:
    """The parts in order, up to `MOST_PARTS` of them and `DEEPEST` levels deep."""
    left = MOST_PARTS
    stack = [(headers, body, 1)]
    while stack and left:
        left -= 1
        fields, inner, depth = stack.pop()
        kind = content_type(first(fields, "content-type"))
        if not kind.kind.startswith("multipart/"):
            yield _Leaf(kind, fields, inner)
        elif depth < DEEPEST:
            inside: list[tuple[Headers, bytes, int]] = []
            for block, part in split_parts(inner, kind.params.get("boundary", "")):
                if len(inside) == MOST_PARTS:
                    break
                inside.append((_fields_of(block), part, depth + 1))
            stack += reversed(inside)


def _fields_of(block: bytes) -> Headers:
    """The fields of a part; without any where they make no sense, so that it is plain text."""
    try:
        return read_headers(block)
    except MailError:
        return {}


# -- RFC 3464 ----------------------------------------------------------------------------------


def _by_status(octets: bytes, notice: str) -> Iterator[Failure]:
    """Yield the failed recipients of a delivery-status part (section 2).

    Args:
        notice: the report's text for people; it may hold a reason that the status part lacks.
    """
    text = octets.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    groups = [group for group in text.split("\n\n", MOST_RECIPIENTS * 2) if group.strip()]
    # The first group is about the letter (section 2.2); some leave it out, some the blank line.
    statuses = [_status_fields(group) for group in groups[: MOST_RECIPIENTS + 1]]
    named = [_recipients(fields) for fields in statuses]
    everybody = frozenset().union(*named)
    for fields, recipients in zip(statuses, named, strict=True):
        if recipients and _has_failed(fields):
            yield _failure(fields, recipients, notice, everybody - recipients)


def _recipients(fields: Mapping[str, str]) -> frozenset[str]:
    values = (fields.get(name, "") for name in ("final-recipient", "original-recipient"))
    return frozenset(address for value in values if (address := _address(value)))


def _status_fields(group: str) -> Mapping[str, str]:
    """Field values by lower-case name; lines that are no fields belong to the one above.

    Servers that copy an answer of several lines do not always indent it.
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
    """Whether nobody tries any longer (section 2.3.3); ``error`` is OpenSMTPD's word."""
    action = fields.get("action", "").lower()
    if not action:
        return fields.get("status", "").startswith("5")
    return action.startswith(("fail", "error"))


def _failure(
    fields: Mapping[str, str], recipients: frozenset[str], notice: str, others: frozenset[str]
) -> Failure:
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
    """Return the reason that a report's text gives for a recipient, ``""`` for none.

    Args:
        others: recipients whose reasons may follow.
        is_needed: the status says nothing. Otherwise only a mail server's reply counts: the
            sentences around it are the same in all reports.
    """
    lower = notice.lower()
    for address in sorted(recipients):
        if address in lower:
            reason = _reason(notice, lower, address, others)
            if is_needed or _REPLY.match(reason):
                return reason
    return ""


def _address(value: str) -> str:
    """The address of ``rfc822; alice@players.example`` in lower case, ``""`` for none."""
    found = _ADDRESS.search(value.partition(";")[2] or value)
    return found[0].lower() if found else ""


# -- other forms -------------------------------------------------------------------------------


def _by_other_forms(headers: Headers, kind: ContentType, leaves: list[_Leaf]) -> Iterator[Failure]:
    """What flufl.bounce finds in the first text: qmail, old Exchange, Exim, Yahoo and their kin.

    It is given a small mail made anew, so that it never meets what a stranger has built. Where it
    finds nothing, a server's own refusal may still be quoted, as Microsoft 365 does.
    """
    leaf = _notice_part(leaves)
    text = _notice(leaves)
    shown = _rebuilt(headers, kind, text, leaf)
    try:
        _, failed = _detectors()(shown)
    except Exception as error:  # noqa: BLE001 - whatever a library makes of a stranger's words
        log.warning("a report could not be looked at", extra={"fault": type(error).__name__})
        return
    lower = text.lower()
    known = False
    for one in sorted(failed)[:MOST_RECIPIENTS]:
        address = _address(one.decode("ascii", "replace"))
        if address:
            known = True
            reason = _reason(text, lower, address)
            status = status_in(reason)
            yield Failure(judge(status, reason), status, one_line(reason), frozenset({address}))
    if not known:
        yield from _by_quoted_refusal(headers, text)


def _by_quoted_refusal(headers: Headers, text: str) -> Iterator[Failure]:
    """A refusal with both its codes, in a mail that says in its subject that a letter came back."""
    subject = header_line(first(headers, "subject")).casefold()
    refusal = _REFUSAL.search(text)
    named = _ADDRESS.search(text)
    if refusal is None or named is None or not subject.startswith(UNDELIVERED):
        return
    if _STILL_TRYING.search(subject) or _STILL_TRYING.search(text):
        return
    said = one_line(refusal[0])
    status = status_in(said)
    address = named[0].lower().strip("'.:*[]")
    yield Failure(judge(status, said), status, said, frozenset({address}))


def _notice(leaves: list[_Leaf]) -> str:
    """Return a report's text for people, ``""`` if it has none."""
    leaf = _notice_part(leaves)
    return "" if leaf is None else leaf.text


def _notice_part(leaves: list[_Leaf]) -> _Leaf | None:
    return _first(leaves, "text/plain") or _first(leaves, "text/html")


def _first(leaves: list[_Leaf], kind: str) -> _Leaf | None:
    return next((leaf for leaf in leaves if leaf.kind.kind == kind), None)


def _rebuilt(headers: Headers, kind: ContentType, text: str, leaf: _Leaf | None) -> Message:
    shown = Message()
    for name in ("from", "subject", "x-mailer", "x-failed-recipients"):
        if value := header_line(first(headers, name)[:1000]):
            shown[name] = value
    if not kind.kind.startswith("multipart/"):
        shown.set_payload(text)
        return shown
    shown["Content-Type"] = "multipart/report" if "report" in kind.kind else "multipart/mixed"
    part = Message()
    part["Content-Type"] = "text/plain"
    if leaf is not None:
        part["Content-Description"] = header_line(first(leaf.headers, "content-description")[:200])
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
def _detectors() -> Find:
    """flufl.bounce, loaded with the first report of such a form; it tells every step it takes."""
    from flufl.bounce import all_failures

    logging.getLogger("flufl.bounce").setLevel(logging.CRITICAL + 1)
    find: Find = all_failures
    return find
