"""A player's own page, which opens from a letter, and the form that has its link mailed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.types import BOT_USERIDS
from pbmserv.service.accounts.personal_page import MOST_DRAWN, Change, PersonalPage
from pbmserv.web.pages import PRIVATE, SHARED, Printer, html, read_form, tagged

LONGEST_TOKEN = 200
"""Characters. Our tokens are shorter; a longer one is not looked up."""
LONGEST_FORM = 8_000
"""Octets."""

DONE = frozenset({"prefs", "away", "back", "address", "export", "signoff", "delete"})
"""What the forms of the page ask for."""


class PersonalRequests(Protocol):
    """What these pages ask of the service."""

    async def page(self, token: str) -> PersonalPage | None:
        """The page as its player sees it; ``None`` = the link is not good."""
        ...

    async def ask_link(self, who: str) -> None:
        """Have a link mailed to a player, if there is one."""
        ...

    async def press(self, token: str, fields: Mapping[str, str]) -> Change | None:
        """Carry out what was sent: see `PersonalPages.press`."""
        ...


def personal_routes(printer: Printer, service: PersonalRequests) -> list[Route]:
    """Their addresses."""
    site = _Personal(printer, service)
    return [
        Route("/mine", site.link, methods=["GET", "POST"]),
        Route("/mine/{token}", site.page, methods=["GET", "POST"]),
    ]


class _Personal:
    """The handlers, and what they share."""

    def __init__(self, printer: Printer, service: PersonalRequests) -> None:
        self._printer = printer
        self._service = service
        self._form = printer.text("mine-link", why="")
        self._asked = printer.text("mine-asked")

    async def link(self, request: Request) -> Response:
        """The form; a POST always gets the same answer, as quickly."""
        if request.method == "GET":
            return tagged(request, self._form, headers=SHARED)
        who = (await read_form(request, LONGEST_FORM)).get("who", "")
        if who.strip():
            await self._service.ask_link(who)
        return html(self._asked, headers=PRIVATE)

    async def page(self, request: Request) -> Response:
        """The page; a POST asks for a change, and leads back to it."""
        token: str = request.path_params["token"]
        if len(token) > LONGEST_TOKEN:
            return self._gone()
        if request.method == "GET":
            found = await self._service.page(token)
            done = request.query_params.get("done", "")
            return self._gone() if found is None else self._shown(found, done)
        fields = await read_form(request, LONGEST_FORM)
        if fields.get("do") not in DONE:
            return self._printer.failure(400, "no-form")
        change = await self._service.press(token, fields)
        if change is None:
            return self._gone()
        if change.refused is not None:
            return self._shown(change.refused, status=422)
        if not change.is_open:
            return html(self._printer.text("mine-link", why="changed"), headers=PRIVATE)
        way = f"{self._printer.base}/mine/{token}?done={fields['do']}"
        return Response(status_code=303, headers={**PRIVATE, "Location": way})

    def _shown(self, page: PersonalPage, done: str = "", status: int = 200) -> Response:
        said = {"done": done if done in DONE else "", "drawn": MOST_DRAWN, "bots": BOT_USERIDS}
        return html(self._printer.text("mine", page=page, **said), status, PRIVATE)

    def _gone(self) -> Response:
        return html(self._printer.text("mine-link", why="expired"), 404, PRIVATE)
