"""The API for programs: what the public pages tell, as JSON; and a seat, by the token of its page.

The token stands in a header, never in an address, and nothing here looks at cookies. A page of
somebody else can make a browser send neither a token nor JSON, so it can make nobody play.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.registry import Readable, Registry
from pbmserv.errors import ServerFault, StillWorking
from pbmserv.letters.scene import BoardScene
from pbmserv.mail.envelope import LOOPBACK, Network, Press
from pbmserv.service.boards.board_page import BoardPage, Look
from pbmserv.service.boards.public_pages import Finished
from pbmserv.service.core.budget import TooMuch
from pbmserv.service.core.lookup import AWAY
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.solo.daily_pages import GuestLook
from pbmserv.web import api_shapes as shapes
from pbmserv.web import post_limits
from pbmserv.web.allowance import Allowance, Exhausted
from pbmserv.web.api_shapes import (
    Board,
    Game,
    Listing,
    Move,
    Player,
    Ratings,
    Seat,
    Seek,
    Today,
    like,
)
from pbmserv.web.openapi import (
    HTML,
    JSON,
    LAST_NUMBER,
    PROBLEM,
    ApiProblem,
    Endpoint,
    adapter,
    bad_token,
    described,
    must_accept,
    number_of,
    posted,
    quality,
    token_of,
)
from pbmserv.web.pages import (
    BRIEFLY,
    PRIVATE,
    SHARED,
    UNLISTED,
    Printer,
    Rendered,
    seconds_until,
    tagged,
)
from pbmserv.web.post_limits import LimitedPosts, PostLimits
from pbmserv.web.public import is_number
from pbmserv.web.safe_responses import AGAIN_S, SafeResponses

if TYPE_CHECKING:
    from pbmserv.web.application import WebRequests

MOST_RENDERED = 200
"""Boards that are kept, of some 4 kB each."""
FEW, MOST = 30, 50
"""Lines of a list where nobody says how many, and at most."""
TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""What RFC 9110 calls them; Python before 3.13 has older words."""

log = logging.getLogger("pbmserv.web")

WITH_TOKEN = ("/api/seat/",)
"""Beginnings of the paths of what is posted with a token."""

_WHOLE = {"type": "integer", "minimum": 1}
_TURN = {"turn": {"type": "integer", "minimum": 0, "maximum": LAST_NUMBER}}
_TAP = {"state": {"type": "string"}, "tap": {"type": "string"}}
_OF_A_MOVE = (400, 401, 409, 413, 415, 422)
_PAGING = {"limit": {**_WHOLE, "maximum": MOST}, "before": {**_WHOLE, "maximum": LAST_NUMBER}}


def build_api(
    printer: Printer,
    service: WebRequests,
    allowance: Allowance,
    proxies: Collection[Network] = LOOPBACK,
) -> Starlette:
    """Return the application below ``/api``.

    Args:
        printer: renders pages.
        service: the service's side.
        allowance: that of the pages.
        proxies: networks of our own proxies.
    """
    api = _Api(printer, service, allowance)
    application = Starlette(
        routes=[
            *(Route(one.path, one.handler, methods=[one.method]) for one in api.endpoints),
            Route("/openapi.json", api.openapi),
            Route("/", api.index),
        ],
        middleware=[
            Middleware(SafeResponses, fault=api.fault),
            Middleware(
                LimitedPosts, limits=PostLimits(WITH_TOKEN, proxies), refuse=api.too_many_posts
            ),
        ],
        exception_handlers={
            ApiProblem: api.problem,
            HTTPException: api.nothing_here,
            TooMany: api.too_many,
            Exhausted: api.too_busy,
            TooMuch: api.too_large,
            ServerFault: api.away,
            **dict.fromkeys(AWAY, api.away),
        },
    )
    application.router.redirect_slashes = False
    return application


def _told(request: Request, value: Any, shape: Any, headers: Mapping[str, str]) -> Response:
    """Return an answer with its ETag; a *value* of bytes is JSON already."""
    must_accept(request, JSON)
    body = value if isinstance(value, bytes) else adapter(shape).dump_json(value)
    return tagged(request, body, JSON, headers)


