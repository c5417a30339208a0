"""One mail from its octets to the `Mail` that everybody else reads.

What is refused at once, who wrote it, whether that was a machine, and where it comes from.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from pbmserv.commands.reading.mail import clean_subject
from pbmserv.errors import MailError
from pbmserv.inbound.body import Body, read_body
from pbmserv.inbound.headers import (
    HEADER_LIMIT,
    Headers,
    content_type,
    first,
    one_line,
    one_mailbox,
    read_headers,
    split_block,
)
from pbmserv.inbound.quotes.phrases import AWAY, AWAY_WITHIN, REACTED, REPORTS, ROLES
from pbmserv.mail.envelope import (
    LOOPBACK,
    Envelope,
    Mail,
    Network,
    Source,
    block_name,
    is_among,
)

LINE_LIMIT = 998
"""Octets in a line without its CRLF (RFC 5321 section 4.5.3.1.6)."""

_BARE = "550 5.6.0 This message has a bare CR or LF; lines must end with CRLF (RFC 5321, 2.3.8)"
_LONG = "550 5.6.0 This message has a line of more than 998 octets (RFC 5321, 4.5.3.1.6)"

_REACTION_LIMIT = 1_000
_REACTED = re.compile("|".join(map(re.escape, REACTED)))

_MOST_ANSWERED = 20
"""Message-IDs in In-Reply-To and in References (RFC 5322 section 3.6.4) that are looked at: the
newest ones, which stand last."""

_BETWEEN_ADDRESSES = re.compile(r"[\s<>,;:\"()]")

# Narrower than RFC 5322's msg-id, because it goes into the headers of our answers.
_MESSAGE_ID = re.compile(r"<[!-;=?-~]{3,900}>")


def wire_refusal(raw: bytes) -> str | None:
    """The SMTP reply that refuses a mail before we parse it; ``None`` for a sound one.

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


def read_head(raw: bytes) -> tuple[Headers, bytes, str]:
    """The fields of a mail, its body, and the one address in its From field. The door refuses a
    mail of which this cannot be said.

    Raises:
        MailError: with one word as its text, and nothing else whatever the mail contains:
            ``no-from``, ``several-from``, ``bad-from``, ``bad-header``, ``headers-too-long``.
    """
    block, body = split_block(raw)
    headers = read_headers(block)
    values = headers.get("from", ())
    if len(values) > 1:
        raise MailError("several-from")
    if not values or not values[0]:
        raise MailError("no-from")
    return headers, body, one_mailbox(values[0])


def read_mail(envelope: Envelope, *, host: str, is_ours: Callable[[str], bool]) -> Mail:
    """Read one mail.

    Args:
        envelope: as it came in, with `wire_refusal` already asked.
        host: what our own letters carry as ``X-Loop``.
        is_ours: whether an address (domain in lower case) is one that we receive mail for.

    Raises:
        MailError: see `read_head`.
    """
    headers, body, sender = read_head(envelope.raw)
    subject = one_line(first(headers, "subject"))
    identity = message_id(headers)
    try:
        found = read_body(headers, body)
    except MailError:  # beyond all bounds inside: its writer is told that nothing could be found
        found = Body(unread="html", left_out=True)
    text = found.text
    verdict = automatic(
        headers,
        envelope_sender=envelope.sender,
        sender=sender,
        subject=subject,
        host=host,
        is_ours=is_ours,
    )
    # A program says that somebody pressed on a face; it does so at once.
    head = text[:_REACTION_LIMIT].casefold()
    if _REACTED.search(head):
        top = [line for line in head.split("\n") if line.strip()][:3]
        head = "\n".join([line for line in top if line[0] != ">"])
    if (found.reaction or _REACTED.search(head)) and not verdict.reason:
        verdict = Automatic("reaction")
    told = ["id", identity, sender]
    if not identity:
        # Files alone differ, too; blank lines at the end are the roads', not the writer's.
        said = text or hashlib.sha256(body.strip()).hexdigest()
        told = ["text", one_line(first(headers, "date")), subject, said, sender]
    digest = hashlib.sha256()
    for part in told:  # each with its length, so that no two lists look alike
        octets = part.encode("utf-8", "replace")
        digest.update(b"%d:%s" % (len(octets), octets))
    answered = first(headers, "in-reply-to").split()[-_MOST_ANSWERED:]
    answered += first(headers, "references").split()[-_MOST_ANSWERED:]
    return Mail(
        sender=sender,
        message_id=identity,
        subject=subject,
        text=text,
        automatic=verdict.reason,
        only_headers=verdict.only_headers,
        away=verdict.away,
        digest=digest.hexdigest(),
        unread=found.unread,
        left_out=found.left_out,
        answers=tuple(dict.fromkeys(filter(_MESSAGE_ID.fullmatch, answered))),
        recipients=our_recipients(headers, is_ours),
    )


