"""A mail program for the people on one machine: reads their Maildirs, and writes by SMTP.

It knows of the server what any mail program knows: what letters say, and where mail goes.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, default
from email.utils import format_datetime, parseaddr
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote

from pbmserv.outbound.maildir import Mailbox, StoredLetter, addresses
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.outbound.relays import open_relay

MOST_LISTED = 200
"""Letters in a list; the newest ones."""
LONGEST_BODY = 40_000
"""Characters of a mail: the longest letter, quoted, and an answer."""
LONGEST_LINE = 900
"""Characters of an address or a subject."""

_MAILTO = re.compile(r'href="mailto:([^"]*)"', re.IGNORECASE)
_HEAD = re.compile(r"<head[^<>]*>", re.IGNORECASE)
_URL = re.compile(r"(https?://[^\s<>\"]+)")
_POLICY = SMTP.clone(max_line_length=998, cte_type="7bit")
"""Folded References no longer match what they refer to."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has letters here.

    Attributes:
        unread: keys of the letters that nobody has read, the oldest first.
    """

    address: str
    unread: Sequence[str]

    @property
    def name(self) -> str:
        """What stands before the @."""
        return self.address.rpartition("@")[0]


@dataclass(frozen=True, slots=True)
class Draft:
    """A mail that is being written.

    Attributes:
        answers: the key of the letter that it answers; "" for none.
        key: a random word of the page: the same mail sent twice is one mail.
    """

    to: str
    subject: str
    body: str
    answers: str = ""
    key: str = field(default_factory=lambda: secrets.token_hex(8))


@dataclass(frozen=True, slots=True)
class ShownLetter:
    """A letter in somebody's Maildir, to be shown."""

    stored: StoredLetter = field(repr=False)
    message: EmailMessage = field(repr=False)

    @property
    def key(self) -> str:
        """Its name in the Maildir."""
        return self.stored.key

    @property
    def seen(self) -> bool:
        """Somebody has read it."""
        return self.stored.seen

    def header(self, name: str) -> str:
        """A header in one line; "" where it is missing."""
        return " ".join(str(self.message[name] or "").split())

    @property
    def when(self) -> str:
        """When it was written, by this machine's clock."""
        moment = self.moment
        return "" if moment is None else moment.astimezone().strftime("%d %b %Y, %H:%M")

    @property
    def moment(self) -> datetime | None:
        """When it was written; ``None``: it does not say so."""
        header = self.message["Date"]
        found: datetime | None = getattr(header, "datetime", None)
        return found

    @property
    def reply_to(self) -> str:
        """Where an answer goes."""
        return parseaddr(self.header("Reply-To") or self.header("From"))[1]

    @property
    def has_html(self) -> bool:
        """Whether there is more to see than text."""
        return self.message.get_body(("html",)) is not None

    @property
    def text(self) -> str:
        """The text part."""
        part = self.message.get_body(("plain", "html"))
        return "" if part is None else str(part.get_content()).replace("\r\n", "\n")

    @property
    def pieces(self) -> list[str]:
        """The text part, divided: each second piece is a link to a page."""
        return _URL.split(self.text)

    def html(self, writing: str) -> str:
        """The HTML part, whose links open outside of its frame.

        Args:
            writing: the page that a ``mailto:`` leads to, to which a query can be added.
        """
        part = self.message.get_body(("html",))
        if part is None:
            return ""

        def composing(found: re.Match[str]) -> str:
            draft = of_mailto(unescape(found[1]))
            said = {"to": draft.to, "subject": draft.subject, "body": draft.body}
            query = "&amp;".join(f"{name}={quote(value, safe='')}" for name, value in said.items())
            return f'href="{writing}?{query}&amp;answers={self.key}" target="_top"'

        page = _MAILTO.sub(composing, str(part.get_content()))
        return _HEAD.sub(lambda head: f'{head[0]}<base target="_blank">', page, count=1)

    def answer(self) -> Draft:
        """An answer to it as mail programs begin one: what is quoted stands below."""
        subject = self.header("Subject")
        if not subject.lower().startswith("re:"):
            subject = f"Re: {subject}"
        said = parseaddr(self.header("From"))
        wrote = f"{self.when}, {said[0] or said[1]} wrote:".removeprefix(", ")
        quoted = "\n".join(f"> {line}".rstrip() for line in self.text.rstrip().split("\n"))
        return Draft(self.reply_to, subject, f"\n\n{wrote}\n{quoted}\n", self.key)


