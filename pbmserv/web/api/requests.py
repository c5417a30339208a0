"""Reads the API's requests, and raises problems for malformed ones."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from starlette.requests import Request

from pbmserv.web.api.problems import ApiProblem
from pbmserv.web.api.shapes import adapter
from pbmserv.web.http.request_bodies import read_body
from pbmserv.web.http.url_parameters import is_number

JSON = "application/json"
LONGEST_BODY = 40_000
"""Octets of a posted body: more than any move and its words."""


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
