"""Operators' commands and pages beside a server that may be running.

They read the database themselves. On SQLite, where one process may write to a file, they write it
themselves while no server runs play, else they ask that play; on PostgreSQL they always write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from pbmserv import files, log
from pbmserv.config.settings import Loaded, Settings
from pbmserv.service.core.context import Services
from pbmserv.service.mails.incoming import MailReader
from pbmserv.service.operators.deeds import Operators, Signature
from pbmserv.service.operators.orders import Order
from pbmserv.service.operators.pages import OperatorPages, Queue, Side
from pbmserv.service.operators.queues import KeptMailsView
from pbmserv.stages.base import Base
from pbmserv.stages.messages import CarryOutOrder, Request, RetryKeptMail
from pbmserv.stages.parts import PlayStage
from pbmserv.stages.places import first_place
from pbmserv.stages.questions import Asking
from pbmserv.stages.state import running, states, waiting
from pbmserv.store.operators import health

STARTING_S = 20.0
"""Seconds for which a command waits for a play that is starting, or starting again."""


class OperatorOrders:
    """Carries out what operators order, in this process or in the server's play."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def do(self, by: Signature, order: Order) -> str:
        """Carry out an order; return a sentence for the operator.

        Raises:
            OperatorError: it cannot be done, or no reason is given; nothing has changed.
            StoreAway: play does not answer.
        """
        return self._done(CarryOutOrder(by, order), lambda play: play.carry_out(by, order))

    def retry(self, number: int, by: Signature) -> str:
        """Carry a kept mail out again; return a sentence for the operator.

        Raises:
            OperatorError: no reason is given.
            StoreAway: play does not answer.
        """
        request = RetryKeptMail(number, by)
        return self._done(request, lambda play: play.kept_mails.retry(number, by))

    def _done(self, request: Request[str], here: Callable[[PlayStage], str]) -> str:
        """Do it *here* if no other process writes, else ask play."""
        path = files.file_of(self._settings.database)
        if path is None:
            with _play_parts(self._settings) as stage:
                return here(stage)
        with files.turn(path, "play") as is_ours:
            if is_ours:
                with _play_parts(self._settings) as stage:
                    return here(stage)
        play = Asking(first_place(self._settings.data_dir) / "play.sock", STARTING_S)
        try:
            return play.ask(request)
        finally:
            play.close()


def orders(loaded: Loaded) -> OperatorOrders:
    """Return what carries out the orders of one command.

    Raises:
        OperatorError: there is no database.
    """
    _prepare(loaded)
    return OperatorOrders(loaded.settings)


@contextmanager
def operators(loaded: Loaded) -> Iterator[Operators]:
    """Open the database for one command that looks at it.

    Raises:
        OperatorError: there is no database.
    """
    _prepare(loaded)
    with _play_parts(loaded.settings) as stage:
        yield stage.operators


@contextmanager
def kept_mails(loaded: Loaded) -> Iterator[KeptMailsView]:
    """Open the kept mails for one command that looks at them.

    Raises:
        OperatorError: there is no database.
    """
    _prepare(loaded)
    with _play_parts(loaded.settings) as stage:
        yield stage.kept_mails


def pages(base: Base, services: Services, side: Side) -> OperatorPages:
    """Return what operators' pages need.

    Args:
        base: databases and games.
        services: shared by the pages of this process.
        side: carries out the changes.
    """
    games = frozenset(game.info.key for game in base.registry)
    reader = MailReader(base.mail_domain, games, base.settings.mail_servers)

    def queue() -> Queue:
        with base.mail.reading.connect() as mail, base.game.reading.connect() as game:
            queues = health.queues(mail, game, base.clock.now())
        stages = states(first_place(base.settings.data_dir))
        return Queue(
            running(queues),
            {name: state.doing for name, state in stages.items()},
            queues.newest_mail,
            queues.newest_letter,
            health.sizes(base.game),
            waiting(queues),
        )

    return OperatorPages(services, base.game, base.clock, reader.read, side, queue)


def _prepare(loaded: Loaded) -> None:
    log.configure("WARNING")
    files.must_be_there(loaded.settings.database, loaded.sources)


@contextmanager
def _play_parts(settings: Settings) -> Iterator[PlayStage]:
    """The parts of play, not started; the database is not upgraded."""
    with ExitStack() as stack:
        base = Base(settings, may_upgrade=False)
        stack.callback(base.close)
        stage = PlayStage(base, _no_ring, _no_ring, _no_ring, has_own_door=True)
        stack.callback(stage.stop)
        yield stage


def _no_ring() -> None:
    """Wake nobody: post, the bots and pages look by themselves."""
