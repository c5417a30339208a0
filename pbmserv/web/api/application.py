"""The API for programs: the facts of the public pages as JSON, and a seat by the token of its page.

The token is sent in a header, never in an address, and cookies are ignored. A page of another site
can make a browser send neither a token nor JSON, so it can make nobody play.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.protocol import Readable
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import GameInfo
from pbmserv.engine.types import Seat as SeatNumber
from pbmserv.errors import ServerFault, StillWorking
from pbmserv.mail.networks import LOOPBACK, Network
from pbmserv.service.boards.board_page import BoardPage, Look
from pbmserv.service.core.budget import TooMuch
from pbmserv.service.core.outages import OUTAGES
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.pages.board_presses import Press
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.service.solo.guest_box import GuestLook
from pbmserv.views.board import BoardScene
from pbmserv.views.public_facts import EventLine, EventPage, Finished, Seek, TeamPage
from pbmserv.web.api import shapes
from pbmserv.web.api.openapi import LAST_NUMBER, Endpoint, described
from pbmserv.web.api.problems import ProblemAnswers, problem_answer
from pbmserv.web.api.requests import (
    HTML,
    JSON,
    ApiProblem,
    adapter,
    bad_token,
    check_accepts,
    number_in_path,
    number_of,
    posted,
    quality,
    token_of,
)
from pbmserv.web.api.shapes import (
    Board,
    Game,
    Ladder,
    Listing,
    Move,
    Player,
    Ratings,
    Seat,
    Today,
    like,
)
from pbmserv.web.http.responses import BRIEFLY, PRIVATE, SHARED, UNLISTED, tagged
from pbmserv.web.http.safe_responses import AGAIN_S, SafeResponses
from pbmserv.web.limits.allowance import Allowance, Exhausted
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.rendering.page_cache import PageCache
from pbmserv.web.rendering.printer import Printer

MOST_RENDERED = 200
"""Boards that are kept as JSON, of some 4 kB each."""
USUAL_LIMIT, HIGHEST_LIMIT = 30, 50
"""Items of a list if the client does not say how many, and at most."""
WITH_TOKEN = ("/api/seat/",)
"""Beginnings of the paths that take a POST with a token."""

_PUBLIC = {**BRIEFLY, **UNLISTED}
_POSITIVE = {"type": "integer", "minimum": 1}
_TURN = {"turn": {"type": "integer", "minimum": 0, "maximum": LAST_NUMBER}}
_TAP = {"state": {"type": "string"}, "tap": {"type": "string"}}
_GROUP = {"group": {**_POSITIVE, "maximum": LAST_NUMBER}}
_PAGING = {
    "limit": {**_POSITIVE, "maximum": HIGHEST_LIMIT},
    "before": {**_POSITIVE, "maximum": LAST_NUMBER},
}
_PROBLEMS_OF_A_MOVE = (400, 401, 409, 413, 415, 422)


def build_api(
    printer: Printer,
    web_requests: WebRequests,
    allowance: Allowance,
    proxies: Collection[Network] = LOOPBACK,
) -> Starlette:
    """Return the application below ``/api``.

    Args:
        printer: renders pages.
        web_requests: the service's side.
        allowance: processor time for anonymous readers, shared with the pages.
        proxies: networks of our own proxies.
    """
    api, problems = _Api(printer, web_requests, allowance), ProblemAnswers(printer)
    application = Starlette(
        routes=[
            *(
                Route(endpoint.path, endpoint.handler, methods=[endpoint.method])
                for endpoint in api.endpoints
            ),
            Route("/openapi.json", api.openapi),
            Route("/", api.index),
        ],
        middleware=[
            Middleware(SafeResponses, fault=problems.fault),
            Middleware(
                LimitedPosts, limits=PostLimits(WITH_TOKEN, proxies), refuse=problems.too_many_posts
            ),
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


def _json(request: Request, value: Any, shape: Any, headers: Mapping[str, str]) -> Response:
    """Return a value of this shape as JSON, with its ETag."""
    return _encoded(request, adapter(shape).dump_json(value), headers)


def _encoded(request: Request, body: bytes, headers: Mapping[str, str]) -> Response:
    """Return an answer that is JSON already, with its ETag."""
    check_accepts(request, JSON)
    return tagged(request, body, JSON, headers)


class _SeatJson(NamedTuple):
    """The JSON of a seat, and the facts that it was made of."""

    scene: BoardScene
    declined: bool
    undecided: tuple[str, ...]
    body: bytes


class _Api:
    """The handlers. The first line of a handler's docstring is the summary in the document."""

    def __init__(self, printer: Printer, web_requests: WebRequests, allowance: Allowance) -> None:
        self._printer = printer
        self._web_requests = web_requests
        self._allowance = allowance
        self._url = printer.url("/api")
        self._rendered = PageCache(MOST_RENDERED)
        self._seats: dict[tuple[int, SeatNumber | None], _SeatJson] = {}
        self._document = b""
        self.endpoints = [
            Endpoint("/games", self.games, Listing[Game]),
            Endpoint("/games/{game}", self.game, Game, (404,)),
            Endpoint("/boards", self.boards, Listing[Finished], (400, 404), _PAGING),
            Endpoint("/boards/{board}", self.board, Board, (400, 404), _TURN),
            Endpoint("/ratings", self.ratings, Listing[Ratings]),
            Endpoint("/ratings/{game}", self.rating, Ratings, (404,)),
            Endpoint("/ladders", self.ladders, Listing[Ladder]),
            Endpoint("/ladders/{game}", self.ladder, Ladder, (404,)),
            Endpoint("/players/{userid}", self.player, Player, (404,)),
            Endpoint(
                "/players/{userid}/boards", self.boards, Listing[Finished], (400, 404), _PAGING
            ),
            Endpoint("/events", self.events, Listing[EventLine]),
            Endpoint("/events/{event}", self.event, EventPage, (400, 404), _GROUP),
            Endpoint("/teams", self.teams, Listing[TeamPage]),
            Endpoint("/teams/{team}", self.team, TeamPage, (404,)),
            Endpoint("/seeks", self.seeks, Listing[Seek]),
            Endpoint("/today", self.today, Today, (404,), _TAP),
            Endpoint("/seat", self.seat, Seat, (401,)),
            Endpoint("/seat/moves", self.move, Seat, _PROBLEMS_OF_A_MOVE, takes=Move),
        ]

    # -- public facts ----------------------------------------------------------------------

    async def index(self, request: Request) -> Response:
        """The addresses of the API: a page for people, links for programs."""
        check_accepts(request, JSON, HTML)
        accept = request.headers.get("accept", "")
        headers = {**SHARED, "Vary": "Accept"}
        if quality(accept, HTML) > quality(accept, JSON) or HTML in accept:
            text = self._printer.text("api", endpoints=self.endpoints, home=self._url)
            return tagged(request, text, headers=headers)
        links = {"openapi": f"{self._url}/openapi.json"}
        for endpoint in self.endpoints:
            links[endpoint.path[1:]] = f"{self._url}{endpoint.path}"
        return _json(request, links, dict[str, str], headers)

    async def games(self, request: Request) -> Response:
        """The games of this server."""
        games = [_game(info) for info in self._printer.facts.games]
        return _json(request, Listing(games), Listing[Game], SHARED)

    async def game(self, request: Request) -> Response:
        """One game of this server."""
        key = request.path_params["game"]
        for info in self._printer.facts.games:
            if info.key == key:
                return _json(request, _game(info), Game, SHARED)
        raise ApiProblem(404, "no-game", game=key[:40])

    async def boards(self, request: Request) -> Response:
        """Finished public boards, the newest first."""
        userid = request.path_params.get("userid", "")
        limit = number_of(request, "limit", 1, HIGHEST_LIMIT) or USUAL_LIMIT
        before = number_of(request, "before", 1, LAST_NUMBER) or 0
        # One board more shows whether there is another page.
        boards = await self._allowance.spend(
            request, lambda: self._web_requests.public.finished(userid, limit + 1, before)
        )
        if boards is None:
            raise ApiProblem(404, "not-behind" if before else "no-player")
        headers, next_url = dict(_PUBLIC), None
        if len(boards) > limit:
            query = urlencode({"limit": limit, "before": boards[limit - 1].board})
            path = f"/players/{userid}/boards" if userid else "/boards"
            next_url = f"{self._url}{path}?{query}"
            headers["Link"] = f'<{next_url}>; rel="next"'
        listing = Listing(list(boards[:limit]), next_url)
        return _json(request, listing, Listing[Finished], headers)

    async def board(self, request: Request) -> Response:
        """A board as everybody may see it, now or after a number of turns."""
        number = number_in_path(request, "board")
        turn = number_of(request, "turn", 0, LAST_NUMBER)

        async def render() -> bytes | None:
            page = await self._web_requests.public.game(number, turn)
            if page is None:
                return None
            url = self._printer.url(f"/game/{number}")
            return adapter(Board).dump_json(shapes.board_of(page, url))

        body = None
        stamp = await self._web_requests.public.stamp(number)
        if stamp is not None:  # rendered once for all readers, until somebody moves
            body = await self._rendered.get(
                (number, turn), stamp, lambda: self._allowance.spend(request, render)
            )
        if body is None:
            raise ApiProblem(404, "no-board", number=request.path_params["board"][:40])
        return _encoded(request, body, _PUBLIC)

    async def ratings(self, request: Request) -> Response:
        """The best players of each game."""
        tables = await self._allowance.spend(request, self._web_requests.public.standings)
        ratings = [shapes.ratings_of(table) for table in tables]
        return _json(request, Listing(ratings), Listing[Ratings], _PUBLIC)

    async def rating(self, request: Request) -> Response:
        """The best players of a game."""
        key = request.path_params["game"]
        for table in await self._allowance.spend(request, self._web_requests.public.standings):
            if table.game == key:
                return _json(request, shapes.ratings_of(table), Ratings, _PUBLIC)
        raise ApiProblem(404, "no-game", game=key[:40])

    async def ladders(self, request: Request) -> Response:
        """The ladders of all games."""
        pages = await self._allowance.spend(request, self._web_requests.public.ladders)
        ladders = [shapes.ladder_of(page) for page in pages]
        return _json(request, Listing(ladders), Listing[Ladder], _PUBLIC)

    async def ladder(self, request: Request) -> Response:
        """The ladder of a game."""
        key = request.path_params["game"]
        page = await self._allowance.spend(request, lambda: self._web_requests.public.ladder(key))
        if page is None:
            raise ApiProblem(404, "no-game", game=key[:40])
        return _json(request, shapes.ladder_of(page), Ladder, _PUBLIC)

    async def player(self, request: Request) -> Response:
        """The public facts of a player."""
        userid = request.path_params["userid"]
        player = await self._allowance.spend(
            request, lambda: self._web_requests.public.player(userid)
        )
        if player is None:
            raise ApiProblem(404, "no-player")
        return _json(request, shapes.player_of(player), Player, _PUBLIC)

    async def seeks(self, request: Request) -> Response:
        """Open seeks: players who look for an opponent."""
        seeks = await self._allowance.spend(request, self._web_requests.public.seeks)
        return _json(request, Listing(seeks), Listing[Seek], _PUBLIC)

    async def events(self, request: Request) -> Response:
        """Leagues, cups and other events: those that take entries first."""
        events = await self._allowance.spend(request, self._web_requests.public.events)
        return _json(request, Listing(list(events)), Listing[EventLine], _PUBLIC)

    async def event(self, request: Request) -> Response:
        """The tables and games of an event, of twelve groups from a group on."""
        number = number_in_path(request, "event")
        first = number_of(request, "group", 1, LAST_NUMBER)
        event = await self._allowance.spend(
            request, lambda: self._web_requests.public.event(number, first or 1)
        )
        if event is None:
            raise ApiProblem(404, "no-event", number=request.path_params["event"][:40])
        return _json(request, event, EventPage, _PUBLIC)

    async def teams(self, request: Request) -> Response:
        """The teams, by name."""
        teams = await self._allowance.spend(request, self._web_requests.public.teams)
        return _json(request, Listing(list(teams)), Listing[TeamPage], _PUBLIC)

    async def team(self, request: Request) -> Response:
        """A team with its members."""
        key = request.path_params["team"]
        team = await self._allowance.spend(request, lambda: self._web_requests.public.team(key))
        if team is None:
            raise ApiProblem(404, "no-team", name=key[:40])
        return _json(request, team, TeamPage, _PUBLIC)

    async def today(self, request: Request) -> Response:
        """The guest box of today, after the taps in "state" and one more."""
        query = request.query_params
        look = GuestLook(state=query.get("state", ""), tap=query.get("tap", ""))
        page = await self._allowance.spend(request, lambda: self._web_requests.public.guest(look))
        if page is None:
            raise ApiProblem(404, "no-today")
        facts = {"full": page.is_nearly_full, "anew": page.state_refused}
        today = like(Today, page, **facts, **shapes.shown(page.scene))
        return _json(request, today, Today, _PUBLIC)

    # -- a seat ----------------------------------------------------------------------------

    async def seat(self, request: Request) -> Response:
        """The board of a token, as its player sees it."""
        return self._seat(request, await self._web_requests.boards.look(token_of(request)))

    async def move(self, request: Request) -> Response:
        """Play a move, as a reply to the letter does; the answer is the seat after it."""
        check_accepts(request, JSON)
        token = token_of(request)
        move = await posted(request, Move)
        press = Press(move.turn, move.key, move.move, move.words)
        try:
            pressed = await self._web_requests.presses.press(token, press)
        except StillWorking:
            answer = self._seat(request, await self._web_requests.boards.page(token, Look()))
            if answer.status_code == 200:
                answer.status_code = 202
                answer.headers["Retry-After"] = str(AGAIN_S)
            return answer
        if pressed is None:
            raise bad_token()
        if pressed.refused is not None:
            status = 409 if pressed.code == "stale" else 422
            page = pressed.refused
            return problem_answer(status, pressed.code, page.trouble, page.example)
        return self._seat(request, await self._web_requests.boards.page(token, Look()))

    def _seat(self, request: Request, page: BoardPage | None) -> Response:
        """Answer with a seat.

        The service returns the same scene until something happens on the board, and so its JSON is
        kept for programs that poll.

        Raises:
            ApiProblem: the token opens no page.
        """
        if page is None:
            raise bad_token()
        key = page.scene.number, page.scene.you
        kept = self._seats.get(key)
        facts = page.declined, page.undecided
        if kept is None or kept.scene is not page.scene or kept[1:3] != facts:
            body = adapter(Seat).dump_json(shapes.seat_of(page))
            if len(self._seats) >= MOST_RENDERED:
                self._seats.clear()
            kept = self._seats[key] = _SeatJson(page.scene, *facts, body)
        return _encoded(request, kept.body, PRIVATE)

    # -- OpenAPI ---------------------------------------------------------------------------

    async def openapi(self, request: Request) -> Response:
        """This document (OpenAPI 3.1), made of the endpoints and their shapes."""
        check_accepts(request, JSON)
        if not self._document:
            games = [game for game in Registry.installed() if isinstance(game, Readable)]
            facts = list(dict.fromkeys(game.facts_type for game in games))
            document = described(self.endpoints, facts, self._url)
            self._document = json.dumps(document).encode()
        return tagged(request, self._document, JSON, SHARED)


def _game(info: GameInfo) -> Game:
    return like(Game, info, game=info.key, options=dict(info.options))
