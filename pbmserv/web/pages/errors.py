"""Pages that answer requests which are refused or failed."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pbmserv.errors import GameAway
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.pages.outages import OUTAGES
from pbmserv.web.http.responses import PRIVATE, RETRY_AFTER_S, html_response, seconds_until
from pbmserv.web.limits.allowance import Exhausted
from pbmserv.web.rendering.printer import Printer

log = logging.getLogger("pbmserv.web")


class ErrorPages:
    """The pages that answer for an error."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer

    async def refused(self, _request: Request, error: Exception) -> Response:
        """Return 404 or 405, without details."""
        assert isinstance(error, HTTPException)
        name = "missing" if error.status_code == 404 else "method"
        return self._printer.error_page(error.status_code, name, error.headers)

    async def working(self, _request: Request, _error: Exception) -> Response:
        """Return 202: the form is stored and will be carried out."""
        return self._printer.error_page(202, "working")

    async def not_done(self, _request: Request, _error: Exception) -> Response:
        """Return 500: our code failed, and what the form asks for was not done."""
        return self._printer.error_page(500, "not-done")

    async def no_door(self, _request: Request, error: Exception) -> Response:
        """Return 503: what the form asks for was not stored."""
        log.warning("a form could not be taken", extra={"because": str(error)})
        return self._printer.error_page(503, "no-door", {"Retry-After": str(RETRY_AFTER_S)})

    async def too_many(self, _request: Request, error: Exception) -> Response:
        """Return 429: the player has sent as much as the server accepts."""
        assert isinstance(error, TooMany)
        seconds = seconds_until(error.over.again)
        return self._printer.error_page(429, "too-many", {"Retry-After": str(seconds)})

    async def too_busy(self, _request: Request, error: Exception) -> Response:
        """Return 429 if the reader's network has used its share up, 503 if all readers have."""
        assert isinstance(error, Exhausted)
        text = self._printer.render("too-busy", is_own=error.is_own, seconds=error.seconds)
        headers = {**PRIVATE, "Retry-After": str(error.seconds)}
        return html_response(text, 429 if error.is_own else 503, headers)

    async def too_large(self, _request: Request, _error: Exception) -> Response:
        """Return 503: the page would take more work than one page may."""
        return self._printer.error_page(503, "too-large")

    async def game_away(self, _request: Request, error: Exception) -> Response:
        """Return 503: the board's game is stopped, or not installed."""
        assert isinstance(error, GameAway)
        titles = {game.key: game.title for game in self._printer.facts.games}
        title = titles.get(error.game, f"{error.game} (not installed)")
        text = self._printer.render("game-away", title=title, is_stopped=error.is_stopped)
        return html_response(text, 503, {**PRIVATE, "Retry-After": str(RETRY_AFTER_S)})

    def too_many_forms(self, seconds: int) -> Response:
        """Return 429: the reader's network has sent too many forms."""
        return html_response(self._printer.render("too-many-forms", seconds=seconds), 429, PRIVATE)

    def fault(self, error: BaseException) -> Response:
        """Return 500 or 503; the log names the fault, the page does not."""
        log.error("a page failed", exc_info=error)
        if isinstance(error, OUTAGES):
            return self._printer.error_page(503, "fault", {"Retry-After": str(RETRY_AFTER_S)})
        return self._printer.error_page(500, "fault")
