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
    handlers = OperatorHandlers(pages, printer)
    with_session = gate.with_session
    both = ["GET", "POST"]
    application = Starlette(
        routes=[
            *printer.file_routes(),
            Route("/sign-in", gate.sign_in, methods=both),
            Route("/sign-out", with_session(gate.sign_out), methods=["POST"]),
            Route("/", with_session(handlers.queues)),
            Route("/mails", with_session(handlers.mails)),
            Route("/mails/{number}", with_session(handlers.mail), methods=both),
            Route("/letters", with_session(handlers.letters), methods=both),
            Route("/letters/{number}", with_session(handlers.letter), methods=both),
            Route("/players", with_session(handlers.players)),
            Route("/players/{userid}", with_session(handlers.player), methods=both),
            Route("/correspondence", with_session(handlers.correspondence)),
            Route("/boards", with_session(handlers.boards)),
            Route("/boards/{number}", with_session(handlers.board), methods=both),
            Route("/events", with_session(handlers.events), methods=both),
            Route("/games", with_session(handlers.games), methods=both),
            Route("/games/{game}", with_session(handlers.game), methods=both),
            Route("/server", with_session(handlers.server), methods=both),
            Route("/audit", with_session(handlers.audit)),
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
