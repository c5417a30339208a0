"""The API's description of itself: a page or links, and the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from pbmserv.engine.protocol import Readable
from pbmserv.engine.registry import Registry
from pbmserv.web.api.endpoint import Endpoint
from pbmserv.web.api.openapi import openapi_document
from pbmserv.web.api.requests import JSON, check_accepts, quality
from pbmserv.web.api.responses import json_response
from pbmserv.web.http.responses import SHARED, tagged_response
from pbmserv.web.rendering.printer import Printer

HTML = "text/html"


class IndexHandlers:
    """The handlers of the description.

    Args:
        endpoints: the addresses to describe.
    """

    def __init__(self, printer: Printer, endpoints: Sequence[Endpoint]) -> None:
        self._printer = printer
        self._endpoints = endpoints
        self._url = printer.url("/api")
        self._document = b""

    async def index(self, request: Request) -> Response:
        """The addresses of the API: a page for people, links for programs."""
        check_accepts(request, JSON, HTML)
        headers = {**SHARED, "Vary": "Accept"}
        for_people, for_programs = quality(request, HTML), quality(request, JSON)
        names_html = HTML in request.headers.get("accept", "").lower()
        if for_people > for_programs or (for_people == for_programs and names_html):
            text = self._printer.render("api", endpoints=self._endpoints, home=self._url)
            return tagged_response(request, text, headers)
        links = {"openapi": f"{self._url}/openapi.json"}
        for endpoint in self._endpoints:
            links[endpoint.path[1:]] = f"{self._url}{endpoint.path}"
        return json_response(request, links, dict[str, str], headers)

    async def openapi(self, request: Request) -> Response:
        """This document (OpenAPI 3.1), made of the endpoints and their shapes."""
        check_accepts(request, JSON)
        if not self._document:
            games = [game for game in Registry.installed() if isinstance(game, Readable)]
            facts = list(dict.fromkeys(game.facts_type for game in games))
            document = openapi_document(self._endpoints, facts, self._url)
            self._document = json.dumps(document).encode()
        return tagged_response(request, self._document, SHARED, JSON)
