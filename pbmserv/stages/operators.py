"""The operators' side of a server that may be running: for one command, and for their pages.

Both read for themselves. On SQLite, where only one process may write to a file, they write for
themselves while no server plays, else they have its play do it; on PostgreSQL all write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TypeVar

from pbmserv import files, log
from pbmserv.config.settings import Loaded, Settings
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.delivery.incoming import MailReader
from pbmserv.service.operators.deeds import Deed, Operators, Signature
from pbmserv.service.operators.pages import OperatorPages, Queue, Side
from pbmserv.service.operators.queues import KeptMails
from pbmserv.stages.base import Base
from pbmserv.stages.link import Asking, first_place
from pbmserv.stages.parts import PlayStage
from pbmserv.stages.state import heard, running, waiting
from pbmserv.store.operators import health

T = TypeVar("T")
STARTING_S = 20.0
"""How long a command waits for a play that is being started, again perhaps."""


@contextmanager
def kept_mails(loaded: Loaded) -> Iterator[KeptMails]:
    """What ``pbmserv inbox`` works with."""
    with _for_a_command(loaded) as stage:
        yield _AskingKeptMails(loaded.settings, stage)


@contextmanager
def operators(loaded: Loaded) -> Iterator[Operators]:
    """What ``pbmserv user``, ``board``, ``game`` and ``rating`` work with."""
    with _for_a_command(loaded) as stage:
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
        here = partial(self._here.retry, number, by)
        return _done(self._settings, here, "retry_kept", number, by)


class OfPages:
    """What operators' pages change, in a process that reads alone until it is asked to."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def do(self, by: Signature, deed: Callable[[CommandContext, Signature], Deed]) -> Deed:
        """As `Operators.do`."""

        def here() -> Deed:
            with _beside(self._settings) as stage:
                return stage.operators.do(by, deed)

        return _done(self._settings, here, "operate", by, deed)

    def retry(self, number: int, by: Signature) -> str:
        """As `KeptMails.retry`."""

        def here() -> str:
            with _beside(self._settings) as stage:
                return stage.kept_mails.retry(number, by)

        return _done(self._settings, here, "retry_kept", number, by)


def pages(base: Base, services: Services, side: Side) -> OperatorPages:
    """What operators' pages ask of the service. *side*: carries their changes out."""
    games = frozenset(game.info.key for game in base.registry)
    reader = MailReader(base.mail_domain, games, base.settings.mail_servers)

    def queue() -> Queue:
        with base.mail.reading.connect() as mail, base.game.reading.connect() as game:
            found = health.queues(mail, game, base.clock.now())
        stages = heard(first_place(base.settings.data_dir))
        return Queue(
            running(found),
            {name: one.doing for name, one in stages.items()},
            found.newest_mail,
            found.newest_letter,
            health.sizes(base.game),
            waiting(found),
        )

    return OperatorPages(services, base.game, base.clock, reader.read, side, queue)


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
def _for_a_command(loaded: Loaded) -> Iterator[PlayStage]:
    """The parts of play for one command of an operator, closed at its end.

    Raises:
        OperatorError: there is no database.
    """
    log.configure("WARNING")
    files.must_be_there(loaded.settings.database, loaded.sources)
    with _beside(loaded.settings) as stage:
        yield stage


@contextmanager
def _beside(settings: Settings) -> Iterator[PlayStage]:
    """The parts of play, beside a play that may be running."""
    with ExitStack() as stack:
        base = Base(settings, may_upgrade=False)
        stack.callback(base.close)
        stage = PlayStage(base, _nobody_here, _nobody_here, has_own_door=True)
        stack.callback(stage.stop)
        yield stage


def _nobody_here() -> None:
    """Post and bots look by themselves."""
