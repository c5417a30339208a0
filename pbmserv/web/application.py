"""The web pages and the API as a Starlette application: all routes, and the pages for errors."""

from __future__ import annotations

import logging

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.registry import Registry
from pbmserv.errors import DoorAway, GameAway, NotDone, StillWorking
from pbmserv.service.core.budget import TooMuch
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.api.application import build_api
from pbmserv.web.http.responses import PRIVATE, SHARED, html, seconds_until
from pbmserv.web.http.safe_responses import AGAIN_S, SafeResponses, fault_of, mount_below
from pbmserv.web.limits.allowance import Allowance, Exhausted
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.pages.board import board_routes
from pbmserv.web.pages.feeds import feed_routes
from pbmserv.web.pages.front import front_routes
from pbmserv.web.pages.help import HelpPages, help_routes
from pbmserv.web.pages.hot_seat import hot_seat_routes
from pbmserv.web.pages.letter_links import letter_link_routes
from pbmserv.web.pages.personal import personal_routes
from pbmserv.web.pages.proof import proof_routes
from pbmserv.web.pages.public import public_routes
from pbmserv.web.pages.public_board import game_routes
from pbmserv.web.pages.site_files import site_file_routes
from pbmserv.web.probes import Health, health_routes
from pbmserv.web.rendering.printer import Printer, SiteFacts

WITH_TOKEN = ("/b/", "/confirm/", "/hide/", "/mine/", "/unsubscribe/")
"""Beginnings of the paths of forms that need a token."""

log = logging.getLogger("pbmserv.web")


def build(
    facts: SiteFacts,
    web_requests: WebRequests,
    templates: Environment,
    health: Health,
    registry: Registry,
    allowance: Allowance | None = None,
) -> Starlette:
    """Return the application.

    Args:
        facts: facts that the pages show.
        web_requests: the service's side.
        templates: an environment that escapes ``*.html.j2`` and finds ``web/…``.
        health: checks the health of the server.
        registry: the games, by which finished boards are checked.
        allowance: processor time for anonymous readers; `None` for the usual shares.
    """
    printer, allowance = Printer(facts, templates), allowance or Allowance(facts.proxies)
    help_pages = HelpPages(facts.games, templates, printer.shared)
    errors = _ErrorPages(printer)

    async def to_api(_request: Request) -> Response:
        """Redirect to ``/api/``, where the API's own application begins."""
        return Response(status_code=308, headers={**SHARED, "Location": f"{printer.base}/api/"})

    application = Starlette(
        routes=[  # the first match counts
            *board_routes(printer, web_requests, help_pages),
            *front_routes(printer, web_requests, help_pages),
            *help_routes(help_pages),
            *health_routes(health, numbers=False),
            *letter_link_routes(printer, web_requests),
            *public_routes(printer, web_requests.public, allowance),
            *game_routes(printer, web_requests.public, allowance),
            *feed_routes(printer, web_requests.public, allowance),
            *site_file_routes(printer, web_requests.public, allowance),
            *hot_seat_routes(printer, web_requests.hot_seats, allowance),
            *proof_routes(printer, registry, allowance),
            *personal_routes(printer, web_requests),
            Route("/api", to_api),
            mount_below("/api", build_api(printer, web_requests, allowance)),
        ],
        middleware=[
            Middleware(SafeResponses, fault=errors.fault),
            Middleware(
                LimitedPosts,
                limits=PostLimits(WITH_TOKEN, facts.proxies),
                refuse=errors.too_many_forms,
                but_below="/api/",
            ),
        ],
        exception_handlers={
            HTTPException: errors.refused,
            StillWorking: errors.working,
            NotDone: errors.not_done,
            DoorAway: errors.no_door,
            TooMany: errors.too_many,
            Exhausted: errors.too_busy,
            TooMuch: errors.too_large,
            GameAway: errors.game_away,
        },
    )
    application.router.redirect_slashes = False  # a redirect would echo the Host header
    return application


class _ErrorPages:
    """The pages that answer for an error."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer

    async def refused(self, _request: Request, error: Exception) -> Response:
        """Return 404 or 405, without details."""
        assert isinstance(error, HTTPException)
        name = "missing" if error.status_code == 404 else "method"
        return self._printer.failure(error.status_code, name, error.headers)

    async def working(self, _request: Request, _error: Exception) -> Response:
        """Return 202: the form is stored and will be carried out."""
        return self._printer.failure(202, "working")

    async def not_done(self, _request: Request, _error: Exception) -> Response:
        """Return 500: our code failed, and what the form asks for was not done."""
        return self._printer.failure(500, "not-done")

    async def no_door(self, _request: Request, error: Exception) -> Response:
        """Return 503: what the form asks for was not stored."""
        log.warning("a form could not be taken", extra={"because": str(error)})
        return self._printer.failure(503, "no-door", {"Retry-After": str(AGAIN_S)})

    async def too_many(self, _request: Request, error: Exception) -> Response:
        """Return 429: the player has sent as much as the server accepts."""
        assert isinstance(error, TooMany)
        seconds = seconds_until(error.over.again)
        return self._printer.failure(429, "too-many", {"Retry-After": str(seconds)})

    async def too_busy(self, _request: Request, error: Exception) -> Response:
        """Return 429 if the reader's network has used its share up, 503 if all readers have."""
        assert isinstance(error, Exhausted)
        text = self._printer.text("too-busy", is_own=error.is_own, seconds=error.seconds)
        headers = {**PRIVATE, "Retry-After": str(error.seconds)}
        return html(text, 429 if error.is_own else 503, headers)

    async def too_large(self, _request: Request, _error: Exception) -> Response:
        """Return 503: the page would take more work than one page may."""
        return self._printer.failure(503, "too-large")

    async def game_away(self, _request: Request, error: Exception) -> Response:
        """Return 503: the board's game is stopped, or not installed."""
        assert isinstance(error, GameAway)
        titles = {game.key: game.title for game in self._printer.facts.games}
        title = titles.get(error.game, f"{error.game} (not installed)")
        text = self._printer.text("game-away", title=title, is_stopped=error.is_stopped)
        return html(text, 503, {**PRIVATE, "Retry-After": str(AGAIN_S)})

    def too_many_forms(self, seconds: int) -> Response:
        """Return 429: the reader's network has sent too many forms."""
        return html(self._printer.text("too-many-forms", seconds=seconds), 429, PRIVATE)

    def fault(self, error: BaseException) -> Response:
        """Return 500 or 503; the log names the fault, the page does not."""
        log.error("a page failed", exc_info=error)
        return self._printer.failure(*fault_of(error))
