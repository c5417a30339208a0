"""The API as a Starlette application, which the site mounts below ``/api``."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from pbmserv.errors import ServerFault
from pbmserv.service.core.budget import TooMuch
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.pages.outages import OUTAGES
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.api.index import index_routes
from pbmserv.web.api.problems import ApiProblem, ProblemResponses
from pbmserv.web.api.public import PublicHandlers
from pbmserv.web.api.seat import SeatHandlers
from pbmserv.web.http.safe_responses import SafeResponses
from pbmserv.web.limits.allowance import Allowance, Exhausted
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.rendering.printer import Printer

TOKEN_PATHS = ("/api/seat/",)
"""Beginnings of the paths that take a POST with a token."""


def build_api(printer: Printer, web_requests: WebRequests, allowance: Allowance) -> Starlette:
    """Return the application.

    Args:
        printer: renders pages.
        web_requests: the service's side.
        allowance: processor time for anonymous readers, shared with the pages.
    """
    endpoints = [
        *PublicHandlers(printer, web_requests, allowance).endpoints,
        *SeatHandlers(web_requests).endpoints,
    ]
    problems = ProblemResponses(printer)
    limits = PostLimits(TOKEN_PATHS, printer.facts.proxies)
    application = Starlette(
        routes=[
            *(
                Route(endpoint.path, endpoint.handler, methods=[endpoint.method])
                for endpoint in endpoints
            ),
            *index_routes(printer, endpoints),
        ],
        middleware=[
            Middleware(SafeResponses, fault=problems.fault),
            Middleware(LimitedPosts, limits=limits, refuse=problems.too_many_posts),
        ],
        exception_handlers={
            ApiProblem: problems.problem,
            HTTPException: problems.no_such_address,
            TooMany: problems.too_many,
            Exhausted: problems.too_busy,
            TooMuch: problems.too_large,
            ServerFault: problems.away,
            **dict.fromkeys(OUTAGES, problems.away),
        },
    )
    application.router.redirect_slashes = False
    return application
