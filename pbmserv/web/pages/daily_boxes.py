"""The boxes of the day: the archive, and the table of each box."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.service.solo import daily_archive
from pbmserv.views.board_forms import drawing_label
from pbmserv.views.pictures import Painter
from pbmserv.web.http.responses import BRIEFLY, existing, tagged_response
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.printer import Printer


def daily_box_routes(printer: Printer, public: PublicPages, allowance: Allowance) -> list[Route]:
    """Return the routes of these pages, whose work is charged to the allowance."""
    pages, metered = _DailyBoxPages(printer, public), allowance.metered
    return [
        Route("/daily", metered(pages.dailies)),
        Route("/daily/{number:nine_digits}", metered(pages.daily)),
    ]


class _DailyBoxPages:
    """The handlers of these pages."""

    def __init__(self, printer: Printer, public: PublicPages) -> None:
        self._printer = printer
        self._public = public
        self._painter = Painter(printer.templates)

    async def dailies(self, request: Request) -> Response:
        """Show the archive of the boxes of the day."""
        if not self._printer.facts.boxes:
            return self._printer.error_page(404, "missing")
        games = await self._public.read(daily_archive.dailies)
        return tagged_response(request, self._printer.render("dailies", games=games), BRIEFLY)

    async def daily(self, request: Request) -> Response:
        number = request.path_params["number"]
        table = existing(await self._public.read(daily_archive.daily_table, number))
        drawing, drawn = table.drawing, None
        if drawing is not None and table.scene is not None:
            drawn = self._painter.svg_for_page(drawing, drawing_label(table.scene, drawing))
        text = self._printer.render("daily", page=table, drawn=drawn)
        return tagged_response(request, text, BRIEFLY)
