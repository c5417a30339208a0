"""The boxes of the day: the archive, the table of each box, and the feed of those that are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment
from starlette.routing import Route

from pbmserv.service.core.context import CommandContext
from pbmserv.service.solo import daily_archive
from pbmserv.service.solo.daily_archive import DailyTable
from pbmserv.views.board_forms import drawing_label
from pbmserv.views.pictures import Painter
from pbmserv.web.http.responses import BRIEFLY
from pbmserv.web.pages.public_routes import PublicRoutes

IN_A_FEED = 30


def daily_box_routes(public: PublicRoutes, templates: Environment) -> list[Route]:
    """Return the routes of these pages and of the feed."""
    painter = Painter(templates)

    def drawn(table: DailyTable) -> Mapping[str, Any]:
        if table.drawing is None or table.scene is None:
            return {"drawn": None}
        label = drawing_label(table.scene, table.drawing)
        return {"drawn": painter.svg_for_page(table.drawing, label)}

    return [
        public.page("/daily", "dailies", "games", _archive, headers=BRIEFLY),
        public.page(
            "/daily/{number:nine_digits}",
            "daily",
            "page",
            daily_archive.daily_table,
            more=drawn,
            headers=BRIEFLY,
        ),
        public.feed("/daily.atom", "daily", "tables", _open_tables),
    ]


def _archive(context: CommandContext) -> Sequence[daily_archive.Dailies] | None:
    """Return the archive; `None` if no game here has a box of the day."""
    return daily_archive.dailies(context) or None


def _open_tables(context: CommandContext) -> Sequence[DailyTable]:
    return daily_archive.open_tables(context, IN_A_FEED)
