"""Pages, pictures and feeds for everybody: today's box, boards, players, ratings and seeks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Protocol

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pbmserv.engine.registry import Titles
from pbmserv.extras import why_missing
from pbmserv.service.solo.daily_archive import Dailies, DailyTable
from pbmserv.service.solo.guest_box import GuestLook, GuestPage
from pbmserv.views.board_forms import drawing_label
from pbmserv.views.pictures import Painter
from pbmserv.views.public import (
    EventLine,
    EventPage,
    Finished,
    GamePage,
    LadderPage,
    PublicPlayer,
    Seek,
    StandingsTable,
    TeamPage,
)
from pbmserv.web.allowance import Allowance
from pbmserv.web.pages import BRIEFLY, LASTING, SHARED, UNLISTED, Printer, Rendered, tagged
from pbmserv.web.rating_graph import rating_graph
from pbmserv.web.safe_responses import HEADERS

LONGEST_NUMBER = 9
"""Digits of a number in a path."""


class _ShortInteger(IntegerConvertor):
    """A number in a path that fits into every database."""

    regex = f"[0-9]{{1,{LONGEST_NUMBER}}}"


register_url_convertor("int", _ShortInteger())  # Starlette's own takes any number of digits

MOST_RENDERED = 500
"""Pages and pictures of boards in the cache, of some 20 kB each."""

STEPPING = f"{HEADERS['Content-Security-Policy']}; script-src 'self'; connect-src 'self'"
"""The policy of the page of a board. It has a script, but no words of players and no token."""
ATOM = "application/atom+xml; charset=utf-8"
IN_A_FEED = 30
IN_THE_SITEMAP = 500
SITEMAP_S = 300
"""Seconds for which the list of pages stays in the cache."""
SECURITY_LASTS = timedelta(days=180)
"""RFC 9116 section 2.5.5 wants less than a year."""


class PublicRequests(Protocol):
    """The part of the service that these pages use: see `PublicPages`."""

    async def standings(self) -> Sequence[StandingsTable]:
        """Return the best players of each game."""
        ...

    async def ladders(self) -> Sequence[LadderPage]:
        """Return the ladders of all games for two."""
        ...

    async def ladder(self, game: str) -> LadderPage | None:
        """Return the ladder of a game; ``None`` if it has none."""
        ...

    async def player(self, userid: str) -> PublicPlayer | None:
        """Return a player's page; ``None`` if nobody of this name may be named."""
        ...

    async def game(self, number: int, turn: int | None) -> GamePage | None:
        """Return a board after *turn* turns or now; ``None`` if there is no such board or turn."""
        ...

    async def events(self) -> Sequence[EventLine]:
        """Return the newest events: those that take entries first."""
        ...

    async def event(self, number: int, first: int) -> EventPage | None:
        """Return an event with its groups from *first* on; ``None`` if there is no such event."""
        ...

    async def teams(self) -> Sequence[TeamPage]:
        """Return the teams by name."""
        ...

    async def team(self, key: str) -> TeamPage | None:
        """Return a team; ``None`` if there is none of this name."""
        ...

    async def seeks(self) -> Sequence[Seek]:
        """Return the open seeks."""
        ...

    async def dailies(self) -> Sequence[Dailies]:
        """Return the newest boxes of the day, by game."""
        ...

    async def daily(self, number: int) -> DailyTable | None:
        """Return a box of the day; ``None`` if no player has got it."""
        ...

    async def finished(self, userid: str, most: int, before: int = 0) -> Sequence[Finished] | None:
        """Return finished boards that may be seen: see `PublicPages.finished`."""
        ...

    async def tables(self, most: int) -> Sequence[DailyTable]:
        """Return the newest boxes of the day that are open."""
        ...

    async def stamp(self, number: int) -> Hashable | None:
        """Return a value that changes with a board's page: see `PublicPages.stamp`."""
        ...

    async def guest(self, look: GuestLook) -> GuestPage | None:
        """Return the guest box: see `GuestBoxes.page`."""
        ...


