"""Claims of rows that others may claim, too: none of them is lost with its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Connection

from pbmserv.store.core.writer import Writer

T = TypeVar("T")


class Claiming:
    """The claims of one process, on one table: no row stays claimed by nobody, though a database
    dies in the middle. Thread-safe.

    A commit whose answer never came may have been made: when the primary of a PostgreSQL dies, its
    standby has the claim, and the claimer does not know of what. Such rows would wait for the end
    of their lease. A claim is known by the moment at which it ends, to the microsecond; so the next
    one first lets go of those of which nothing was heard.

    Args:
        let_go: gives back what was claimed until these moments, and is still claimed.
    """

    def __init__(
        self, writer: Writer, let_go: Callable[[Connection, Sequence[datetime]], None]
    ) -> None:
        self._writer = writer
        self._let_go = let_go
        self._lost: list[datetime] = []

    def claimed(self, claim: Callable[[Connection], list[T]], until: datetime) -> list[T]:
        """What *claim* has claimed, committed. The writer may try it several times.

        Args:
            until: where *claim* lets the leases end.

        Raises:
            Exception: the database could not do it, or nobody knows.
        """
        tried: list[datetime] = []

        def job(connection: Connection) -> tuple[list[T], list[datetime]]:
            lost = [*self._lost, *tried]
            if lost:
                self._let_go(connection, lost)
            tried.append(until)
            return claim(connection), lost

        try:
            found, let_go = self._writer.submit_unsynced(job).result()
        except BaseException:
            self._lost = [*self._lost, *tried[:1]]
            raise
        if let_go:
            self._lost = [one for one in self._lost if one not in let_go]
        return found
