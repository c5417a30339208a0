"""The page of a board: its player looks at it, puts a move together, and sends it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import NotDone
from pbmserv.service.boards.board_page import BoardPage, Look
from pbmserv.service.pages.board_presses import Press
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import PRIVATE, html_response
from pbmserv.web.http.url_parameters import is_number, step_of
from pbmserv.web.pages.help import HelpPages
from pbmserv.web.pages.visits import LONGEST_FORM, Visits
from pbmserv.web.rendering.printer import Printer


def board_routes(printer: Printer, web_requests: WebRequests, help_pages: HelpPages) -> list[Route]:
    """Return the route of these pages, which show the rules of their games, too."""
    pages = _BoardPages(printer, web_requests, help_pages)
    return [Route("/b/{token}", pages.board, methods=["GET", "POST"])]


class _BoardPages:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, web_requests: WebRequests, help_pages: HelpPages) -> None:
        self._printer = printer
        self._help_pages = help_pages
        self._web_requests = web_requests
        self._visits = Visits(printer, web_requests, "/b/")

    async def board(self, request: Request) -> Response:
        """Show the page of a board; a POST plays a move and leads back to the page.

        A move is put together by GETs of the same page, which change nothing.
        """
        token: str = request.path_params["token"]
        answer = await self._visits.answer_instead(request, token)
        if answer is not None:
            return answer
        if request.method == "POST":
            return await self._play(request, token)
        return await self._show(request, token)

    async def _show(self, request: Request, token: str) -> Response:
        query = request.query_params
        look = Look(
            draft=query.get("move", ""),
            tap=query.get("tap", ""),
            check=query.get("check", ""),
            words=query.get("words", ""),
            tool=query.get("tool", ""),
            take=query.get("take", ""),
            step=step_of(query),
        )
        page = await self._web_requests.boards.page(token, look)
        if page is None:
            return self._no_board()
        if page.step is not None:
            return html_response(self._printer.render("board-step", page=page), 200, PRIVATE)
        return self._page(page, by_letter="answered" in query)

    async def _play(self, request: Request, token: str) -> Response:
        form = await read_form(request, LONGEST_FORM)
        turn = form.get("turn", "")
        if not is_number(turn):
            return self._printer.error_page(400, "no-form")
        press = Press(int(turn), form.get("key", ""), form.get("move", ""), form.get("words", ""))
        try:
            pressed = await self._web_requests.presses.press(token, press)
        except NotDone:
            return await self._not_done(token, press)
        if pressed is None:
            return self._no_board()
        if pressed.refused is not None:
            return self._page(pressed.refused, is_refused=True)
        return self._visits.redirect(token, "answered" if pressed.by_letter else "")

    async def _not_done(self, token: str, press: Press) -> Response:
        """Return 500 with the form as it was sent: our code failed, and nothing has changed."""
        page = await self._web_requests.boards.page(token, Look())
        if page is None:
            return self._no_board()
        text = self._printer.render("board-not-done", page=page, press=press)
        return html_response(text, 500, PRIVATE)

    def _page(
        self, page: BoardPage, *, by_letter: bool = False, is_refused: bool = False
    ) -> Response:
        """Render a page.

        Args:
            by_letter: a letter has answered the last form.
            is_refused: the move that the page shows was sent and refused.
        """
        text = self._printer.render(
            "board",
            page=page,
            by_letter=by_letter,
            refused=is_refused,
            bots=BOT_USERIDS,
            rules=self._help_pages.rules(page.scene.key),
        )
        return html_response(text, 422 if is_refused else 200, PRIVATE)

    def _no_board(self) -> Response:
        return self._printer.error_page(404, "no-board")
