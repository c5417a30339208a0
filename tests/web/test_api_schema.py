"""The API answers whatever it is asked as its OpenAPI document says (schemathesis)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from asgi_client import fetch, site_of
from examples import DEEP
from hypothesis import HealthCheck, given, settings
from indoors import Indoors, indoors
from record_examples import PARAMETERS, play
from sqlalchemy import func, select

from pbmserv.store.tables.columns import metadata

pytestmark = pytest.mark.slow

EXAMPLES = 400 if DEEP else 1
"""Of each half."""


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

    ask(PARAMETERS)  # by chance alone, no path leads anywhere
    if DEEP:
        ask({})
    return statuses


def test_every_answer_is_as_the_document_says(tmp_path: Path) -> None:
    # Here, for every process of a run would import it, which takes a second.
    import schemathesis
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    with indoors(tmp_path) as world:
        token = play(world)
        world.live(days=1)
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
