"""A mail program for the people on one machine: it reads their Maildirs and sends by SMTP.

It knows no more of the server than any mail program: the letters, and the address for mail.
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

from pbmserv.outbound.mailbox import Mailbox, StoredLetter, addresses
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.outbound.relays import open_relay

MOST_LISTED = 200
"""Letters in a list, the newest ones."""
LONGEST_BODY = 40_000
"""Characters of a mail: the longest letter as a quote, and an answer."""
LONGEST_LINE = 900
"""Characters of an address or a subject."""

_MAILTO = re.compile(r'href="mailto:([^"]*)"', re.IGNORECASE)
_HEAD = re.compile(r"<head[^<>]*>", re.IGNORECASE)
_URL = re.compile(r"(https?://[^\s<>\"]+)")
_POLICY = SMTP.clone(max_line_length=998, cte_type="7bit")
"""Lines are not folded, because folded References would not match Message-IDs."""


@dataclass(frozen=True, slots=True)
class Person:
    """The owner of a Maildir.

    Attributes:
        unread: keys of the unread letters, the oldest first.
    """

    address: str
    unread: Sequence[str]

    @property
    def name(self) -> str:
        """The local part of the address."""
        return self.address.rpartition("@")[0]


@dataclass(frozen=True, slots=True)
class Draft:
    """A mail that is being written.

    Attributes:
        answers: the key of the letter that it answers; ``""`` for none.
        key: a random word of the page. It goes into the Message-ID, so a form that is sent twice
            makes copies of one mail.
    """

    to: str
    subject: str
    body: str
    answers: str = ""
    key: str = field(default_factory=lambda: secrets.token_hex(8))


@dataclass(frozen=True, slots=True)
class ShownLetter:
    """A letter in a Maildir, as the pages show it."""

    stored: StoredLetter = field(repr=False)
    message: EmailMessage = field(repr=False)

    @property
    def key(self) -> str:
        """The letter's name in the Maildir."""
        return self.stored.key

    @property
    def seen(self) -> bool:
        """Whether the letter was read."""
        return self.stored.seen

    def header(self, name: str) -> str:
        """Return a header field in one line; ``""`` if it is missing."""
        return " ".join(str(self.message[name] or "").split())

    @property
    def when(self) -> str:
        """The Date in this machine's time zone; ``""`` if it is missing or malformed."""
        date: datetime | None = getattr(self.message["Date"], "datetime", None)
        return "" if date is None else date.astimezone().strftime("%d %b %Y, %H:%M")

    @property
    def reply_to(self) -> str:
        """The address for an answer."""
        return parseaddr(self.header("Reply-To") or self.header("From"))[1]

    @property
    def has_html(self) -> bool:
        """Whether the letter has an HTML part."""
        return self.message.get_body(("html",)) is not None

    @property
    def text(self) -> str:
        """The text part; without one, the source of the HTML part; ``""`` without either."""
        part = self.message.get_body(("plain", "html"))
        return "" if part is None else str(part.get_content()).replace("\r\n", "\n")

    @property
    def pieces(self) -> list[str]:
        """The text part in pieces; each second piece is a URL."""
        return _URL.split(self.text)

    def html(self, writing: str) -> str:
        """Return the HTML part with links that open outside of its frame.

        Args:
            writing: the path of the page for writing, to which ``mailto:`` links lead.
        """
        part = self.message.get_body(("html",))
        if part is None:
            return ""

        def link_to_page(mailto: re.Match[str]) -> str:
            draft = draft_of_mailto(unescape(mailto[1]))
            fields = {"to": draft.to, "subject": draft.subject, "body": draft.body}
            pairs = [f"{name}={quote(value, safe='')}" for name, value in fields.items()]
            query = "&amp;".join(pairs)
            return f'href="{writing}?{query}&amp;answers={self.key}" target="_top"'

        page = _MAILTO.sub(link_to_page, str(part.get_content()))
        return _HEAD.sub(lambda head: f'{head[0]}<base target="_blank">', page, count=1)

    def answer(self) -> Draft:
        """Return the draft of an answer, with the letter quoted below, as in most mail programs."""
        subject = self.header("Subject")
        if not subject.lower().startswith("re:"):
            subject = f"Re: {subject}"
        name, address = parseaddr(self.header("From"))
        attribution = f"{self.when}, {name or address} wrote:".removeprefix(", ")
        quoted = "\n".join(f"> {line}".rstrip() for line in self.text.rstrip().split("\n"))
        return Draft(self.reply_to, subject, f"\n\n{attribution}\n{quoted}\n", self.key)


