"""Building blocks of the API: endpoints, problems, reading requests, and the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from pbmserv.commands.grammar.words import USERID
from pbmserv.web import api_shapes
from pbmserv.web.api_shapes import Problem
from pbmserv.web.pages import read_body
from pbmserv.web.public import LONGEST_NUMBER, is_number

JSON, PROBLEM, HTML = "application/json", "application/problem+json", "text/html"
LONGEST_BODY = 40_000
"""Octets of a posted body: more than any move and its words."""
LONGEST_TOKEN = 200
LAST_NUMBER = 10**LONGEST_NUMBER - 1

_PROBLEMS_OF_ALL = (405, 406, 429, 500, 503)
"""Statuses of problems that every address may return."""
_REFS = "#/components/schemas/{model}"
_NAMED = re.compile(r"\{(\w+)\}")
_IN_PATHS: Mapping[str, Mapping[str, Any]] = {
    "board": {"type": "integer", "minimum": 1, "maximum": LAST_NUMBER},
    "game": {"type": "string", "examples": ["blackbox"]},
    "userid": {"type": "string", "pattern": f"^{USERID.pattern}$"},
}
_ATTRIBUTES = "Attributes:"
_ATTRIBUTE = re.compile(r"(\w+): (.+)")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of the API with its handler; Starlette's route and OpenAPI are made of it.

    Attributes:
        path: the path below ``/api``; names in braces are parameters.
        answer: the shape of the answer.
        refuses: statuses of problems beside those that every address may return.
        asks: parameters of the query, each with its schema.
        takes: the shape of the posted body; `None` for a GET.
    """

    path: str
    handler: Callable[[Request], Awaitable[Response]]
    answer: Any
    refuses: tuple[int, ...] = ()
    asks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    takes: Any = None

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "POST" if self.takes else "GET"

    @property
    def operation_id(self) -> str:
        """Return the name of this operation in generated clients, such as ``get_boards_board``."""
        return f"{self.method.lower()}_{re.sub(r'[^a-z]+', '_', self.path).strip('_')}"

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or "").partition("\n")[0]

    @property
    def by_token(self) -> bool:
        """Whether the client must send a token."""
        return 401 in self.refuses


