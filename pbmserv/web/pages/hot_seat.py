"""Pages for two people at one device: one hides the atoms by hand, the other one finds them.

Each tap is a POST, answered by a redirect to the page's address. That address tells nothing about
the box, and browsers must not store the page. So when a browser goes back, it requests the page
again and gets the box as it is now. Some browsers keep pages in memory all the same; for them a
script empties the page with the atoms when its reader leaves it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.errors import Refusal
from pbmserv.service.boards.board_page import TOOLS
from pbmserv.service.solo.hot_seat import FillingPage, HotSeatPage, HotSeats
from pbmserv.service.solo.solo_page import SoloLook
from pbmserv.views.texts import refusal_sentence
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import (
    PRIVATE,
    SCRIPT,
    SHARED,
    file_route,
    html_response,
    tagged_response,
)
from pbmserv.web.http.safe_responses import SAFE_HEADERS
from pbmserv.web.http.url_parameters import is_number, step_of
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.printer import Printer

LONGEST_FORM = 2_000
"""Octets of a form."""
SCRIPT_POLICY = f"{SAFE_HEADERS['Content-Security-Policy']}; script-src 'self'"
"""Policy of the page with the atoms. It may have a script, because it shows nobody's words."""

_KEY = re.compile(r"[A-Za-z0-9_-]{1,32}")


def hot_seat_routes(printer: Printer, hot_seats: HotSeats, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages; boxes are worked out within the allowance."""
    pages = _HotSeatPages(printer, hot_seats, allowance)
    return [
        Route("/hide", pages.begin, methods=["GET", "POST"]),
        Route("/hide/{key}", pages.box, methods=["GET", "POST"]),
        file_route("/leave.js", printer.leave_script, SCRIPT),
    ]


class _HotSeatPages:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, hot_seats: HotSeats, allowance: Allowance) -> None:
        self._printer = printer
        self._hot_seats = hot_seats
        self._allowance = allowance

    async def begin(self, request: Request) -> Response:
        """Show the form for a new box; a POST makes one and leads to it."""
        if not self._hot_seats.game:
            return self._printer.error_page(404, "missing")
        if request.method != "POST":
            return tagged_response(request, self._form(), SHARED)
        form = await read_form(request, LONGEST_FORM)
        words = [text for name, text in form.items() if name.startswith("option")]
        key = await self._hot_seats.begin(words)
        if isinstance(key, Refusal):
            return html_response(self._form(refusal_sentence(key, on_page=True)), 422, PRIVATE)
        return self._redirect(key)

    async def box(self, request: Request) -> Response:
        """Show a box; a POST is a tap on it, or shuts it, and leads back to it."""
        key: str = request.path_params["key"]
        if not _KEY.fullmatch(key):
            return self._no_box()
        if request.method == "POST":
            return await self._tap(request, key)
        query = request.query_params
        look = SoloLook(
            tool=query.get("tool", ""),
            take=query.get("take", ""),
            check="check" in query,
            step=step_of(query),
        )
        return await self._show(request, key, look)

    async def _tap(self, request: Request, key: str) -> Response:
        form = await read_form(request, LONGEST_FORM)
        turn, tool = form.get("turn", ""), form.get("tool", "")
        if not is_number(turn):
            return self._printer.error_page(400, "no-form")
        if form.get("take") in {"mark", *TOOLS}:
            return self._redirect(f"{key}?take={form['take']}")
        if "check" in form:
            return self._redirect(f"{key}?check=all" + (f"&tool={tool}" if tool in TOOLS else ""))
        tap, shuts = form.get("tap", ""), "hide" in form
        trouble = await self._allowance.spend(
            request, lambda: self._hot_seats.refusal(key, tap, shuts=shuts)
        )
        if trouble is None:
            return self._no_box()
        if trouble:
            return await self._show(request, key, SoloLook(), trouble)
        await self._hot_seats.press(key, int(turn), tap, shuts=shuts)
        return self._redirect(key + (f"?tool={tool}" if tool in TOOLS else ""))

    async def _show(
        self, request: Request, key: str, look: SoloLook, trouble: str = ""
    ) -> Response:
        """Show a box.

        Args:
            trouble: the reason why a tap was refused; ``""`` for none.
        """
        page = await self._allowance.spend(request, lambda: self._hot_seats.page(key, look))
        if page is None:
            return self._no_box()
        return self._page(replace(page, trouble=trouble), 422) if trouble else self._page(page)

    def _form(self, trouble: str = "") -> str:
        return self._printer.render("hide", game=self._hot_seats.game, trouble=trouble)

    def _page(self, page: FillingPage | HotSeatPage, status: int = 200) -> Response:
        if isinstance(page, HotSeatPage):
            return html_response(self._printer.render("hide-play", page=page), status, PRIVATE)
        headers = {**PRIVATE, "Content-Security-Policy": SCRIPT_POLICY}
        return html_response(self._printer.render("hide-box", page=page), status, headers)

    def _redirect(self, place: str) -> Response:
        location = f"{self._printer.base}/hide/{place}"
        return Response(status_code=303, headers={**PRIVATE, "Location": location})

    def _no_box(self) -> Response:
        return self._printer.error_page(404, "no-hidden-box")