class MailProgram:
    """The mailboxes of all people on this machine.

    Args:
        root: the folder of the Maildirs.
        smtp_url: the port of the server for mail.
        server: the server's address for commands.
    """

    def __init__(self, root: Path, smtp_url: str, server: str) -> None:
        self.server = server
        self._root = root
        self._smtp_url = smtp_url

    def people(self) -> list[Person]:
        """Return the owners of all Maildirs."""
        return [Person(owner, self._box(owner).unread()) for owner in addresses(self._root)]

    def letters(self, address: str) -> list[ShownLetter]:
        """Return the letters of a person, the newest first, at most `MOST_LISTED`."""
        return [_parsed(stored) for stored in self._box(address).newest(MOST_LISTED)]

    def letter(self, address: str, key: str) -> ShownLetter | None:
        """Return a letter; `None` if there is none with this key."""
        stored = self._box(address).letter(key)
        return None if stored is None else _parsed(stored)

    def mark_seen(self, address: str, key: str) -> None:
        """Mark a letter as read."""
        self._box(address).mark_seen(key)

    def send(self, sender: str, draft: Draft) -> None:
        """Send a mail to the server.

        Raises:
            RelayError: the server refused the mail; the text is its reply.
            ValueError: an address or the subject is not allowed in a mail.
        """
        message = self._message(sender, draft)
        recipient = parseaddr(draft.to)[1]
        message_id = str(message["Message-ID"])
        relay = open_relay(self._smtp_url)
        try:
            relay.deliver(OutgoingLetter(0, message_id, sender, recipient, message.as_bytes()))
        finally:
            relay.close()

    def _box(self, address: str) -> Mailbox:
        return Mailbox(self._root, address)

    def _message(self, sender: str, draft: Draft) -> EmailMessage:
        recipient = parseaddr(draft.to)[1]
        if "@" not in recipient or not recipient.isascii():
            raise ValueError(f"{draft.to} is not an address")
        message = EmailMessage(_POLICY)
        message["From"] = Address(addr_spec=sender)
        try:
            message["To"] = Address(addr_spec=recipient)
        except (MessageError, IndexError):  # the library raises either for malformed addresses
            raise ValueError(f"{draft.to} is not an address") from None
        message["Subject"] = " ".join(draft.subject.split())
        message["Date"] = format_datetime(datetime.now(UTC).astimezone())
        facts = repr((sender, draft)).encode("utf-8", "backslashreplace")
        domain = sender.rpartition("@")[2]
        message["Message-ID"] = f"<{hashlib.sha256(facts).hexdigest()[:32]}.mailbox@{domain}>"
        answered = self.letter(sender, draft.answers) if draft.answers else None
        if answered is not None and answered.header("Message-ID"):
            message_id = answered.header("Message-ID")
            message["In-Reply-To"] = message_id
            message["References"] = f"{answered.header('References')} {message_id}".strip()
        message.set_content(draft.body.replace("\r\n", "\n"))
        return message


def draft_of_mailto(link: str) -> Draft:
    """Return the draft that a ``mailto:`` link describes (RFC 6068).

    Args:
        link: the link without ``mailto:``.
    """
    to, _, query = link.partition("?")
    fields: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        fields[name.lower()] = unquote(value)  # unlike in a form, "+" is not a blank
    body = fields.get("body", "").replace("\r\n", "\n")
    return Draft(unquote(to), fields.get("subject", ""), body)


def draft_of_form(fields: Mapping[str, str]) -> Draft:
    """Return the draft in the fields of a form, with fields that are too long cut off."""
    return Draft(
        fields.get("to", "")[:LONGEST_LINE],
        fields.get("subject", "")[:LONGEST_LINE],
        fields.get("body", "").replace("\r\n", "\n")[:LONGEST_BODY],
        fields.get("answers", "")[:LONGEST_LINE],
        fields.get("key", "")[:LONGEST_LINE] or secrets.token_hex(8),
    )


def _parsed(stored: StoredLetter) -> ShownLetter:
    message = message_from_bytes(stored.raw, _class=EmailMessage, policy=default)
    return ShownLetter(stored, message)
