"""Which mails are turned away before they are read, and which must never be answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pbmserv.receive.headers import Headers, content_type, first
from pbmserv.receive.phrases import AWAY, ROLES

LINE_LIMIT = 998
"""Octets in a line without its CRLF (RFC 5321 section 4.5.3.1.6)."""

RECEIVED_LIMIT = 25
"""``Received`` fields of a mail that is not going in circles (RFC 5321 section 6.3)."""

_BARE = "550 5.6.0 This message has a bare CR or LF; lines must end with CRLF (RFC 5321, 2.3.8)"
_LONG = "550 5.6.0 This message has a line of more than 998 octets (RFC 5321, 4.5.3.1.6)"

_ROBOT_PRECEDENCE = frozenset(("bulk", "list", "junk", "auto_reply", "auto-reply"))
_ROBOT_HEADERS = ("x-autoreply", "x-autorespond", "x-auto-reply", "x-mail-autoreply")
_REPORT_KINDS = frozenset(("multipart/report", "message/delivery-status"))

# Local parts without their punctuation may begin or end in these.
_ROLE_HEADS = ("noreply", "donotreply", "mailerdaemon")
_ROLE_TAILS = ("noreply", "donotreply", "mailerdaemon")
_PUNCTUATION = str.maketrans("", "", "-_.")


@dataclass(frozen=True, slots=True)
class Automatic:
    """Why a mail must not be answered.

    Attributes:
        reason: a stable word for the log, ``""`` for a person's mail.
        only_auto_submitted: ``Auto-Submitted`` is the only reason.
    """

    reason: str = ""
    only_auto_submitted: bool = False


_PERSON = Automatic()


def wire_refusal(raw: bytes) -> str | None:
    """The SMTP reply for a mail that no parser of ours shall see, ``None`` for a sound one.

    Bare CR and bare LF are how mails are smuggled behind other mails and how
    header lines are forged; long lines are how buffers are filled.
    """
    pairs = raw.count(b"\r\n")
    if raw.count(b"\n") != pairs or raw.count(b"\r") != pairs:
        return _BARE
    # From each line start to the last line end in reach: two steps pass 1,000 octets.
    start, size, reach = 0, len(raw), LINE_LIMIT + 2
    while size - start > LINE_LIMIT:
        end = raw.rfind(b"\n", start, start + reach)
        if end < 0:
            return _LONG
        start = end + 1
    return None


def automatic(
    headers: Headers,
    *,
    envelope_sender: str,
    sender: str,
    subject: str,
    host: str,
    is_ours: Callable[[str], bool],
) -> Automatic:
    """Why a mail must not be answered (RFC 3834 section 2, and what real robots send).

    Args:
        headers: the fields of the mail.
        envelope_sender: the MAIL FROM address, ``""`` for the null sender.
        sender: the address of the From field.
        subject: the decoded subject.
        host: what our own letters carry as ``X-Loop``.
        is_ours: whether an address is one that we receive mail for.
    """
    reason = (
        _by_sender(envelope_sender, sender, is_ours)
        or _by_loop(headers, host)
        or _by_robot_header(headers)
        or ("away-subject" if subject.casefold().startswith(AWAY) else "")
    )
    if reason:
        return Automatic(reason)
    # RFC 3834 section 5: anything but "no"; parameters may follow.
    submitted = headers.get("auto-submitted")
    if submitted and any(_word(value) != "no" for value in submitted):
        return Automatic("auto-submitted", only_auto_submitted=True)
    return _PERSON


def _by_sender(envelope_sender: str, sender: str, is_ours: Callable[[str], bool]) -> str:
    if envelope_sender in ("", "<>"):
        return "null-sender"
    if is_ours(sender) or is_ours(envelope_sender):
        return "own-address"
    if _is_role(sender) or (envelope_sender != sender and _is_role(envelope_sender)):
        return "role-account"
    return ""


def _is_role(address: str) -> bool:
    local = address.rpartition("@")[0].partition("+")[0].lower()
    plain = local.translate(_PUNCTUATION)
    return (
        plain in ROLES
        or plain.startswith(_ROLE_HEADS)
        or plain.endswith(_ROLE_TAILS)
        or local.startswith(("owner-", "bounce-", "bounces-", "bounce=", "bounces="))
        or local.endswith(("-owner", "-request", "-bounces", "-bounce"))
    )


def _by_loop(headers: Headers, host: str) -> str:
    if any(value.casefold() == host.casefold() for value in headers.get("x-loop", ())):
        return "own-loop"
    return "too-many-received" if len(headers.get("received", ())) > RECEIVED_LIMIT else ""


def _by_robot_header(headers: Headers) -> str:
    if content_type(first(headers, "content-type")).kind in _REPORT_KINDS:
        return "report"
    if "x-failed-recipients" in headers:
        return "report"
    if _word(first(headers, "precedence")) in _ROBOT_PRECEDENCE:
        return "precedence"
    if any(value.lower() != "none" for value in headers.get("x-auto-response-suppress", ())):
        return "auto-response-suppress"
    if any(name.startswith("list-") for name in headers):
        return "mailing-list"
    return "autoreply-header" if any(name in headers for name in _ROBOT_HEADERS) else ""


def _word(value: str) -> str:
    """The keyword a field begins with, in lower case, without parameters and comments."""
    return value.partition(";")[0].partition("(")[0].strip().lower()
