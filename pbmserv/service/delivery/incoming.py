"""Mails that come in: who may have written one, what it asks for, and its lines of the log.

A line of the log holds numbers by which an operator finds the rest: of the mail, its player, the
boards and plies it led to. It never holds an address, a password, a token of a reply address, or a
word of the mail: whoever reads logs need not be trusted with games.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Literal, TypeAlias

from pbmserv.commands.reading.mail import read, read_message, unread
from pbmserv.commands.table.model import Credentials, Reading, ReplyMove, Yes
from pbmserv.errors import MailError
from pbmserv.inbound.dsn import read_report
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.inbound.robots import AWAY_SUBJECT
from pbmserv.inbound.source import source_of
from pbmserv.mail import reading_time
from pbmserv.mail.bounce_codes import Failure
from pbmserv.mail.envelope import NOWHERE, UNCHECKED, Envelope, Mail, Source, Verdict
from pbmserv.mail.networks import Network, block_of
from pbmserv.mail.reading_time import ReadingTooLong
from pbmserv.mail.reply_address import ENDINGS, MailDomain, Purpose, ReplyAddress, speaker_of
from pbmserv.monitoring import metrics
from pbmserv.service.core.results import Receipt
from pbmserv.service.limits.rates import Over
from pbmserv.store.delivery.arrivals import Arrival

_FOR_COMMANDS = frozenset((Purpose.BOARD, Purpose.TRAY, Purpose.PLAYER))
"""Reply addresses whose mails are a player's commands, and no answer to a question: there programs
may write, and plain words are commands."""


@dataclass(frozen=True, slots=True)
class IncomingMail:
    """A mail that has been read and is to be carried out.

    Attributes:
        text: what the writer added on top of any quoted mail.
        reply_address: what the reply address it came to says, if it was one.
        verdict: whether the From address is proven.
        report: whom it reports as not reached, if it came to where a letter comes back to.
        left_out: the mail holds more than `text`, and it may be its writer's.
        source: where it comes from, for counting mails and wrong passwords.
        checked: the userids and passwords in it that may be asked about (`password_checks`).
        only_moves: it is a reply with no command in it, so there is no password in it either.
        comes_back: it came to a letter's envelope sender, which speaks for nobody.
    """

    envelope: Envelope
    mail: Mail
    text: str
    reading: Reading
    reply_address: ReplyAddress | None
    verdict: Verdict = UNCHECKED
    report: tuple[Failure, ...] = ()
    left_out: bool = False
    source: Source = NOWHERE
    checked: frozenset[Credentials] = frozenset()
    only_moves: bool = False
    comes_back: bool = False


class MailReader:
    """Reads envelopes.

    Args:
        games: their names.
        ours: networks of our own mail servers.
    """

    def __init__(
        self, mail_domain: MailDomain, games: Collection[str], ours: Collection[Network]
    ) -> None:
        self.mail_domain = mail_domain
        self._games = games
        self._ours = ours

    def read(self, envelope: Envelope, verdict: Verdict = UNCHECKED) -> IncomingMail:
        """Read a mail. A mail that takes too long is read as one line that is refused.

        Args:
            verdict: on its From address.

        Raises:
            MailError: it cannot be read; the word says why.
        """
        try:
            with reading_time.limited(reading_time.LONGEST_S):
                return self._read(envelope, verdict)
        except ReadingTooLong:
            log.warning("a mail takes too long to read", extra={"octets": len(envelope.raw)})
            return self._read_head(envelope, verdict)

    def _read_head(self, envelope: Envelope, verdict: Verdict) -> IncomingMail:
        """Read the header of a mail whose text takes too long to read."""
        reply_address = self.mail_domain.read(envelope.recipient)
        source = source_of(envelope, self._ours)
        digest = hashlib.sha256(envelope.raw).hexdigest()
        if reply_address is not None and reply_address.purpose is Purpose.BOUNCE:
            mail = Mail.of_nobody("unreadable", digest)
            return _returned(envelope, mail, reply_address, source, ())
        head = envelope.raw.partition(b"\r\n\r\n")[0]
        mail = self._mail(replace(envelope, raw=head + b"\r\n\r\n"))
        mail = replace(mail, unread="too-long", digest=mail.digest if mail.message_id else digest)
        return IncomingMail(
            envelope, mail, "", unread(mail.unread), reply_address, verdict, source=source
        )

    def _read(self, envelope: Envelope, verdict: Verdict) -> IncomingMail:
        reply_address = self.mail_domain.read(envelope.recipient)
        source = source_of(envelope, self._ours)
        if reply_address is not None and reply_address.purpose is Purpose.BOUNCE:
            return self._read_returned(envelope, reply_address, source)
        mail = self._mail(envelope)
        if reply_address is None:
            envelope, reply_address = self._addressed(envelope, mail)
        found = read_new_text(mail.text, mail.sender if reply_address is not None else "")
        text, left_out = found.text, found.left_out or mail.left_out
        # A reply without any text says yes, so one that could not be read must not look like that;
        # to a mail with a picture and a command in its subject nothing is missing.
        if mail.unread and (reply_address is not None or mail.unread != "no-text"):
            reading, left_out = unread(mail.unread), False
        else:
            purpose = None if reply_address is None else reply_address.purpose
            by_hand = not mail.automatic
            reading = reading_of(mail.subject, text, self._games, purpose, by_hand=by_hand)
        commands = [line for line in reading.lines if not isinstance(line.asked, ReplyMove)]
        return IncomingMail(
            envelope,
            mail,
            text,
            reading,
            reply_address,
            verdict,
            left_out=left_out,
            source=source,
            only_moves=not commands,
        )

    def _addressed(self, envelope: Envelope, mail: Mail) -> tuple[Envelope, ReplyAddress | None]:
        """Return the envelope and the reply address with which to read a mail to the plain address.

        A "reply to all" goes to the reply address of a letter and to the plain address. Both
        copies are read as mails to the reply address, so whichever comes second is a copy of a
        known mail. A mail in which a player gives a password is for the plain address, too, if
        the reply address only takes answers.
        """
        if not self.mail_domain.is_ours(envelope.recipient) or self.mail_domain.is_postmaster(
            envelope.recipient
        ):
            return envelope, None
        for recipient in mail.recipients:
            reply_address = self.mail_domain.read(recipient)
            if reply_address is None or reply_address.purpose is Purpose.BOUNCE:
                continue
            if reply_address.purpose not in _FOR_COMMANDS:
                reading = reading_of(mail.subject, read_new_text(mail.text).text, self._games, None)
                if any(line.who is not None for line in reading.lines):
                    return envelope, None
            return replace(envelope, recipient=recipient), reply_address
        return envelope, None

    def put_off(self, envelope: Envelope) -> tuple[str, Over]:
        """Who wrote a mail over a limit, of which the door has stored the headers, and which limit;
        ``""``: a machine, or nobody."""
        head, _, told = envelope.raw.partition(b"\r\n\r\n")
        facts = json.loads(told)
        over = Over(**(facts | {"again": datetime.fromisoformat(facts["again"])}))
        try:
            mail = self._mail(replace(envelope, raw=head + b"\r\n\r\n"))
        except MailError:
            return "", over
        return "" if mail.automatic else mail.sender, over

    def note_done(
        self, arrival: Arrival, incoming: IncomingMail | None, receipt: Receipt, ms: float
    ) -> None:
        """Log and count a mail that play has settled. *incoming*: what was read of it, if it was.

        *ms*: milliseconds since play took it.
        """
        envelope, because = arrival.envelope, ""
        if receipt.outcome == "put-off":
            because = "over the limit of the player"
        elif receipt.outcome == "ignored" and incoming is not None:
            because = incoming.mail.automatic
        elif not (incoming and incoming.reply_address) and self.mail_domain.is_postmaster(
            envelope.recipient
        ):
            because = "for the postmaster"
        reading = incoming.reading if incoming is not None else None
        source = incoming.source if incoming is not None else source_of(envelope, self._ours)
        outcome = Outcome("", receipt.outcome, because, receipt, reading, arrival.id)
        note_mail(self.mail_domain, envelope, outcome, source, ms)

    def _mail(self, envelope: Envelope) -> Mail:
        return read_mail(envelope, host=self.mail_domain.address, is_ours=self.mail_domain.is_ours)

    def _read_returned(
        self, envelope: Envelope, reply_address: ReplyAddress, source: Source
    ) -> IncomingMail:
        """A mail to where a letter comes back to; commands are not even looked for in it.

        A report need not have a From that anybody could answer to.
        """
        report = read_report(envelope)
        try:
            mail = self._mail(envelope)
        except MailError:
            mail = Mail.of_nobody("unreadable", hashlib.sha256(envelope.raw).hexdigest())
        return _returned(envelope, mail, reply_address, source, report)


def _returned(
    envelope: Envelope,
    mail: Mail,
    reply_address: ReplyAddress,
    source: Source,
    report: tuple[Failure, ...],
) -> IncomingMail:
    """A mail to where a letter comes back to."""
    return IncomingMail(
        envelope,
        mail,
        "",
        Reading(()),
        reply_address,
        report=report,
        source=source,
        comes_back=True,
    )


def reading_of(
    subject: str,
    text: str,
    games: Collection[str],
    purpose: Purpose | None,
    *,
    by_hand: bool = True,
) -> Reading:
    """What a mail asks for.

    Args:
        purpose: of the reply address that it came to, if it did.
        by_hand: no program wrote it, such as one that tells of somebody's holidays.
    """
    if purpose is Purpose.MESSAGE:
        return read_message(text, games)
    tray = purpose is Purpose.TRAY
    plainly = by_hand and purpose in _FOR_COMMANDS
    return read(subject, text, games=games, reply=purpose is not None, tray=tray, plainly=plainly)


def is_set_aside(incoming: IncomingMail) -> bool:
    """Whether a machine's mail is to be neither carried out nor answered; a letter that comes back
    is to be carried out."""
    return not (incoming.comes_back or _robot_may_play(incoming, incoming.mail))


def _robot_may_play(incoming: IncomingMail, mail: Mail) -> bool:
    """Return whether a mail that must not be answered may still be a player's.

    Exchange, lists and newsletters' software mark people's mails like a machine's, a player may use
    a program of their own, and a person may write a subject like that of an out-of-office note.
    """
    if not mail.only_headers and mail.automatic != AWAY_SUBJECT:
        return False
    lines, reply_address = incoming.reading.lines, incoming.reply_address
    if reply_address is None:
        return bool(lines) and all(line.who is not None for line in lines)
    purpose = reply_address.purpose
    if purpose in ENDINGS:  # written by programs, and empty
        return mail.only_headers
    is_marked = mail.only_headers and not mail.away
    answers = [line.asked for line in lines if isinstance(line.asked, Yes)]
    if answers:  # an empty answer of a machine is not the yes that a person's is
        return is_marked and not any(answer.unsaid for answer in answers)
    if purpose in _FOR_COMMANDS:
        return True
    # Words for another player: two programs must not talk to each other through the server.
    return is_marked and mail.automatic not in {"auto-submitted", "precedence"}


log = logging.getLogger("pbmserv.receive")

Name: TypeAlias = Literal["taken", "copy", "ignored", "kept", "put-off", "refused"]

_CODE = re.compile(r"\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_QUOTED = re.compile(r"[\"'<].*")
_CAMEL = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mail.

    Attributes:
        reply: to the client.
        because: why it was not carried out; ``""`` where it was.
        receipt: what the office says of a mail that has a number.
        reading: its commands, where they were read.
        arrival: the number under which the door stores it; it joins the door's line with play's.
    """

    reply: str
    name: Name
    because: str = ""
    receipt: Receipt | None = None
    reading: Reading | None = None
    arrival: int = 0


