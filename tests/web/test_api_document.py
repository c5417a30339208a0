"""The OpenAPI document: names that generators need, examples that are true."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from asgi_client import fetch, site_of
from indoors import indoors
from record_examples import ANSWERS, record

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with indoors(tmp_path_factory.mktemp("server")) as world:
        answer = asyncio.run(fetch(site_of(world.server), "/api/openapi.json"))
    content: dict[str, Any] = json.loads(answer.body)
    return content


def operations(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def test_titles_of_schemas_and_names_of_operations_are_unique(document: Mapping[str, Any]) -> None:
    titles = Counter(schema["title"] for schema in document["components"]["schemas"].values())
    names = Counter(operation["operationId"] for operation in operations(document))
    assert {title for title, count in titles.items() if count > 1} == set()
    assert {name for name, count in names.items() if count > 1} == set()
    assert {title for title in titles if not title.isidentifier()} == set()


def bodies(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each request and answer that has a body, with the name of its place."""
    for operation in operations(document):
        name = operation["operationId"]
        places = {
            f"{name} {status}": response for status, response in operation["responses"].items()
        }
        places[f"{name} request"] = operation.get("requestBody", {})
        for place, body in places.items():
            for media in body.get("content", {}).values():
                yield place, media


def test_every_parameter_and_body_has_an_example_that_fits_its_schema(
    document: Mapping[str, Any],
) -> None:
    import jsonschema_rs

    parameters = [
        (f"{operation['operationId']} {parameter['name']}", parameter)
        for operation in operations(document)
        for parameter in operation["parameters"]
    ]
    wrong = []
    for place, described in [*bodies(document), *parameters]:
        schema = {**described["schema"], "components": document["components"]}
        validator = jsonschema_rs.Draft202012Validator(schema)
        wrong += [
            f"{place}: {error.message}" for error in validator.iter_errors(described["example"])
        ]
    assert wrong == []
    places = {place for place, _ in bodies(document)}
    assert {f"{operation['operationId']} 200" for operation in operations(document)} <= places
    assert "post_seat_moves request" in places


def keys(value: Any) -> Any:
    """Return the names of all fields, without their values."""
    if isinstance(value, dict):
        return {name: keys(field) for name, field in value.items()}
    return [keys(item) for item in value[:1]] if isinstance(value, list) else None


def test_the_examples_are_what_a_server_answers(
    document: Mapping[str, Any], tmp_path: Path
) -> None:
    with indoors(tmp_path) as world:
        recorded = record(world)
    for operation in operations(document):
        name = operation["operationId"]
        example = operation["responses"]["200"]["content"]["application/json"]["example"]
        assert keys(example) == keys(recorded["answers"][name]), name
    assert set(recorded["answers"]) == {*ANSWERS, "post_seat_moves"}
