"""The front page with a box to play at once, and the form that signs up."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages.public_players import finished_of
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.service.solo.guest_box import GuestLook
from pbmserv.views.names import PublicName
from pbmserv.views.public_facts import FinishedBoard
from pbmserv.views.texts import refusal_sentence
from pbmserv.web.http.client_network import network_of
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import BRIEFLY, PRIVATE, html_response, tagged_response
from pbmserv.web.pages.help import HelpPages
from pbmserv.web.rendering.page_cache import PageCache
from pbmserv.web.rendering.printer import Printer

LONGEST_FORM = 2_000
"""Octets of a form."""
RENDERED_S = 60
"""Seconds for which the front page stays in the cache."""
LATEST = 12
"""Finished boards whose players the front page names."""
MOST_NAMES = 12


def front_routes(printer: Printer, web_requests: WebRequests, help_pages: HelpPages) -> list[Route]:
    """Return the routes of these pages."""
    pages = _FrontPages(printer, web_requests, help_pages)
    return [Route("/", pages.front), Route("/signup", pages.signup, methods=["GET", "POST"])]


class _FrontPages:
    """The handlers of these pages."""

    def __init__(
        self,
        printer: Printer,
        web_requests: WebRequests,
        help_pages: HelpPages,
    ) -> None:
        self._printer = printer
        self._web_requests = web_requests
        self._public = web_requests.public
        self._rendered = PageCache(1)
        keys = [game.key for game in printer.facts.games]
        self._rules = {key for key in keys if help_pages.has(key)}

    async def front(self, request: Request) -> Response:
        """Show the front page, rendered once a minute for all readers, or when its names change.

        So a name leaves the page as soon as its player wants none there. A reader whose share is
        used up can still see it, since it costs so little.
        """
        games = await self._public.read(finished_of, "", LATEST)
        names = players_of(games or ())
        page = await self._rendered.get(
            "front",
            (int(monotonic() // RENDERED_S), tuple(names)),
            lambda: self._front(names),
        )
        return tagged_response(request, page or b"", BRIEFLY)

    async def _front(self, names: list[PublicName]) -> bytes:
        guest_box = await self._web_requests.guest_boxes.page(GuestLook())
        values = {"page": guest_box, "players": names, "rules": self._rules}
        return self._printer.render("front", **values).encode()

    async def signup(self, request: Request) -> Response:
        """Show the form that signs up; a POST has the letter sent that asks the address."""
        if self._printer.facts.signup == "closed":
            return self._printer.error_page(404, "missing")
        if request.method != "POST":
            return html_response(self._signup_form(), 200, PRIVATE)
        form = await read_form(request, LONGEST_FORM)
        name, address = form.get("name", ""), form.get("address", "")
        network = network_of(request, self._printer.facts.proxies)
        refusal = await self._web_requests.sign_up(name, address, network)
        if refusal is not None:
            trouble = refusal_sentence(refusal, on_page=True)
            return html_response(self._signup_form(trouble, name, address), 422, PRIVATE)
        text = self._printer.render("signup-asked", userid=name, address=address)
        return html_response(text, 200, PRIVATE)

    def _signup_form(self, trouble: str = "", userid: str = "", address: str = "") -> str:
        return self._printer.render("signup", trouble=trouble, userid=userid, address=address)


def players_of(games: Sequence[FinishedBoard]) -> list[PublicName]:
    """Return the public names of the players of boards, in the order of the boards."""
    names = dict.fromkeys(name for game in games for name in game.players if " " not in name)
    return list(names)[:MOST_NAMES]
