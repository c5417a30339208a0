"""Serves the web pages inside the process's own event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from pbmserv.errors import ServerFault

MOST_CONNECTIONS = 200
"""Open at once; beyond it the answer is 503, so that mail keeps its file descriptors."""

GRACE_S = 3
"""How long `WebServer.stop` waits for answers that are under way."""


class WebServer:
    """One web server; `start` once, `stop` once.

    Args:
        app: what it serves.
        bound: the socket, which becomes the server's to close.
    """

    def __init__(self, app: ASGIApp, bound: socket.socket) -> None:
        self._bound = bound
        self._server = _Quiet(
            uvicorn.Config(
                app,
                http="h11",
                ws="none",
                lifespan="off",
                access_log=False,  # paths carry tokens
                log_config=None,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> tuple[str, int]:
        """Begin to answer; the host and port that were bound.

        Raises:
            ServerFault: it could not; the cause is chained.
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
        return host, port

    @property
    def connections(self) -> int:
        """Open at the moment."""
        return len(self._server.server_state.connections)

    async def stop(self) -> None:
        """Finish the answers that are under way and close the socket."""
        if self._running is None:
            self._bound.close()
            return
        self._server.should_exit = True
        await asyncio.wait({self._running})


class _Quiet(uvicorn.Server):
    """uvicorn without its hands on the process's signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The process has one place that handles signals, and it is not here."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()
