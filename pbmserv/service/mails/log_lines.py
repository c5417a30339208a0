"""The log lines and metrics of mails and presses.

A line holds numbers by which an operator finds the mail, its player, and the boards and plies that
it led to. It never holds an address, a password, a token, or a word of the mail: readers of logs
need not be trusted with games.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from pbmserv.commands.grammar.readings import Reading
from pbmserv.inbound.mail_reports import MailReport
from pbmserv.mail.envelope import Envelope, Source
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.networks import block_of
from pbmserv.mail.reply_address import ReplyAddress, speaker_of
from pbmserv.monitoring import metrics
from pbmserv.service.core.outcome import Receipt
from pbmserv.service.mails.incoming import MAIL_REPORT, IncomingMail
from pbmserv.store.delivery.arrivals import Arrival

log = logging.getLogger("pbmserv.receive")

Name: TypeAlias = Literal["taken", "copy", "ignored", "kept", "put-off", "refused"]

_CODE = re.compile(r"\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_QUOTED = re.compile(r"[\"'<].*")
_CAMEL = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a mail, at the door or in play.

    Attributes:
        reply: the reply to the client.
        because: why it was not carried out; ``""`` if it was.
        receipt: its inbox row, if it has one.
        reading: its commands, if they were read.
        arrival: its number among the arrivals, which joins the door's line with play's.
    """

    reply: str
    name: Name
    because: str = ""
    receipt: Receipt | None = None
    reading: Reading | None = None
    arrival: int = 0


_counted = cache(metrics.MAILS.labels)


def note_arrival(number: int, source: Source, octets: int, ms: float) -> None:
    """Log a mail or press that the door has stored.

    Args:
        ms: milliseconds from its last octet to the commit.
    """
    if log.isEnabledFor(logging.INFO):
        facts = {"arrival": number, "network": source.network or "unknown", "octets": octets}
        log.info("arrival", extra={**facts, "ms": round(ms, 1)})


def note_press(receipt: Receipt, reading: Reading, arrival: int, octets: int, ms: float) -> None:
    """Log and count a player's command from a page that play has carried out.

    Args:
        arrival: its number among the arrivals.
        octets: its size.
        ms: milliseconds since play took it.
    """
    _count(receipt.outcome, ms)
    if not log.isEnabledFor(logging.INFO):
        return
    facts: dict[str, object] = {
        "mail": receipt.mail,
        "arrival": arrival,
        "outcome": receipt.outcome,
        "player": receipt.player,
        "commands": names_of(reading),
        **_effects(receipt),
    }
    log.info("press", extra={**facts, "octets": octets, "ms": round(ms, 1)})


def note_press_over_limit(player: int, octets: int, ms: float) -> None:
    """Log and count a command from a page whose player has sent too much."""
    _count("put-off", ms)
    facts = {"outcome": "put-off", "player": player, "because": "over the limit of the player"}
    log.info("press", extra={**facts, "octets": octets, "ms": round(ms, 1)})


def _count(outcome: Name, ms: float) -> None:
    _counted(outcome).inc()
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
    because = ""
    if receipt.outcome == "put-off":
        because = "over the limit of the player"
    elif receipt.outcome == "ignored" and incoming is not None:
        because = incoming.mail.automatic
        if incoming.mail_report is not None:
            because = MAIL_REPORT
            note_mail_report(incoming.mail_report, receipt.mail)
    elif not (incoming and incoming.reply_address) and mail_domain.is_postmaster(
        arrival.envelope.recipient
    ):
        because = "for the postmaster"
    reading = incoming.reading if incoming is not None else None
    outcome = Outcome("", receipt.outcome, because, receipt, reading, arrival.id)
    note_mail(mail_domain, arrival.envelope, outcome, source, ms)


def note_mail(
    mail_domain: MailDomain, envelope: Envelope, outcome: Outcome, source: Source, ms: float
) -> None:
    """Log and count a mail.

    Args:
        ms: milliseconds since its last octet, or since play took it.
    """
    _count(outcome.name, ms)
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
    if receipt is not None:
        facts |= _effects(receipt)
    if outcome.because:
        # Only refusals have `because`: a flood of them is folded, and other mails are not.
        key = "because" if outcome.name in {"put-off", "refused"} else "why"
        facts[key] = outcome.because
    facts |= {"octets": len(envelope.raw), "ms": round(ms, 1)}
    log.info("mail", extra=facts)


def note_mail_report(report: MailReport, mail: int) -> None:
    """Log and count a report of another mail server about our mail.

    Args:
        mail: its number.
    """
    metrics.MAIL_REPORTS.labels(report.kind).inc()
    metrics.REPORTED.labels(report.kind, "passed").inc(report.passed)
    metrics.REPORTED.labels(report.kind, "failed").inc(report.failed)
    facts = {"mail": mail, "kind": report.kind, "passed": report.passed, "failed": report.failed}
    log.info("mail report", extra=facts)


def note_refusal(event: str, peer: str, reply: str) -> None:
    """Log and count an SMTP refusal.

    Args:
        reply: with its code.
    """
    metrics.REFUSALS.labels(code_of(reply)).inc()
    log.info(event, extra={"network": network_of(peer), "because": _safe(reply)})


def network_of(peer: str) -> str:
    """Return the name of a client's network, ``unknown`` if there is none."""
    block = block_of(peer)
    return "unknown" if block is None else str(block)


def _kind(mail_domain: MailDomain, recipient: str, reply_address: ReplyAddress | None) -> str:
    """Return the purpose of one of our addresses; its token is a secret."""
    if reply_address is not None:
        return reply_address.purpose.name.lower().replace("_", "-")
    return "postmaster" if mail_domain.is_postmaster(recipient) else "server"


def names_of(reading: Reading) -> str:
    """Return the names of a mail's commands, each once: ``make-move*3,show``."""
    counts = Counter(_name(type(line.meaning).__name__) for line in reading.lines)
    return ",".join(name if n == 1 else f"{name}*{n}" for name, n in counts.items())


def code_of(reply: str) -> str:
    """Return the code of a reply, with the enhanced one: ``550 5.1.1``."""
    code = _CODE.match(reply)
    return code[0] if code else "unknown"


@cache
def _name(type_name: str) -> str:
    return _CAMEL.sub("-", type_name).lower()


def _safe(reply: str) -> str:
    """Return the first line of a reply without quotations of the client."""
    return _QUOTED.sub("", reply.partition("\r\n")[0]).strip()
