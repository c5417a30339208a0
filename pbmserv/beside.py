"""The parts of a server for one command of an operator, beside a server that may be running."""

from __future__ import annotations

import asyncio
import atexit

from pbmserv import log
from pbmserv.app import Server
from pbmserv.config import Loaded
from pbmserv.service.custody import Custody
from pbmserv.service.desk import Post
from pbmserv.service.operating import Operators
from pbmserv.store.place import must_be_there


def operator(loaded: Loaded) -> Custody:
    """What ``pbmserv inbox`` works with; the server may be running at the same time."""
    server = _beside(loaded)

    def retry(number: int, post: Post) -> bool:
        return asyncio.run(server.office.retry(number, post))

    return Custody(server.database, server.intake.read, retry, _operators(server))


def operators(loaded: Loaded) -> Operators:
    """What ``pbmserv user``, ``board``, ``game`` and ``rating`` work with; as `operator`."""
    return _operators(_beside(loaded))


def _beside(loaded: Loaded) -> Server:
    """The parts of a server for one command of an operator.

    Raises:
        OperatorError: there is no database.
    """
    log.configure("WARNING")
    must_be_there(loaded.settings.database, loaded.sources)
    server = Server(loaded.settings)
    atexit.register(server.close)
    return server


def _operators(server: Server) -> Operators:
    return Operators(server.rooms, server.database, server.writer, server.clock)
