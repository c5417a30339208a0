"""Files of the whole site: stylesheet, icon, sitemap, robots.txt and security.txt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import monotonic

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.web.http.responses import LASTING, SHARED, tagged_response
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.page_cache import PageCache
from pbmserv.web.rendering.printer import Printer

IN_THE_SITEMAP = 500
SITEMAP_S = 300
"""Seconds for which the list of pages stays in the cache."""
SECURITY_LASTS = timedelta(days=180)
"""RFC 9116 section 2.5.5 wants less than a year."""


def site_file_routes(printer: Printer, public: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of these files."""
    files = _SiteFiles(printer, public, allowance)
    return [
        Route("/style.css", files.style),
        Route("/icon.svg", files.icon),
        Route("/sitemap.xml", files.sitemap),
        Route("/robots.txt", files.robots),
        Route("/.well-known/security.txt", files.security),
    ]


class _SiteFiles:
    """The handlers of these files."""

    def __init__(self, printer: Printer, public: PublicPages, allowance: Allowance) -> None:
        self._printer = printer
        self._public = public
        self._allowance = allowance
        self._rendered = PageCache(1)

    async def style(self, request: Request) -> Response:
        return tagged_response(request, self._printer.style, "text/css; charset=utf-8", LASTING)

    async def icon(self, request: Request) -> Response:
        return tagged_response(request, self._printer.icon, "image/svg+xml", LASTING)

    async def sitemap(self, request: Request) -> Response:
        """Answer with the pages that search engines may read."""

        async def make() -> bytes:
            games = await self._public.finished_boards("", IN_THE_SITEMAP) or []
            dailies = await self._public.dailies()
            return self._printer.raw("sitemap.xml", finished=games, dailies=dailies).encode()

        sitemap = await self._rendered.get(
            "sitemap",
            int(monotonic() // SITEMAP_S),
            lambda: self._allowance.spend(request, make),
        )
        return tagged_response(request, sitemap or b"", "application/xml", SHARED)

    async def robots(self, request: Request) -> Response:
        return tagged_response(
            request, self._printer.raw("robots.txt"), "text/plain; charset=utf-8", SHARED
        )

    async def security(self, request: Request) -> Response:
        """Answer with the contact for security problems (RFC 9116)."""
        if not self._printer.facts.contact:
            return self._printer.failure(404, "missing")
        expires = f"{datetime.now(UTC) + SECURITY_LASTS:%Y-%m-%dT00:00:00Z}"
        text = self._printer.raw("security.txt", expires=expires)
        return tagged_response(request, text, "text/plain; charset=utf-8", SHARED)
