"""The operators' pages as a Starlette application: all routes, behind the gate."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from pbmserv.clock import Clock
from pbmserv.mail.networks import Network
from pbmserv.service.operators.pages import OperatorPages
from pbmserv.web.http.local_only import LocalOnly
from pbmserv.web.http.safe_responses import SAFE_HEADERS, SafeResponses
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.operators.gate import OperatorGate
from pbmserv.web.operators.pages import OperatorHandlers
from pbmserv.web.operators.printer import OperatorPrinter
from pbmserv.web.operators.sessions import Sessions

TOKEN_PATHS = ("/",)
"""Beginnings of the paths of forms that need a session or the token: all forms here do."""

# With "no-referrer" browsers send forms with the origin "null", which `LocalOnly` refuses.
_SAFE = SAFE_HEADERS | {"Referrer-Policy": "same-origin"}


def build_operators(
    pages: OperatorPages,
    token: Path,
    url: str,
    clock: Clock,
    templates: Environment,
    proxies: Collection[Network],
) -> Starlette:
    """Return the application of the operators' own listener.

    Args:
        token: the file of the operators' token: see `read_token`.
        url: the URL at which operators reach the pages through a proxy; ``""`` if they reach them
            on this machine alone.
        proxies: networks of our own proxies, which only count with a URL.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}" if url else ""
    proxies = proxies if url else ()
    printer = OperatorPrinter(parts.path, templates)
    gate = OperatorGate(
        Sessions(token, clock),
        printer,
        is_secure=parts.scheme == "https",
        proxies=proxies,
    )
    handlers, signed = OperatorHandlers(pages, printer), gate.signed
    both = ["GET", "POST"]
    application = Starlette(
        routes=[
            *printer.file_routes(),
            Route("/sign-in", gate.sign_in, methods=both),
            Route("/sign-out", signed(gate.sign_out), methods=["POST"]),
            Route("/", signed(handlers.queues)),
            Route("/mails", signed(handlers.mails)),
            Route("/mails/{number}", signed(handlers.mail), methods=both),
            Route("/letters", signed(handlers.letters), methods=both),
            Route("/letters/{number}", signed(handlers.letter), methods=both),
            Route("/players", signed(handlers.players)),
            Route("/players/{userid}", signed(handlers.player), methods=both),
            Route("/correspondence", signed(handlers.correspondence)),
            Route("/boards", signed(handlers.boards)),
            Route("/boards/{number}", signed(handlers.board), methods=both),
            Route("/events", signed(handlers.events), methods=both),
            Route("/games", signed(handlers.games), methods=both),
            Route("/games/{game}", signed(handlers.game), methods=both),
            Route("/server", signed(handlers.server), methods=both),
            Route("/audit", signed(handlers.audit)),
        ],
        middleware=[
            Middleware(SafeResponses, fault=printer.fault, headers=_SAFE),
            Middleware(LocalOnly, site_name="operators' page", origin=origin),
            Middleware(
                LimitedPosts,
                limits=PostLimits(TOKEN_PATHS, proxies),
                refuse=printer.too_many_forms,
            ),
        ],
        exception_handlers={HTTPException: gate.refused},
    )
    application.router.redirect_slashes = False
    return application
