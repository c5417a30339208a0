"""Pages for everybody: today's box, and what is played here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, Protocol

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pbmserv.engine.types import Drawing
from pbmserv.extras import why_missing
from pbmserv.letters.scene import BoardScene
from pbmserv.service.boards.public_pages import Finished, GamePage, PublicPlayer
from pbmserv.service.solo.daily_pages import Dailies, DailyTable, GuestLook, GuestPage
from pbmserv.web.allowance import Allowance
from pbmserv.web.pages import BRIEFLY, LASTING, SHARED, UNLISTED, Printer, Rendered, tagged
from pbmserv.web.pictures import Ink, rating_graph
from pbmserv.web.safe_responses import HEADERS

LONGEST_NUMBER = 9
"""Digits of a number in a path."""


class _ShortInteger(IntegerConvertor):
    """A number in a path: one that Python reads and every database holds."""

    regex = f"[0-9]{{1,{LONGEST_NUMBER}}}"


register_url_convertor("int", _ShortInteger())  # Starlette's own takes any number of digits

MOST_RENDERED = 500
"""Pages and pictures of boards that are kept, of some 20 kB each."""


STEPPING = f"{HEADERS['Content-Security-Policy']}; script-src 'self'; connect-src 'self'"
"""The one page with a script; nobody's words are on it, and no token."""
ATOM = "application/atom+xml; charset=utf-8"
IN_A_FEED = 30
IN_THE_SITEMAP = 500
SITEMAP_S = 300
"""Seconds for which a list of pages is kept."""
SECURITY_LASTS = timedelta(days=180)
"""RFC 9116 section 2.5.5 wants less than a year."""


class PublicRequests(Protocol):
    """The part of the service that these pages use."""

    async def standings(self) -> Sequence[Mapping[str, Any]]:
        """The best players of each game: words of the letter ``standings``."""
        ...

    async def player(self, userid: str) -> PublicPlayer | None:
        """What everybody may know of a player; ``None`` = there is none of this name."""
        ...

    async def game(self, number: int, turn: int | None) -> GamePage | None:
        """A board as everybody may see it, after *turn* turns or now; ``None`` = there is none."""
        ...

    async def seeks(self) -> Sequence[Mapping[str, Any]]:
        """What people look for, and who."""
        ...

    async def dailies(self) -> Sequence[Dailies]:
        """The newest boxes of the day, game by game."""
        ...

    async def daily(self, number: int) -> DailyTable | None:
        """One of them; ``None`` = nobody has got it."""
        ...

    async def finished(self, userid: str, most: int, before: int = 0) -> Sequence[Finished] | None:
        """Games that are over and may be seen: see `PublicPages.finished`."""
        ...

    async def tables(self, most: int) -> Sequence[DailyTable]:
        """The newest boxes of the day that are open."""
        ...

    async def stamp(self, number: int) -> Hashable | None:
        """What a board's page is made of: see `PublicPages.stamp`."""
        ...

    async def guest(self, look: GuestLook) -> GuestPage | None:
        """Return the guest box: see `GuestBoxes.page`."""
        ...


