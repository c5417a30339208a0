"""Reads a mail from its octets into a `Mail`: its sender, its text, and its kind."""

from __future__ import annotations

import hashlib
import re

from pbmserv.errors import MailError
from pbmserv.inbound.body import Body, read_body
from pbmserv.inbound.from_field import one_mailbox
from pbmserv.inbound.headers import (
    Headers,
    first,
    read_headers,
    readable_value,
    split_block,
)
from pbmserv.inbound.robot_phrases import REACTED
from pbmserv.inbound.robots import Automatic, automatic
from pbmserv.mail.envelope import Envelope, Mail
from pbmserv.mail.mail_domain import MailDomain

LINE_LIMIT = 998
"""Octets in a line without its CRLF (RFC 5321 section 4.5.3.1.6)."""

_BARE = "550 5.6.0 This message has a bare CR or LF; lines must end with CRLF (RFC 5321, 2.3.8)"
_LONG = "550 5.6.0 This message has a line of more than 998 octets (RFC 5321, 4.5.3.1.6)"

_REACTION_LIMIT = 1_000
_REACTED = re.compile("|".join(map(re.escape, REACTED)))

_MOST_ANSWERED = 20
"""Message-IDs of In-Reply-To and of References (RFC 5322 section 3.6.4) that are kept: the last
ones, which are the newest."""

_BETWEEN_ADDRESSES = re.compile(r"[\s<>,;:\"()]")

# Stricter than RFC 5322's msg-id, because it is copied into the headers of our answers.
_MESSAGE_ID = re.compile(r"<[!-;=?-~]{3,900}>")


def wire_refusal(raw: bytes) -> str | None:
    """Return the SMTP reply that refuses a mail before it is parsed; `None` for a sound mail.

    A bare CR or LF can smuggle a mail behind another one and forge header lines; a long line can
    fill buffers.
    """
    pairs = raw.count(b"\r\n")
    if raw.count(b"\n") != pairs or raw.count(b"\r") != pairs:
        return _BARE
    return _LONG if max(map(len, raw.split(b"\r\n"))) > LINE_LIMIT else None


def read_head(raw: bytes) -> tuple[Headers, bytes, str]:
    """Return the fields of a mail, its body, and the address in its From field.

    Raises:
        MailError: the text is ``no-from``, ``several-from``, ``bad-from``, ``bad-header`` or
            ``headers-too-long``, and never anything from the mail. The door refuses such a mail.
    """
    block, body = split_block(raw)
    headers = read_headers(block)
    values = headers.get("from", ())
    if len(values) > 1:
        raise MailError("several-from")
    if not values or not values[0]:
        raise MailError("no-from")
    return headers, body, one_mailbox(values[0])


def person_in_head(envelope: Envelope, mail_domain: MailDomain) -> str:
    """Return the address in the From field; ``""`` if the header says that a machine wrote it.

    Raises:
        MailError: see `read_head`.
    """
    headers, _, sender = read_head(envelope.raw)
    subject = readable_value(first(headers, "subject"))
    verdict = automatic(headers, mail_domain, envelope.sender, sender, subject)
    return "" if verdict.reason else sender


def read_mail(envelope: Envelope, mail_domain: MailDomain) -> Mail:
    """Read one mail that `wire_refusal` has accepted.

    Raises:
        MailError: see `read_head`.
    """
    headers, body, sender = read_head(envelope.raw)
    subject = readable_value(first(headers, "subject"))
    identity = message_id(headers)
    try:
        contents = read_body(headers, body)
    except MailError:  # beyond the limits; the answer says that no text was found
        contents = Body(unread="html", left_out=True)
    text = contents.text
    verdict = automatic(headers, mail_domain, envelope.sender, sender, subject)
    if not verdict.reason and _is_reaction(contents):
        verdict = Automatic("reaction")
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
        digest=_digest(headers, body, identity, subject, text, sender),
        unread=contents.unread,
        left_out=contents.left_out,
        answers=tuple(dict.fromkeys(filter(_MESSAGE_ID.fullmatch, answered))),
        recipients=our_recipients(headers, mail_domain),
    )


def _is_reaction(contents: Body) -> bool:
    """Return whether a program wrote the mail when somebody clicked on a face below a letter.

    Programs without a part of their own for that say so in the first lines.
    """
    if contents.reaction:
        return True
    head = contents.text[:_REACTION_LIMIT].casefold()
    first_lines = [line for line in head.split("\n") if line.strip()][:3]
    written = "\n".join(line for line in first_lines if line[0] != ">")
    return _REACTED.search(written) is not None


def _digest(
    headers: Headers, body: bytes, identity: str, subject: str, text: str, sender: str
) -> str:
    """Return the digest by which copies of a mail are recognised.

    It is made of the Message-ID, or without one of the date, the subject and the text. A mail of
    files alone has no text; then its body counts, without blank lines that relays add at the end.
    """
    if identity:
        facts = ["id", identity, sender]
    else:
        contents = text or hashlib.sha256(body.strip()).hexdigest()
        facts = ["text", readable_value(first(headers, "date")), subject, contents, sender]
    digest = hashlib.sha256()
    for fact in facts:  # each with its length, so that different lists have different digests
        octets = fact.encode("utf-8", "replace")
        digest.update(b"%d:%s" % (len(octets), octets))
    return digest.hexdigest()


def our_recipients(headers: Headers, mail_domain: MailDomain) -> tuple[str, ...]:
    """Return the addresses of this server in the To and Cc fields of a mail, each once."""
    values = (*headers.get("to", ()), *headers.get("cc", ()))
    words = [word for value in values for word in _BETWEEN_ADDRESSES.split(value)]
    return tuple(dict.fromkeys(filter(mail_domain.is_ours, words)))


def message_id(headers: Headers) -> str:
    """Return the Message-ID in its angle brackets; ``""`` if it is missing or malformed."""
    value = first(headers, "message-id").strip()
    return value if _MESSAGE_ID.fullmatch(value) else ""
