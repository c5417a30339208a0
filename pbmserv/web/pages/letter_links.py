"""Pages of two links in letters: one confirms an address, the other ends a subscription.

Mail programs and virus scanners open links by themselves. So a GET changes nothing and shows a
button; its POST makes the change.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.http.responses import PRIVATE, html_response
from pbmserv.web.rendering.printer import Printer


def letter_link_routes(printer: Printer, web_requests: WebRequests) -> list[Route]:
    """Return the routes of these pages."""
    pages = _LetterLinks(printer, web_requests)
    return [
        Route("/confirm/{token}", pages.confirmation, methods=["GET", "POST"]),
        Route("/unsubscribe/{token}", pages.subscription, methods=["GET", "POST"]),
    ]


class _LetterLinks:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, web_requests: WebRequests) -> None:
        self._printer = printer
        self._web_requests = web_requests

    async def confirmation(self, request: Request) -> Response:
        """Ask whether to confirm an address; a POST confirms it."""
        token: str = request.path_params["token"]
        is_post = request.method == "POST"
        handle = self._web_requests.confirm if is_post else self._web_requests.signup
        signup = await handle(token)
        if signup is None:
            return self._printer.error_page(404, "expired")
        name = "confirmed" if signup.done else "confirm"
        return html_response(self._printer.render(name, confirmation=signup), 200, PRIVATE)

    async def subscription(self, request: Request) -> Response:
        """Ask whether to end a subscription; a POST ends it.

        Mail programs also send the POST (RFC 8058 section 3.2). The fields of its form are ignored,
        because the link says everything.
        """
        token: str = request.path_params["token"]
        is_post = request.method == "POST"
        handle = self._web_requests.unsubscribe if is_post else self._web_requests.subscription
        subscription = await handle(token)
        if subscription is None:
            return self._printer.error_page(404, "no-way-out")
        name = "unsubscribed" if is_post else "unsubscribe"
        return html_response(self._printer.render(name, words=subscription), 200, PRIVATE)
