"""The public page of a board, on which a script steps through the moves, and its pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pbmserv.extras import why_missing
from pbmserv.service.pages import public_boards
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.views.board_forms import drawing_label
from pbmserv.views.pictures import Painter
from pbmserv.views.public_facts import PublicBoardPage
from pbmserv.web.http.responses import BRIEFLY, SCRIPT, SVG, file_route, tagged_response
from pbmserv.web.http.safe_responses import SAFE_HEADERS
from pbmserv.web.http.url_parameters import is_number
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.page_cache import PageCache
from pbmserv.web.rendering.printer import Printer

MOST_RENDERED = 500
"""Pages and pictures of boards in the cache, of some 20 kB each."""

SCRIPT_POLICY = f"{SAFE_HEADERS['Content-Security-Policy']}; script-src 'self'; connect-src 'self'"
"""The policy of the page of a board. It has a script, without which it works, too, but no words of
players and no token."""


def public_board_routes(printer: Printer, public: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages; making one that is not in the cache is charged."""
    pages = _PublicBoardPages(printer, public, allowance)
    return [
        Route("/game/{number:nine_digits}.svg", pages.picture),
        Route("/game/{number:nine_digits}.png", pages.picture),
        Route("/game/{number:nine_digits}", pages.board),
        file_route("/replay.js", printer.replay_script, SCRIPT),
    ]


class _PublicBoardPages:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, public: PublicPages, allowance: Allowance) -> None:
        self._printer = printer
        self._public = public
        self._allowance = allowance
        self._painter = Painter(printer.templates)
        self._rendered = PageCache(MOST_RENDERED)

    async def board(self, request: Request) -> Response:
        """Show a board; with ``?turn=5`` after five turns."""

        async def make(number: int, turn: int | None) -> bytes | None:
            page = await self._public.read(public_boards.board_page, number, turn)
            if page is None:
                return None
            drawn = [
                self._painter.svg_for_page(drawing, drawing_label(page.scene, drawing))
                for drawing in page.drawings
            ]
            return self._printer.render("game", page=page, drawn=drawn).encode()

        answer = await self._rendered_once(request, "text/html; charset=utf-8", make)
        answer.headers["Content-Security-Policy"] = SCRIPT_POLICY
        return answer

    async def picture(self, request: Request) -> Response:
        """Answer with the picture of a board. There is none of a box that must stay hidden.

        Without Pillow the address of a PNG leads to the same picture as SVG.
        """
        is_png = request.url.path.endswith(".png")
        if is_png and why_missing("PIL"):
            path, query = request.url.path.removesuffix(".png"), request.url.query
            return RedirectResponse(f"{path}.svg{'?' if query else ''}{query}")

        async def make(number: int, turn: int | None) -> bytes | None:
            page = await self._public.read(public_boards.board_page, number, turn)
            if page is None or not page.drawings:
                return None
            if is_png:
                return await self._png(page)
            labels = [drawing_label(page.scene, drawing) for drawing in page.drawings]
            return self._painter.svg_file(page.drawings, ". ".join(labels))

        return await self._rendered_once(request, "image/png" if is_png else SVG, make)

    async def _png(self, page: PublicBoardPage) -> bytes:
        titles = [page.scene.names[drawing.seat] for drawing in page.drawings]
        if len(titles) == 1:  # a board of all players
            titles = [page.scene.players]
        headline = self._printer.render("game-title", page=page).strip()
        return await asyncio.to_thread(self._painter.png, page.drawings, titles, headline)

    async def _rendered_once(
        self,
        request: Request,
        kind: str,
        make: Callable[[int, int | None], Awaitable[bytes | None]],
    ) -> Response:
        """Answer with a page or picture of a board, rendered once for all readers after a move."""
        number, text = request.path_params["number"], request.query_params.get("turn")
        if not (text is None or is_number(text)):
            return self._printer.error_page(404, "missing")
        turn = None if text is None else int(text)
        stamp = await self._public.read(public_boards.stamp, number)
        body = None
        if stamp is not None:
            body = await self._rendered.get(
                (number, turn, kind),
                stamp,
                lambda: self._allowance.spend(request, lambda: make(number, turn)),
            )
        if body is None:
            return self._printer.error_page(404, "missing")
        return tagged_response(request, body, BRIEFLY, kind)
