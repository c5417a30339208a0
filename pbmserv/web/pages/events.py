"""Events and teams: lists, the tables of an event, and the members of a team."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages import event_pages
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.web.http.responses import BRIEFLY_UNLISTED, existing, tagged_response
from pbmserv.web.http.url_parameters import group_of
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.printer import Printer


def event_routes(printer: Printer, public: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages, whose work is charged to the allowance."""
    pages, metered = _EventPages(printer, public), allowance.metered
    return [
        Route("/events", metered(pages.events)),
        Route("/events/{number:nine_digits}", metered(pages.event)),
        Route("/teams", metered(pages.teams)),
        Route("/teams/{key}", metered(pages.team)),
    ]


class _EventPages:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, public: PublicPages) -> None:
        self._printer = printer
        self._public = public

    async def events(self, request: Request) -> Response:
        """Show the events: those that take entries, those that run, and those that are over."""
        events = await self._public.read(event_pages.lines)
        text = self._printer.render("events", events=events)
        return tagged_response(request, text, BRIEFLY_UNLISTED)

    async def event(self, request: Request) -> Response:
        """Show the tables of an event; with ``?group=13`` from that group on."""
        number = request.path_params["number"]
        event = existing(await self._public.read(event_pages.page, number, group_of(request)))
        text = self._printer.render("event", words=event)
        return tagged_response(request, text, BRIEFLY_UNLISTED)

    async def teams(self, request: Request) -> Response:
        teams = await self._public.read(event_pages.teams_listed)
        text = self._printer.render("teams", teams=teams)
        return tagged_response(request, text, BRIEFLY_UNLISTED)

    async def team(self, request: Request) -> Response:
        key = request.path_params["key"]
        page = existing(await self._public.read(event_pages.team_page, key))
        text = self._printer.render("team", page=page)
        return tagged_response(request, text, BRIEFLY_UNLISTED)
