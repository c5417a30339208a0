"""Reads the API's requests, and raises problems for malformed ones."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request

from pbmserv.web.api.problems import ApiProblem
from pbmserv.web.api.shapes import adapter
from pbmserv.web.http.request_bodies import read_body
from pbmserv.web.http.url_parameters import is_number

JSON = "application/json"
_WEIGHT = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?", re.ASCII)
"""A weight of the Accept field (RFC 9110 section 12.4.2)."""
LONGEST_BODY = 40_000
"""Octets of a posted body: more than any move and its words."""


def check_accepts(request: Request, *kinds: str) -> None:
    """Check that the client accepts one of these media types (RFC 9110 section 12.5.1).

    Raises:
        ApiProblem: it does not (406).
    """
    if not any(quality(request, kind) for kind in kinds):
        raise ApiProblem(406, "not-acceptable", kinds=" or ".join(kinds))


def quality(request: Request, kind: str) -> float:
    """Return how much a client wants a media type, from 0 to 1; 1 without an Accept field."""
    accept = ",".join(request.headers.getlist("accept")).lower()
    if not accept.strip():
        return 1.0
    precision = {kind: 3, kind.partition("/")[0] + "/*": 2, "*/*": 1}
    best = (0, 0.0)  # the most precise range counts
    for media_range in accept.split(","):
        name, *parameters = (part.strip() for part in media_range.split(";"))
        weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        value = float(weight) if _WEIGHT.fullmatch(weight) else 1.0
        best = max(best, (precision.get(name, 0), value))
    return best[1] if best[0] else 0.0


def number_of(request: Request, name: str, least: int, most: int) -> int | None:
    """Return a number of the query; `None` if it is missing.

    Raises:
        ApiProblem: the text is not a number, or out of bounds (400).
    """
    text = request.query_params.get(name)
    if text is None:
        return None
    if not is_number(text) or not least <= int(text) <= most:
        raise ApiProblem(400, "bad-query", name=name, least=least, most=most)
    return int(text)


def number_in_path(request: Request, name: str) -> int:
    """Return the number of a board or event in the path; 0, which none has, for other texts."""
    text = request.path_params[name]
    return int(text) if is_number(text) else 0


def token_of(request: Request) -> str:
    """Return the token of the Authorization header (RFC 6750 section 2.1).

    Raises:
        ApiProblem: there is no token (401).
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ApiProblem(401, "no-token", {"WWW-Authenticate": "Bearer"})
    return token.strip()


def bad_token() -> ApiProblem:
    """Return the problem of a token that is invalid or has expired."""
    return ApiProblem(401, "bad-token", {"WWW-Authenticate": 'Bearer error="invalid_token"'})


async def posted(request: Request, shape: Any) -> Any:
    """Return the posted body as an object of this shape.

    Raises:
        ApiProblem: the body is too long (413), has another media type (415), or is not JSON of this
            shape (400).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise ApiProblem(415, "not-json")
    body = await read_body(request, LONGEST_BODY)
    if body is None:
        raise ApiProblem(413, "too-long", most=LONGEST_BODY)
    try:
        return adapter(shape).validate_json(body)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        reasons = (": ".join([*map(str, fault["loc"]), fault["msg"]]) for fault in errors[:5])
        raise ApiProblem(400, "bad-body", why="; ".join(reasons) + ".") from None
