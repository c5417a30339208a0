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

    async def confirmation(request: Request) -> Response:
        """Ask whether to confirm an address; a POST confirms it."""
        handle = web_requests.confirm if request.method == "POST" else web_requests.signup
        signup = await handle(request.path_params["token"])
        if signup is None:
            return printer.error_page(404, "expired")
        name = "confirmed" if signup.done else "confirm"
        return html_response(printer.render(name, confirmation=signup), 200, PRIVATE)

    async def subscription(request: Request) -> Response:
        """Ask whether to end a subscription; a POST ends it.

        Mail programs also send the POST (RFC 8058 section 3.2). The fields of its form are ignored,
        because the link says everything.
        """
        is_post = request.method == "POST"
        handle = web_requests.unsubscribe if is_post else web_requests.subscription
        words = await handle(request.path_params["token"])
        if words is None:
            return printer.error_page(404, "no-way-out")
        name = "unsubscribed" if is_post else "unsubscribe"
        return html_response(printer.render(name, words=words), 200, PRIVATE)

    both = ["GET", "POST"]
    return [
        Route("/confirm/{token}", confirmation, methods=both),
        Route("/unsubscribe/{token}", subscription, methods=both),
    ]
