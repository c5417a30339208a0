"""Helpers that return letters to a server."""

from __future__ import annotations

from indoors import Indoors, Posted
from server_reports import REPORTS, ServerReport

from pbmserv.mail.envelope import Envelope
from pbmserv.mail.reply_address import Purpose, ReplyAddress

KINDS = {report.name: report for report in REPORTS}


def comes_from(house: Indoors, letter: Posted) -> str:
    """Return the envelope sender of a letter."""
    about = ReplyAddress(Purpose.BOUNCE, about=letter.id)
    return house.server.mail_domain.address_of(about)


def come_back(
    house: Indoors,
    letter: Posted,
    kind: str | ServerReport = "postfix",
    *,
    to: str = "",
    sender: str = "",
) -> list[Posted]:
    """Deliver a report about *letter*; return the letters that follow."""
    report = KINDS[kind] if isinstance(kind, str) else kind
    assert letter.raw  # it was made before it came back
    address = comes_from(house, letter)
    raw = report.raw(to or letter.recipient, address)
    # Each report is a mail of its own.
    raw = raw.replace(b"Subject: ", b"X-Number: %d\r\nSubject: " % house.mails, 1)
    house.mails += 1
    raw = raw.replace(b"Message-I", b"X-Message-I", 1).replace(b"X-X-", b"X-")
    return deliver(house, sender, address, raw)


def deliver(house: Indoors, sender: str, to: str, raw: bytes) -> list[Posted]:
    """Deliver a mail with this envelope."""
    answer = house.hand_in(Envelope(sender, to, raw))
    assert answer.startswith("250"), answer
    return house.letters()
