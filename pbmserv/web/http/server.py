"""Serves web pages with uvicorn, inside the event loop of the process."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from pbmserv.errors import ServerFault
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.net.listening import ACCEPTED_AT_ONCE, QUEUE
from pbmserv.web.http.connections import HttpConfig, HttpConnection

MOST_FROM_NETWORK = 32
"""Connections from one network: a browser opens six."""
KEEP_ALIVE_S = 5
"""Seconds that a connection may be idle between requests."""

GRACE_S = 3
"""Seconds that `WebServer.stop` waits for unfinished answers."""


class WebServer:
    """One web server; `start` once, `stop` once.

    Args:
        app: the application.
        bound: the listening socket, which the server closes.
        limits: the connections that may be open at a time.
    """

    def __init__(self, app: ASGIApp, bound: socket.socket, limits: ConnectionLimits) -> None:
        self._bound = bound
        config = HttpConfig(
            app,
            http=HttpConnection,
            ws="none",
            lifespan="off",
            access_log=False,  # paths carry tokens
            log_config=None,
            server_header=False,
            proxy_headers=False,
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=GRACE_S,
        )
        config.limits = limits
        # Below errors, uvicorn logs a line for each malformed request of a stranger.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        logging.getLogger("uvicorn.access").disabled = True  # regardless of the level
        self._server = _Uvicorn(config)
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> tuple[str, int]:
        """Begin to serve; return the host and port.

        Raises:
            ServerFault: uvicorn could not start; the cause is chained.
        """
        host, port = self._bound.getsockname()[:2]
        self._running = asyncio.create_task(
            self._server.serve(sockets=[self._bound]), name="web pages"
        )
        ready = asyncio.create_task(self._server.ready.wait())
        await asyncio.wait({self._running, ready}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            raise ServerFault("the web pages could not start") from self._running.exception()
        self._bound.listen(QUEUE)
        return host, port

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._server.server_state.connections)

    async def stop(self) -> None:
        """Finish the open answers, and close the socket."""
        if self._running is None:
            self._bound.close()
            return
        self._server.should_exit = True
        await asyncio.wait({self._running})


def bounds(strangers: int, own: int) -> Bounds:
    """Return the bounds of a web port.

    Args:
        strangers: connections of strangers.
        own: connections of our own proxies.
    """
    return Bounds(strangers, min(MOST_FROM_NETWORK, strangers), own)


class _Uvicorn(uvicorn.Server):
    """A uvicorn server that leaves signals alone and says when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing, because the stage handles signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the sockets, then set `ready`."""
        await super().startup(sockets)
        self.ready.set()