def public_routes(printer: Printer, service: PublicRequests, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages.

    All that takes work is made within the allowance; pages of boards are, if nobody has asked for
    them since the last move.
    """
    site, metered = _Public(printer, service, allowance), allowance.metered
    return [
        Route("/today", site.today),
        Route("/daily", metered(site.dailies)),
        Route("/daily/{number:int}", metered(site.daily)),
        Route("/seeks", metered(site.seeks)),
        Route("/game/{number:int}.svg", site.picture),
        Route("/game/{number:int}.png", site.picture),
        Route("/game/{number:int}", site.game),
        Route("/replay.js", site.replay),
        Route("/standings", metered(site.standings)),
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
        self._ink = Ink(printer.templates)
        self._rendered = Rendered(MOST_RENDERED)
        self._titles = {game.key: game.title for game in printer.pages.games}

    async def today(self, request: Request) -> Response:
        """Show the guest box. A tap is a GET: the form carries the whole game, and nothing changes
        here."""
        asked = request.query_params
        look = GuestLook(
            state=asked.get("state", ""),
            tap=asked.get("tap", ""),
            check="check" in asked,
            tool=asked.get("tool", ""),
            take=asked.get("take", ""),
            restart="restart" in asked,
            step=step_of(asked),
        )
        if not look.is_first:
            return await self._allowance.spend(request, lambda: self._played(request, look))
        page = await self._service.guest(look)
        if page is None:
            return self._printer.failure(404, "missing")
        return tagged(request, self._printer.again("today", page=page), headers=BRIEFLY)

    async def _played(self, request: Request, look: GuestLook) -> Response:
        """Show the guest box as one guest's moves have left it."""
        page = await self._service.guest(look)
        if page is None:
            return self._printer.failure(404, "missing")
        return tagged(request, self._printer.text("today", page=page), headers=BRIEFLY | UNLISTED)

    async def dailies(self, request: Request) -> Response:
        """The archive of the members' boxes."""
        found = await self._service.dailies()
        return tagged(request, self._printer.again("dailies", games=found), headers=BRIEFLY)

    async def daily(self, request: Request) -> Response:
        number = request.path_params["number"]
        found = await self._service.daily(number)
        if found is None:
            return self._printer.failure(404, "missing")
        drawing, drawn = found.drawing, None
        if drawing is not None and found.scene is not None:
            drawn = self._ink.inside(drawing, self._words(found.scene, drawing))
        text = self._printer.text("daily", page=found, drawn=drawn)
        return tagged(request, text, headers=BRIEFLY)

    async def seeks(self, request: Request) -> Response:
        found = await self._service.seeks()
        text = self._printer.again("seeks", seeks=found, titles=self._titles)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def standings(self, request: Request) -> Response:
        found = await self._service.standings()
        text = self._printer.again("standings", tables=found)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def player(self, request: Request) -> Response:
        found = await self._service.player(request.path_params["userid"])
        if found is None:
            return self._printer.failure(404, "missing")
        graphs = {game: rating_graph(curve) for game, curve in found.curves.items()}
        text = self._printer.text("player", player=found, titles=self._titles, graphs=graphs)
        return tagged(request, text, headers=BRIEFLY | UNLISTED)

    async def game(self, request: Request) -> Response:
        """A board as everybody may see it; ``?turn=5``: after five turns."""

        async def make(number: int, turn: int | None) -> bytes | None:
            found = await self._service.game(number, turn)
            if found is None:
                return None
            drawn = [self._ink.inside(one, self._words(found.scene, one)) for one in found.drawings]
            return self._printer.text("game", page=found, drawn=drawn).encode()

        answer = await self._of_board(request, "text/html; charset=utf-8", make)
        answer.headers["Content-Security-Policy"] = STEPPING
        return answer

    async def replay(self, request: Request) -> Response:
        """The script of that page, which does without it, too."""
        return tagged(request, self._printer.replay, "text/javascript; charset=utf-8", LASTING)

    async def picture(self, request: Request) -> Response:
        """Answer with a board as a picture: nothing of a box that others have still to solve.

        Without Pillow a PNG's address leads to the same picture as SVG.
        """
        is_png = request.url.path.endswith(".png")
        if is_png and why_missing("PIL"):
            path, query = request.url.path.removesuffix(".png"), request.url.query
            return RedirectResponse(f"{path}.svg{'?' if query else ''}{query}")

        async def make(number: int, turn: int | None) -> bytes | None:
            found = await self._service.game(number, turn)
            if found is None or not found.drawings:
                return None
            words = [self._words(found.scene, one) for one in found.drawings]
            if is_png:
                titles = [found.scene.names[one.seat] for one in found.drawings]
                if len(titles) == 1:  # a board of all players
                    titles = [found.scene.players]
                headline = self._printer.text("game-title", page=found).strip()
                return await asyncio.to_thread(self._ink.png, found.drawings, titles, headline)
            return self._ink.file(found.drawings, ". ".join(words))

        return await self._of_board(request, "image/png" if is_png else "image/svg+xml", make)

    async def games_feed(self, request: Request) -> Response:
        """Finished games, of all or of one player."""
        userid = request.path_params.get("userid", "")
        found = await self._service.finished(userid, IN_A_FEED)
        if found is None:
            return self._printer.failure(404, "missing")
        text = self._printer.raw("games.atom", games=found, userid=userid.lower())
        return tagged(request, text, ATOM, BRIEFLY)

    async def daily_feed(self, request: Request) -> Response:
        """Tables of boxes of the day, once they are open."""
        found = await self._service.tables(IN_A_FEED)
        return tagged(request, self._printer.raw("daily.atom", tables=found), ATOM, BRIEFLY)

    async def sitemap(self, request: Request) -> Response:
        """What search engines may read."""

        async def make() -> bytes:
            games = await self._service.finished("", IN_THE_SITEMAP) or []
            dailies = await self._service.dailies()
            return self._printer.raw("sitemap.xml", finished=games, dailies=dailies).encode()

        made = await self._rendered.get(
            "sitemap",
            int(monotonic() // SITEMAP_S),
            lambda: self._allowance.spend(request, make),
        )
        return tagged(request, made or b"", "application/xml", SHARED)

    async def robots(self, request: Request) -> Response:
        return tagged(request, self._printer.raw("robots.txt"), "text/plain; charset=utf-8", SHARED)

    async def security(self, request: Request) -> Response:
        """Whom to tell of a hole (RFC 9116)."""
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
        """Something of a board, made once for all readers until somebody moves."""
        number, turn = request.path_params["number"], request.query_params.get("turn")
        if not (turn is None or is_number(turn)):
            return self._printer.failure(404, "missing")
        asked = None if turn is None else int(turn)
        stamp = await self._service.stamp(number)
        key = (number, asked, kind)
        made = None
        if stamp is not None:
            made = await self._rendered.get(
                key, stamp, lambda: self._allowance.spend(request, lambda: make(number, asked))
            )
        if made is None:
            return self._printer.failure(404, "missing")
        return tagged(request, made, kind, BRIEFLY)

    def _words(self, scene: BoardScene, drawing: Drawing) -> str:
        """What a drawing shows, in words."""
        template = self._printer.templates.get_template(f"games/{scene.key}/drawing.j2")
        return template.render(drawing=drawing, names=scene.names).strip()


def is_number(text: str) -> bool:
    """Whether it can be a number in one of our addresses."""
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def step_of(query: Mapping[str, str]) -> int | None:
    """Return after how many moves a board is to be shown; ``None`` = as it is now."""
    text = query.get("step", "")
    return int(text) if is_number(text) else None
