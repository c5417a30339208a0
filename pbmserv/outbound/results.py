"""The results of attempts to deliver letters, which the outbox stores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Sent:
    """The next hop has accepted the letter."""

    id: int


@dataclass(frozen=True, slots=True)
class Later:
    """The letter was tried in vain and is due again at *at*."""

    id: int
    at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The letter will not be tried again.

    Attributes:
        was_made: whether a relay refused it; else it could not be made.
    """

    id: int
    error: str
    was_made: bool = True


@dataclass(frozen=True, slots=True)
class Untried:
    """The game of the letter cannot be played. It is due again at *at*; this counts as no attempt.

    Attributes:
        why: a reason for the operator.
    """

    id: int
    at: datetime
    why: str


Result = Sent | Later | Failed | Untried
