"""Makes every answer safe: headers on all of them, and no fault shows its inside."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
