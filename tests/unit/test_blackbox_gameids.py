"""Game IDs of Simon Tatham's program and of ours, and texts that are not game IDs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from examples import DEEP, examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import OptionError, Refusal
from pbmserv.games.blackbox.game_ids import (
    EXAMPLE_ID,
    SEED_LIMIT,
    TEXT_LIMIT,
    GameId,
    Parameters,
    atoms_of,
    cells_of,
    described,
    descriptive_id,
    read_id,
    read_parameters,
    seeded_id,
    stored_id,
)
from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import HIT, trace_all
from pbmserv.views.texts import refusal_sentence

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "blackbox"
VECTORS: dict[str, list[dict[str, Any]]] = json.loads((GOLDEN / "sgt_vectors.json").read_text())
IDS, SEEDS = VECTORS["ids"], VECTORS["seeds"]
SERIES: dict[str, Any] = json.loads((GOLDEN / "sgt_generate.json").read_text())
"""Answers of his program (Debian 20230122) to ``--generate``, and the IDs that it refuses."""


def his_ports(board: Geometry) -> list[int]:
    """Our ports in the order of Simon Tatham's: clockwise from the top left."""
    width, height = board.width, board.height
    return [
        *range(width + height),
        *reversed(range(width + height, 2 * width + height)),
        *reversed(range(2 * width + height, 2 * (width + height))),
    ]


def his_results(board: Geometry, atoms: frozenset[int]) -> list[str | int]:
    order = his_ports(board)
    results = trace_all(board, atoms)
    return [
        "H"
        if results[port] == HIT
        else "R"
        if results[port] == port
        else order.index(results[port])
        for port in order
    ]


