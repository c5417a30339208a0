"""The door to the queue of letters: what the sender needs from whoever keeps it."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol

from pbmserv.monitoring import metrics
from pbmserv.outbound.relay import OutgoingLetter


@dataclass(frozen=True, slots=True)
class ClaimedLetter:
    """A letter that is due and, for the time of its lease, this sender's alone.

    Attributes:
        id: its number in the outbox.
        attempts: earlier attempts that were settled as `Later`.
        created_at: when it was queued.
        letter: what to send; ``None`` = never rendered yet, to be prepared.
        kind: which letter it is.
        mail_id: the mail that led to it, if one did.
        board_id, ply: the position it shows, if it shows one.
    """

    id: int
    attempts: int
    created_at: datetime
    letter: OutgoingLetter | None
    kind: str = ""
    mail_id: int | None = None
    board_id: int | None = None
    ply: int | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """The next hop has taken it."""

    id: int


@dataclass(frozen=True, slots=True)
class Later:
    """It was tried, and shall be tried again at *at*; counts as an attempt."""

    id: int
    at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It will not be tried again."""

    id: int
    error: str


@dataclass(frozen=True, slots=True)
class Untried:
    """It was not tried (the relay is down, or we stop): due again at *at*, no attempt counted.

    Attributes:
        why: for the operator, where that is not plain; ``""`` leaves what stood there.
    """

    id: int
    at: datetime
    why: str = ""


Result = Sent | Later | Failed | Untried


class Held(Protocol):
    """Where somebody else sees which letters a sender has in hand."""

    def add(self, numbers: Iterable[int]) -> None:
        """They are."""
        ...

    def remove(self, numbers: Iterable[int]) -> None:
        """They are no longer."""
        ...


class Outbox(Protocol):
    """The queue. Every method may be called from several threads, and commits by itself."""

    def claim(self, limit: int, avoiding: Collection[str] = ()) -> Sequence[ClaimedLetter]:
        """Up to *limit* due letters, the longest due first, leased to the caller.

        None to the recipient domains in *avoiding* (lower case).
        The lease must outlast several of `worker.RENEWAL_S`. What is neither renewed nor
        settled by its end (the process died) becomes due again.
        """
        ...

    def renew(self, ids: Sequence[int]) -> None:
        """Begin the lease of letters anew; those that are settled stay as they are."""
        ...

    def prepare(self, ids: Sequence[int]) -> Sequence[OutgoingLetter]:
        """Render letters and keep their bytes, so that every attempt sends the same.

        Raises:
            SetAside: one of them is to wait for an attempt later on.
            ServerFault: one of them can never be rendered.
        """
        ...

    def settle(self, results: Sequence[Result]) -> None:
        """Write down what became of claimed letters; an unknown id is no error."""
        ...

    def next_due(self, avoiding: Collection[str] = ()) -> datetime | None:
        """When the next letter is due (or a lease ends), ``None`` for an empty queue."""
        ...


_log = logging.getLogger("pbmserv.send")

_CODE = re.compile(r"\b[245]\d\d\b(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_ANGLED = re.compile(r"\S*@\S*")


def note_letter(
    row: ClaimedLetter,
    domain: str,
    outcome: Literal["sent", "waits", "refused"],
    error: str,
    wait: timedelta | None = None,
) -> None:
    """Log and count what became of a letter.

    Args:
        domain: of the recipient; ``""`` before the letter is made.
        error: the relay's words or ours; a reply is told by its code alone, since mail servers
            quote addresses.
        wait: until the next attempt.
    """
    metrics.LETTERS.labels(outcome).inc()
    if not _log.isEnabledFor(logging.INFO):
        return
    facts: dict[str, object] = {"letter": row.id, "outcome": outcome}
    known = {"kind": row.kind, "mail": row.mail_id, "board": row.board_id, "ply": row.ply}
    facts |= {key: value for key, value in known.items() if value not in {None, ""}}
    if domain:
        facts["domain"] = domain
    facts["attempts"] = row.attempts + 1
    if error:
        found = _CODE.search(error)
        facts["why"] = found[0] if found else _ANGLED.sub("…", error)
    if wait is not None:
        facts["wait_s"] = round(wait.total_seconds())
    _log.info("letter", extra=facts)
