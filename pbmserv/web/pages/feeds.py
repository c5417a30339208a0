"""Atom feeds: boards that end, boxes of the day, events and ladders."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages import event_pages, public_players
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.service.solo import daily_archive
from pbmserv.web.http.responses import BRIEFLY, existing, tagged_response
from pbmserv.web.http.url_parameters import group_of
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.printer import Printer

ATOM = "application/atom+xml; charset=utf-8"
IN_A_FEED = 30


def feed_routes(printer: Printer, public: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of the feeds, whose work is charged to the allowance."""
    feeds, metered = _Feeds(printer, public), allowance.metered
    return [
        Route("/games.atom", metered(feeds.games)),
        Route("/players/{userid}/games.atom", metered(feeds.games)),
        Route("/daily.atom", metered(feeds.daily)),
        Route("/events.atom", metered(feeds.events)),
        Route("/events/{number:nine_digits}.atom", metered(feeds.event)),
        Route("/ladder/{game}/ladder.atom", metered(feeds.ladder)),
    ]


class _Feeds:
    """The handlers of the feeds."""

    def __init__(self, printer: Printer, public: PublicPages) -> None:
        self._printer = printer
        self._public = public

    async def games(self, request: Request) -> Response:
        """Answer with the feed of finished boards, of all players or of one."""
        userid = request.path_params.get("userid", "")
        games = existing(await self._public.read(public_players.finished_of, userid, IN_A_FEED))
        text = self._printer.render_plain("games.atom", games=games, userid=userid.lower())
        return tagged_response(request, text, BRIEFLY, ATOM)

    async def daily(self, request: Request) -> Response:
        """Answer with the feed of boxes of the day that are open."""
        tables = await self._public.read(daily_archive.open_tables, IN_A_FEED)
        return tagged_response(
            request, self._printer.render_plain("daily.atom", tables=tables), BRIEFLY, ATOM
        )

    async def events(self, request: Request) -> Response:
        """Answer with the feed of events that begin or end."""
        events = await self._public.read(event_pages.lines)
        return tagged_response(
            request, self._printer.render_plain("events.atom", events=events), BRIEFLY, ATOM
        )

    async def event(self, request: Request) -> Response:
        """Answer with the feed of an event: its games that are over."""
        number = request.path_params["number"]
        event = existing(await self._public.read(event_pages.page, number, group_of(request)))
        return tagged_response(
            request, self._printer.render_plain("event.atom", words=event), BRIEFLY, ATOM
        )

    async def ladder(self, request: Request) -> Response:
        """Answer with the feed of a ladder's movements."""
        game = request.path_params["game"]
        page = existing(await self._public.read(public_players.ladder, game))
        text = self._printer.render_plain("ladder.atom", page=page, climbs=page.climbs[:IN_A_FEED])
        return tagged_response(request, text, BRIEFLY, ATOM)
