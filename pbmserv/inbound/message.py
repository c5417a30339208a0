"""One mail from its octets to the `Mail` that everybody else reads.

So is the one address in its From field; one that could be read in two ways is refused.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable

from pbmserv.errors import MailError
from pbmserv.inbound.auto_mail import Automatic, automatic
from pbmserv.inbound.body import Body, read_body
from pbmserv.inbound.headers import Headers, first, one_line, read_headers, split_block
from pbmserv.inbound.quotes.phrases import REACTED
from pbmserv.mail.envelope import Envelope, Mail

# Narrower than RFC 5322's msg-id, because it goes into the headers of our answers.
_REACTION_LIMIT = 1_000
_REACTED = re.compile("|".join(map(re.escape, REACTED)))

_MOST_ANSWERED = 20
"""Message-IDs in In-Reply-To and in References (RFC 5322 section 3.6.4) that are looked at: the
newest ones, which stand last."""

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
        only_auto_submitted=verdict.only_auto_submitted,
        away=verdict.away,
        digest=digest.hexdigest(),
        unread=found.unread,
        left_out=found.left_out,
        answers=tuple(dict.fromkeys(filter(_MESSAGE_ID.fullmatch, answered))),
    )


def _is_reaction(text: str) -> bool:
    """Whether a program says that somebody pressed on a face; it does so at once."""
    head = text[:_REACTION_LIMIT].casefold()
    if _REACTED.search(head) is None:
        return False
    lines = [line for line in head.split("\n") if line.strip()]
    return any(line[0] != ">" and _REACTED.search(line) for line in lines[:3])


def _sender(headers: Headers) -> str:
    values = headers.get("from", ())
    if len(values) > 1:
        raise MailError("several-from")
    if not values or not values[0]:
        raise MailError("no-from")
    return one_mailbox(values[0])


def message_id(headers: Headers) -> str:
    """The Message-ID, by which we recognise copies, in its angle brackets; ``""`` if unusable.

    Control characters around it do not make it a different mail.
    """
    value = first(headers, "message-id").strip()
    return value if _MESSAGE_ID.fullmatch(value) else ""


# -- the address in a From field ---------------------------------------------------------------


ADDRESS_LIMIT = 254
"""Octets of an address that SMTP can carry (RFC 5321 section 4.5.3.1.3, less the brackets)."""

_LOCAL_LIMIT = 64
_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ASCII = re.compile(rf"{_ATEXT}(?:\.{_ATEXT})*@(?:{_LABEL}\.)*{_LABEL}")

_USUAL = re.compile(
    r"""(?P<open>(?:[^"(<,;:)>\\@]|"[^"\\]*")*<)?(?P<address>[^\s"(<,;:)>\\]+)(?(open)>)\s*"""
)
"""``Name <address>``, ``"Na, me" <address>`` or an address alone."""
_ORDINARY = re.compile(r'[^"(<,;:)>\\]+')
_QUOTED_END = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"')
_COMMENT_MARK = re.compile(r"[()\\]")


def one_mailbox(value: str) -> str:
    """The address of the one mailbox in `value` (RFC 5322 section 3.4), as `plain_address` has it.

    Raises:
        MailError: ``several-from`` for a list or a group, ``bad-from`` for anything
            that is no mailbox, or that another reader may take for another address.
    """
    usual = _USUAL.fullmatch(value)
    if usual is not None:
        return plain_address(usual["address"])
    phrase, angle, after = _split(value)
    if after.strip():
        raise MailError("bad-from")
    if angle is None:
        return plain_address(phrase.strip())
    address = plain_address(angle.strip())
    # An address in the phrase is what some readers would take. Harmless if it is the same.
    if "@" in phrase and phrase.strip().lower() != address.lower():
        raise MailError("bad-from")
    return address


def plain_address(text: str) -> str:
    """`text` if it is a dot-atom and a domain, NFC, with the domain in lower case.

    Letters beyond ASCII are taken (RFC 6531); quoted local parts, address
    literals and encoded words are not.

    Raises:
        MailError: ``bad-from``.
    """
    text = text if text.isascii() else _international(text)
    local, _, domain = text.rpartition("@")
    if text.isascii() and (len(text) > ADDRESS_LIMIT or not _ASCII.fullmatch(text)):
        raise MailError("bad-from")
    if "=?" in local or domain.rpartition(".")[2].isdigit():
        raise MailError("bad-from")
    if len(local.encode()) > _LOCAL_LIMIT:
        raise MailError("bad-from")
    return f"{local}@{domain.lower()}"


def _international(text: str) -> str:
    """An address with letters beyond ASCII, in NFC, checked as far as ASCII rules go."""
    if len(text) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    text = unicodedata.normalize("NFC", text)
    # Every letter beyond ASCII stands for itself; the rest must be an ASCII address.
    if any("\ud800" <= char <= "\udfff" or not char.isprintable() for char in text):
        raise MailError("bad-from")
    skeleton = "".join(char if char.isascii() else "x" if _lettery(char) else " " for char in text)
    if not _ASCII.fullmatch(skeleton) or len(text.encode()) > ADDRESS_LIMIT:
        raise MailError("bad-from")
    return text


def _lettery(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def _split(value: str) -> tuple[str, str | None, str]:
    """What stands before, inside and after the angle brackets; comments are dropped."""
    before: list[str] = []
    after: list[str] = []
    angle: str | None = None
    at = 0
    while at < len(value):
        part = before if angle is None else after
        char = value[at]
        if char == '"':
            end = _end(_QUOTED_END.match(value, at + 1))
            part.append('"')  # never looked into: it is a name
        elif char == "(":
            end = _comment_end(value, at)
        elif char == "<":
            end = value.find(">", at) + 1
            if angle is not None or not end:
                raise MailError("bad-from")
            angle = value[at + 1 : end - 1]
        elif char in ",;:":
            raise MailError("several-from")
        else:
            end = _end(_ORDINARY.match(value, at))
            part.append(value[at:end])
        at = end
    return "".join(before), angle, "".join(after)


def _end(match: re.Match[str] | None) -> int:
    if match is None:
        raise MailError("bad-from")
    return match.end()


def _comment_end(value: str, at: int) -> int:
    """Where the comment ends that opens at `at` (comments nest)."""
    depth = 0
    while at < len(value):
        mark = _COMMENT_MARK.search(value, at)
        if mark is None:
            break
        at = mark.end() + (mark[0] == "\\")
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return at
    raise MailError("bad-from")
