"""Middleware that adds safe headers to answers, and answers for an application that raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_HEADERS = {
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
        headers: Mapping[str, str] = SAFE_HEADERS,
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
