"""Lines of the log: for each mail that the door takes, for each that play carries out, and for each
refusal at the door.

A line holds numbers by which an operator finds the rest: of the mail, its player, the boards and
plies it led to. It never holds an address, a password, a token of a reply address, or a word of
the mail: whoever reads logs need not be trusted with games.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from pbmserv.commands.table.model import Reading
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.networks import Source, block_of
from pbmserv.mail.reply_address import MailDomain, ReplyAddress
from pbmserv.monitoring import metrics
from pbmserv.service.core.results import Receipt
from pbmserv.service.delivery.mail_reader import IncomingMail
from pbmserv.store.delivery.arrivals import Arrival

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
        source: where it comes from, where that was found out.
        arrival: the number under which the door stores it; it joins the door's line with play's.
    """

    reply: str
    name: Name
    because: str = ""
    receipt: Receipt | None = None
    reading: Reading | None = None
    source: Source | None = None
    arrival: int = 0


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
    _note(mail_domain, envelope, mail_domain.read(envelope.recipient), outcome, source, ms)


def note_done(
    mail_domain: MailDomain,
    arrival: Arrival,
    incoming: IncomingMail | None,
    receipt: Receipt,
    source: Source,
    ms: float,
) -> None:
    """Log and count a mail that play has settled. *incoming*: what was read of it, if it was."""
    envelope, because = arrival.envelope, ""
    if receipt.outcome == "put-off":
        because = "over the limit of the player"
    elif receipt.outcome == "ignored" and incoming is not None:
        because = incoming.mail.automatic
    elif mail_domain.is_postmaster(envelope.recipient):
        because = "for the postmaster"
    reading = incoming.reading if incoming is not None else None
    outcome = Outcome("", receipt.outcome, because, receipt, reading, arrival=arrival.id)
    read = incoming.reply_address if incoming else mail_domain.read(envelope.recipient)
    _note(mail_domain, envelope, read, outcome, source, ms)


def _note(
    mail_domain: MailDomain,
    envelope: Envelope,
    reply_address: ReplyAddress | None,
    outcome: Outcome,
    source: Source,
    ms: float,
) -> None:
    metrics.MAILS.labels(outcome.name).inc()
    metrics.MAIL_SECONDS.observe(ms / 1000)
    if outcome.name in {"put-off", "refused"}:
        metrics.REFUSALS.labels(code_of(outcome.reply)).inc()
    if not log.isEnabledFor(logging.INFO):
        return
    receipt = outcome.receipt
    facts: dict[str, object] = {} if receipt is None else {"mail": receipt.mail}
    if outcome.arrival:
        facts["arrival"] = outcome.arrival
    facts |= {"outcome": outcome.name, "to": _kind(mail_domain, envelope.recipient, reply_address)}
    player = (receipt.player if receipt else 0) or (reply_address.player if reply_address else 0)
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