def pairs(game: GameId) -> list[list[int]]:
    return [[cell % game.width, cell // game.width] for cell in cells_of(game)]


@rows("vector", IDS + SEEDS, ids=lambda vector: vector["id"])
def test_his_ids_give_his_boxes_and_his_rays(vector: dict[str, Any]) -> None:
    game = read_id(vector["id"])
    assert pairs(game) == vector["balls"]
    board = geometry(game.width, game.height)
    assert his_results(board, atoms_of(game)) == vector["r"]


@examples(3)
@given(st.data())
def test_a_seed_gives_a_box_of_every_legal_size(data: st.DataObject) -> None:
    sides = st.integers(2, 26 if DEEP else 9)
    width, height = data.draw(sides), data.draw(sides)
    most = data.draw(st.integers(1, width * height))
    least = data.draw(st.integers(0, min(most, width * height - 1)))
    plain = st.characters(codec="utf-8", exclude_categories=("C", "Z"))
    seed = data.draw(st.text(plain, min_size=1, max_size=SEED_LIMIT))
    game = read_id(seeded_id(Parameters(width, height, least, most), seed))
    cells = cells_of(game)
    assert least <= len(cells) <= most
    assert len(set(cells)) == len(cells)
    assert set(cells) <= set(geometry(width, height).cells)
    assert cells_of(read_id(described(game))) == cells


@rows("side", [2, 26])
def test_a_full_box_has_an_id_that_his_program_reads(side: int) -> None:
    every = side * side
    text = descriptive_id(Parameters(side, side, every, every), range(every))
    assert text.startswith(f"w{side}h{side}m{every - 1}M{every}:")
    assert len(text) < TEXT_LIMIT
    assert atoms_of(read_id(text)) == frozenset(range(every))
    old = text.replace(f"m{every - 1}", f"m{every}")
    assert stored_id(old).cells == read_id(text).cells  # records of older versions have it
    assert refused(old).code == "blackbox.atoms-full"


@rows("text", [*SERIES["refused"], "w8h8m5M5:9fef256fb015513fe87e0c4c#x"])
def test_ids_that_his_program_refuses_are_refused(text: str) -> None:
    with pytest.raises(OptionError):
        read_id(text if re.search("[:#]", text) else f"{text}#x")


@rows(
    ("text", "parameters"),
    [
        ("w8h8m3M6", "w8h8m3M6"),
        ("M6m3h9w8", "w8h9m3M6"),
        ("w10h10", "w10h10m5M5"),
        ("m5", "w8h8m5M5"),
        ("8x8", "w8h8m4M4"),
        (" 8X9/5 ", "w8h9m5M5"),
        ("8\u00d78/3-6", "w8h8m3M6"),
        ("26x26/675-676", "w26h26m675M676"),
        ("2x2", "w2h2m3M3"),
    ],
)
def test_parameters_as_he_and_as_people_write_them(text: str, parameters: str) -> None:
    assert read_parameters(text).parameters == parameters
    assert read_id(text + "#x").parameters == parameters


def refused(text: str) -> Refusal:
    with pytest.raises(OptionError) as caught:
        read_id(text)
    refusal = caught.value.refusal
    words = refusal_sentence(refusal)
    assert words.endswith((".", ")"))
    assert len(words) < 300
    if ":" in refusal.example or "#" in refusal.example:
        read_id(refusal.example)
    else:
        read_parameters(refusal.example)
    return refusal


@rows(
    ("text", "code", "part"),
    [
        ("", "id-form", ""),
        ("x" * (TEXT_LIMIT + 1), "id-long", "x" * 40 + "…"),
        ("hello#there", "parameters-form", "hello"),
        ("w8h8w9m5M5#x", "parameters-twice", "w8h8w9m5M5"),
        ("w1h8m1M1#x", "size-labels", "w1h8m1M1"),
        ("w8h8m6M3#x", "atoms-order", "w8h8m6M3"),
        ("2x2/5#x", "atoms-many", "2x2/5"),
        ("2x2/4#x", "atoms-full", "2x2/4"),
        ("w8h8m5M5#", "id-seed-none", "#"),
        ("w8h8m5M5#" + "y" * 101, "id-seed-long", "y" * 40 + "…"),
        ("w8h8m5M5#a\nb", "id-seed-character", ""),
        ("w8h8m5M5:9fef256fb015513fe87e0c4g", "id-digit", "g"),
        ("w8h8m5M5:", "id-length", "w8h8m5M5"),
        ("w8h8m5M5:9fef256fb015513fe87e0c4d", "id-spoilt", "w8h8m5M5"),
    ],
)
def test_a_text_that_is_no_game_id_is_refused_by_its_kind(text: str, code: str, part: str) -> None:
    refusal = refused(text)
    assert (refusal.code, refusal.part) == (f"blackbox.{code}", part)


def test_a_full_stop_behind_a_copied_id_is_not_part_of_it() -> None:
    assert read_id(f"{EXAMPLE_ID}.") == read_id(EXAMPLE_ID)


def test_an_id_that_names_a_cell_twice_is_refused() -> None:
    twice = read_id("w8h8m2M2:" + _forged([8, 8, 1, 1, 1, 2])).cells
    assert twice == (9, 17)
    assert refused("w8h8m2M2:" + _forged([8, 8, 1, 1, 1, 1])).code == "blackbox.id-spoilt"
    assert refused("w8h8m2M2:" + _forged([8, 8, 1, 1, 8, 1])).code == "blackbox.id-spoilt"


def _forged(plain: list[int]) -> str:
    from pbmserv.games.blackbox.game_ids import _obscure

    return _obscure(bytes(plain)).hex()


@rows("cells", [[], [1], [1, 1], [1, 64], [-1, 3], [1, 2, 3]])
def test_cells_that_do_not_fit_get_no_id(cells: list[int]) -> None:
    with pytest.raises(OptionError, match="id-cells"):
        descriptive_id(Parameters(8, 8, 2, 2), cells)


@given(st.text(max_size=40) | st.from_regex(r"w\d+h\d+(m\d+)?(M\d+)?[:#][0-9a-f]*", fullmatch=True))
def test_any_text_is_an_id_or_kindly_refused(text: str) -> None:
    try:
        game = read_id(text)
    except OptionError:
        refused(text)
    else:
        assert read_id(game.text) == game
