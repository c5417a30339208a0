"""A player's own page, which opens from a letter, and the form that mails its link."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.types import BOT_USERIDS
from pbmserv.service.pages.form_commands import NEW_GAME_FORMS
from pbmserv.service.pages.personal_page import MOST_DRAWN, PersonalPage
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import PRIVATE, SHARED, html_response, tagged_response
from pbmserv.web.pages.visits import Visits
from pbmserv.web.rendering.printer import Printer

LONGEST_FORM = 8_000
"""Octets of a form of these pages."""
CHANGES = NEW_GAME_FORMS | {"prefs", "away", "back", "address", "export", "signoff", "delete"}
"""Changes that the forms of the page ask for."""


def personal_routes(printer: Printer, web_requests: WebRequests) -> list[Route]:
    """Return the routes of these pages."""
    pages = _PersonalPages(printer, web_requests)
    return [
        Route("/mine", pages.link, methods=["GET", "POST"]),
        Route("/mine/{token}", pages.page, methods=["GET", "POST"]),
        Route("/calendar/{token}.ics", pages.calendar),
    ]


class _PersonalPages:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, web_requests: WebRequests) -> None:
        self._printer = printer
        self._web_requests = web_requests
        self._personal = web_requests.personal
        self._visits = Visits(printer, web_requests, "/mine/")
        self._link_form = printer.render("mine-link", why="")
        self._link_sent = printer.render("mine-asked")

    async def link(self, request: Request) -> Response:
        """Show the form that mails the link.

        Every POST gets the same answer, equally fast: it must not reveal whether there is such a
        player.
        """
        if request.method != "POST":
            return tagged_response(request, self._link_form, SHARED)
        player_name = (await read_form(request, LONGEST_FORM)).get("who", "")
        if player_name.strip():
            await self._personal.ask_link(player_name)
        return html_response(self._link_sent, 200, PRIVATE)

    async def page(self, request: Request) -> Response:
        """Show the page; a POST asks for a change and leads back to the page."""
        token: str = request.path_params["token"]
        answer = await self._visits.answer_instead(request, token)
        if answer is not None:
            return answer
        if request.method == "POST":
            return await self._change(request, token)
        page = await self._personal.page(token)
        if page is None:
            return self._expired()
        return self._page(page, request.query_params.get("done", ""))

    async def calendar(self, request: Request) -> Response:
        """Return the deadlines for a calendar program."""
        octets = await self._web_requests.calendars.read(request.path_params["token"])
        if octets is None:
            return self._expired()
        return Response(octets, 200, PRIVATE, "text/calendar; charset=utf-8")

    async def _change(self, request: Request, token: str) -> Response:
        fields = await read_form(request, LONGEST_FORM)
        games = {game.key for game in self._printer.facts.games}
        if fields.get("do") not in CHANGES or fields.get("game", "") not in games | {""}:
            return self._printer.error_page(400, "no-form")
        change = await self._personal.press(token, fields)
        if change is None:
            return self._expired()
        if change.refused is not None:
            return self._page(change.refused, status=422)
        if not change.is_open:
            return html_response(self._printer.render("mine-link", why="changed"), 200, PRIVATE)
        return self._visits.redirect(token, f"done={fields['do']}")

    def _page(self, page: PersonalPage, done: str = "", status: int = 200) -> Response:
        """Render the page.

        Args:
            done: the change that the last form asked for; other words are ignored.
        """
        draw = partial(self._printer.render_board, "mine-board", bots=BOT_USERIDS)
        boards = [
            draw(
                board.scene,
                board=board,
                deadline=page.deadlines.get(board.scene.number),
                tz=page.prefs["tz"],
            )
            for board in page.waiting[:MOST_DRAWN]
        ]
        text = self._printer.render(
            "mine", page=page, drawn=boards, done=done if done in CHANGES else ""
        )
        return html_response(text, status, PRIVATE)

    def _expired(self) -> Response:
        return html_response(self._printer.render("mine-link", why="expired"), 404, PRIVATE)
