"""The API's description of itself: a page for people, and the OpenAPI document for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.protocol import Readable
from pbmserv.engine.registry import Registry
from pbmserv.web.api.endpoint import Endpoint
from pbmserv.web.api.openapi import openapi_document
from pbmserv.web.api.requests import JSON
from pbmserv.web.http.responses import SHARED, tagged_response
from pbmserv.web.rendering.printer import Printer


def index_routes(printer: Printer, endpoints: Sequence[Endpoint]) -> list[Route]:
    """Return the routes of the description.

    Args:
        endpoints: the addresses to describe.
    """
    url = printer.url("/api")
    page = printer.render("api", endpoints=endpoints, home=url)

    @cache
    def document() -> bytes:
        games = [game for game in Registry.installed() if isinstance(game, Readable)]
        facts = list(dict.fromkeys(game.facts_type for game in games))
        return json.dumps(openapi_document(endpoints, facts, url)).encode()

    async def index(request: Request) -> Response:
        return tagged_response(request, page, SHARED)

    async def openapi(request: Request) -> Response:
        return tagged_response(request, document(), SHARED, JSON)

    return [Route("/", index), Route("/openapi.json", openapi)]
