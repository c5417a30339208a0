"""Operators' commands that only read the database, beside a server that may be running."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

from pbmserv import files, log
from pbmserv.config.settings import Loaded
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators import deeds
from pbmserv.service.operators.kept_mails import KeptMailsView
from pbmserv.stages.base import Base

T = TypeVar("T")


def look(loaded: Loaded, question: Callable[[CommandContext], T]) -> T:
    """Return the answer to an operator's question.

    Raises:
        OperatorError: there is no database.
    """
    with _open_base(loaded) as base:
        return deeds.look(base.services_beside_play(), base.game, base.clock, question)


@contextmanager
def open_kept_mails(loaded: Loaded) -> Iterator[KeptMailsView]:
    """Open the kept mails of a database.

    Raises:
        OperatorError: there is no database.
    """
    with _open_base(loaded) as base:
        yield KeptMailsView(base.game, base.parser().parse)


@contextmanager
def _open_base(loaded: Loaded) -> Iterator[Base]:
    """Open the database without upgrading it."""
    log.configure("WARNING")
    files.check_database_exists(loaded.settings.database, loaded.sources)
    with closing(Base(loaded.settings, may_upgrade=False)) as base:
        yield base
