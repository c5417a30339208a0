"""Pages for everybody: today's box, events, teams, players, ratings and seeks.

Pages of boards are in `public_board`, feeds in `feeds`.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.registry import Titles
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.service.solo.guest_box import GuestLook
from pbmserv.views.board_forms import drawing_label
from pbmserv.views.pictures import Painter
from pbmserv.web.http.responses import BRIEFLY, UNLISTED, existing, tagged
from pbmserv.web.http.url_parameters import group_of, step_of
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.pages.rating_graph import rating_graph
from pbmserv.web.rendering.printer import Printer


def public_routes(printer: Printer, service: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages, whose work is charged to the allowance."""
    site, metered = _Public(printer, service, allowance), allowance.metered
    return [
        Route("/today", site.today),
        Route("/daily", metered(site.dailies)),
        Route("/daily/{number:int}", metered(site.daily)),
        Route("/events", metered(site.events)),
        Route("/events/{number:int}", metered(site.event)),
        Route("/teams", metered(site.teams)),
        Route("/teams/{key}", metered(site.team)),
        Route("/seeks", metered(site.seeks)),
        Route("/standings", metered(site.standings)),
        Route("/ladder", metered(site.ladders)),
        Route("/ladder/{game}", metered(site.ladder)),
        Route("/players/{userid}", metered(site.player)),
    ]


class _Public:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, service: PublicPages, allowance: Allowance) -> None:
        self._printer = printer
        self._service = service
        self._allowance = allowance
        self._painter = Painter(printer.templates)
        self._titles = Titles({game.key: game.title for game in printer.facts.games})

    async def today(self, request: Request) -> Response:
        """Show the guest box.

        A tap is a GET: the form carries the whole game, and the server stores nothing.
        """
        query = request.query_params
        look = GuestLook(
            state=query.get("state", ""),
            tap=query.get("tap", ""),
            check="check" in query,
            tool=query.get("tool", ""),
            take=query.get("take", ""),
            restart="restart" in query,
            step=step_of(query),
        )
        if not look.is_first:
            return await self._allowance.spend(request, lambda: self._played(request, look))
        page = existing(await self._service.guest(look))
        return tagged(request, self._printer.again("today", page=page), headers=BRIEFLY)

    async def _played(self, request: Request, look: GuestLook) -> Response:
        """Show the guest box after a guest's moves."""
        page = existing(await self._service.guest(look))
        return _answer(request, self._printer.text("today", page=page))

    async def dailies(self, request: Request) -> Response:
        """Show the archive of the boxes of the day."""
        if not self._printer.facts.boxes:
            return self._printer.failure(404, "missing")
        games = await self._service.dailies()
        return tagged(request, self._printer.again("dailies", games=games), headers=BRIEFLY)

    async def daily(self, request: Request) -> Response:
        table = existing(await self._service.daily(request.path_params["number"]))
        drawing, drawn = table.drawing, None
        if drawing is not None and table.scene is not None:
            drawn = self._painter.svg_for_page(drawing, drawing_label(table.scene, drawing))
        text = self._printer.text("daily", page=table, drawn=drawn)
        return tagged(request, text, headers=BRIEFLY)

    async def events(self, request: Request) -> Response:
        """Show the events: those that take entries, those that run, and those that are over."""
        events = await self._service.events()
        text = self._printer.again("events", events=events)
        return _answer(request, text)

    async def event(self, request: Request) -> Response:
        """Show the tables of an event; with ``?group=13`` from that group on."""
        number = request.path_params["number"]
        event = existing(await self._service.event(number, group_of(request)))
        text = self._printer.text("event", words=event)
        return _answer(request, text)

    async def teams(self, request: Request) -> Response:
        text = self._printer.again("teams", teams=await self._service.teams())
        return _answer(request, text)

    async def team(self, request: Request) -> Response:
        page = existing(await self._service.team(request.path_params["key"]))
        text = self._printer.text("team", page=page)
        return _answer(request, text)

    async def seeks(self, request: Request) -> Response:
        seeks = await self._service.seeks()
        text = self._printer.again("seeks", seeks=seeks, titles=self._titles)
        return _answer(request, text)

    async def standings(self, request: Request) -> Response:
        tables = await self._service.standings()
        text = self._printer.again("standings", tables=tables)
        return _answer(request, text)

    async def ladders(self, request: Request) -> Response:
        """Show the ladders of all games."""
        text = self._printer.again("ladders", ladders=await self._service.ladders())
        return _answer(request, text)

    async def ladder(self, request: Request) -> Response:
        page = existing(await self._service.ladder(request.path_params["game"]))
        text = self._printer.text("ladder", page=page)
        return _answer(request, text)

    async def player(self, request: Request) -> Response:
        player = existing(await self._service.player(request.path_params["userid"]))
        graphs = {game: rating_graph(curve) for game, curve in player.curves.items()}
        text = self._printer.text("player", player=player, titles=self._titles, graphs=graphs)
        return _answer(request, text)


def _answer(request: Request, text: str | bytes) -> Response:
    """Return a page that changes with each move, and that search engines may not list."""
    return tagged(request, text, headers=BRIEFLY | UNLISTED)
