"""Hints are true by a brute force over all layouts, and depend on the view alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from math import comb, log2
from random import Random

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.bots.hints import ALL_RAYS, Hint, _Searches, hint, make_hint
from pbmserv.games.blackbox.bots.search import ATOM
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.games.blackbox.state import State
from pbmserv.games.blackbox.views import View
from pbmserv.views.environment import environment

ME = Seat(0)
BOARDS = (["-size=4x4", "-atoms=2"], ["-size=5x3", "-atoms=3"], ["-size=4x4", "-atoms=1-3"])


def play(state: State, text: str) -> State:
    return GAME.apply(state, ME, GAME.parse(GAME.view(state, ME), text), Rng(b"hint", 1)).state


def begun(words: list[str], seed: int, turns: int, aids: int) -> State:
    """Return a solo game after some rays, with random markers and seals."""
    options, lots = GAME.options(["-race", "-guesses=9", *words], 1), Random(seed)
    state = GAME.setup(1, options, Rng(b"%d" % seed, 0))
    names = options.board.names
    for _ in range(turns):
        state = play(state, lots.choice(GAME.view(state, ME).unused_ports or ("+A1",)))
    for name in lots.sample(names, aids):
        state = play(state, lots.choice("+!") + name)
    return state


@cache
def every(board: Geometry, least: int, most: int) -> dict[frozenset[int], list[int]]:
    """Return all layouts with the results of their ports."""
    counts = range(least, most + 1)
    layouts = (cells for count in counts for cells in combinations(board.cells, count))
    return {frozenset(cells): trace_all(board, cells) for cells in layouts}


def fitting(view: View) -> dict[frozenset[int], list[int]]:
    """Return the layouts that explain the reader's results."""
    own, options = view.own, view.options
    assert own is not None
    return {
        layout: spectrum
        for layout, spectrum in every(options.board, options.least, options.most).items()
        if all(spectrum[port] == out for port, out in own.results)
    }


def bits_of(port: int, layouts: dict[frozenset[int], list[int]], view: View) -> float:
    shares: dict[int, float] = {}
    cells = len(view.options.board.cells)
    for layout, spectrum in layouts.items():
        shares[spectrum[port]] = shares.get(spectrum[port], 0) + 1 / comb(cells, len(layout))
    total = sum(shares.values())
    return -sum(share / total * log2(share / total) for share in shares.values())


def cells_of(names: tuple[str, ...], board: Geometry) -> frozenset[int]:
    return frozenset(board.names.index(name) for name in names)


@pytest.mark.slow
@examples(30)
@given(
    st.sampled_from(BOARDS), st.integers(0, 10**6), st.integers(0, 8), st.sampled_from([0, 1, 3])
)
def test_a_hint_is_true_of_every_layout_that_fits(
    words: list[str], seed: int, turns: int, aids: int
) -> None:
    view = GAME.view(begun(words, seed, turns, aids), ME)
    own, board = view.own, view.options.board
    assert own is not None
    advice, layouts = make_hint(view), fitting(view)
    agree = [layout for layout in layouts if own.markers <= layout]
    unsealed = [layout for layout in agree if not layout & own.sealed]
    assert (advice.kind == "contradicted") == (not unsealed)
    if advice.kind == "contradicted":
        assert advice.have > view.options.most or advice.seals == bool(agree)
    elif advice.kind == "cell":
        (cell,) = cells_of(advice.cells, board)
        assert all((cell in layout) == advice.atom for layout in layouts)
    elif advice.kind == "port":
        port = board.port(advice.ports[0])
        assert port is not None
        assert not own.marks[port]
        bits = {
            port: bits_of(port, layouts, view) for port, mark in enumerate(own.marks) if not mark
        }
        assert advice.bits == pytest.approx(bits[port])
        assert advice.bits == pytest.approx(max(bits.values()))
        assert advice.left == len(layouts)
    elif advice.kind == "apart":
        assert advice.left == len(layouts)
        assert len(set(map(tuple, layouts.values()))) == 1
    else:
        assert advice.kind == "ready"
        assert own.markers in layouts
        assert len(set(map(tuple, layouts.values()))) == 1


