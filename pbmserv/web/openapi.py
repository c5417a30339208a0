"""What an API is made of: addresses, problems, what clients ask for, and OpenAPI of it all."""

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
"""Octets of what is posted: more than any move and its words."""
LONGEST_TOKEN = 200
LAST_NUMBER = 10**LONGEST_NUMBER - 1

_ALL = (405, 406, 429, 500, 503)
"""What any address may answer."""
_REFS = "#/components/schemas/{model}"
_NAMED = re.compile(r"\{(\w+)\}")
_IN_PATHS: Mapping[str, Mapping[str, Any]] = {
    "board": {"type": "integer", "minimum": 1, "maximum": LAST_NUMBER},
    "game": {"type": "string", "examples": ["blackbox"]},
    "userid": {"type": "string", "pattern": f"^{USERID.pattern}$"},
}
_OF_FIELDS = "Attributes:"
_ATTRIBUTE = re.compile(r"(\w+): (.+)")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of the API, for Starlette and for OpenAPI; its handler says what it does.

    Attributes:
        path: below ``/api``; names in braces are parameters.
        answer: the shape of the answer.
        refuses: statuses of problems, beside those that all have.
        asks: parameters of the query, each with its schema.
        takes: the shape of the body that is posted; ``None``: it is a GET.
    """

    path: str
    handler: Callable[[Request], Awaitable[Response]]
    answer: Any
    refuses: tuple[int, ...] = ()
    asks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    takes: Any = None

    @property
    def method(self) -> str:
        """In capitals, as HTTP has it."""
        return "POST" if self.takes else "GET"

    @property
    def operation_id(self) -> str:
        """Return the name of this operation in generated clients, such as ``get_boards_board``."""
        return f"{self.method.lower()}_{re.sub(r'[^a-z]+', '_', self.path).strip('_')}"

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return (self.handler.__doc__ or "").partition("\n")[0]

    @property
    def by_token(self) -> bool:
        """Whether a token says who asks."""
        return 401 in self.refuses


class ApiProblem(Exception):
    """Why there is no answer. *code*: a block of ``web/problems.j2``, which *words* are for."""

    def __init__(
        self, status: int, code: str, headers: Mapping[str, str] | None = None, **words: Any
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.headers, self.words = status, code, headers or {}, words


# -- what clients ask for ------------------------------------------------------------------


def must_accept(request: Request, *kinds: str) -> None:
    """Refuse who wants none of what there is (RFC 9110 section 12.5.1).

    Raises:
        ApiProblem: 406.
    """
    accept = request.headers.get("accept", "")
    if not any(quality(accept, kind) for kind in kinds):
        raise ApiProblem(406, "not-acceptable", kinds=" or ".join(kinds))


def quality(accept: str, kind: str) -> float:
    """How much a client wants a media type, from 0 to 1; 1 where it does not say."""
    if not accept.strip():
        return 1.0
    found = (0, 0.0)
    wanted = {kind: 3, kind.partition("/")[0] + "/*": 2, "*/*": 1}
    for one in accept.lower().split(","):
        name, *parameters = (part.strip() for part in one.split(";"))
        weight = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        valued = float(weight) if re.fullmatch(r"[01](\.\d{0,3})?", weight, re.ASCII) else 1.0
        found = max(found, (wanted.get(name, 0), valued))
    return found[1] if found[0] else 0.0


def number_of(request: Request, name: str, least: int, most: int) -> int | None:
    """A number of the query; ``None``: it is not there.

    Raises:
        ApiProblem: 400: it is none, or out of bounds.
    """
    text = request.query_params.get(name)
    if text is None:
        return None
    if not is_number(text) or not least <= int(text) <= most:
        raise ApiProblem(400, "bad-query", name=name, least=least, most=most)
    return int(text)


def token_of(request: Request) -> str:
    """The token of the Authorization header (RFC 6750 section 2.1).

    Raises:
        ApiProblem: 401: there is none.
    """
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ApiProblem(401, "no-token", {"WWW-Authenticate": "Bearer"})
    return token.strip() if len(token) <= LONGEST_TOKEN else ""


def bad_token() -> ApiProblem:
    """The token opens nothing."""
    return ApiProblem(401, "bad-token", {"WWW-Authenticate": 'Bearer error="invalid_token"'})


async def posted(request: Request, shape: Any) -> Any:
    """What was posted, as this shape.

    Raises:
        ApiProblem: 413, 415; 400: it is no JSON, or not of the shape.
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
        found = error.errors(include_url=False, include_context=False, include_input=False)
        told = (": ".join([*map(str, one["loc"]), one["msg"]]) for one in found[:5])
        raise ApiProblem(400, "bad-body", why="; ".join(told) + ".") from None


