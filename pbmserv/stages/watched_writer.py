"""A writer whose jobs the supervisor sees."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from pbmserv.stages.current_work import CurrentWork
from pbmserv.store.core.writer import Writer

T = TypeVar("T")

OTHER = -(2**62)
"""The number of work that no number names: a clock of a board, or a move of a bot."""


class WatchedWriter:
    """A writer whose jobs call rules of games, so that the supervisor sees a job that hangs."""

    def __init__(self, writer: Writer, current: CurrentWork) -> None:
        self._writer = writer
        self._current = current
        self.close = writer.close
        self.vitals = writer.vitals

    def submit(self, job: Callable[[Connection], T], number: int = OTHER) -> Future[T]:
        """Queue a job, see `Writer.submit`.

        Args:
            number: the number of the work.
        """
        return self._writer.submit(partial(self._run, job, number))

    def _run(self, job: Callable[[Connection], T], number: int, connection: Connection) -> T:
        with self._current.doing(number):
            return job(connection)
