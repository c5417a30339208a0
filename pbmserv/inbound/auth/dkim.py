"""DKIM signatures (RFC 6376) on a mail that came in, and what they must cover before they count.

Only signatures of a domain that counts for the From address are looked at: others prove nothing
here, and each costs a question to name servers and some arithmetic. dkimpy's patterns take a long
time over long runs of blanks, and its keys may be of any size, so such mails are left unread.

DKIM says that a domain signed some words, not that it sent them here. Anybody who once got a mail
from a player could hand it in as a command, with another subject, or again and again. So the
fields that decide what a mail does must be signed, appear once, and name us as a recipient; and
the mail must have a Message-ID by which we recognise the second one as a copy.

How the body is to be read (Content-Type, Content-Transfer-Encoding) need not be signed: Gmail, for
one, does not. Who has a mail before it comes here could hand it in with another Content-Type;
then it is read in another way once, and the mail itself is the copy. Its words are still its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from pbmserv.errors import MailError, NamesUnavailable
from pbmserv.inbound.auth.dmarc import (
    FAIL,
    PASS,
    PERMERROR,
    POLICY,
    TEMPERROR,
    Finding,
    ascii_domain,
)
from pbmserv.inbound.headers import Headers, one_mailbox
from pbmserv.inbound.message import message_id
from pbmserv.mail.dns import Resolver, is_for_tests, record_tags

MOST_SIGNATURES = 20
"""Fields that are looked at; of them `MOST_VERIFIED` are verified."""
MOST_VERIFIED = 3
LONGEST_FIELD = 6_000
"""Characters of a signature field."""
MOST_NAMES = 100
"""Header fields that a signature may name."""
MOST_FIELDS = 1_000
"""Header fields of a mail whose signatures are verified."""
LONGEST_KEY = 1_100
"""Octets of a key record: 4096 bits of RSA need 736."""

# RFC 8301 section 3.1: rsa-sha1 must not be used.
ALGORITHMS = frozenset(("rsa-sha256", "ed25519-sha256"))

_LONG_BLANK = re.compile(r"\s{60}")
_LONG_BLANK_BODY = re.compile(rb"[\t ]{40}")
MOST_LONG_BLANKS = 1_000
"""Runs of 40 blanks in a mail: dkimpy takes the square of a run's length for each."""

Tags = dict[str, str]


def signatures(
    raw: bytes,
    headers: Headers,
    recipient: str,
    resolver: Resolver,
    counts: Callable[[str], bool],
) -> list[Finding]:
    """What the signatures say that count for the From address; never raises.

    Args:
        counts: whether a signing domain (by `ascii_domain`) is aligned with it.
    """
    fields = headers.get("dkim-signature", ())
    found: list[Finding] = []
    for place, field in enumerate(fields[:MOST_SIGNATURES]):
        tags = tags_of(field)
        domain = ascii_domain(tags.get("d", ""))
        if domain is None:
            continue
        if not counts(domain):
            found.append(Finding("dkim", POLICY, domain, note="not the sender's domain"))
        elif sum(one.aligned for one in found) >= MOST_VERIFIED:
            note = "one signature too many"
            found.append(Finding("dkim", PERMERROR, domain, aligned=True, note=note))
        else:
            result, note = _one(raw, headers, tags, place, recipient, resolver)
            found.append(Finding("dkim", result, domain, aligned=True, note=note))
    return found


def tags_of(field: str) -> Tags:
    """The tags of a signature field, by dkimpy's rules; empty where they are broken."""
    from dkim.util import InvalidTagValueList, parse_tag_value

    if len(field) > LONGEST_FIELD or _LONG_BLANK.search(field):
        return {}
    try:
        read = parse_tag_value(field.encode("utf-8", "surrogateescape"))
    except InvalidTagValueList:
        return {}
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in read.items()}


def signed_names(tags: Tags) -> list[str]:
    """The header fields that a signature covers, in lower case."""
    return [name.strip().lower() for name in tags.get("h", "").split(":")]


def uncovered(tags: Tags, headers: Headers, recipient: str) -> str:
    """Why a signature proves nothing here though it may be right; ``""`` if it does."""
    if "l" in tags:  # words of anybody's may stand below those that are signed
        return "l= leaves a part unsigned"
    return lacking(headers, signed_names(tags), recipient)


