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

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.bots import knowledge
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


def words_of(advice: Hint, view: View) -> str:
    """Return the sentences of a hint; a kind without words raises."""
    template = '{% from "games/blackbox/hint.j2" import said %}{{ said(found, view) }}'
    return environment().from_string(template).render(found=advice, view=view).strip()


def cells_of(names: tuple[str, ...], board: Geometry) -> frozenset[int]:
    return frozenset(board.names.index(name) for name in names)


@pytest.mark.slow
@examples(8)
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
    assert words_of(advice, view)
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


@pytest.mark.parametrize("exact", [knowledge.EXACT, 0], ids=["all-layouts", "searched"])
def test_a_cell_that_wrong_guesses_leave_is_named_without_ports(
    monkeypatch: pytest.MonkeyPatch, exact: int
) -> None:
    """No ray was fired, so no mark shows the cell."""
    monkeypatch.setattr(knowledge, "EXACT", exact)
    options = GAME.options(["-size=2x2", "-atoms=1", "-guesses=9"], 2)
    state = GAME.setup(2, options, Rng(b"hint", 0))
    turns = ("A1", "A1", "+B1,?", "A", "/B1,+A2,?", "B", "/A2,+B2,?", "1", "/B2")
    for n, text in enumerate(turns):
        seat = Seat(n % 2)
        state = GAME.apply(
            state, seat, GAME.parse(GAME.view(state, seat), text), Rng(b"hint", n)
        ).state
    advice = make_hint(GAME.view(state, ME))
    assert (advice.kind, advice.cells, advice.ports) == ("cell", ("A1",), ())


@pytest.mark.slow
@examples(3)
@given(st.sampled_from(BOARDS), st.integers(0, 10**6), st.integers(0, 6))
def test_facts_hidden_from_the_reader_change_no_hint(
    words: list[str], seed: int, turns: int
) -> None:
    state = begun(words, seed, turns, 1)
    advice = hint(GAME.view(state, ME))
    for layout in fitting(GAME.view(state, ME)):
        other = state.with_box(ME, replace(state.boxes[ME], atoms=layout))
        assert hint(GAME.view(other, ME)) == advice


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