@pytest.mark.slow
@examples(10)
@given(st.sampled_from(BOARDS), st.integers(0, 10**6), st.integers(0, 6))
def test_facts_hidden_from_the_reader_change_no_hint(
    words: list[str], seed: int, turns: int
) -> None:
    state = begun(words, seed, turns, 1)
    advice = hint(GAME.view(state, ME))
    for layout in fitting(GAME.view(state, ME)):
        other = state.with_box(ME, replace(state.boxes[ME], atoms=layout))
        assert hint(GAME.view(other, ME)) == advice


@pytest.mark.slow  # the first time it compiles all loops
@rows("words", [["-size=9x9", "-atoms=5"], ["-size=26x26", "-atoms=20"]])
def test_a_large_board_gets_a_hint_too(words: list[str]) -> None:
    advice = make_hint(GAME.view(begun(words, 3, 3, 0), ME))
    assert advice.kind == "port"
    assert advice.sampled
    assert advice.bits > 1


TWO = "They differ at A1 and B2. One has its atoms at A1. Another has its atoms at B2. "
HINTS = (
    (Hint("contradicted", have=5, most=4), "You have 5 markers"),
    (Hint("contradicted", ("C",)), "Your markers contradict the mark at port C"),
    (Hint("contradicted", ("C", "9"), seals=True), "markers and seals cannot all be right"),
    (Hint("contradicted"), "no box of this kind holds them"),
    (Hint("cell", ("C", "9"), ("B2",), had="marker"), "The marker on B2 is wrong"),
    (Hint("cell", (), ("B2",), atom=True, had="seal"), "there is surely an atom"),
    (Hint("cell", ("C",), ("B2",), atom=True), "Port C alone shows it"),
    (Hint("port", ("C",), blind=True), "Try port C."),
    (
        Hint("port", ("C",), bits=1.0, shares={"hit": 25, "reflection": 0, "detour": 75}, exits=2),
        "It should rule out 5 of 10 possibilities.",
    ),
    (
        Hint(
            "port",
            ("C",),
            bits=1.0,
            left=2,
            after=1,
            shares={"hit": 50, "reflection": 0, "detour": 50},
            exits=1,
        ),
        "This ray will decide it. 2 possibilities fit what you know.",
    ),
    (
        Hint(
            "port",
            ("C",),
            bits=3.2,
            left=1000,
            after=100,
            shares={"hit": 20, "reflection": 0, "detour": 80},
        ),
        "It should rule out 9 of 10 possibilities.",
    ),
    (Hint("apart", cells=("A1", "B2"), left=2, layouts=(("A1",), ("B2",))), TWO + "Only luck"),
    (Hint("apart", cells=("A1", "B2"), left=2, layouts=(("A1",), ("B2",)), fair=True), TWO + "Any"),
    (Hint("apart"), "No port is left to fire."),
    (Hint("ready", left=1), "nothing else does"),
    (Hint("ready", left=2, fair=True), "no ray can tell them from the other possibilities"),
)


@rows(("found", "said"), HINTS)
def test_each_kind_of_hint_has_words(found: Hint, said: str) -> None:
    view = GAME.view(begun(["-size=4x4", "-atoms=2"], 1, 2, 0), ME)
    template = '{% from "games/blackbox/hint.j2" import said %}{{ said(found, view) }}'
    words = environment().from_string(template).render(found=found, view=view)
    assert said in " ".join(words.split())


def test_the_searches_for_a_hint_end_however_large_the_box_is() -> None:
    """Hints and reports of other players wait for them."""
    options = begun(["-size=26x26", "-atoms=60"], 3, 0, 0).options
    board = options.board
    atoms = Random(3).sample(board.cells, 60)
    results = [(port, out) for port, out in enumerate(trace_all(board, atoms)) if port <= out]
    searches = _Searches.on(options)
    assert searches.left < ALL_RAYS / 4
    answers = [searches.are_possible(results, {cell: ATOM}) for cell in board.cells]
    assert answers[-1] is None  # unknown, so no hint says that it is certain
    assert -2 * len(results) <= searches.left <= 0
