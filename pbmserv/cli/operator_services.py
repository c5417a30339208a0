"""The parts of a server for one command of an operator, beside a server that may be running.

Commands read for themselves. On SQLite, where only one process may write to a file, they write for
themselves while no server plays, else they have its play do it; on PostgreSQL all write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TypeVar

from pbmserv import files, log
from pbmserv.config.settings import Loaded, Settings
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Operators, Signature
from pbmserv.service.operators.queues import KeptMails
from pbmserv.stages.base import Base
from pbmserv.stages.link import Asking, first_place
from pbmserv.stages.parts import PlayStage

T = TypeVar("T")
STARTING_S = 20.0
"""How long a command waits for a play that is being started, again perhaps."""


@contextmanager
def kept_mails(loaded: Loaded) -> Iterator[KeptMails]:
    """What ``pbmserv inbox`` works with."""
    with _beside(loaded) as stage:
        yield _AskingKeptMails(loaded.settings, stage)


@contextmanager
def operators(loaded: Loaded) -> Iterator[Operators]:
    """What ``pbmserv user``, ``board``, ``game`` and ``rating`` work with."""
    with _beside(loaded) as stage:
        yield _AskingOperators(loaded.settings, stage)


class _AskingOperators(Operators):
    def __init__(self, settings: Settings, stage: PlayStage) -> None:
        super().__init__(stage.services, stage.game, stage.writer, stage.clock)
        self._settings = settings

    def do(self, by: Signature, deed: Callable[[CommandContext, Signature], Deed]) -> Deed:
        return _done(self._settings, partial(super().do, by, deed), "operate", by, deed)


class _AskingKeptMails(KeptMails):
    def __init__(self, settings: Settings, stage: PlayStage) -> None:
        operators_ = _AskingOperators(settings, stage)
        super().__init__(stage.game, stage.reader.read, stage.retry, operators_)
        self._settings = settings
        self._here = stage.kept_mails

    def retry(self, number: int, by: Signature) -> str:
        retry = partial(self._here.retry, number, by)
        return _done(self._settings, retry, "retry_kept", number, by)


def _done(settings: Settings, here: Callable[[], T], name: str, *values: Any) -> T:
    """Do it *here* if nobody else writes, else ask play for it by *name*."""
    path = files.file_of(settings.database)
    if path is None:
        return here()
    with files.turn(path, "play") as is_ours:
        if is_ours:
            return here()
    play = Asking(first_place(settings.data_dir) / "play.sock", STARTING_S)
    found: T = play.ask(name, *values)
    return found


@contextmanager
def _beside(loaded: Loaded) -> Iterator[PlayStage]:
    """The parts of play for one command of an operator, closed at its end.

    Raises:
        OperatorError: there is no database.
    """
    log.configure("WARNING")
    files.must_be_there(loaded.settings.database, loaded.sources)
    with ExitStack() as stack:
        base = Base(loaded.settings)
        stack.callback(base.close)
        stage = PlayStage(base, _nobody_here, _nobody_here, has_own_door=True)
        stack.callback(stage.stop)
        yield stage


def _nobody_here() -> None:
    """Post and bots look by themselves."""