class ApiProblem(Exception):
    """The reason why a request is refused or cannot be answered.

    Attributes:
        status: the HTTP status.
        code: the reason for programs; with ``_`` for ``-`` the name of a block in
            ``web/problems.j2``.
        headers: headers of the answer.
        words: values for that block.
    """

    def __init__(
        self, status: int, code: str, headers: Mapping[str, str] | None = None, **words: Any
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.headers, self.words = status, code, headers or {}, words


# -- reading requests ----------------------------------------------------------------------


def must_accept(request: Request, *kinds: str) -> None:
    """Check that the client accepts one of these media types (RFC 9110 section 12.5.1).

    Raises:
        ApiProblem: it does not (406).
    """
    accept = request.headers.get("accept", "")
    if not any(quality(accept, kind) for kind in kinds):
        raise ApiProblem(406, "not-acceptable", kinds=" or ".join(kinds))


def quality(accept: str, kind: str) -> float:
    """Return how much a client prefers a media type, from 0 to 1; 1 without an Accept field."""
    if not accept.strip():
        return 1.0
    precision = {kind: 3, kind.partition("/")[0] + "/*": 2, "*/*": 1}
    best = (0, 0.0)  # the most precise range counts
    for media_range in accept.lower().split(","):
        name, *parameters = (part.strip() for part in media_range.split(";"))
        weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        value = float(weight) if re.fullmatch(r"[01](\.\d{0,3})?", weight, re.ASCII) else 1.0
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


def token_of(request: Request) -> str:
    """Return the token of the Authorization header (RFC 6750 section 2.1); ``""`` if too long.

    Raises:
        ApiProblem: there is no token (401).
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ApiProblem(401, "no-token", {"WWW-Authenticate": "Bearer"})
    return token.strip() if len(token) <= LONGEST_TOKEN else ""


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


@cache
def adapter(shape: Any) -> TypeAdapter[Any]:
    """Return the reader and writer of a shape."""
    return TypeAdapter(shape)


# -- OpenAPI -------------------------------------------------------------------------------

_Mode: TypeAlias = Literal["serialization", "validation"]


EXAMPLES = Path(__file__).with_name("api_examples.json")
"""Requests and answers that `tests/web/record_examples.py` recorded from a server."""


def described(endpoints: Sequence[Endpoint], facts: Sequence[Any], home: str) -> dict[str, Any]:
    """Return the OpenAPI document (3.1) of these addresses.

    Args:
        facts: the types of the facts about a board, one for each game that tells facts.
        home: the URL that all addresses begin with.
    """
    examples = json.loads(EXAMPLES.read_text("utf-8"))
    shapes: dict[tuple[Any, _Mode], TypeAdapter[Any]] = {}
    for shape in (Problem, *facts, *(endpoint.answer for endpoint in endpoints)):
        shapes[shape, "serialization"] = adapter(shape)
    for endpoint in endpoints:
        if endpoint.takes:
            shapes[endpoint.takes, "validation"] = adapter(endpoint.takes)
    inputs = [(shape, mode, used) for (shape, mode), used in shapes.items()]
    schemas, definitions = TypeAdapter.json_schemas(inputs, ref_template=_REFS)
    named = definitions["$defs"]
    for name, schema in named.items():
        schema["title"] = title_of(name)
        own_type = getattr(api_shapes, name, object)  # a game's facts may have the same name
        _describe(schema, own_type.__mro__[1:-1] if isinstance(own_type, type) else ())
        if "facts" in schema.get("properties", ()):  # those of any game
            refs = [schemas[shape, "serialization"] for shape in facts]
            schema["properties"]["facts"]["anyOf"] = [*refs, {"type": "null"}]
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, schemas, examples)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "pbmserv", "version": "1", "description": _ABOUT},
        "servers": [{"url": home}],
        "paths": paths,
        "components": {
            "schemas": named,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


_ABOUT = """The facts of the public pages, and a seat at a board by the token of its page.

Refusals are problems as in RFC 9457. Players who hide their names on public pages are "a player".
"""


def title_of(key: str) -> str:
    """Return the title of the schema with this key, which is as unique as the key.

    Client generators name a class after the title. Pydantic's own title is the same for every
    ``Listing[...]``, and for a game's type that has the name of one of ours.
    """
    return "".join(part[:1].upper() + part[1:] for part in key.split("_"))


def _describe(schema: dict[str, Any], bases: Sequence[type]) -> None:
    """Move the lines about attributes from a docstring, and those of bases, to the properties."""
    own, properties = schema.get("description", ""), schema.get("properties", {})
    schema["description"] = " ".join(own.partition(_ATTRIBUTES)[0].split())
    for docstring in (*(base.__doc__ or "" for base in bases), own):
        name = ""
        for line in docstring.partition(_ATTRIBUTES)[2].splitlines():
            attribute = _ATTRIBUTE.fullmatch(line.strip())
            if attribute is not None and attribute[1] in properties:
                name = attribute[1]
                properties[name]["description"] = attribute[2]
            elif name and line.strip():
                properties[name]["description"] += f" {line.strip()}"


def _operation(
    endpoint: Endpoint, schemas: Mapping[Any, Any], examples: Mapping[str, Any]
) -> dict[str, Any]:
    """Return OpenAPI's description of one address, with an example of each body and parameter."""
    name = endpoint.operation_id
    values = examples["parameters"]
    parameters: list[dict[str, Any]] = [
        {"name": parameter, "in": "path", "required": True, "schema": dict(_IN_PATHS[parameter])}
        for parameter in _NAMED.findall(endpoint.path)
    ]
    parameters += [
        {"name": parameter, "in": "query", "schema": dict(schema)}
        for parameter, schema in endpoint.asks.items()
    ]
    for parameter in parameters:
        parameter["example"] = values[parameter["name"]]
    answer = {
        JSON: {
            "schema": schemas[endpoint.answer, "serialization"],
            "example": examples["answers"][name],
        }
    }
    success = "Done." if endpoint.takes else "Found."
    responses: dict[str, Any] = {"200": {"description": success, "content": answer}}
    if endpoint.takes:
        responses["202"] = {"description": "Stored, and not played yet.", "content": answer}
    else:
        responses["304"] = {"description": "Unchanged: see If-None-Match."}
    for status in map(str, sorted({*endpoint.refuses, *_PROBLEMS_OF_ALL})):
        problems = examples["problems"]
        problem = {
            "schema": schemas[Problem, "serialization"],
            "example": problems.get(f"{status} {name}") or problems[status],
        }
        phrase = HTTPStatus(int(status)).phrase
        responses[status] = {"description": phrase, "content": {PROBLEM: problem}}
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": responses,
    }
    if endpoint.by_token:
        operation["security"] = [{"bearer": []}]
    if endpoint.takes:
        body = {
            "schema": schemas[endpoint.takes, "validation"],
            "example": examples["requests"][name],
        }
        operation["requestBody"] = {"required": True, "content": {JSON: body}}
    return operation
