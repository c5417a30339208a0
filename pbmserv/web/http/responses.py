"""Makes responses: pages, ETags, and headers and addresses for caches and search engines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

T = TypeVar("T")

CSS = "text/css; charset=utf-8"
SCRIPT = "text/javascript; charset=utf-8"
SVG = "image/svg+xml"

SHARED = {"Cache-Control": "public, max-age=300"}
"""For responses that are the same for everybody for minutes."""
BRIEFLY = {"Cache-Control": "public, max-age=10"}
"""For responses that are the same for everybody until a player moves."""
BRIEFLY_UNLISTED = {**BRIEFLY, "X-Robots-Tag": "noindex, nofollow"}
"""`BRIEFLY`, for responses that search engines are to leave out."""
LASTING = {"Cache-Control": "public, max-age=86400"}
"""For files that change with a new version of the server only."""
PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}
"""For responses to people who have a secret link."""
RETRY_AFTER_S = 10
"""Seconds in ``Retry-After`` if nobody knows when the server can answer again."""

_DAY_S = 86_400


def html_response(text: str | bytes, status: int, headers: Mapping[str, str]) -> Response:
    """Return a response with a page."""
    return Response(text, status, headers, "text/html; charset=utf-8")


def tagged_response(
    request: Request,
    body: str | bytes,
    headers: Mapping[str, str],
    media_type: str = "text/html; charset=utf-8",
) -> Response:
    """Return a response with an ETag (RFC 9110 section 8.8.3), or 304 if the client has it already.

    The tag is a hash of the body, so it reveals nothing.
    """
    octets = body.encode() if isinstance(body, str) else body
    tag = f'"{hashlib.sha256(octets).hexdigest()[:32]}"'
    headers = {**headers, "ETag": tag}
    tags = request.headers.get("if-none-match", "").split(",")
    if not {tag, "*"}.isdisjoint(text.strip().removeprefix("W/") for text in tags):
        return Response(status_code=304, headers=headers)
    return Response(octets, 200, headers, media_type)


def file_route(path: str, text: str, media_type: str) -> Route:
    """Return the route of a file that changes with a new version of the server only."""

    async def send_file(request: Request) -> Response:
        return tagged_response(request, text, LASTING, media_type)

    return Route(path, send_file)


def version_of(text: str) -> str:
    """Return a word that changes with a file, for its address in browsers' caches."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def seconds_until(moment: datetime) -> int:
    """Return the seconds for ``Retry-After`` (RFC 9110 section 10.2.3), from one to a day."""
    return min(max(1, ceil((moment - datetime.now(UTC)).total_seconds())), _DAY_S)


def existing(page: T | None) -> T:
    """Return the values of a page, which exist.

    Raises:
        HTTPException: they are `None`, since there is no such page (404).
    """
    if page is None:
        raise HTTPException(404)
    return page
