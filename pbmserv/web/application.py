"""The site as a Starlette application: all pages and the API, with their limits."""

from __future__ import annotations

import re

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from pbmserv.engine.registry import Registry
from pbmserv.errors import DoorAway, GameAway, NotDone, StillWorking
from pbmserv.service.core.budget import TooMuch
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.operators.health import Health
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.api.application import build_api
from pbmserv.web.http.responses import SHARED
from pbmserv.web.http.safe_responses import SafeResponses
from pbmserv.web.limits.allowance import Allowance, Exhausted
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.pages.board import board_routes
from pbmserv.web.pages.daily_boxes import daily_box_routes
from pbmserv.web.pages.errors import ErrorPages
from pbmserv.web.pages.events import event_routes
from pbmserv.web.pages.front import front_routes
from pbmserv.web.pages.guest_box import guest_box_routes
from pbmserv.web.pages.help import HelpPages, help_routes
from pbmserv.web.pages.hot_seat import hot_seat_routes
from pbmserv.web.pages.letter_links import letter_link_routes
from pbmserv.web.pages.personal import personal_routes
from pbmserv.web.pages.players import player_routes
from pbmserv.web.pages.proof import proof_routes
from pbmserv.web.pages.public_board import public_board_routes
from pbmserv.web.pages.public_routes import PublicRoutes
from pbmserv.web.pages.site_files import site_file_routes
from pbmserv.web.probes import health_routes
from pbmserv.web.rendering.printer import Printer
from pbmserv.web.rendering.site_facts import SiteFacts

TOKEN_PATHS = ("/b/", "/confirm/", "/hide/", "/mine/", "/unsubscribe/")
"""Beginnings of the paths of forms that need a token."""


def build_site(
    facts: SiteFacts,
    web_requests: WebRequests,
    templates: Environment,
    health: Health,
    registry: Registry,
    allowance: Allowance,
) -> Starlette:
    """Return the application.

    Args:
        facts: facts that the pages show.
        web_requests: the service's side.
        templates: an environment that escapes ``*.html.j2`` and finds ``web/…``.
        health: checks the health of the server.
        registry: the games, by which finished boards are checked.
        allowance: processor time for anonymous readers.
    """
    printer = Printer(facts, templates)
    public = web_requests.public
    routes = PublicRoutes(printer, public, allowance)
    help_pages = HelpPages(facts.games, templates, printer.shared)
    errors = ErrorPages(printer)

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
            *guest_box_routes(printer, web_requests.guest_boxes, allowance),
            *daily_box_routes(routes, templates),
            *event_routes(routes),
            *player_routes(routes),
            *public_board_routes(printer, public, allowance),
            *site_file_routes(printer, public, allowance),
            *hot_seat_routes(printer, web_requests.hot_seats, allowance),
            *proof_routes(printer, registry, allowance),
            *personal_routes(printer, web_requests),
            Route("/api", to_api),
            _mount_below("/api", build_api(printer, web_requests, allowance)),
        ],
        middleware=[
            Middleware(SafeResponses, fault=errors.fault),
            Middleware(
                LimitedPosts,
                limits=PostLimits(TOKEN_PATHS, facts.proxies),
                refuse=errors.too_many_forms,
                except_below="/api/",
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


def _mount_below(path: str, application: ASGIApp) -> Mount:
    """Return a mount for an application that also gets the paths with line ends in them.

    Starlette's pattern stops at a line end, so that our own 404 would answer such a path.
    """
    mount = Mount(path, application)
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount
