"""The OpenAPI document: names that generators need, examples that are true, a client made of it."""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from asgi_client import fetch, site_of
from browser_tab import page_of
from indoors import PASSWORD, indoors
from record_examples import ANSWERS, PARAMETERS, record
from running import start

pytestmark = pytest.mark.slow

PACKAGE = "generated_pbmserv"


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


@pytest.mark.whole
def test_a_generated_client_has_every_operation_and_plays(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(database_url, tmp_path / "server", signup="open") as server:
        alice = server.sign_up("alice", PASSWORD)
        server.sign_up("bob", PASSWORD)
        server.send(alice, f"blackbox challenge alice {PASSWORD} bob -size=4x4 -atoms=1")
        token = page_of(server.letters(alice)[-1]).removeprefix("/b/")
        home = f"http://127.0.0.1:{server.web_port}/api"
        with urlopen(f"{home}/openapi.json") as answer:
            document = json.load(answer)
        generate(document, tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        package = importlib.import_module(PACKAGE)
        calls = {
            operation["operationId"]: importlib.import_module(
                f"{PACKAGE}.api.default.{operation['operationId']}"
            )
            for operation in operations(document)
        }
        models = importlib.import_module(f"{PACKAGE}.models")
        client = package.Client(base_url=home)
        with package.AuthenticatedClient(base_url=home, token=token) as seat:
            looked = calls["get_seat"].sync(client=seat)
            assert isinstance(looked, models.Seat)
            assert looked.facts.must_hide
            move = models.Move(turn=looked.turn, move="b2")
            played = calls["post_seat_moves"].sync(client=seat, body=move)
            assert isinstance(played, models.Seat), played
            assert not played.facts.must_hide
            refused = calls["post_seat_moves"].sync(
                client=seat, body=models.Move(turn=played.turn, move="z99")
            )
            assert isinstance(refused, models.Problem)
        with client:
            for name in ("get_games", "get_boards", "get_ratings", "get_seeks"):
                assert calls[name].sync(client=client).items is not None, name
            player = calls["get_players_userid"].sync("alice", client=client)
            assert [board.board for board in player.running] == [1]
            board = calls["get_boards_board"].sync(1, client=client)
            assert board.players == ["alice", "bob"]
        assert len(calls) == len(ANSWERS) + 1
        assert set(PARAMETERS) >= {
            parameter["name"]
            for operation in operations(document)
            for parameter in operation["parameters"]
        }


def generate(document: Mapping[str, Any], folder: Path) -> None:
    """Make a client package of the document; a warning of the generator is a failure."""
    source, config = folder / "openapi.json", folder / "generator.json"
    source.write_text(json.dumps(document))
    config.write_text(json.dumps({"post_hooks": []}))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"),
            *("--path", str(source), "--config", str(config), "--fail-on-warning"),
            *("--output-path", str(folder / PACKAGE)),
        ],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
