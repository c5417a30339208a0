"""Rays: all known cases, and properties of all rays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import HIT, cells_passed, dead_zone, trace, trace_all

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "blackbox"
CASES: list[dict[str, Any]] = json.loads((GOLDEN / "ray_cases.json").read_text())

Box = tuple[Geometry, frozenset[int]]


def in_words(board: Geometry, port: int, end: int) -> str:
    return "#" if end == HIT else "%" if end == port else board.ports[end]


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    board = geometry(draw(st.integers(2, 9)), draw(st.integers(2, 9)))
    return board, draw(st.frozensets(st.sampled_from(board.cells), max_size=12))


@rows("case", CASES, ids=[case["why"] for case in CASES])
def test_every_port_of_a_known_box(case: dict[str, Any]) -> None:
    board = geometry(case["w"], case["h"])
    atoms = [cell for name in case["atoms"] if (cell := board.cell(name)) is not None]
    assert len(atoms) == len(case["atoms"])
    results = trace_all(board, atoms)
    by_label = {
        label: in_words(board, port, results[port]) for port, label in enumerate(board.ports)
    }
    assert by_label == case["all"]
    assert {label: by_label[label] for label in case["expect"]} == case["expect"]


@given(boxes())
def test_one_ray_and_all_rays_agree(box: Box) -> None:
    board, atoms = box
    assert trace_all(board, atoms) == [trace(board, atoms, p) for p in range(len(board.ports))]


@given(boxes())
def test_no_ray_tells_of_a_dead_zone_and_none_goes_there(box: Box) -> None:
    board, atoms = box
    dead = dead_zone(board, atoms)
    assert not dead & atoms
    for cell in dead:
        assert trace_all(board, atoms | {cell}) == trace_all(board, atoms)
    for port in range(len(board.ports)):
        assert dead.isdisjoint(cells_passed(board, atoms, port))


@given(boxes())
def test_rays_are_reversible_and_detours_pair_up(box: Box) -> None:
    board, atoms = box
    for port in range(len(board.ports)):
        result = trace(board, atoms, port)
        if result != HIT:
            assert trace(board, atoms, result) == port
