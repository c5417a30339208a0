"""The page that checks finished games by uploaded letters (decision 0151)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.registry import Registry
from pbmserv.mail import reading_time
from pbmserv.mail.reading_time import ReadingTooLong
from pbmserv.verifying.checking import verdicts
from pbmserv.verifying.findings import Verdict
from pbmserv.verifying.letters import Mailbox
from pbmserv.verifying.uploads import mails_in_form
from pbmserv.web.http.request_bodies import read_body
from pbmserv.web.http.responses import PRIVATE, SHARED, html_response, tagged_response
from pbmserv.web.limits.allowance import WAIT_S, Allowance, Exhausted
from pbmserv.web.rendering.printer import Printer

LONGEST_FORM = 2_000_000
"""Octets of a form; a long game has letters of 1 MB."""

MOST_AT_ONCE = 8
"""Forms that are received and checked at the same time."""

LONGEST_S = 2.0
"""Seconds of processor time for a form."""


def proof_routes(printer: Printer, registry: Registry, allowance: Allowance) -> list[Route]:
    """Return the route of the page; forms are checked within the allowance."""
    page = _ProofPage(printer, registry, allowance)
    return [Route("/proof", page.proof, methods=["GET", "POST"])]


class _ProofPage:
    def __init__(self, printer: Printer, registry: Registry, allowance: Allowance) -> None:
        self._printer = printer
        self._registry = registry
        self._allowance = allowance
        self._running = 0

    async def proof(self, request: Request) -> Response:
        """Show the form; a POST checks the letters in it."""
        if request.method != "POST":
            return tagged_response(request, self._text(), SHARED)
        if self._running >= MOST_AT_ONCE:
            raise Exhausted(WAIT_S, is_own=False)
        self._running += 1
        try:
            return await self._checked(request)
        finally:
            self._running -= 1

    async def _checked(self, request: Request) -> Response:
        body = await read_body(request, LONGEST_FORM)
        if body is None:
            return self._trouble(413, "too-long")
        kind = request.headers.get("content-type", "")
        results = await self._allowance.spend(
            request, lambda: asyncio.to_thread(self._verdicts, kind, body)
        )
        if results is None:
            return self._trouble(413, "too-much")
        if not results:
            return self._trouble(422, "no-letters")
        return html_response(self._text(results), 200, PRIVATE)

    def _verdicts(self, kind: str, body: bytes) -> Sequence[Verdict] | None:
        """Return the verdicts on all boards; `None` if they take too long."""
        mailbox = Mailbox()
        try:
            with reading_time.limited(LONGEST_S):
                mailbox.add_all(mails_in_form(kind, body))
                return verdicts(mailbox, self._registry)
        except ReadingTooLong:
            return None

    def _trouble(self, status: int, trouble: str) -> Response:
        return html_response(self._text(trouble=trouble), status, PRIVATE)

    def _text(self, results: Sequence[Verdict] = (), trouble: str = "") -> str:
        return self._printer.render("proof", verdicts=results, trouble=trouble)