class MailProgram:
    """The mailboxes of everybody on this machine.

    Args:
        root: the folder of the Maildirs.
        door: where mail goes, as the URL of a relay.
        server: the address that commands go to.
    """

    def __init__(self, root: Path, door: str, server: str) -> None:
        self.server = server
        self._root = root
        self._door = door

    def people(self) -> list[Person]:
        """Everybody who has letters here."""
        return [Person(one, self._box(one).unread()) for one in addresses(self._root)]

    def letters(self, address: str) -> list[ShownLetter]:
        """The newest letters of somebody, the newest first."""
        return [_shown(stored) for stored in self._box(address).newest(MOST_LISTED)]

    def letter(self, address: str, key: str) -> ShownLetter | None:
        """One letter; ``None``: it is not there."""
        stored = self._box(address).letter(key)
        return None if stored is None else _shown(stored)

    def mark_seen(self, address: str, key: str) -> None:
        """Note that it was read."""
        self._box(address).mark_seen(key)

    def send(self, sender: str, draft: Draft) -> None:
        """Hand a mail to the server.

        Raises:
            RelayError: it was not taken; the server's own words.
            ValueError: an address or the subject cannot stand in a mail.
        """
        message = self._written(sender, draft)
        recipient = parseaddr(draft.to)[1]
        number = str(message["Message-ID"])
        door = open_relay(self._door)
        try:
            door.deliver(OutgoingLetter(0, number, sender, recipient, message.as_bytes()))
        finally:
            door.close()

    def _box(self, address: str) -> Mailbox:
        return Mailbox(self._root, address)

    def _written(self, sender: str, draft: Draft) -> EmailMessage:
        recipient = parseaddr(draft.to)[1]
        if "@" not in recipient or not recipient.isascii():
            raise ValueError(f"{draft.to} is no address")
        message = EmailMessage(_POLICY)
        message["From"] = Address(addr_spec=sender)
        try:
            message["To"] = Address(addr_spec=recipient)
        except (MessageError, IndexError):  # as the library's reading of addresses has it
            raise ValueError(f"{draft.to} is no address") from None
        message["Subject"] = " ".join(draft.subject.split())
        message["Date"] = format_datetime(datetime.now(UTC).astimezone())
        same = hashlib.sha256(repr((sender, draft)).encode("utf-8", "backslashreplace")).hexdigest()
        domain = sender.rpartition("@")[2]
        message["Message-ID"] = f"<{same[:32]}.mailbox@{domain}>"
        answered = self.letter(sender, draft.answers) if draft.answers else None
        if answered is not None and answered.header("Message-ID"):
            number = answered.header("Message-ID")
            message["In-Reply-To"] = number
            message["References"] = f"{answered.header('References')} {number}".strip()
        message.set_content(draft.body.replace("\r\n", "\n"))
        return message


def of_mailto(link: str) -> Draft:
    """What a ``mailto:`` link fills in (RFC 6068), without the scheme."""
    to, _, query = link.partition("?")
    said: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")  # a "+" is a plus here, and no blank
        said[name.lower()] = unquote(value)
    body = said.get("body", "").replace("\r\n", "\n")
    return Draft(unquote(to), said.get("subject", ""), body)


def drafted(fields: Mapping[str, str]) -> Draft:
    """A draft from the fields of a page, cut where no mail is as long."""
    return Draft(
        fields.get("to", "")[:LONGEST_LINE],
        fields.get("subject", "")[:LONGEST_LINE],
        fields.get("body", "").replace("\r\n", "\n")[:LONGEST_BODY],
        fields.get("answers", "")[:LONGEST_LINE],
        fields.get("key", "")[:LONGEST_LINE] or secrets.token_hex(8),
    )


def _shown(stored: StoredLetter) -> ShownLetter:
    message = message_from_bytes(stored.raw, _class=EmailMessage, policy=default)
    return ShownLetter(stored, message)