_counted = cache(metrics.MAILS.labels)


def note_arrival(number: int, envelope: Envelope, source: Source, ms: float) -> None:
    """Log a mail that the door has taken. *ms*: milliseconds from its last octet to its 250."""
    if log.isEnabledFor(logging.INFO):
        network = source.network or "unknown"
        facts = {"arrival": number, "network": network, "octets": len(envelope.raw)}
        log.info("arrival", extra={**facts, "ms": round(ms, 1)})


def note_mail(
    mail_domain: MailDomain, envelope: Envelope, outcome: Outcome, source: Source, ms: float
) -> None:
    """Log and count a mail. *ms*: milliseconds from its last octet."""
    _counted(outcome.name).inc()
    metrics.MAIL_SECONDS.observe(ms / 1000)
    if outcome.name in {"put-off", "refused"}:
        metrics.REFUSALS.labels(code_of(outcome.reply)).inc()
    if not log.isEnabledFor(logging.INFO):
        return
    receipt, reply_address = outcome.receipt, mail_domain.read(envelope.recipient)
    facts: dict[str, object] = {} if receipt is None else {"mail": receipt.mail}
    if outcome.arrival:
        facts["arrival"] = outcome.arrival
    facts |= {"outcome": outcome.name, "to": _kind(mail_domain, envelope.recipient, reply_address)}
    player = (receipt.player if receipt else 0) or speaker_of(reply_address)
    if player:
        facts["player"] = player
    facts["network"] = source.network or "unknown"
    if outcome.reading is not None and outcome.reading.lines:
        facts["commands"] = names_of(outcome.reading)
    if receipt is not None and outcome.name == "taken":
        facts |= {"done": receipt.done, "refused": receipt.refused, "letters": receipt.letters}
        if receipt.plies:
            facts["plies"] = ",".join(f"{board}/{ply}" for board, ply in receipt.plies)
    if outcome.because:
        # Only refusals have `because`: a flood of them is folded, and other mails are not.
        key = "because" if outcome.name in {"put-off", "refused"} else "why"
        facts[key] = outcome.because
    facts |= {"octets": len(envelope.raw), "ms": round(ms, 1)}
    log.info("mail", extra=facts)


