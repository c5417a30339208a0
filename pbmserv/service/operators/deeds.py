"""What operators do: each deed in one transaction with its letters and its entry in the audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeAlias

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.errors import OperatorError
from pbmserv.service.core.actor import OPERATOR
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.core.outcome import Notification
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer
from pbmserv.store.operators import audit
from pbmserv.store.operators.audit import Entry

LONGEST_WHY = 500
"""Characters of a reason."""
KINDS = ("user", "board", "game", "mail", "letter", "broadcast")
"""What a target begins with, but for ``ratings`` and, of several letters, ``3 letters``."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The operator who does something, and the reason, which the players concerned read."""

    operator: str
    why: str


@dataclass(frozen=True, slots=True)
class Deed:
    """An action of an operator that was carried out.

    Attributes:
        action: one word for the audit.
        target: ``user alice``, ``board 12``, ``game blackbox``, ``mail 3`` or ``ratings``.
        said: for the operator, mostly one sentence.
        told: letters to the players concerned.
        facts: for the audit: the state before and after, ready for JSON.
    """

    action: str
    target: str
    said: str
    told: tuple[Notification, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


Deeds: TypeAlias = Callable[[CommandContext, Signature], Deed]
"""Carries out one deed in an open transaction."""


class Operators:
    """Carries out deeds of operators, and answers their questions.

    Args:
        services: as for commands of players.
        database: for reading.
        writer: of the game store.
        clock: the time of the entry in the audit.
    """

    def __init__(
        self, services: Services, database: Database, writer: Writer, clock: Clock
    ) -> None:
        self.services = services
        self._database = database
        self._writer = writer
        self._clock = clock

    def do(self, by: Signature, deed: Deeds) -> Deed:
        """Carry out a deed and add it to the audit.

        Raises:
            OperatorError: it cannot be done, or no reason is given; nothing has changed.
        """
        why = " ".join(by.why.split())
        if not why or len(why) > LONGEST_WHY:
            raise OperatorError(f"give a reason with --why, of at most {LONGEST_WHY} characters")
        signed = Signature(by.operator.strip()[:80] or "unknown", why)
        return self._writer.submit(partial(self._job, signed, deed)).result()

    def _job(
        self,
        by: Signature,
        deed: Deeds,
        connection: Connection,
    ) -> Deed:
        now = self._clock.now()
        context = CommandContext(self.services, connection, OPERATOR, now)
        done = deed(context, by)
        entry = Entry(now, by.operator, done.action, done.target, by.why, done.facts)
        audit.add(connection, entry)
        queue_letters(context, done.told)
        return done

    def look(self, question: Callable[[CommandContext], Any]) -> Any:
        """Answer a question from the database; nothing changes."""
        return looked(self.services, self._database, self._clock, question)


def looked(
    services: Services,
    database: Database,
    clock: Clock,
    question: Callable[[CommandContext], Any],
) -> Any:
    """The answer to a question from the database; nothing changes."""
    with database.reading.connect() as connection:
        return question(CommandContext(services, connection, OPERATOR, clock.now()))


def entries(context: CommandContext, target: str, most: int) -> list[Entry]:
    """What operators have done, newest first.

    Args:
        target: a kind and a name or number; one word is any of that name; ``""`` = everything.

    Raises:
        OperatorError: there are no targets of that kind.
    """
    words = target.lower().split()
    if len(words) > 1 and words[0] not in KINDS and words[1:] != ["letters"]:
        meant = get_close_matches(words[0], KINDS, 1)
        raise OperatorError(
            f"the audit has no kind {words[0]}; there are {', '.join(KINDS)}; "
            f"try `pbmserv audit {' '.join((*meant, words[-1]))}`"
        )
    return audit.entries(context.connection, " ".join(words) or None, most)
