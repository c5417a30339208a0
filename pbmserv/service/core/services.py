"""The objects that all commands of a process share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from pbmserv.engine.registry import Registry
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.service.auth.passwords import Memo
from pbmserv.service.limits.rates import Traffic
from pbmserv.store.boards.positions import Positions
from pbmserv.store.delivery.outbox import QueuedLetter


class Letters(Protocol):
    """Makes letters from their rows. Its methods may be called inside a transaction, and keep
    nothing that they read there."""

    def texts(self, connection: Connection, row: QueuedLetter) -> tuple[str, ...]:
        """Return the text and perhaps the HTML of a letter; nothing if it cannot be made."""

    def octets(self, connection: Connection, row: QueuedLetter) -> bytes:
        """Return a letter without its signature; nothing if it cannot be made."""


@dataclass(frozen=True, slots=True)
class Services:
    """The objects that all commands share.

    Attributes:
        memo: results of earlier password checks; commands never run argon2 themselves.
        operators: userids of the operators who play here.
        signup: ``confirm``, ``open`` or ``closed``.
        away_days: days of a calendar year for which a player can be away.
        invitations: mail addresses that a player can invite in a day.
        letters: makes letters again, to find quotations of them and to show them to operators.
        secrets: returns secrets without a signature of ours that words for others must not hold.
    """

    mail_domain: MailDomain
    registry: Registry
    positions: Positions
    memo: Memo
    traffic: Traffic
    operators: frozenset[str]
    signup: str
    away_days: int
    invitations: int
    letters: Letters
    secrets: Callable[[], Sequence[str]] = tuple