class _Api:
    """The handlers, and what they share."""

    def __init__(self, printer: Printer, service: WebRequests, allowance: Allowance) -> None:
        self._printer = printer
        self._service = service
        self._allowance = allowance
        self._home = f"{printer.pages.origin}{printer.base}"
        self._rendered = Rendered(MOST_RENDERED)
        self._seats: dict[Any, tuple[BoardScene, Any, bytes]] = {}
        self._document = b""
        self.endpoints = [
            Endpoint("/games", self.games, Listing[Game]),
            Endpoint("/games/{game}", self.game, Game, (404,)),
            Endpoint("/boards", self.boards, Listing[Finished], (400, 404), _PAGING),
            Endpoint("/boards/{board}", self.board, Board, (400, 404), _TURN),
            Endpoint("/ratings", self.ratings, Listing[Ratings]),
            Endpoint("/ratings/{game}", self.rating, Ratings, (404,)),
            Endpoint("/players/{userid}", self.player, Player, (404,)),
            Endpoint(
                "/players/{userid}/boards", self.boards, Listing[Finished], (400, 404), _PAGING
            ),
            Endpoint("/seeks", self.seeks, Listing[Seek]),
            Endpoint("/today", self.today, Today, (404,), _TAP),
            Endpoint("/seat", self.seat, Seat, (401,)),
            Endpoint("/seat/moves", self.move, Seat, _OF_A_MOVE, takes=Move),
        ]

    # -- what everybody may read -----------------------------------------------------------

    async def index(self, request: Request) -> Response:
        """What there is: a page for people, links for programs."""
        must_accept(request, JSON, HTML)
        accept = request.headers.get("accept", "")
        headers = {**SHARED, "Vary": "Accept"}
        if quality(accept, HTML) > quality(accept, JSON) or HTML in accept:
            text = self._printer.text("api", endpoints=self.endpoints, home=f"{self._home}/api")
            return tagged(request, text, headers=headers)
        links = {one.path[1:]: f"{self._home}/api{one.path}" for one in self.endpoints}
        found = {"openapi": f"{self._home}/api/openapi.json", **links}
        return _told(request, found, dict[str, str], headers)

    async def games(self, request: Request) -> Response:
        """The games that are played here."""
        found = [
            like(Game, one, game=one.key, options=dict(one.options))
            for one in self._printer.pages.games
        ]
        return _told(request, Listing(found), Listing[Game], SHARED)

    async def game(self, request: Request) -> Response:
        """One of them."""
        key = request.path_params["game"]
        for one in self._printer.pages.games:
            if one.key == key:
                found = like(Game, one, game=key, options=dict(one.options))
                return _told(request, found, Game, SHARED)
        raise ApiProblem(404, "no-game", game=key[:40])

    async def boards(self, request: Request) -> Response:
        """Boards that are over and may be seen, the newest first."""
        userid = request.path_params.get("userid", "")
        limit = number_of(request, "limit", 1, MOST) or FEW
        before = number_of(request, "before", 1, LAST_NUMBER) or 0
        # One more, to know whether there is another page.
        found = await self._allowance.spend(
            request, lambda: self._service.public.finished(userid, limit + 1, before)
        )
        if found is None:
            raise ApiProblem(404, "not-behind" if before else "no-player")
        headers, behind = {**BRIEFLY, **UNLISTED}, None
        if len(found) > limit:
            query = urlencode({"limit": limit, "before": found[limit - 1].board})
            behind = f"{self._home}{request.url.path.removeprefix(self._printer.base)}?{query}"
            headers["Link"] = f'<{behind}>; rel="next"'
        listing = Listing(list(found[:limit]), behind)
        return _told(request, listing, Listing[Finished], headers)

    async def board(self, request: Request) -> Response:
        """A board as everybody may see it, now or after so many turns."""
        board, turn = request.path_params["board"], number_of(request, "turn", 0, LAST_NUMBER)
        number = int(board) if is_number(board) else 0
        public = self._service.public

        async def make() -> bytes | None:
            found = await public.game(number, turn)
            if found is None:
                return None
            url = f"{self._home}/game/{number}"
            return adapter(Board).dump_json(shapes.board_of(found, self._text(found.scene), url))

        stamp = await public.stamp(number)  # made once for all readers, until somebody moves
        made = None
        if stamp is not None:
            made = await self._rendered.get(
                (number, turn), stamp, lambda: self._allowance.spend(request, make)
            )
        if made is None:
            raise ApiProblem(404, "no-board", number=board[:40])
        return _told(request, made, bytes, {**BRIEFLY, **UNLISTED})

    async def ratings(self, request: Request) -> Response:
        """The best players of each game."""
        standings = await self._allowance.spend(request, self._service.public.standings)
        found = [shapes.ratings_of(words) for words in standings]
        return _told(request, Listing(found), Listing[Ratings], {**BRIEFLY, **UNLISTED})

    async def rating(self, request: Request) -> Response:
        """The best players of a game."""
        key = request.path_params["game"]
        for words in await self._allowance.spend(request, self._service.public.standings):
            if words["game"] == key:
                return _told(request, shapes.ratings_of(words), Ratings, {**BRIEFLY, **UNLISTED})
        raise ApiProblem(404, "no-game", game=key[:40])

    async def player(self, request: Request) -> Response:
        """What everybody may know of a player."""
        userid = request.path_params["userid"]
        found = await self._allowance.spend(request, lambda: self._service.public.player(userid))
        if found is None:
            raise ApiProblem(404, "no-player")
        return _told(request, shapes.player_of(found), Player, {**BRIEFLY, **UNLISTED})

    async def seeks(self, request: Request) -> Response:
        """Who looks for an opponent."""
        seeks = await self._allowance.spend(request, self._service.public.seeks)
        found = [like(Seek, one) for one in seeks]
        return _told(request, Listing(found), Listing[Seek], {**BRIEFLY, **UNLISTED})

    async def today(self, request: Request) -> Response:
        """The guests' box of today, after the taps in "state" and one more."""
        asked = request.query_params
        tap, state = asked.get("tap", ""), asked.get("state", "")
        found = await self._allowance.spend(
            request, lambda: self._service.public.guest(GuestLook(state, tap))
        )
        if found is None:
            raise ApiProblem(404, "no-today")
        today = like(Today, found, **shapes.shown(found.scene, self._text(found.scene)))
        return _told(request, today, Today, {**BRIEFLY, **UNLISTED})

    # -- a seat ----------------------------------------------------------------------------

    async def seat(self, request: Request) -> Response:
        """The board of a token, as its player sees it."""
        return self._seat(request, await self._service.boards.look(token_of(request)))

    async def move(self, request: Request) -> Response:
        """Play there, as a reply to the letter does; the answer is the seat as it is then."""
        must_accept(request, JSON)
        token, boards = token_of(request), self._service.boards
        asked = await posted(request, Move)
        press = Press(asked.turn, asked.key, asked.move, asked.words)
        try:
            done = await boards.press(token, press)
        except StillWorking:
            seen = await boards.page(token, Look())
            return self._seat(request, seen, 202, {"Retry-After": str(AGAIN_S)})
        if done is None:
            raise bad_token()
        if done.refused is not None:
            status = 409 if done.code == "stale" else 422
            return self._problem(status, done.code, done.refused.trouble, done.refused.example)
        return self._seat(request, await boards.page(token, Look()))

    def _seat(
        self,
        request: Request,
        page: BoardPage | None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        if page is None:
            raise bad_token()
        # Until something happens the scene is the same object: a program that polls costs a look.
        key, stamp = (page.scene.number, page.scene.you), (page.declined, page.undecided)
        kept = self._seats.get(key)
        if kept is None or kept[0] is not page.scene or kept[1] != stamp:
            made = adapter(Seat).dump_json(shapes.seat_of(page, self._text(page.scene)))
            if len(self._seats) >= MOST_RENDERED:
                self._seats.clear()
            kept = self._seats[key] = page.scene, stamp, made
        answer = _told(request, kept[2], Seat, {**PRIVATE, **(headers or {})})
        if answer.status_code == 200:
            answer.status_code = status
        return answer

    def _text(self, scene: BoardScene) -> str:
        """The board as a letter draws it."""
        template = self._printer.templates.get_template(f"games/{scene.key}/board.txt.j2")
        return template.render(scene=scene, view=scene.view, names=scene.names, you=scene.you)

    # -- problems --------------------------------------------------------------------------

    def _problem(
        self,
        status: int,
        code: str,
        detail: str,
        example: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Why it was not done (RFC 9457)."""
        title = TITLES.get(status) or HTTPStatus(status).phrase
        found = shapes.Problem(title, status, detail, code, example)
        body = adapter(shapes.Problem).dump_json(found)
        return Response(body, status, {**PRIVATE, **(headers or {})}, PROBLEM)

    def _refused(self, error: ApiProblem) -> Response:
        template = self._printer.templates.get_template("web/problems.j2")
        context = template.new_context({"words": error.words})
        sentence = "".join(template.blocks[error.code.replace("-", "_")](context))
        return self._problem(
            error.status, error.code, " ".join(sentence.split()), headers=error.headers
        )

    async def problem(self, _request: Request, error: Exception) -> Response:
        """What a handler has found."""
        assert isinstance(error, ApiProblem)
        return self._refused(error)

    async def nothing_here(self, request: Request, error: Exception) -> Response:
        """404 and 405, of Starlette."""
        assert isinstance(error, HTTPException)
        if error.status_code != 405:
            return self._refused(ApiProblem(404, "no-such-address", home=f"{self._home}/api/"))
        headers = dict(error.headers or {})
        allowed = " or ".join(sorted(headers.get("Allow", "").split(", ")))
        words = {"method": request.method[:20], "allowed": allowed}
        return self._refused(ApiProblem(405, "method", headers, **words))

    async def too_many(self, _request: Request, error: Exception) -> Response:
        """429: see `service.limits.rates`."""
        assert isinstance(error, TooMany)
        over, seconds = error.over, seconds_until(error.over.again)
        words = {"most": over.most, "span": over.span, "seconds": seconds}
        return self._refused(ApiProblem(429, "too-many", {"Retry-After": str(seconds)}, **words))

    async def too_busy(self, _request: Request, error: Exception) -> Response:
        """Return 429 or 503: see `web.allowance`."""
        assert isinstance(error, Exhausted)
        headers = {"Retry-After": str(error.seconds)}
        words = {"is_own": error.is_own, "seconds": error.seconds}
        return self._refused(ApiProblem(429 if error.is_own else 503, "busy", headers, **words))

    async def too_large(self, _request: Request, _error: Exception) -> Response:
        """Return 503: the answer would take more work than one may."""
        return self._refused(ApiProblem(503, "too-large"))

    def too_many_posts(self, seconds: int) -> Response:
        """429: their network has sent too many of them."""
        most = post_limits.WITH_TOKEN.amount
        problem = ApiProblem(429, "too-many", most=most, span="minute", seconds=seconds)
        return self._refused(problem)

    async def away(self, _request: Request, error: Exception) -> Response:
        """503: a stage or a database is not there."""
        log.warning("the API could not answer", exc_info=error)
        return self._refused(ApiProblem(503, "away", {"Retry-After": str(AGAIN_S)}))

    def fault(self, error: BaseException) -> Response:
        """500: the log names the fault, the answer does not."""
        log.error("the API failed", exc_info=error)
        return self._refused(ApiProblem(500, "fault"))

    # -- OpenAPI ---------------------------------------------------------------------------

    async def openapi(self, request: Request) -> Response:
        """All of this for programs (OpenAPI 3.1), made of the endpoints and their shapes."""
        must_accept(request, JSON)
        if not self._document:
            games = [one for one in Registry.installed() if isinstance(one, Readable)]
            facts = list(dict.fromkeys(one.facts_type for one in games))
            document = described(self.endpoints, facts, f"{self._home}/api")
            self._document = json.dumps(document).encode()
        return tagged(request, self._document, JSON, SHARED)
