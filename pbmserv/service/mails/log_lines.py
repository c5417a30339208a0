"""The log lines and metrics of mails and presses.

A line holds numbers by which an operator finds the mail, its player, and the boards and plies that
it led to. It never holds an address, a password, a token, or a word of the mail: readers of logs
need not be trusted with games.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pbmserv.commands.grammar.readings import Reading
from pbmserv.inbound.mail_reports import MailReport
from pbmserv.mail.envelope import Envelope, Source
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import ReplyAddress, speaker_of
from pbmserv.monitoring import metrics
from pbmserv.service.core.job_result import MailOutcome, Receipt
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.store.delivery.arrivals import Arrival

log = logging.getLogger("pbmserv.receive")

_CAMEL = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Decision:
    """The door's decision about a mail.

    Attributes:
        reply: the reply to the client.
        because: why the mail was not stored; ``""`` if it was.
    """

    reply: str
    outcome: Literal["taken", "put-off", "refused"]
    because: str = ""


def note_press(receipt: Receipt, reading: Reading, arrival: int, octets: int, ms: float) -> None:
    """Log and count a player's command from a page that play has carried out.

    Args:
        arrival: its number among the arrivals.
        octets: its size.
        ms: milliseconds since play took it.
    """
    _count(receipt.outcome, ms)
    facts: dict[str, object] = {
        "mail": receipt.mail,
        "arrival": arrival,
        "outcome": receipt.outcome,
        "player": receipt.player,
        "commands": _names_of(reading),
        **_effects(receipt),
    }
    log.info("press", extra={**facts, "octets": octets, "ms": round(ms, 1)})


def note_press_over_limit(player: int, octets: int, ms: float) -> None:
    """Log and count a command from a page whose player has sent too much."""
    _count("put-off", ms)
    facts = {"outcome": "put-off", "player": player, "because": "over the limit of the player"}
    log.info("press", extra={**facts, "octets": octets, "ms": round(ms, 1)})


def _count(outcome: MailOutcome | Literal["refused"], ms: float) -> None:
    metrics.MAILS.labels(outcome).inc()
    metrics.MAIL_SECONDS.observe(ms / 1000)


def _effects(receipt: Receipt) -> dict[str, object]:
    if receipt.outcome != "taken":
        return {}
    facts: dict[str, object] = {
        "done": receipt.done,
        "refused": receipt.refused,
        "letters": receipt.letters,
    }
    if receipt.plies:
        facts["plies"] = ",".join(f"{board}/{ply}" for board, ply in receipt.plies)
    return facts


def note_decision(
    mail_domain: MailDomain, envelope: Envelope, decision: Decision, source: Source, ms: float
) -> None:
    """Log and count a mail that the door has put off or refused.

    Args:
        ms: milliseconds since its last octet.
    """
    _count(decision.outcome, ms)
    metrics.count_refusal(decision.reply)
    facts = {"outcome": decision.outcome, **_addressee(mail_domain, envelope, source)}
    _log_mail(envelope, facts | {"because": decision.because}, ms)


def note_settled(
    mail_domain: MailDomain,
    arrival: Arrival,
    incoming: IncomingMail | None,
    source: Source,
    receipt: Receipt,
    ms: float,
) -> None:
    """Log and count a mail that play has carried out, kept, or set aside.

    Args:
        incoming: the mail as it was read; `None` if it was not.
        ms: milliseconds since play took it.
    """
    if incoming is not None and incoming.mail_report is not None and receipt.outcome == "ignored":
        _note_mail_report(incoming.mail_report, receipt.mail)
    _count(receipt.outcome, ms)
    envelope, because = arrival.envelope, receipt.because
    if not because and mail_domain.is_postmaster(envelope.recipient):
        because = "for the postmaster"
    facts: dict[str, object] = {"mail": receipt.mail, "arrival": arrival.id}
    facts["outcome"] = receipt.outcome
    facts |= _addressee(mail_domain, envelope, source, receipt.player)
    if incoming is not None and incoming.reading.lines:
        facts["commands"] = _names_of(incoming.reading)
    facts |= _effects(receipt)
    if because:
        # A flood of lines with `because` is folded; lines of other mails are not.
        facts["because" if receipt.outcome == "put-off" else "why"] = because
    _log_mail(envelope, facts, ms)


def _addressee(
    mail_domain: MailDomain, envelope: Envelope, source: Source, player: int = 0
) -> dict[str, object]:
    """Return the facts about the recipient address of a mail, its player and its origin."""
    reply_address = mail_domain.read(envelope.recipient)
    facts: dict[str, object] = {"to": _kind(mail_domain, envelope.recipient, reply_address)}
    player = player or speaker_of(reply_address)
    if player:
        facts["player"] = player
    return facts | {"network": source.network or "unknown"}


def _log_mail(envelope: Envelope, facts: Mapping[str, object], ms: float) -> None:
    log.info("mail", extra={**facts, "octets": len(envelope.raw), "ms": round(ms, 1)})


def _note_mail_report(report: MailReport, mail: int) -> None:
    """Log and count a report of another mail server about our mail.

    Args:
        mail: its number.
    """
    metrics.MAIL_REPORTS.labels(report.kind).inc()
    metrics.REPORTED.labels(report.kind, "passed").inc(report.passed)
    metrics.REPORTED.labels(report.kind, "failed").inc(report.failed)
    facts = {"mail": mail, "kind": report.kind, "passed": report.passed, "failed": report.failed}
    log.info("mail report", extra=facts)


def _kind(mail_domain: MailDomain, recipient: str, reply_address: ReplyAddress | None) -> str:
    """Return the purpose of one of our addresses; its token is a secret."""
    if reply_address is not None:
        return reply_address.purpose.name.lower().replace("_", "-")
    return "postmaster" if mail_domain.is_postmaster(recipient) else "server"


def _names_of(reading: Reading) -> str:
    """Return the names of a mail's commands, each once: ``make-move*3,show``."""
    counts = Counter(_CAMEL.sub("-", type(line.meaning).__name__).lower() for line in reading.lines)
    return ",".join(name if n == 1 else f"{name}*{n}" for name, n in counts.items())
