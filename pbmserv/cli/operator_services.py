"""The parts of a server for one command of an operator, beside a server that may be running."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pbmserv import log
from pbmserv.config.loading import Loaded
from pbmserv.files import must_be_there
from pbmserv.service.operators.deeds import Operators
from pbmserv.service.operators.kept_mail import KeptMails
from pbmserv.stages.app import Server


@contextmanager
def operator(loaded: Loaded) -> Iterator[KeptMails]:
    """What ``pbmserv inbox`` works with; the server may be running at the same time."""
    with _beside(loaded) as server:
        stage = server.play_stage
        yield KeptMails(server.database, stage.reader.read, stage.retry, _operators(server))


@contextmanager
def operators(loaded: Loaded) -> Iterator[Operators]:
    """What ``pbmserv user``, ``board``, ``game`` and ``rating`` work with; as `operator`."""
    with _beside(loaded) as server:
        yield _operators(server)


@contextmanager
def _beside(loaded: Loaded) -> Iterator[Server]:
    """The parts of a server for one command of an operator, closed at its end.

    Raises:
        OperatorError: there is no database.
    """
    log.configure("WARNING")
    must_be_there(loaded.settings.database, loaded.sources)
    server = Server(loaded.settings)
    try:
        yield server
    finally:
        server.close()


def _operators(server: Server) -> Operators:
    stage = server.play_stage
    return Operators(stage.services, server.database, stage.writer, server.clock)
