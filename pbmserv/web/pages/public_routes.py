"""Routes of pages and feeds that show public facts.

Each has a function that looks the facts up, and a template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.web.http.responses import BRIEFLY, BRIEFLY_UNLISTED, existing, tagged_response
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.printer import Printer

ATOM = "application/atom+xml; charset=utf-8"
HTML = "text/html; charset=utf-8"

Arguments = Callable[[Request], Mapping[str, Any]]
"""Returns arguments of a function that looks facts up."""


def _no_arguments(_: Request) -> Mapping[str, Any]:
    return {}


class PublicRoutes:
    """Makes routes whose work is charged to the allowance.

    In the methods, *look* returns the facts, or `None` if there is no such page. Its arguments are
    the parameters of the path, and those that *query* returns. *name* is the name of the facts in
    the template.
    """

    def __init__(self, printer: Printer, public: PublicPages, allowance: Allowance) -> None:
        self._printer = printer
        self._public = public
        self._allowance = allowance

    def page(
        self,
        path: str,
        template: str,
        name: str,
        look: Callable[..., Any],
        query: Arguments = _no_arguments,
        *,
        more: Callable[[Any], Mapping[str, Any]] | None = None,
        headers: Mapping[str, str] = BRIEFLY_UNLISTED,
    ) -> Route:
        """Return the route of a page.

        Args:
            more: returns more values for the template, made of the facts.
        """

        def render(_: Request, facts: Any) -> str:
            values = more(facts) if more is not None else {}
            return self._printer.render(template, **{name: facts}, **values)

        return self._route(path, look, query, render, headers, HTML)

    def feed(
        self,
        path: str,
        template: str,
        name: str,
        look: Callable[..., Any],
        query: Arguments = _no_arguments,
    ) -> Route:
        """Return the route of an Atom feed, whose template also gets the parameters of the path."""

        def render(request: Request, facts: Any) -> str:
            values = {name: facts, **request.path_params}
            return self._printer.render_plain(f"{template}.atom", **values)

        return self._route(path, look, query, render, BRIEFLY, ATOM)

    def _route(
        self,
        path: str,
        look: Callable[..., Any],
        query: Arguments,
        render: Callable[[Request, Any], str],
        headers: Mapping[str, str],
        media_type: str,
    ) -> Route:
        async def show(request: Request) -> Response:
            arguments = {**request.path_params, **query(request)}
            facts = existing(await self._public.read(look, **arguments))
            return tagged_response(request, render(request, facts), headers, media_type)

        return Route(path, self._allowance.metered(show))
