"""The API answers whatever it is asked as its OpenAPI document says (schemathesis)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from asgi_client import fetch, site_of
from browser_tab import page_of
from examples import DEEP
from hypothesis import HealthCheck, given, settings
from indoors import PASSWORD, Indoors, address_of, indoors
from sqlalchemy import func, select

from pbmserv.store.tables.columns import metadata

pytestmark = pytest.mark.slow

KNOWN = {"game": "blackbox", "board": 1, "userid": "alice", "event": 1, "team": "rooks"}
"""Where half of all paths lead. By chance alone none may."""
EXAMPLES = 400 if DEEP else 2
"""Of each half."""


def filled(world: Indoors) -> str:
    """A board that is over, one that runs, a seek, a league, a box of the day; a seat's token."""
    world.sign_up("alice", "bob")
    letters = []
    for _ in range(2):
        challenge = f"blackbox challenge alice {PASSWORD} bob -size=4x4 -atoms=1"
        letters += world.send(address_of("alice"), challenge)
    tokens = {letter.recipient: page_of(letter).removeprefix("/b/") for letter in letters}
    for number in (1, 2):
        world.send(address_of("bob"), f"blackbox move {number} bob {PASSWORD} b2")
        world.send(address_of("alice"), f"blackbox move {number} alice {PASSWORD} c3")
    world.send(address_of("bob"), f"blackbox resign 1 bob {PASSWORD}")
    world.send(address_of("bob"), f"blackbox seek bob {PASSWORD} -size=8x8")
    world.send(address_of("alice"), f"league alice {PASSWORD} join blackbox")
    world.send(address_of("alice"), f"team alice {PASSWORD} create Rooks")
    world.live(days=1)
    return tokens[address_of("alice")]


def rows(world: Indoors) -> dict[str, int]:
    """Return the number of rows of each table of both stores."""
    counts = {}
    for database in {world.server.base.game, world.server.base.mail}:
        with database.reading.connect() as connection:
            for table in metadata.sorted_tables:
                if database.reading.dialect.has_table(connection, table.name):
                    count = connection.execute(select(func.count()).select_from(table)).scalar_one()
                    counts[f"{database.reading.url} {table.name}"] = count
    return counts


def answered(operation: Any, token: str, *excluded: Any) -> set[int]:
    """Ask one address this and that, and have each answer checked; the statuses."""
    statuses = set()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(parameters: Mapping[str, Any], case: Any) -> None:
        given_here = case.path_parameters or {}
        case.path_parameters = {
            name: parameters.get(name, value) for name, value in given_here.items()
        }
        answer = case.call(headers={"Authorization": f"Bearer {token}"})
        statuses.add(answer.status_code)
        case.validate_response(answer, excluded_checks=list(excluded))

    ask(KNOWN)
    ask({})
    return statuses


def test_every_answer_is_as_the_document_says(tmp_path: Path) -> None:
    # Here, for every process of a run would import it, which takes a second.
    import schemathesis
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    with indoors(tmp_path) as world:
        token = filled(world)
        site = site_of(world.server)
        asyncio.run(fetch(site, "/api/games"))
        schema = schemathesis.openapi.from_asgi("/api/openapi.json", site)
        operations = [result.ok() for result in schema.get_all_operations()]
        assert len(operations) >= 11
        statuses: dict[str, set[int]] = {}
        before = rows(world)
        for operation in operations:
            if operation.method.upper() == "GET":
                statuses[operation.label] = answered(operation, token)
        assert rows(world) == before  # looking has changed nothing
        (move,) = (operation for operation in operations if operation.method.upper() == "POST")
        # Whether a move is legal no schema can say.
        statuses[move.label] = answered(move, token, positive_data_acceptance)
    codes_by_path = {label.partition(" ")[2]: codes for label, codes in statuses.items()}
    assert {path for path, codes in codes_by_path.items() if 200 not in codes} <= {"/seat/moves"}
    assert {400, 409, 422} & codes_by_path["/seat/moves"]