def our_recipients(headers: Headers, is_ours: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the addresses of this server in the To and Cc fields of a mail, each once."""
    values = (*headers.get("to", ()), *headers.get("cc", ()))
    words = [word for value in values for word in _BETWEEN_ADDRESSES.split(value)]
    return tuple(dict.fromkeys(word for word in words if "@" in word and is_ours(word)))


def message_id(headers: Headers) -> str:
    """The Message-ID, by which we recognise copies, in its angle brackets; ``""`` if unusable.

    Control characters around it do not make it a different mail.
    """
    value = first(headers, "message-id").strip()
    return value if _MESSAGE_ID.fullmatch(value) else ""


# -- what a machine wrote, which must not be answered ------------------------------------------


RECEIVED_LIMIT = 25
"""``Received`` fields of a mail that is not going in circles (RFC 5321 section 6.3)."""

_ROBOT_PRECEDENCE = frozenset(("bulk", "list", "junk", "auto_reply", "auto-reply"))
_ANSWERING_HEADERS = frozenset(
    ("x-autoreply", "x-autorespond", "x-auto-reply", "x-mail-autoreply", "x-autoreply-from",
     "x-autogenerated", "x-autoresponder", "x-vacation", "x-fc-machinegenerated")
)  # fmt: skip
_ROBOT_HEADERS = _ANSWERING_HEADERS.union(
    ("auto-submitted", "return-path", "precedence", "x-precedence", "x-auto-response-suppress")
)
_LIST_HEADERS = frozenset(("mailing-list", "x-mailing-list", "x-beenthere", "x-list"))
_REPORT_KINDS = frozenset(
    ("multipart/report", "message/delivery-status", "message/disposition-notification")
)

# Local parts without their punctuation may begin or end in these.
_ROLE_HEADS = ("noreply", "donotreply", "mailerdaemon")
_ROLE_TAILS = ("noreply", "donotreply", "mailerdaemon")
_PUNCTUATION = str.maketrans("", "", "-_.")

AWAY_SUBJECT = "away-subject"
"""The reason of a mail that nothing but its subject shows to be a note: a person may write so."""

_AWAY = {sign: tuple(one for one in AWAY if one[0] == sign) for sign in {one[0] for one in AWAY}}
"""How notes begin, by their first character: there are two hundred ways."""
_WITHIN = "|".join(map(re.escape, AWAY_WITHIN))
_SAYS_AWAY = re.compile(rf"[^:：]{{0,120}}?(?<!\w)(?:{_WITHIN})(?!\w)")  # noqa: RUF001
_ENDS_AWAY = re.compile(rf"[\[(–-]\s?(?:{_WITHIN})\s?[\])]?\Z")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Automatic:
    """Why a mail must not be answered.

    Attributes:
        reason: a stable word for the log, ``""`` for a person's mail.
        only_headers: the only reasons are ``Auto-Submitted``, ``Precedence``,
            ``X-Auto-Response-Suppress`` or ``List-*``, which Exchange, newsletters' software and
            lists put on people's mails, too.
        away: it looks like the note of somebody who is out of the office.
    """

    reason: str = ""
    only_headers: bool = False
    away: bool = False


_PERSON = Automatic()


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
    kind = content_type(first(headers, "content-type")).kind
    folded = subject.casefold()
    is_report = kind in _REPORT_KINDS or "x-failed-recipients" in headers
    for reason, is_so in (
        ("own-address", is_ours(sender)),
        ("role-account", is_role(sender)),
        ("own-loop", host.casefold() in map(str.casefold, headers.get("x-loop", ()))),
        ("too-many-received", len(headers.get("received", ())) > RECEIVED_LIMIT),
        # Of delivery (RFC 3464), receipts (RFC 8098), complaints (RFC 5965), and their kin.
        ("report", is_report or folded.startswith(REPORTS)),
    ):
        if is_so:
            return Automatic(reason)
    # What stands behind a colon is what the note answers: our own subject, and the names in it.
    bare = clean_subject(subject).casefold()  # "[EXTERN] Re: Automatic reply: …"
    names_absence = (
        folded.startswith(_AWAY.get(folded[:1], ()))
        or bare.startswith(_AWAY.get(bare[:1], ()))
        or _SAYS_AWAY.match(bare) is not None
        or _ENDS_AWAY.search(bare) is not None
    )
    # One look at the names of all fields: an ordinary mail has none of these.
    is_list = not _LIST_HEADERS.isdisjoint(headers) or "\nlist-" in "\n".join(("", *headers))
    is_plain = envelope_sender == sender and not names_absence and not is_list
    if is_plain and _ROBOT_HEADERS.isdisjoint(headers):
        return _PERSON
    program = _of_a_program(headers, envelope_sender, sender, is_ours, names_absence=names_absence)
    if not is_list:
        return program
    # Lists send on notes and programs' mails; nobody on a list is asked whether they are away.
    return Automatic("mailing-list", only_headers=program.only_headers or not program.reason)


def _of_a_program(
    headers: Headers,
    envelope_sender: str,
    sender: str,
    is_ours: Callable[[str], bool],
    *,
    names_absence: bool,
) -> Automatic:
    """Why a mail must not be answered that a program may have sent for somebody.

    *names_absence*: its subject says that somebody is out of the office.
    """
    # RFC 3834 section 5: anything but "no"; parameters may follow.
    submitted = {*map(_word, headers.get("auto-submitted", ()))} - {"no"}
    answers = not _ANSWERING_HEADERS.isdisjoint(headers)
    away = names_absence or "auto-replied" in submitted or answers
    by_envelope = _by_envelope(headers, envelope_sender, sender, is_ours)
    by_header = _by_robot_header(headers)
    reason = (
        by_envelope
        or by_header
        or ("autoreply-header" if answers else "")
        or ("auto-submitted" if submitted else "")
        or (AWAY_SUBJECT if names_absence else "")
    )
    if not reason:
        return _PERSON
    is_note = bool(by_envelope) or answers or names_absence
    return Automatic(reason, only_headers=not is_note, away=away)


def is_role(address: str) -> bool:
    """Whether an address is a function's and no person's (RFC 2142, and what servers use)."""
    local = address.rpartition("@")[0].partition("+")[0].lower()
    plain = local.translate(_PUNCTUATION)
    return (
        plain in ROLES
        or plain.startswith(_ROLE_HEADS)
        or plain.endswith(_ROLE_TAILS)
        or local.startswith(("owner-", "bounce-", "bounces-", "bounce=", "bounces="))
        or local.endswith(("-owner", "-request", "-bounces", "-bounce"))
    )


def _by_envelope(
    headers: Headers, envelope_sender: str, sender: str, is_ours: Callable[[str], bool]
) -> str:
    # A mail server that stores mail may have written the envelope into the mail.
    if envelope_sender in ("", "<>") or first(headers, "return-path") == "<>":
        return "null-sender"
    if envelope_sender == sender:
        return ""
    if is_ours(envelope_sender):
        return "own-address"
    return "role-account" if is_role(envelope_sender) else ""


def _by_robot_header(headers: Headers) -> str:
    precedence = (*headers.get("precedence", ()), *headers.get("x-precedence", ()))
    if not _ROBOT_PRECEDENCE.isdisjoint(map(_word, precedence)):
        return "precedence"
    suppressed = {*map(str.lower, headers.get("x-auto-response-suppress", ()))} - {"none"}
    return "auto-response-suppress" if suppressed else ""


def _word(value: str) -> str:
    """The keyword a field begins with, in lower case, without parameters and comments."""
    return value.partition(";")[0].partition("(")[0].strip().lower()


# -- where a mail comes from -------------------------------------------------------------------

# Each mail server writes a Received field on top of those that are there (RFC 5321 section 4.4),
# so the topmost one is our own server's word about its client. If that client is one of our
# servers, too (or a filter beside it), the next field is that one's word; all others are a
# stranger's.

MOST_SERVERS = 5
"""Servers and filters of our own that a mail may pass, one behind the other."""

_RECEIVED = re.compile(
    rb"^received[ \t]*:([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)", re.IGNORECASE | re.MULTILINE
)
_LITERAL = r"\[(?:IPv6:)?([0-9A-Fa-f:.]{2,45})\]"
# What the client says of itself stands first; what the server knows stands in the parentheses.
# Postfix, Sendmail, OpenSMTPD: from HELO (NAME [ADDRESS]); Exim: from NAME ([ADDRESS] helo=HELO)
_BESIDE_NAME = re.compile(rf"\s*from\s+\S+\s+\((?:[^()\[\]\s]+\s+)?{_LITERAL}", re.IGNORECASE)
# Exim, for a client without a name: from [ADDRESS] (helo=HELO)
_ALONE = re.compile(
    rf"\s*from\s+{_LITERAL}(?::\d+)?\s+(?:\([^()\[\]\s]*(?:helo|port)=|by\s)", re.IGNORECASE
)


def source_of(envelope: Envelope, ours: Collection[Network]) -> Source:
    """Where a mail comes from.

    Args:
        ours: networks of our own mail servers.
    """
    network, raw = block_name(envelope.peer), envelope.raw
    if envelope.handed_on or not network or is_among(envelope.peer, ours):
        network = ""  # unless a field names the client of our outermost server
        end = raw.find(b"\r\n\r\n", 0, HEADER_LIMIT)
        fields = _RECEIVED.finditer(raw, 0, end if end >= 0 else min(len(raw), HEADER_LIMIT))
        for received, _ in zip(fields, range(MOST_SERVERS), strict=False):
            text = received[1].decode("latin-1")
            found = _BESIDE_NAME.match(text) or _ALONE.match(text)
            if found is None:
                break
            if not (is_among(found[1], LOOPBACK) or is_among(found[1], ours)):
                network = block_name(found[1])
                break
    return Source(network, envelope.sender.lower())
