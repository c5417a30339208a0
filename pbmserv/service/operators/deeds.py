"""Carries out deeds of operators: each in one transaction with its letters and its audit entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.errors import OperatorError
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.core.outcome import Notification
from pbmserv.service.core.services import Services
from pbmserv.store import audit
from pbmserv.store.audit import Entry
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer

T = TypeVar("T")

LONGEST_WHY = 500
"""Characters of a reason."""
KINDS = (
    "user",
    "board",
    "game",
    "event",
    "mail",
    "letter",
    "ladder",
    "broadcast",
    "announcement",
    "sender",
)
"""First words of targets. Targets of one word are ``ratings``, ``keys`` and ``letters``."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The operator who acts, and the reason. Letters about the deed tell players the reason."""

    operator: str
    why: str


@dataclass(frozen=True, slots=True)
class Deed:
    """An action of an operator that was carried out.

    Attributes:
        action: one word for the audit.
        target: the thing that was changed, such as ``user alice`` or ``ratings``; see `KINDS`.
        summary: answer for the operator, mostly one sentence.
        letters: letters to the players concerned.
        facts: state before and after for the audit, ready for JSON.
    """

    action: str
    target: str
    summary: str
    letters: tuple[Notification, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


Action: TypeAlias = Callable[[CommandContext, Signature], Deed]
"""Carries out one deed in an open transaction."""


class Operators:
    """Carries out deeds of operators.

    Args:
        services: services that commands of players use, too.
        writer: writer of the game store.
        clock: time of the audit entries.
    """

    def __init__(self, services: Services, writer: Writer, clock: Clock) -> None:
        self._services = services
        self._writer = writer
        self._clock = clock

    def do(self, by: Signature, action: Action) -> Deed:
        """Carry out a deed and add it to the audit.

        Raises:
            OperatorError: the deed is impossible, or no reason is given; nothing has changed.
        """
        why = " ".join(by.why.split())
        if not why or len(why) > LONGEST_WHY:
            raise OperatorError(f"give a reason with --why, of at most {LONGEST_WHY} characters")
        signed = Signature(by.operator.strip()[:80] or "unknown", why)
        return self._writer.submit(partial(self._job, signed, action)).result()

    def _job(
        self,
        by: Signature,
        action: Action,
        connection: Connection,
    ) -> Deed:
        now = self._clock.now()
        context = CommandContext(self._services, connection, NOBODY, now)
        deed = action(context, by)
        entry = Entry(now, by.operator, deed.action, deed.target, by.why, deed.facts)
        audit.add(connection, entry)
        queue_letters(context, deed.letters)
        return deed


def look(
    services: Services,
    database: Database,
    clock: Clock,
    question: Callable[[CommandContext], T],
) -> T:
    """Answer a question from the database without changing it."""
    with database.reading.connect() as connection:
        return question(CommandContext(services, connection, NOBODY, clock.now()))


def read_day(text: str) -> datetime:
    """Return the beginning of a day (UTC) such as ``2026-12-31``.

    Raises:
        OperatorError: the text is not a day.
    """
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise OperatorError(f"{text[:40]!r} is not a day such as 2026-12-31") from None


def entries(context: CommandContext, target: str, most: int) -> list[Entry]:
    """Return entries of the audit, newest first.

    Args:
        target: a kind and a name or number; a single word matches targets of any kind, and ``""``
            all targets.
        most: largest number of entries.

    Raises:
        OperatorError: targets have no such kind.
    """
    words = target.lower().split()
    if len(words) > 1 and words[0] not in KINDS:
        closest = get_close_matches(words[0], KINDS, 1)
        raise OperatorError(
            f"the audit has no kind {words[0]}; there are {', '.join(KINDS)}; "
            f"try `pbmserv audit {' '.join((*closest, words[-1]))}`"
        )
    return audit.entries(context.connection, " ".join(words) or None, most)
