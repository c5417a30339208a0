"""Pages for two people at one device: one hides the atoms by hand, the other one finds them.

Each tap is a POST, answered by a redirect to the page's one address. Nothing of a box is in that
address, and no page is stored: wherever a browser goes back to, it asks for the page again and gets
the box as it is now. A script empties the page with the atoms when it is left, for browsers that
keep pages in memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.errors import Refusal
from pbmserv.service.boards.board_page import TOOLS
from pbmserv.service.solo.hot_seat import HideLook, HotSeatPage
from pbmserv.views.texts import refusal_sentence
from pbmserv.web.allowance import Allowance
from pbmserv.web.pages import LASTING, PRIVATE, SHARED, Printer, html, read_form, tagged
from pbmserv.web.public import is_number, step_of
from pbmserv.web.safe_responses import HEADERS

KEY = re.compile(r"[A-Za-z0-9_-]{1,32}")
"""Keys of boxes; nothing else is looked up."""
LONGEST_FORM = 2_000
"""Octets of a form."""
SCRIPTED = f"{HEADERS['Content-Security-Policy']}; script-src 'self'"
"""For the page with the atoms: nobody's words are on it."""


class HotSeatRequests(Protocol):
    """The part of the service that these pages use."""

    @property
    def game(self) -> str:
        """The key of the game that can be set up by hand; "" for none."""
        ...

    async def begin(self, words: Sequence[str]) -> str | Refusal:
        """Begin to fill a box: see `HotSeats.begin`."""
        ...

    async def page(self, key: str, look: HideLook) -> HotSeatPage | None:
        """Return the page of a box; ``None``: there is none."""
        ...

    async def refusal(self, key: str, tap: str, *, shuts: bool) -> str | None:
        """Return why a tap does not do: see `HotSeats.refusal`."""
        ...

    async def press(self, key: str, turn: int, tap: str, *, shuts: bool) -> None:
        """Carry out a tap, or shut the box: see `HotSeats.press`."""
        ...


def hot_seat_routes(
    printer: Printer, service: HotSeatRequests, allowance: Allowance
) -> list[Route]:
    """Return the routes of these pages; boxes are worked out within the allowance."""
    site = _HotSeat(printer, service, allowance)
    return [
        Route("/hide", site.begin, methods=["GET", "POST"]),
        Route("/hide/{key}", site.box, methods=["GET", "POST"]),
        Route("/leave.js", site.leave),
    ]


class _HotSeat:
    """The handlers, and what they share."""

    def __init__(self, printer: Printer, service: HotSeatRequests, allowance: Allowance) -> None:
        self._printer = printer
        self._service = service
        self._allowance = allowance

    async def begin(self, request: Request) -> Response:
        """Show the form for a new box; a POST makes one."""
        if not self._service.game:
            return self._printer.failure(404, "missing")
        if request.method != "POST":
            return tagged(request, self._form(), headers=SHARED)
        form = await read_form(request, LONGEST_FORM)
        words = [text for name, text in form.items() if name.startswith("option")]
        made = await self._service.begin(words)
        if isinstance(made, Refusal):
            return html(self._form(refusal_sentence(made, on_page=True)), 422, PRIVATE)
        return self._to(made)

    async def box(self, request: Request) -> Response:
        """Show a box; a POST is a tap on it, or shuts it, and leads back to it."""
        key: str = request.path_params["key"]
        if not KEY.fullmatch(key):
            return self._gone()
        if request.method != "POST":
            asked = request.query_params
            look = HideLook(
                tool=asked.get("tool", ""),
                take=asked.get("take", ""),
                check="check" in asked,
                step=step_of(asked),
            )
            return await self._page(request, key, look)
        form = await read_form(request, LONGEST_FORM)
        turn, tool = form.get("turn", ""), form.get("tool", "")
        if not is_number(turn):
            return self._printer.failure(400, "no-form")
        if form.get("take") in {"mark", *TOOLS}:
            return self._to(f"{key}?take={form['take']}")
        if "check" in form:
            return self._to(f"{key}?check=all" + (f"&tool={tool}" if tool in TOOLS else ""))
        tap, shuts = form.get("tap", ""), "hide" in form
        trouble = await self._allowance.spend(
            request, lambda: self._service.refusal(key, tap, shuts=shuts)
        )
        if trouble is None:
            return self._gone()
        if trouble:
            return await self._page(request, key, HideLook(), trouble)
        await self._service.press(key, int(turn), tap, shuts=shuts)
        return self._to(key + (f"?tool={tool}" if tool in TOOLS else ""))

    async def _page(
        self, request: Request, key: str, look: HideLook, trouble: str = ""
    ) -> Response:
        page = await self._allowance.spend(request, lambda: self._service.page(key, look))
        if page is None:
            return self._gone()
        return self._shown(replace(page, trouble=trouble), 422) if trouble else self._shown(page)

    async def leave(self, request: Request) -> Response:
        """The script of the page with the atoms, which does without it, too."""
        script = self._printer.leave
        return tagged(request, script, "text/javascript; charset=utf-8", LASTING)

    def _form(self, trouble: str = "") -> str:
        return self._printer.text("hide", game=self._service.game, trouble=trouble)

    def _shown(self, page: HotSeatPage, status: int = 200) -> Response:
        if page.is_shut:
            return html(self._printer.text("hide-play", page=page), status, PRIVATE)
        headers = {**PRIVATE, "Content-Security-Policy": SCRIPTED}
        return html(self._printer.text("hide-box", page=page), status, headers)

    def _to(self, place: str) -> Response:
        way = f"{self._printer.base}/hide/{place}"
        return Response(status_code=303, headers={**PRIVATE, "Location": way})

    def _gone(self) -> Response:
        return self._printer.failure(404, "no-hidden-box")
