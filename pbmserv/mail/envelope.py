"""A mail as it came (`Envelope`), as it was read (`Mail`), and whether its sender is proven."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """One mail for one of our addresses, as the wire gave it.

    Attributes:
        sender: MAIL FROM address, ``""`` for the null sender.
        recipient: one RCPT TO address (a mail to two is two envelopes).
        raw: the message, CRLF lines, without the final dot.
        peer: the client's network address, for logs and limits.
        hello: the name that the client gave in HELO or EHLO.
        handed_on: one of our own mail servers brought it, so `peer` is not where it
            comes from, and what that server found out about its sender can be believed.
    """

    sender: str
    recipient: str
    raw: bytes
    peer: str = ""
    hello: str = ""
    handed_on: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether `peer` is the client that sent it, so that the client says something."""
        return bool(self.peer) and not self.handed_on


@dataclass(frozen=True, slots=True)
class Mail:
    """A parsed mail.

    Attributes:
        sender: the one address of the one From header, domain in lower case.
        message_id: with its angle brackets, or ``""``.
        subject: decoded, one line, NFC.
        text: the body as plain text with LF line ends, NFC; quoted parts and
            signature still in it.
        automatic: why this mail must not be answered (a word for the log such
            as ``"auto-submitted"``), or ``""`` for a person's mail.
        only_auto_submitted: `automatic` is for ``Auto-Submitted`` alone, so a
            command in an authenticated reply is still carried out.
        digest: hex SHA-256 that is equal for two copies of one mail (Message-ID,
            else date, subject and body; with the sender).
        away: it looks like the note of somebody who is out of the office.
        unread: why the body was not read, ``""`` if it was: ``"encrypted"``, ``"opaque"``
            (an S/MIME wrapper), ``"html"`` (markup too big or deep) or ``"no-text"`` (only files).
        left_out: the mail had more than `text` in it, or more than could be kept: files,
            pictures, a calendar's answer. Together with ``NewText.left_out``
            (`pbmserv.inbound.quotes.reply`): an empty reply need not mean that nothing was said.
        answers: Message-IDs of the mails that it answers, by its headers; anybody can write any.
    """

    sender: str
    message_id: str
    subject: str
    text: str
    automatic: str
    only_auto_submitted: bool
    digest: str
    away: bool = False
    unread: str = ""
    left_out: bool = False
    answers: tuple[str, ...] = ()

    @classmethod
    def of_nobody(cls, why: str, digest: str = "") -> Mail:
        """Stands where there is no mail that could be answered; *why* becomes `automatic`."""
        return cls("", "", "", "", automatic=why, only_auto_submitted=False, digest=digest)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the domain of a mail's From address vouches for it (RFC 7489 section 4.2).

    Attributes:
        result: ``"pass"``: proven; ``"fail"``: not proven; ``"forged"``: not proven, and the
            domain asks to refuse such mails; ``"temperror"``: a name server did not answer;
            ``"unchecked"``: there was nothing to look at.
        found: what was looked at and what each check said, in one line, for the operator.
    """

    result: str = "unchecked"
    found: str = ""

    @property
    def passed(self) -> bool:
        """Whether the From address is proven."""
        return self.result == "pass"


UNCHECKED = Verdict()
