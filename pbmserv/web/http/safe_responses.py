"""Middleware that adds safe headers to answers, and answers for an application that raises."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pbmserv.service.core.outages import OUTAGES

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

AGAIN_S = 10
"""Seconds in ``Retry-After`` if nobody knows when the server can answer again."""


def fault_of(error: BaseException) -> tuple[int, str, dict[str, str] | None]:
    """Return status, template and headers of the page that answers for an exception."""
    if isinstance(error, OUTAGES):
        return 503, "fault", {"Retry-After": str(AGAIN_S)}
    return 500, "fault", None


class SafeResponses:
    """ASGI middleware: adds safe headers, and answers for an application that raises.

    Args:
        app: the application.
        fault: returns the page for an exception, and logs it.
        headers: headers of every answer that does not set them itself.
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
                names = {name for name, _ in message["headers"]}
                message["headers"] += [(n, text) for n, text in self._headers if n not in names]
            await send(message)

        try:
            await self._app(scope, receive, send_safely)
        except ClientDisconnect:  # the client closed the connection, or its request was malformed
            return
        except (Exception, SystemExit) as error:  # a game's rules may call `sys.exit()`
            page = self._fault(error)
            if started:  # the answer is incomplete, so uvicorn must close the connection
                raise
            await page(scope, receive, send_safely)


def mount_below(path: str, application: ASGIApp) -> Mount:
    """Return a mount for an application that also gets the paths with line ends in them.

    Starlette's pattern stops at a line end, so that our own 404 would answer such a path.
    """
    mount = Mount(path, application)
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount
