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

UNNUMBERED = -(2**62)
"""Stands for work without a number, such as the clock of a board or the move of a bot."""


class WatchedWriter:
    """A writer whose jobs call rules of games, so that the supervisor sees a job that hangs."""

    def __init__(self, writer: Writer, current: CurrentWork) -> None:
        self._writer = writer
        self._current = current
        self.close = writer.close
        self.vitals = writer.vitals

    def submit(self, job: Callable[[Connection], T], number: int = UNNUMBERED) -> Future[T]:
        """Queue a job, see `Writer.submit`.

        Args:
            number: the number of the arrival that the job carries out, if it has one.
        """
        return self._writer.submit(partial(self._run, job, number))

    def _run(self, job: Callable[[Connection], T], number: int, connection: Connection) -> T:
        with self._current.doing(number):
            return job(connection)