def note_refusal(event: str, peer: str, reply: str) -> None:
    """Log and count a refusal of ours. *reply*: with its code."""
    metrics.REFUSALS.labels(code_of(reply)).inc()
    log.info(event, extra={"network": network_of(peer), "because": _safe(reply)})


def network_of(peer: str) -> str:
    """A client's network, as Prometheus, fail2ban and people read it."""
    block = block_of(peer)
    return "unknown" if block is None else str(block)


def _kind(mail_domain: MailDomain, recipient: str, reply_address: ReplyAddress | None) -> str:
    """What one of our addresses is for; its token is a secret."""
    if reply_address is not None:
        return reply_address.purpose.name.lower().replace("_", "-")
    return "postmaster" if mail_domain.is_postmaster(recipient) else "server"


def names_of(reading: Reading) -> str:
    """The names of a mail's commands, each once: ``make-move*3,show``."""
    found = Counter(_name(type(line.asked).__name__) for line in reading.lines)
    return ",".join(name if n == 1 else f"{name}*{n}" for name, n in found.items())


def code_of(reply: str) -> str:
    """The code of a reply, with the enhanced one: ``550 5.1.1``."""
    found = _CODE.match(reply)
    return found[0] if found else "unknown"


@cache
def _name(asked: str) -> str:
    return _CAMEL.sub("-", asked).lower()


def _safe(reply: str) -> str:
    """A reply's first line without what it quotes of the client's words."""
    return _QUOTED.sub("", reply.partition("\r\n")[0]).strip()
