"""The OpenAPI document, which is made of the endpoints and their shapes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from pbmserv.commands.grammar.word_forms import USERID
from pbmserv.views import public_facts
from pbmserv.web.api import shapes
from pbmserv.web.api.endpoint import LAST_NUMBER, Endpoint
from pbmserv.web.api.problems import PROBLEM
from pbmserv.web.api.requests import JSON
from pbmserv.web.api.shapes import Problem, adapter

EXAMPLES = Path(__file__).with_name("examples.json")
"""Requests and answers that `tests/web/record_examples.py` recorded from a server."""

_ABOUT = """The facts of the public pages, and a seat at a board by the token of its page.

Refusals are problems as in RFC 9457. Players who hide their names on public pages are "a player".
"""
_PROBLEMS_OF_ALL = (405, 429, 500, 503)
"""Statuses of problems that every address may return."""
_REFS = "#/components/schemas/{model}"
_NAMED = re.compile(r"\{(\w+)\}")
_IN_PATHS: Mapping[str, Mapping[str, Any]] = {
    "board": {"type": "integer", "minimum": 1, "maximum": LAST_NUMBER},
    "event": {"type": "integer", "minimum": 1, "maximum": LAST_NUMBER},
    "game": {"type": "string", "examples": ["blackbox"]},
    "team": {"type": "string", "examples": ["red-rooks"]},
    "userid": {"type": "string", "pattern": f"^{USERID.pattern}$"},
}
_ATTRIBUTES = "Attributes:"
_ATTRIBUTES_LINE = re.compile(r"(\w+(?:, \w+)*): (.+)")
_Mode: TypeAlias = Literal["serialization", "validation"]


def openapi_document(
    endpoints: Sequence[Endpoint], facts: Sequence[Any], home: str
) -> dict[str, Any]:
    """Return the OpenAPI document (3.1) of these addresses.

    Args:
        facts: the types of the facts about a board, one for each game that tells facts.
        home: the URL that all addresses begin with.
    """
    examples = json.loads(EXAMPLES.read_text("utf-8"))
    references, schemas = _schemas(endpoints, facts)
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, references, examples)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "pbmserv", "version": "1", "description": _ABOUT},
        "servers": [{"url": home}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(
    endpoints: Sequence[Endpoint], facts: Sequence[Any]
) -> tuple[Mapping[Any, Any], dict[str, Any]]:
    """Return references to the schemas by shape and mode, and the schemas by name."""
    adapters: dict[tuple[Any, _Mode], TypeAdapter[Any]] = {}
    for shape in (Problem, *facts, *(endpoint.answer for endpoint in endpoints)):
        adapters[shape, "serialization"] = adapter(shape)
    for endpoint in endpoints:
        if endpoint.takes:
            adapters[endpoint.takes, "validation"] = adapter(endpoint.takes)
    inputs = [(shape, mode, used) for (shape, mode), used in adapters.items()]
    references, definitions = TypeAdapter.json_schemas(inputs, ref_template=_REFS)
    named = definitions["$defs"]
    for name, schema in named.items():
        schema["title"] = title_of(name)
        _describe(schema, _bases_of(name))
        if "facts" in schema.get("properties", ()):  # those of any game
            refs = [references[shape, "serialization"] for shape in facts]
            schema["properties"]["facts"]["anyOf"] = [*refs, {"type": "null"}]
    return references, named


def title_of(key: str) -> str:
    """Return the title of the schema with this key, which is as unique as the key.

    Client generators name a class after the title. Pydantic's own title is the same for every
    ``Listing[...]``, and for a game's type that has the name of one of ours.
    """
    return "".join(part[:1].upper() + part[1:] for part in key.split("_"))


def _bases_of(name: str) -> Sequence[type]:
    """Return the bases of the shape with this name, whose docstrings describe attributes, too.

    A game's facts may have the name of something that is no class there.
    """
    for module in (shapes, public_facts):
        shape = getattr(module, name, None)
        if isinstance(shape, type):
            return shape.__mro__[1:-1]
    return ()


def _describe(schema: dict[str, Any], bases: Sequence[type]) -> None:
    """Move the lines about attributes from a docstring, and those of bases, to the properties."""
    own, properties = schema.get("description", ""), schema.get("properties", {})
    schema["description"] = " ".join(own.partition(_ATTRIBUTES)[0].split())
    for docstring in (*(base.__doc__ or "" for base in bases), own):
        names: Sequence[str] = ()
        for line in docstring.partition(_ATTRIBUTES)[2].splitlines():
            attribute = _ATTRIBUTES_LINE.fullmatch(line.strip())
            listed = attribute[1].split(", ") if attribute is not None else []
            if attribute is not None and all(name in properties for name in listed):
                names = listed
                for name in names:
                    properties[name]["description"] = attribute[2]
            elif line.strip():
                for name in names:
                    properties[name]["description"] += f" {line.strip()}"


def _operation(
    endpoint: Endpoint, references: Mapping[Any, Any], examples: Mapping[str, Any]
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
            "schema": references[endpoint.answer, "serialization"],
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
            "schema": references[Problem, "serialization"],
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
            "schema": references[endpoint.takes, "validation"],
            "example": examples["requests"][name],
        }
        operation["requestBody"] = {"required": True, "content": {JSON: body}}
    return operation
