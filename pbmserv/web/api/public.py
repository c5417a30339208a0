"""The API for facts that everybody may know: games, boards, ratings, players and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from pbmserv.service.core.context import CommandContext
from pbmserv.service.pages import event_pages, public_boards, public_players
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.service.solo.guest_box import GuestLook
from pbmserv.views.public_facts import (
    EventLine,
    EventPage,
    FinishedBoard,
    LadderPage,
    PublicPlayer,
    Seek,
    StandingsTable,
    TeamPage,
)
from pbmserv.web.api.conversions import board_of, game_of, today_of
from pbmserv.web.api.endpoint import LAST_NUMBER, Endpoint
from pbmserv.web.api.problems import ApiProblem
from pbmserv.web.api.requests import number_in_path, number_of
from pbmserv.web.api.responses import json_response
from pbmserv.web.api.shapes import Board, Game, Listing, Today
from pbmserv.web.http.responses import BRIEFLY_UNLISTED, SHARED
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.printer import Printer

P = ParamSpec("P")
T = TypeVar("T")

USUAL_LIMIT, HIGHEST_LIMIT = 30, 50
"""Items of a list if the client does not say how many, and at most."""

_POSITIVE = {"type": "integer", "minimum": 1}
_TURN = {"turn": {"type": "integer", "minimum": 0, "maximum": LAST_NUMBER}}
_TAP = {"state": {"type": "string"}, "tap": {"type": "string"}}
_GROUP = {"group": {**_POSITIVE, "maximum": LAST_NUMBER}}
_PAGING = {
    "limit": {**_POSITIVE, "maximum": HIGHEST_LIMIT},
    "before": {**_POSITIVE, "maximum": LAST_NUMBER},
}


class PublicHandlers:
    """The handlers. The first line of a handler's docstring is the summary in the document.

    Attributes:
        endpoints: the addresses of the handlers.
    """

    def __init__(self, printer: Printer, web_requests: WebRequests, allowance: Allowance) -> None:
        self._printer = printer
        self._public = web_requests.public
        self._guest_boxes = web_requests.guest_boxes
        self._allowance = allowance
        self._url = printer.url("/api")
        self.endpoints = [
            Endpoint("/games", self.games, Listing[Game]),
            Endpoint("/games/{game}", self.game, Game, (404,)),
            Endpoint("/boards", self.boards, Listing[FinishedBoard], (400, 404), _PAGING),
            Endpoint("/boards/{board}", self.board, Board, (400, 404), _TURN),
            Endpoint("/ratings", self.ratings, Listing[StandingsTable]),
            Endpoint("/ratings/{game}", self.rating, StandingsTable, (404,)),
            Endpoint("/ladders", self.ladders, Listing[LadderPage]),
            Endpoint("/ladders/{game}", self.ladder, LadderPage, (404,)),
            Endpoint("/players/{userid}", self.player, PublicPlayer, (404,)),
            Endpoint(
                "/players/{userid}/boards", self.boards, Listing[FinishedBoard], (400, 404), _PAGING
            ),
            Endpoint("/events", self.events, Listing[EventLine]),
            Endpoint("/events/{event}", self.event, EventPage, (400, 404), _GROUP),
            Endpoint("/teams", self.teams, Listing[TeamPage]),
            Endpoint("/teams/{team}", self.team, TeamPage, (404,)),
            Endpoint("/seeks", self.seeks, Listing[Seek]),
        ]
        if printer.facts.boxes:
            self.endpoints.append(Endpoint("/today", self.today, Today, (404,), _TAP))

    async def games(self, request: Request) -> Response:
        """The games of this server."""
        games = [game_of(info) for info in self._printer.facts.games]
        return json_response(request, Listing(games), Listing[Game], SHARED)

    async def game(self, request: Request) -> Response:
        """One game of this server."""
        key = request.path_params["game"]
        for info in self._printer.facts.games:
            if info.key == key:
                return json_response(request, game_of(info), Game, SHARED)
        raise ApiProblem(404, "no-game", wanted=key[:40])

    async def boards(self, request: Request) -> Response:
        """Finished public boards, the newest first."""
        userid = request.path_params.get("userid", "")
        limit = number_of(request, "limit", 1, HIGHEST_LIMIT) or USUAL_LIMIT
        before = number_of(request, "before", 1, LAST_NUMBER) or 0
        # One board more shows whether there is another page.
        boards = await self._read(request, public_players.finished_of, userid, limit + 1, before)
        if boards is None:
            raise ApiProblem(404, "not-behind" if before else "no-player")
        headers, next_url = dict(BRIEFLY_UNLISTED), None
        if len(boards) > limit:
            query = urlencode({"limit": limit, "before": boards[limit - 1].board})
            path = f"/players/{userid}/boards" if userid else "/boards"
            next_url = f"{self._url}{path}?{query}"
            headers["Link"] = f'<{next_url}>; rel="next"'
        listing = Listing(list(boards[:limit]), next_url)
        return json_response(request, listing, Listing[FinishedBoard], headers)

    async def board(self, request: Request) -> Response:
        """A board as everybody may see it, now or after a number of turns."""
        number = number_in_path(request, "board")
        turn = number_of(request, "turn", 0, LAST_NUMBER)

        async def make() -> Board | None:
            page = await self._public.read(public_boards.board_page, number, turn)
            return None if page is None else board_of(page, self._printer.url(f"/game/{number}"))

        board = await self._allowance.spend(request, make)
        if board is None:
            raise ApiProblem(404, "no-board", wanted=request.path_params["board"][:40])
        return json_response(request, board, Board, BRIEFLY_UNLISTED)

    async def ratings(self, request: Request) -> Response:
        """The best players of each game."""
        return await self._list(request, Listing[StandingsTable], public_players.standings)

    async def rating(self, request: Request) -> Response:
        """The best players of a game."""
        return await self._one(request, StandingsTable, public_players.standings_of, "no-game")

    async def ladders(self, request: Request) -> Response:
        """The ladders of all games."""
        return await self._list(request, Listing[LadderPage], public_players.ladders)

    async def ladder(self, request: Request) -> Response:
        """The ladder of a game."""
        return await self._one(request, LadderPage, public_players.ladder, "no-game")

    async def player(self, request: Request) -> Response:
        """The public facts of a player."""
        return await self._one(request, PublicPlayer, public_players.player_page, "no-player")

    async def seeks(self, request: Request) -> Response:
        """Open seeks: players who look for an opponent."""
        return await self._list(request, Listing[Seek], public_players.open_seeks)

    async def events(self, request: Request) -> Response:
        """Leagues, cups and other events: those that take entries first."""
        return await self._list(request, Listing[EventLine], event_pages.lines)

    async def event(self, request: Request) -> Response:
        """The tables and games of an event, of twelve groups from a group on."""
        number = number_in_path(request, "event")
        first = number_of(request, "group", 1, LAST_NUMBER)
        event = await self._read(request, event_pages.page, number, first or 1)
        if event is None:
            raise ApiProblem(404, "no-event", wanted=request.path_params["event"][:40])
        return json_response(request, event, EventPage, BRIEFLY_UNLISTED)

    async def teams(self, request: Request) -> Response:
        """The teams, by name."""
        return await self._list(request, Listing[TeamPage], event_pages.teams_listed)

    async def team(self, request: Request) -> Response:
        """A team with its members."""
        return await self._one(request, TeamPage, event_pages.team_page, "no-team")

    async def today(self, request: Request) -> Response:
        """The guest box of today, after the taps in "state" and one more."""
        query = request.query_params
        look = GuestLook(state=query.get("state", ""), tap=query.get("tap", ""))
        page = await self._allowance.spend(request, lambda: self._guest_boxes.page(look))
        if page is None:
            raise ApiProblem(404, "no-today")
        return json_response(request, today_of(page), Today, BRIEFLY_UNLISTED)

    async def _list(
        self, request: Request, shape: Any, look: Callable[[CommandContext], Sequence[Any]]
    ) -> Response:
        items = await self._read(request, look)
        return json_response(request, Listing(list(items)), shape, BRIEFLY_UNLISTED)

    async def _one(
        self,
        request: Request,
        shape: Any,
        look: Callable[[CommandContext, str], T | None],
        missing: str,
    ) -> Response:
        """Answer with the facts that the only parameter of the path names.

        Args:
            missing: the problem if there are none.
        """
        (wanted,) = request.path_params.values()
        facts = await self._read(request, look, wanted)
        if facts is None:
            raise ApiProblem(404, missing, wanted=wanted[:40])
        return json_response(request, facts, shape, BRIEFLY_UNLISTED)

    async def _read(
        self,
        request: Request,
        look: Callable[Concatenate[CommandContext, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Look public facts up, within the allowance of processor time."""
        return await self._allowance.spend(
            request, lambda: self._public.read(look, *args, **kwargs)
        )
