"""Files of the whole site: stylesheet, icon, sitemap, robots.txt and security.txt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages import public_players
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.service.solo import daily_archive
from pbmserv.web.http.responses import CSS, SHARED, SVG, file_route, tagged_response
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.printer import Printer

PLAIN = "text/plain; charset=utf-8"
IN_THE_SITEMAP = 500
"""Finished boards in the sitemap, the newest ones."""
SECURITY_LASTS = timedelta(days=180)
"""RFC 9116 section 2.5.5 wants less than a year."""


def site_file_routes(printer: Printer, public: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of these files; the work for the sitemap is charged to the allowance."""

    async def sitemap(request: Request) -> Response:
        """Answer with the pages that search engines may read."""
        games = await public.read(public_players.finished_of, "", IN_THE_SITEMAP)
        dailies = await public.read(daily_archive.dailies)
        text = printer.render_plain("sitemap.xml", finished=games or (), dailies=dailies)
        return tagged_response(request, text, SHARED, "application/xml")

    async def robots(request: Request) -> Response:
        return tagged_response(request, printer.render_plain("robots.txt"), SHARED, PLAIN)

    async def security(request: Request) -> Response:
        """Answer with the contact for security problems (RFC 9116)."""
        if not printer.facts.contact:
            return printer.error_page(404, "missing")
        expires = f"{datetime.now(UTC) + SECURITY_LASTS:%Y-%m-%dT00:00:00Z}"
        text = printer.render_plain("security.txt", expires=expires)
        return tagged_response(request, text, SHARED, PLAIN)

    return [
        file_route("/style.css", printer.style, CSS),
        file_route("/icon.svg", printer.icon, SVG),
        Route("/sitemap.xml", allowance.metered(sitemap)),
        Route("/robots.txt", robots),
        Route("/.well-known/security.txt", security),
    ]