def public_routes(printer: Printer, service: PublicRequests, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages.

    Work is charged to the allowance; for a page of a board only if it is not in the cache.
    """
    site, metered = _Public(printer, service, allowance), allowance.metered
    return [
        Route("/today", site.today),
        Route("/daily", metered(site.dailies)),
        Route("/daily/{number:int}", metered(site.daily)),
        Route("/events", metered(site.events)),
        Route("/events.atom", metered(site.events_feed)),
        Route("/events/{number:int}", metered(site.event)),
        Route("/events/{number:int}.atom", metered(site.event_feed)),
        Route("/teams", metered(site.teams)),
        Route("/teams/{key}", metered(site.team)),
        Route("/seeks", metered(site.seeks)),
        Route("/game/{number:int}.svg", site.picture),
        Route("/game/{number:int}.png", site.picture),
        Route("/game/{number:int}", site.game),
        Route("/replay.js", site.replay),
        Route("/standings", metered(site.standings)),
        Route("/ladder", metered(site.ladders)),
        Route("/ladder/{game}/ladder.atom", metered(site.ladder_feed)),
        Route("/ladder/{game}", metered(site.ladder)),
        Route("/players/{userid}", metered(site.player)),
        Route("/games.atom", metered(site.games_feed)),
        Route("/players/{userid}/games.atom", metered(site.games_feed)),
        Route("/daily.atom", metered(site.daily_feed)),
        Route("/sitemap.xml", site.sitemap),
        Route("/robots.txt", site.robots),
        Route("/.well-known/security.txt", site.security),
    ]


class _Public:
    """The handlers, and what they share."""

    def __init__(self, printer: Printer, service: PublicRequests, allowance: Allowance) -> None:
        self._printer = printer
        self._service = service
        self._allowance = allowance
        self._painter = Painter(printer.templates)
        self._rendered = Rendered(MOST_RENDERED)
        self._titles = Titles({game.key: game.title for game in printer.pages.games})

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
        page = await self._service.guest(look)
        if page is None:
            return self._printer.failure(404, "missing")
        return tagged(request, self._printer.again("today", page=page), headers=BRIEFLY)

    async def _played(self, request: Request, look: GuestLook) -> Response:
        """Show the guest box after a guest's moves."""
        page = await self._service.guest(look)
        if page is None:
            return self._printer.failure(404, "missing")
        return tagged(request, self._printer.text("today", page=page), headers=BRIEFLY | UNLISTED)

    async def dailies(self, request: Request) -> Response:
        """Show the archive of the boxes of the day."""
        if not self._printer.pages.boxes:
            return self._printer.failure(404, "missing")
        games = await self._service.dailies()
        return tagged(request, self._printer.again("dailies", games=games), headers=BRIEFLY)

    async def daily(self, request: Request) -> Response:
        table = await self._service.daily(request.path_params["number"])
        if table is None:
            return self._printer.failure(404, "missing")
        drawing, drawn = table.drawing, None
        if drawing is not None and table.scene is not None:
            drawn = self._painter.svg_for_page(drawing, drawing_label(table.scene, drawing))
        text = self._printer.text("daily", page=table, drawn=drawn)
        return tagged(request, text, headers=BRIEFLY)

    async def events(self, request: Request) -> Response:
        """Show the events: those that take entries, those that run, and those that are over."""
        events = await self._service.events()
        text = self._printer.again("events", events=events)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def event(self, request: Request) -> Response:
        """Show the tables of an event; with ``?group=13`` from that group on."""
        event = await self._event(request)
        if event is None:
            return self._printer.failure(404, "missing")
        text = self._printer.text("event", words=event)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def _event(self, request: Request) -> EventPage | None:
        group = request.query_params.get("group", "1")
        first = max(1, int(group)) if is_number(group) else 1
        return await self._service.event(request.path_params["number"], first)

    async def events_feed(self, request: Request) -> Response:
        """Answer with the feed of events that begin or end."""
        events = await self._service.events()
        return tagged(request, self._printer.raw("events.atom", events=events), ATOM, BRIEFLY)

    async def event_feed(self, request: Request) -> Response:
        """Answer with the feed of an event: its games that are over."""
        event = await self._event(request)
        if event is None:
            return self._printer.failure(404, "missing")
        return tagged(request, self._printer.raw("event.atom", words=event), ATOM, BRIEFLY)

    async def teams(self, request: Request) -> Response:
        text = self._printer.again("teams", teams=await self._service.teams())
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def team(self, request: Request) -> Response:
        page = await self._service.team(request.path_params["key"])
        if page is None:
            return self._printer.failure(404, "missing")
        text = self._printer.text("team", page=page)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def seeks(self, request: Request) -> Response:
        seeks = await self._service.seeks()
        text = self._printer.again("seeks", seeks=seeks, titles=self._titles)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def standings(self, request: Request) -> Response:
        tables = await self._service.standings()
        text = self._printer.again("standings", tables=tables)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def ladders(self, request: Request) -> Response:
        """Show the ladders of all games."""
        text = self._printer.again("ladders", ladders=await self._service.ladders())
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def ladder(self, request: Request) -> Response:
        page = await self._service.ladder(request.path_params["game"])
        if page is None:
            return self._printer.failure(404, "missing")
        text = self._printer.text("ladder", page=page)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def ladder_feed(self, request: Request) -> Response:
        """Answer with the feed of a ladder's movements."""
        page = await self._service.ladder(request.path_params["game"])
        if page is None:
            return self._printer.failure(404, "missing")
        text = self._printer.raw("ladder.atom", page=page, climbs=page.climbs[:IN_A_FEED])
        return tagged(request, text, ATOM, BRIEFLY)

    async def player(self, request: Request) -> Response:
        player = await self._service.player(request.path_params["userid"])
        if player is None:
            return self._printer.failure(404, "missing")
        graphs = {game: rating_graph(curve) for game, curve in player.curves.items()}
        text = self._printer.text("player", player=player, titles=self._titles, graphs=graphs)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def game(self, request: Request) -> Response:
        """Show a board; with ``?turn=5`` after five turns."""

        async def make(number: int, turn: int | None) -> bytes | None:
            page = await self._service.game(number, turn)
            if page is None:
                return None
            drawn = [
                self._painter.svg_for_page(drawing, drawing_label(page.scene, drawing))
                for drawing in page.drawings
            ]
            return self._printer.text("game", page=page, drawn=drawn).encode()

        answer = await self._of_board(request, "text/html; charset=utf-8", make)
        answer.headers["Content-Security-Policy"] = STEPPING
        return answer

    async def replay(self, request: Request) -> Response:
        """Answer with the script of a board's page, which works without it, too."""
        return tagged(request, self._printer.replay, "text/javascript; charset=utf-8", LASTING)

    async def picture(self, request: Request) -> Response:
        """Answer with the picture of a board. There is none of a box that must stay hidden.

        Without Pillow the address of a PNG leads to the same picture as SVG.
        """
        is_png = request.url.path.endswith(".png")
        if is_png and why_missing("PIL"):
            path, query = request.url.path.removesuffix(".png"), request.url.query
            return RedirectResponse(f"{path}.svg{'?' if query else ''}{query}")

        async def make(number: int, turn: int | None) -> bytes | None:
            page = await self._service.game(number, turn)
            if page is None or not page.drawings:
                return None
            if is_png:
                titles = [page.scene.names[drawing.seat] for drawing in page.drawings]
                if len(titles) == 1:  # a board of all players
                    titles = [page.scene.players]
                headline = self._printer.text("game-title", page=page).strip()
                return await asyncio.to_thread(self._painter.png, page.drawings, titles, headline)
            labels = [drawing_label(page.scene, drawing) for drawing in page.drawings]
            return self._painter.svg_file(page.drawings, ". ".join(labels))

        return await self._of_board(request, "image/png" if is_png else "image/svg+xml", make)

    async def games_feed(self, request: Request) -> Response:
        """Answer with the feed of finished boards, of all players or of one."""
        userid = request.path_params.get("userid", "")
        games = await self._service.finished(userid, IN_A_FEED)
        if games is None:
            return self._printer.failure(404, "missing")
        text = self._printer.raw("games.atom", games=games, userid=userid.lower())
        return tagged(request, text, ATOM, BRIEFLY)

    async def daily_feed(self, request: Request) -> Response:
        """Answer with the feed of boxes of the day that are open."""
        tables = await self._service.tables(IN_A_FEED)
        return tagged(request, self._printer.raw("daily.atom", tables=tables), ATOM, BRIEFLY)

    async def sitemap(self, request: Request) -> Response:
        """Answer with the pages that search engines may read."""

        async def make() -> bytes:
            games = await self._service.finished("", IN_THE_SITEMAP) or []
            dailies = await self._service.dailies()
            return self._printer.raw("sitemap.xml", finished=games, dailies=dailies).encode()

        sitemap = await self._rendered.get(
            "sitemap",
            int(monotonic() // SITEMAP_S),
            lambda: self._allowance.spend(request, make),
        )
        return tagged(request, sitemap or b"", "application/xml", SHARED)

    async def robots(self, request: Request) -> Response:
        return tagged(request, self._printer.raw("robots.txt"), "text/plain; charset=utf-8", SHARED)

    async def security(self, request: Request) -> Response:
        """Answer with the contact for security problems (RFC 9116)."""
        if not self._printer.pages.contact:
            return self._printer.failure(404, "missing")
        expires = f"{datetime.now(UTC) + SECURITY_LASTS:%Y-%m-%dT00:00:00Z}"
        text = self._printer.raw("security.txt", expires=expires)
        return tagged(request, text, "text/plain; charset=utf-8", SHARED)

    async def _of_board(
        self,
        request: Request,
        kind: str,
        make: Callable[[int, int | None], Awaitable[bytes | None]],
    ) -> Response:
        """Answer with a page or picture of a board, rendered once for all readers after a move."""
        number, text = request.path_params["number"], request.query_params.get("turn")
        if not (text is None or is_number(text)):
            return self._printer.failure(404, "missing")
        turn = None if text is None else int(text)
        stamp = await self._service.stamp(number)
        body = None
        if stamp is not None:
            body = await self._rendered.get(
                (number, turn, kind),
                stamp,
                lambda: self._allowance.spend(request, lambda: make(number, turn)),
            )
        if body is None:
            return self._printer.failure(404, "missing")
        return tagged(request, body, kind, BRIEFLY)


def is_number(text: str) -> bool:
    """Return whether a text can be a number in an address of these pages."""
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def step_of(query: Mapping[str, str]) -> int | None:
    """Return the number of moves after which to show a board; ``None`` for the newest."""
    text = query.get("step", "")
    return int(text) if is_number(text) else None
