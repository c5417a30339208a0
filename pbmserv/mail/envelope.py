"""A mail on its way through the server: as received and as read, its source and its proof."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """A received mail for one of our addresses.

    Attributes:
        sender: MAIL FROM address; ``""`` for the null sender.
        recipient: RCPT TO address. A mail with two recipients has two envelopes.
        raw: the message with CRLF lines, without the final dot.
        peer: the client's network address, for logs and limits.
        hello: the name that the client gave in HELO or EHLO.
        handed_on: one of our own mail servers is the client. So `peer` is not the source of the
            mail, and that server's results about the sender can be believed.
    """

    sender: str
    recipient: str
    raw: bytes
    peer: str = ""
    hello: str = ""
    handed_on: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether `peer` is the mail's source, so that its address can prove something."""
        return bool(self.peer) and not self.handed_on


@dataclass(frozen=True, slots=True)
class Mail:
    """A parsed mail.

    Attributes:
        sender: the address of the From field, with its domain in lower case.
        message_id: the Message-ID with its angle brackets; ``""`` for none.
        subject: the decoded subject in one line, in NFC.
        text: the body as plain text with LF line ends, in NFC, including quotes and signature.
        automatic: the reason why the mail must not be answered (a word for the log such as
            ``"auto-submitted"``); ``""`` for a person's mail.
        only_headers: the only reasons for `automatic` are header fields that mail systems also add
            to people's mails, so a command at a reply address is still carried out.
        digest: hex SHA-256 of the sender and the Message-ID (or date, subject and body); copies of
            a mail have the same one.
        away: the mail looks like an out-of-office note.
        unread: the reason why the body was not read; ``""`` for none. ``"encrypted"``, ``"opaque"``
            (an S/MIME wrapper), ``"html"`` (markup beyond the limits), ``"no-text"`` (only files)
            or ``"too-long"`` (beyond the time for reading).
        left_out: the mail holds more than `text`: files, pictures, a calendar's answer. If this or
            ``NewText.left_out`` (`pbmserv.inbound.quotes.reply`) is set, an empty reply does not
            prove that its writer said nothing.
        answers: Message-IDs of the mails that it answers. They may be forged.
        recipients: addresses of this server in the To and Cc fields, in order. They may be forged.
    """

    sender: str
    message_id: str
    subject: str
    text: str
    automatic: str
    only_headers: bool
    digest: str
    away: bool = False
    unread: str = ""
    left_out: bool = False
    answers: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a mail's From address (RFC 7489 section 4.2).

    Attributes:
        result: ``"pass"``: proven; ``"fail"``: not proven; ``"forged"``: not proven, and the
            domain's policy is to refuse such mails; ``"temperror"``: a name server did not answer;
            ``"unchecked"``: the mail holds nothing to check.
        checks: the result of each check in one line, for the operator.
    """

    result: str = "unchecked"
    checks: str = ""

    @property
    def passed(self) -> bool:
        """Whether the From address is proven."""
        return self.result == "pass"


UNCHECKED = Verdict()
BY_REPLY_ADDRESS = Verdict("unchecked", "not looked at: the reply address says who writes")
"""The door's verdict on a mail to a reply address, which does not wait for name servers. Play has
the sender checked if a command of the mail needs more proof."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a mail.

    Attributes:
        network: the /24 or /64 of the client that sent the mail to us, or to a mail server of ours;
            ``""`` if it is unknown.
        sender: the envelope's sender in lower case; ``""`` for the null sender. It may be forged.
    """

    network: str
    sender: str

    @property
    def neighbours(self) -> str:
        """The group that shares a limit: the network, or the sender's domain if it is unknown."""
        return self.network or f"@{self.sender.rpartition('@')[2]}"


NOWHERE = Source("", "")
"""The source of requests that do not come by mail."""
