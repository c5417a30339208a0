"""Public facts about players: ratings, ladders, seeks, and the page of a player."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.registry import Titles
from pbmserv.service.pages import public_players
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.web.http.responses import BRIEFLY_UNLISTED, existing, tagged_response
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.pages.rating_graph import rating_graph
from pbmserv.web.rendering.printer import Printer


def player_routes(printer: Printer, public: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages, whose work is charged to the allowance."""
    pages, metered = _PlayerPages(printer, public), allowance.metered
    return [
        Route("/seeks", metered(pages.seeks)),
        Route("/standings", metered(pages.standings)),
        Route("/ladder", metered(pages.ladders)),
        Route("/ladder/{game}", metered(pages.ladder)),
        Route("/players/{userid}", metered(pages.player)),
    ]


class _PlayerPages:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, public: PublicPages) -> None:
        self._printer = printer
        self._public = public
        self._titles = Titles({game.key: game.title for game in printer.facts.games})

    async def seeks(self, request: Request) -> Response:
        seeks = await self._public.read(public_players.open_seeks)
        text = self._printer.render("seeks", seeks=seeks, titles=self._titles)
        return tagged_response(request, text, BRIEFLY_UNLISTED)

    async def standings(self, request: Request) -> Response:
        tables = await self._public.read(public_players.standings)
        text = self._printer.render("standings", tables=tables)
        return tagged_response(request, text, BRIEFLY_UNLISTED)

    async def ladders(self, request: Request) -> Response:
        """Show the ladders of all games."""
        ladders = await self._public.read(public_players.ladders)
        text = self._printer.render("ladders", ladders=ladders)
        return tagged_response(request, text, BRIEFLY_UNLISTED)

    async def ladder(self, request: Request) -> Response:
        game = request.path_params["game"]
        page = existing(await self._public.read(public_players.ladder, game))
        text = self._printer.render("ladder", page=page)
        return tagged_response(request, text, BRIEFLY_UNLISTED)

    async def player(self, request: Request) -> Response:
        userid = request.path_params["userid"]
        player = existing(await self._public.read(public_players.player_page, userid))
        graphs = {game: rating_graph(curve) for game, curve in player.curves.items()}
        text = self._printer.render("player", player=player, titles=self._titles, graphs=graphs)
        return tagged_response(request, text, BRIEFLY_UNLISTED)
