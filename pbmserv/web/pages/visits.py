"""Leads from the link in a letter to a visit of its page, and tells when a visit is over.

The token of a letter's link is good for months and stays in browsers' histories. So a page opens
under the token of a visit, which is good for some hours; see decision 0064.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from pbmserv.mail.reply_address import VISIT_MINUTES
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import PRIVATE, html_response
from pbmserv.web.rendering.printer import Printer

LONGEST_FORM = 64_000
"""Octets of a form: more words than a player sends to an opponent."""


class Visits:
    """Visits of the pages below one path.

    Args:
        path: the path with a slash at both ends, such as ``/b/``.
    """

    def __init__(self, printer: Printer, web_requests: WebRequests, path: str) -> None:
        self._printer = printer
        self._web_requests = web_requests
        self._url = f"{printer.base}{path}"

    async def answer_instead(self, request: Request, token: str) -> Response | None:
        """Return the answer in place of the page: its visit is over, or a link begins one."""
        if self._web_requests.has_ended(token):
            return await self._ended(request)
        if request.method != "POST" and self._web_requests.is_link(token):
            return self.redirect(token, request.url.query)
        return None

    def redirect(self, token: str, query: str = "") -> Response:
        """Redirect to the page under a new visit, so that its address replaces that of the link."""
        visit = self._web_requests.visit(token) or token
        location = f"{self._url}{visit}" + (f"?{query}" if query else "")
        return Response(status_code=303, headers={**PRIVATE, "Location": location})

    async def _ended(self, request: Request) -> Response:
        """Answer 410 with the words of the form, if the request sends one, so that none is lost."""
        form = await read_form(request, LONGEST_FORM) if request.method == "POST" else {}
        written = [form[name] for name in ("move", "words") if form.get(name, "").strip()]
        text = self._printer.text("visit-over", hours=VISIT_MINUTES // 60, written=written)
        return html_response(text, 410, PRIVATE)
