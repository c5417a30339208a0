"""One mail from its octets to the `Mail` that the other rooms read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from pbmserv.errors import MailError
from pbmserv.inbound.address import one_mailbox
from pbmserv.inbound.auto_mail import Automatic, automatic
from pbmserv.inbound.body import Body, read_body
from pbmserv.inbound.headers import Headers, first, one_line, read_headers, split_block
from pbmserv.inbound.quotes.phrases import REACTED
from pbmserv.mail.envelope import Envelope, Mail

# Narrower than RFC 5322's msg-id, because it goes into the headers of our answers.
_REACTION_LIMIT = 1_000

_MOST_ANSWERED = 20
"""Message-IDs in References that are looked at, the newest ones, which stand last."""

_MESSAGE_ID = re.compile(r"<[!-;=?-~]{3,900}>")


def check_head(raw: bytes) -> None:
    """Refuse a mail whose headers could not be read later, or name nobody to answer.

    Raises:
        MailError: ``no-from``, ``several-from``, ``bad-from``, ``bad-header``,
            ``headers-too-long``.
    """
    _sender(read_headers(split_block(raw)[0]))


def read_mail(envelope: Envelope, *, host: str, is_ours: Callable[[str], bool]) -> Mail:
    """Read one mail.

    Args:
        envelope: as it came in, with `wire_refusal` already asked.
        host: what our own letters carry as ``X-Loop``.
        is_ours: whether an address (domain in lower case) is one that we receive mail for.

    Raises:
        MailError: with one word as its text, and nothing else whatever the mail contains:
            ``no-from``, ``several-from``, ``bad-from``, ``bad-header``,
            ``headers-too-long``; see `check_head`.
    """
    block, body = split_block(envelope.raw)
    headers = read_headers(block)
    sender = _sender(headers)
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
    if (found.reaction or _is_reaction(text)) and not verdict.reason:
        verdict = Automatic("reaction")
    if identity:
        digest = _digest("id", identity, sender)
    else:
        # Files alone differ, too; blank lines at the end are the roads', not the writer's.
        said = text or hashlib.sha256(body.strip()).hexdigest()
        digest = _digest("text", one_line(first(headers, "date")), subject, said, sender)
    return Mail(
        sender=sender,
        message_id=identity,
        subject=subject,
        text=text,
        automatic=verdict.reason,
        only_auto_submitted=verdict.only_auto_submitted,
        away=verdict.away,
        digest=digest,
        unread=found.unread,
        left_out=found.left_out,
        answers=_answers(headers),
    )


def _is_reaction(text: str) -> bool:
    """Whether a program says that somebody pressed on a face; it does so at once."""
    lines = [line for line in text[:_REACTION_LIMIT].casefold().split("\n") if line.strip()]
    return any(phrase in line for line in lines[:3] for phrase in REACTED if line[0] != ">")


def _sender(headers: Headers) -> str:
    values = headers.get("from", ())
    if not values:
        raise MailError("no-from")
    if len(values) > 1:
        raise MailError("several-from")
    if not values[0]:
        raise MailError("no-from")
    return one_mailbox(values[0])


def message_id(headers: Headers) -> str:
    """What copies of a mail are told by, with its angle brackets; ``""`` if it has no sound one.

    Control characters around it make no other mail of it.
    """
    value = first(headers, "message-id").strip()
    return value if _MESSAGE_ID.fullmatch(value) else ""


def _answers(headers: Headers) -> tuple[str, ...]:
    """Whose Message-IDs In-Reply-To and References name (RFC 5322 section 3.6.4)."""
    names = ("in-reply-to", "references")
    found = [word for name in names for word in first(headers, name).split()[-_MOST_ANSWERED:]]
    return tuple(dict.fromkeys(word for word in found if _MESSAGE_ID.fullmatch(word)))


def _digest(*parts: str) -> str:
    """SHA-256 over the parts, each with its length, so that no two lists look alike."""
    return hashlib.sha256(
        b"".join(
            b"%d:%s" % (len(octets), octets)
            for octets in (part.encode("utf-8", "replace") for part in parts)
        )
    ).hexdigest()