@cache
def adapter(shape: Any) -> TypeAdapter[Any]:
    """What prints and reads a shape."""
    return TypeAdapter(shape)


# -- OpenAPI -------------------------------------------------------------------------------

_Mode: TypeAlias = Literal["serialization", "validation"]


EXAMPLES = Path(__file__).with_name("api_examples.json")
"""Requests and answers that `tests/web/record_examples.py` took from a server."""


def described(endpoints: Sequence[Endpoint], facts: Sequence[Any], home: str) -> dict[str, Any]:
    """Return the OpenAPI document (3.1) of these addresses.

    Args:
        facts: the types of the facts about a board, one for each game that has them.
        home: the URL that all addresses begin with.
    """
    examples = json.loads(EXAMPLES.read_text("utf-8"))
    shapes: dict[tuple[Any, _Mode], TypeAdapter[Any]] = {}
    for one in (Problem, *facts, *(one.answer for one in endpoints)):
        shapes[one, "serialization"] = adapter(one)
    for endpoint in endpoints:
        if endpoint.takes:
            shapes[endpoint.takes, "validation"] = adapter(endpoint.takes)
    inputs = [(shape, mode, made) for (shape, mode), made in shapes.items()]
    schemas, defined = TypeAdapter.json_schemas(inputs, ref_template=_REFS)
    named = defined["$defs"]
    for name, schema in named.items():
        schema["title"] = title_of(name)
        found = getattr(api_shapes, name, object)  # a game may call its facts as we call a type
        _describe(schema, found.__mro__[1:-1] if isinstance(found, type) else ())
        if "facts" in schema.get("properties", ()):  # of whichever game it is
            refs = [schemas[one, "serialization"] for one in facts]
            schema["properties"]["facts"]["anyOf"] = [*refs, {"type": "null"}]
    paths: dict[str, Any] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas, examples)
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


_ABOUT = """What the public pages tell, and a seat at a board by the token of its page.

What is refused is told as RFC 9457 says. Who wants no name on public pages is "a player" here.
"""


def title_of(key: str) -> str:
    """Return the title of the schema with this key, which is as unique as the key.

    Client generators name a class after the title. Pydantic's own title is the same for every
    ``Listing[...]``, and for a game's type that has the name of one of ours.
    """
    return "".join(part[:1].upper() + part[1:] for part in key.split("_"))


def _describe(schema: dict[str, Any], bases: Sequence[type]) -> None:
    """Hand what docstrings say of their attributes, those of bases too, to the properties."""
    own, properties = schema.get("description", ""), schema.get("properties", {})
    schema["description"] = " ".join(own.partition(_OF_FIELDS)[0].split())
    for told in (*(one.__doc__ or "" for one in bases), own):
        name = ""
        for line in told.partition(_OF_FIELDS)[2].splitlines():
            found = _ATTRIBUTE.fullmatch(line.strip())
            if found is not None and found[1] in properties:
                name = found[1]
                properties[name]["description"] = found[2]
            elif name and line.strip():
                properties[name]["description"] += f" {line.strip()}"


def _operation(
    endpoint: Endpoint, schemas: Mapping[Any, Any], examples: Mapping[str, Any]
) -> dict[str, Any]:
    """Return OpenAPI's description of one address, with an example of each body and parameter."""
    name = endpoint.operation_id
    values = examples["parameters"]
    parameters: list[dict[str, Any]] = [
        {"name": one, "in": "path", "required": True, "schema": dict(_IN_PATHS[one])}
        for one in _NAMED.findall(endpoint.path)
    ]
    parameters += [
        {"name": one, "in": "query", "schema": dict(schema)}
        for one, schema in endpoint.asks.items()
    ]
    for parameter in parameters:
        parameter["example"] = values[parameter["name"]]
    answer = {
        JSON: {
            "schema": schemas[endpoint.answer, "serialization"],
            "example": examples["answers"][name],
        }
    }
    done = "Done." if endpoint.takes else "Found."
    responses: dict[str, Any] = {"200": {"description": done, "content": answer}}
    if endpoint.takes:
        responses["202"] = {"description": "Stored, and not played yet.", "content": answer}
    else:
        responses["304"] = {"description": "As it was: see If-None-Match."}
    for status in map(str, sorted({*endpoint.refuses, *_ALL})):
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
