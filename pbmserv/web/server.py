"""Serves the web pages inside the process's own event loop, every answer with safe headers."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pbmserv.errors import ServerFault
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.net.listening import AT_ONCE, Listening
from pbmserv.web.connections import PageConnection, PagesConfig

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

MOST_FROM_NETWORK = 32
"""Connections from one network: a browser opens six."""
KEEP_ALIVE_S = 5.0
"""How long a connection may be idle between requests."""
KEEP_ALIVE_FULL_S = 1.0
"""The same when all places are taken."""

GRACE_S = 3
"""How long `WebServer.stop` waits for answers that are under way."""


class WebServer:
    """One web server; `start` once, `stop` once.

    Args:
        app: what it serves.
        bound: the socket, which becomes the server's to close.
        limits: the connections that may be open at a time.
    """

    def __init__(self, app: ASGIApp, bound: Listening, limits: ConnectionLimits) -> None:
        self._bound = bound
        bound.limits = limits
        bound.farewell = _farewell
        config = PagesConfig(
            app,
            http=PageConnection,
            ws="none",
            lifespan="off",
            access_log=False,  # paths carry tokens
            log_config=None,
            server_header=False,
            proxy_headers=False,
            backlog=AT_ONCE,
            timeout_graceful_shutdown=GRACE_S,
        )
        config.listening, config.limits = bound, limits
        # Below an error it says what strangers did, a line for each of their requests.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        self._server = _Quiet(config)
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


def bounds(strangers: int, own: int) -> Bounds:
    """What the pages allow, of so many connections in all."""
    from_network = min(MOST_FROM_NETWORK, strangers)
    return Bounds(strangers, from_network, own, KEEP_ALIVE_S, KEEP_ALIVE_FULL_S)


def _farewell(_reason: str) -> bytes:
    """The answer to a client for which there is no place."""
    return (
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 10\r\n"
        b"Connection: close\r\n\r\n"
    )


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


class SafeResponses:
    """ASGI middleware: adds `HEADERS`, and answers for an application that raises.

    Args:
        app: what is made safe.
        fault: makes the page for an exception (and writes the log).
    """

    def __init__(self, app: ASGIApp, fault: Callable[[Exception], Response]) -> None:
        self._app = app
        self._fault = fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_safely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            await self._app(scope, receive, send_safely)
        except Exception as error:
            page = self._fault(error)
            if started:  # half an answer is out: the connection has to end
                raise
            await page(scope, receive, send_safely)