def unfit(tags: Tags, raw: bytes, headers: Headers) -> str:
    """Why a signature is not even verified; ``""`` if it may be."""
    if tags.get("a", "").lower() not in ALGORITHMS:
        return "an algorithm that does not count"
    if len(signed_names(tags)) > MOST_NAMES or sum(map(len, headers.values())) > MOST_FIELDS:
        return "too many header fields"
    if len(_LONG_BLANK_BODY.findall(raw)) > MOST_LONG_BLANKS:
        return "too many blanks in a row"
    return ""


def _one(
    raw: bytes,
    headers: Headers,
    tags: Tags,
    place: int,
    recipient: str,
    resolver: Resolver,
) -> tuple[str, str]:
    """Result and note of one signature.

    One that proves nothing here is verified all the same: if it is right, the mail is no forgery.
    """
    reason = unfit(tags, raw, headers)
    if reason:  # anybody can write such a signature, so it excuses nothing
        return PERMERROR, reason
    keys = Keys(resolver)
    import dkim

    try:
        right = dkim.DKIM(raw).verify(place, dnsfunc=keys.record)
    except NamesUnavailable:
        return TEMPERROR, "no name server answered"
    except Exception as error:  # noqa: BLE001 - dkimpy raises what its parts raise
        return PERMERROR, type(error).__name__
    reason = uncovered(tags, headers, recipient)
    if not right:
        return (
            FAIL,
            f"signature or key is wrong; {reason}" if reason else "signature or key is wrong",
        )
    if keys.testing:
        reason = "the key is for tests only"
    return (POLICY, reason) if reason else (PASS, "")


class Keys:
    """Key records (RFC 6376 section 3.6.1), as dkimpy asks for them.

    Attributes:
        testing: a record said that mails signed with it are to be treated as unsigned.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver
        self.testing = False

    def record(self, name: bytes, timeout: float = 0) -> bytes | None:  # noqa: ARG002
        """The one key record at *name*; ``None`` if there is none, or more than one.

        Raises:
            NamesUnavailable: nobody knows now.
        """
        asked = ascii_domain(name.decode("ascii", "replace"))
        if asked is None:
            return None
        records = [one for one in self._resolver.txt(asked) if b"p=" in one]
        if len(records) != 1 or len(records[0]) > LONGEST_KEY:
            return None
        self.testing |= is_for_tests(record_tags(records[0]))
        return records[0]


# -- what a signature must cover ---------------------------------------------------------------


DECIDING = ("from", "to", "cc", "subject", "date", "message-id")
"""Each must be signed if it is there, and must not be there twice (RFC 6376 section 8.15)."""

ONCE = (*DECIDING, "content-type", "content-transfer-encoding")
"""Signers take the lowest field of a name, our readers the topmost."""

MOST_READERS = 50
LONGEST_LIST = 8_000
# Relaxed canonicalisation as dkimpy has it (RFC 6376 section 3.4.2) takes more than blanks off the
# ends of a field: what is signed would not be, octet by octet, what our readers see.
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# A quote that nothing closes reaches to the end: nobody can tell where the name in it ends.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[^",]+|,', re.DOTALL)


def lacking(headers: Headers, signed: Collection[str], recipient: str) -> str:
    """Why a signature does not count; ``""`` if it does.

    Args:
        headers: the fields of the mail.
        signed: names of the fields that it covers, in lower case.
        recipient: our address that the mail came to.
    """
    for name in ONCE:
        found = len(headers.get(name, ()))
        if found > 1:
            return f"there are {found} {name} fields"
        if found and name in DECIDING and name not in signed:
            return f"{name} is not signed"
    if any(_CONTROL.search(value) for values in headers.values() for value in values):
        return "there are control characters in the header"
    if not headers.get("from"):
        return "there is no from"
    if not message_id(headers):
        return "there is no message-id that copies could be told by"
    readers = [
        one for name in ("to", "cc") for value in headers.get(name, ()) for one in named(value)
    ]
    return "" if recipient.lower() in readers else "it was not written to this address"


def named(value: str) -> list[str]:
    """The addresses in a To or Cc field, in lower case; what cannot be read surely is left out."""
    if len(value) > LONGEST_LIST:
        return []
    mailboxes = [""]
    for piece in _PIECE.findall(value):
        if piece == ",":
            mailboxes.append("")
        else:
            mailboxes[-1] += piece
    found = []
    for mailbox in mailboxes[:MOST_READERS]:
        try:
            found.append(one_mailbox(mailbox.strip()).lower())
        except MailError:
            continue
    return found
