"""The guest box of today, which everybody can play at once (decision 0065)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.solo.guest_box import GuestBoxes, GuestLook
from pbmserv.web.http.responses import BRIEFLY, BRIEFLY_UNLISTED, existing, tagged_response
from pbmserv.web.http.url_parameters import step_of
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.page_cache import PageCache
from pbmserv.web.rendering.printer import Printer


def guest_box_routes(
    printer: Printer, guest_boxes: GuestBoxes, allowance: Allowance
) -> list[Route]:
    """Return the route of the page; boxes that were played are charged to the allowance."""
    first_page = PageCache(1)

    async def today(request: Request) -> Response:
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
            return await allowance.spend(request, lambda: played(request, look))
        page = existing(await guest_boxes.page(look))

        async def make() -> bytes:
            return printer.render("today", page=page).encode()

        text = await first_page.get("today", page.state, make)
        return tagged_response(request, existing(text), BRIEFLY)

    async def played(request: Request, look: GuestLook) -> Response:
        """Show the guest box after a guest's moves."""
        page = existing(await guest_boxes.page(look))
        return tagged_response(request, printer.render("today", page=page), BRIEFLY_UNLISTED)

    return [Route("/today", today)]
