"""Serves the web pages inside the process's own event loop, every answer with safe headers; and
what programs ask: whether the server lives and is ready, and numbers for Prometheus.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import uvicorn
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pbmserv.errors import ServerFault
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.net.listening import AT_ONCE, Listening
from pbmserv.service.core.lookup import AWAY
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
        logging.getLogger("uvicorn.access").disabled = True  # whatever levels others have set
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


AGAIN_S = 10
"""Seconds after which to ask again, where nobody can know."""


def fault_of(error: BaseException) -> tuple[int, str, dict[str, str] | None]:
    """The status of a page that could not be made, its name, and headers."""
    if isinstance(error, AWAY):
        return 503, "fault", {"Retry-After": str(AGAIN_S)}
    return 500, "fault", None


class SafeResponses:
    """ASGI middleware: adds safe headers, and answers for an application that raises.

    Args:
        app: what is made safe.
        fault: makes the page for an exception (and writes the log).
        headers: of every answer that does not say otherwise.
    """

    def __init__(
        self,
        app: ASGIApp,
        fault: Callable[[BaseException], Response],
        headers: Mapping[str, str] = HEADERS,
    ) -> None:
        self._app = app
        self._fault = fault
        self._headers = [(name.lower().encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_safely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                said = {name for name, _ in message["headers"]}
                message["headers"] += [one for one in self._headers if one[0] not in said]
            await send(message)

        try:
            await self._app(scope, receive, send_safely)
        except ClientDisconnect:  # whoever asked has hung up, or said what cannot be read
            return
        except (Exception, SystemExit) as error:  # a game's rules may say `sys.exit()`
            page = self._fault(error)
            if started:  # half an answer is out: the connection has to end
                raise
            await page(scope, receive, send_safely)


def mounted(path: str, make: Callable[[], ASGIApp]) -> Mount:
    """An application below *path*, which is made with the first request to it: few ask for it."""
    made: list[ASGIApp] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if not made:
            made.append(make())
        await made[0](scope, receive, send)

    mount = Mount(path, application)
    # Whatever is asked for below is the application's to refuse, line ends in it, too.
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


log = logging.getLogger("pbmserv.web")

_NOW = {"Cache-Control": "no-store"}


class Report(Protocol):
    """What was looked at."""

    @property
    def status(self) -> str:
        """``ok``, ``degraded`` or ``failing``."""
        ...

    def as_json(self, *, numbers: bool) -> Mapping[str, Any]:
        """The whole of it."""
        ...


class Health(Protocol):
    """Who looks."""

    async def live(self) -> Report:
        """Whether a restart would help."""
        ...

    async def ready(self) -> Report:
        """Whether mail would be taken and letters got out."""
        ...


def health_routes(health: Health, *, numbers: bool) -> list[Route]:
    """``/healthz``, ``/healthz/ready`` (the same) and ``/healthz/live``.

    Args:
        numbers: whether to tell what was measured. Strangers are not told, for they would learn
            how many sessions are left to take.
    """

    async def live(_request: Request) -> Response:
        return _answer(await health.live(), numbers=numbers)

    async def ready(_request: Request) -> Response:
        try:
            report = await health.ready()
        except Exception as fault:
            log.error("the health check failed", exc_info=fault)
            return JSONResponse({"status": "failing", "checks": {}}, 503, _NOW)
        return _answer(report, numbers=numbers)

    return [
        Route("/healthz", ready),
        Route("/healthz/ready", ready),
        Route("/healthz/live", live),
    ]


def build_probes(health: Health, metrics: Callable[[], Awaitable[bytes]]) -> Starlette:
    """The application of a listener of its own, which strangers do not reach.

    Args:
        metrics: the numbers as Prometheus reads them.
    """

    async def numbers(_request: Request) -> Response:
        return Response(await metrics(), 200, _NOW, CONTENT_TYPE_PLAIN_0_0_4)

    def fault(error: BaseException) -> Response:
        log.error("the numbers could not be told", exc_info=error)
        return PlainTextResponse("a fault; the log says more\n", 500, _NOW)

    application = Starlette(
        routes=[*health_routes(health, numbers=True), Route("/metrics", numbers)],
        middleware=[Middleware(SafeResponses, fault=fault)],
    )
    application.router.redirect_slashes = False
    return application


def _answer(report: Report, *, numbers: bool) -> Response:
    status = 503 if report.status == "failing" else 200
    return JSONResponse(report.as_json(numbers=numbers), status, _NOW)
