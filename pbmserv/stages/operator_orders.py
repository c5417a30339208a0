"""Operators' commands beside a server that may be running.

On SQLite, where a single process may write, a command changes the database itself if no server runs
play; else it asks that play. On PostgreSQL it always does so itself, and then wakes the play that
runs beside it.
"""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

from pbmserv import files, log
from pbmserv.config.settings import Loaded, Settings
from pbmserv.errors import ServerFault, StoreAway
from pbmserv.file_locks import borrow_stage
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.orders import Order
from pbmserv.stages.base import Base
from pbmserv.stages.messages import CarryOutOrder, LookAgain, Request, RetryKeptMail
from pbmserv.stages.play_process import PlayStage, answers_of_play
from pbmserv.stages.questions import Asking
from pbmserv.stages.rings import Rings
from pbmserv.stages.run_folders import first_run_folder

STARTING_S = 20.0
"""Seconds for which a command waits for a play that is starting, or starting again."""
NOTICING_S = 5.0
"""Seconds for which a command waits until play has noticed that it should look again."""


class OperatorOrders:
    """Carries out the orders of operators, in this process or in the server's play."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def do(self, by: Signature, order: Order) -> str:
        """Carry out an order; return a sentence for the operator.

        Raises:
            OperatorError: it cannot be done, or no reason is given; nothing has changed.
            StoreAway: play does not answer.
        """
        return self._answer(CarryOutOrder(by, order))

    def retry(self, number: int, by: Signature) -> str:
        """Carry a kept mail out again; return a sentence for the operator.

        Raises:
            OperatorError: the mail is not kept, or no reason is given.
            StoreAway: play does not answer.
        """
        return self._answer(RetryKeptMail(number, by))

    def _answer(self, request: Request[str]) -> str:
        """Answer a request in this process if no other process writes; else send it."""
        path = files.sqlite_file(self._settings.database)
        if path is None:
            sentence = _answer_here(self._settings, request)
            self._ring_play()
            return sentence
        with borrow_stage(path, "play") as is_ours:
            if is_ours:
                return _answer_here(self._settings, request)
        with closing(Asking(self._play_socket(), STARTING_S)) as asking:
            return asking.ask(request)

    def _ring_play(self) -> None:
        """Have play look at waiting mails now; a play elsewhere does so within half a minute."""
        with (
            suppress(StoreAway, ServerFault),
            closing(Asking(self._play_socket(), 0, NOTICING_S)) as asking,
        ):
            asking.ask(LookAgain())

    def _play_socket(self) -> Path:
        return first_run_folder(self._settings.data_dir) / "play.sock"


def orders(loaded: Loaded) -> OperatorOrders:
    """Return the object that carries out the orders of one command.

    Raises:
        OperatorError: there is no database.
    """
    log.configure("WARNING")
    files.check_database_exists(loaded.settings.database, loaded.sources)
    return OperatorOrders(loaded.settings)


def _answer_here(settings: Settings, request: Request[str]) -> str:
    """Answer a request as play does, without starting its threads or upgrading the database."""
    with closing(Base(settings, may_upgrade=False)) as base:
        stage = PlayStage(base, Rings(), has_own_door=True)
        try:
            return str(answers_of_play(stage)[type(request)](request))
        finally:
            stage.stop()
