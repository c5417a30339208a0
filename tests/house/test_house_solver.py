"""The solver of the house finds all fitting layouts, and agrees with published numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from statistics import mean

import pytest
from examples import DEEP
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.bots import trees
from pbmserv.games.blackbox.bots.candidates import candidates
from pbmserv.games.blackbox.bots.difficulty import is_unique, mean_probes
from pbmserv.games.blackbox.bots.hiding import hard_layout
from pbmserv.games.blackbox.bots.levels import (
    LEVELS,
)
from pbmserv.games.blackbox.bots.search import Case, search
from pbmserv.games.blackbox.bots.trees import Damaged
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import HIT, trace_all
from pbmserv.games.blackbox.state import Box, State, new_state
from pbmserv.games.blackbox.views import View

pytestmark = pytest.mark.slow

NO_END = 10**9
ALICE = Seat(0)


def layouts_of(cases: Sequence[Case], count: int) -> list[frozenset[int]]:
    return [
        frozenset((*case.atoms, *more))
        for case in cases
        if len(case.atoms) <= count
        for more in combinations(case.open, count - len(case.atoms))
    ]


@given(st.data())
def test_the_search_finds_each_fitting_layout_once(data: st.DataObject) -> None:
    width, height = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 4))
    board = geometry(width, height)
    count = data.draw(st.integers(1, min(4, width * height)))
    hidden = data.draw(st.sets(st.sampled_from(board.cells), min_size=count, max_size=count))
    real = trace_all(board, hidden)
    ports = data.draw(st.lists(st.sampled_from(range(len(real))), unique=True, max_size=6))
    results = [(port, real[port]) for port in ports]
    fitting_layouts = search(board, results, count, count, NO_END)
    assert fitting_layouts.complete
    layouts = layouts_of(fitting_layouts.cases, count)
    assert len(layouts) == len(set(layouts))
    assert set(layouts) == {
        frozenset(combination)
        for combination in combinations(board.cells, count)
        if all(trace_all(board, combination)[port] == out for port, out in results)
    }


# -- candidates of a seat ----------------------------------------------------------------------


def box_to_solve(options: Options, atoms: frozenset[int]) -> State:
    """Return a board with these atoms for alice and others for the house."""
    state = new_state(options, 2)
    boxes = tuple(replace(box, atoms=atoms) for box in state.boxes)
    return replace(state, boxes=boxes, turns=2)


def seen(box: Box, state: State) -> View:
    return GAME.view(state.with_box(ALICE, box), ALICE)


def lots() -> Rng:
    return Rng(b"lots", 1)


def test_a_bold_bot_guesses_earlier_with_more_guesses_left() -> None:
    options = GAME.options(("-size=5x5", "-atoms=2"), 2)
    state = box_to_solve(options, frozenset({3, 20}))
    for port in "AB":
        move = GAME.parse(GAME.view(state, ALICE), port)
        state = replace(GAME.apply(state, ALICE, move, lots()).state, turns=2)
    assert len(candidates(GAME.view(state, ALICE), lots()).layouts) == 4
    for left, guesses in ((1, False), (2, False), (3, True)):
        box = replace(state.boxes[ALICE], guesses_left=left)
        assert ("?" in LEVELS["house-hard"].choose(seen(box, state), lots())) == guesses


def test_wrong_guesses_are_remembered_after_their_markers_are_gone() -> None:
    options = GAME.options(("-size=4x4", "-atoms=1"), 2)
    state = box_to_solve(options, frozenset({5}))
    box = state.boxes[ALICE]
    assert len(candidates(seen(box, state), lots()).layouts) == 16
    for number in (0, 7):
        name = options.board.name(number)
        text = f"+{name},?"
        move = GAME.parse(GAME.view(state, ALICE), text)
        state = GAME.apply(state, ALICE, move, lots()).state
        state = GAME.apply(
            replace(state, turns=state.turns + 1),
            ALICE,
            GAME.parse(GAME.view(state, ALICE), f"/{name}"),
            lots(),
        ).state
    left = candidates(GAME.view(state, ALICE), lots()).layouts
    assert len(left) == 14
    assert frozenset({0}) not in left


def test_where_equivalent_layouts_count_a_wrong_guess_excludes_all_of_its_kind() -> None:
    fair = GAME.options(("-size=6x6", "-atoms=4", "-fair"), 2)
    twins: dict[tuple[int, ...], frozenset[int]] = {}
    for layout in map(frozenset, combinations(fair.board.cells, 4)):
        spectrum = tuple(trace_all(fair.board, layout))
        if spectrum in twins:
            break
        twins[spectrum] = layout
    other = twins[spectrum]
    for options, kept in ((fair, []), (replace(fair, fair=False), [other])):
        state = box_to_solve(options, layout)
        marks = list(state.boxes[ALICE].marks)
        detours: dict[int, str] = {}
        for port, out in enumerate(spectrum):
            mark = detours.setdefault(min(port, out), chr(97 + len(detours)))
            marks[port] = "#" if out == HIT else "%" if out == port else mark
        box = replace(state.boxes[ALICE], marks=tuple(marks), guessed=(layout,))
        assert list(candidates(seen(box, state), lots()).layouts) == kept


def test_every_number_of_atoms_counts_as_equally_likely() -> None:
    weights: Counter[int] = Counter()
    small = GAME.options(("-size=4x4", "-atoms=1-2"), 2)
    state = box_to_solve(small, frozenset({5}))
    guesses = candidates(seen(state.boxes[ALICE], state), lots())
    assert guesses.complete
    for layout, weight in zip(guesses.layouts, guesses.weights, strict=True):
        weights[len(layout)] += weight
    assert weights[1] == pytest.approx(weights[2], rel=0.001)


def test_the_largest_boards_are_played_too() -> None:
    for words in (("-size=26x26", "-atoms=300"), ("-size=26x3", "-atoms=2-40")):
        options = GAME.options(words, 2)
        state = new_state(options, 2)
        for turn in range(3):  # both hide, and one fires
            seat = min(GAME.to_act(state))
            view = GAME.view(state, seat)
            move = GAME.parse(view, LEVELS["house-hard"].choose(view, Rng(b"large", turn)))
            state = GAME.apply(state, seat, move, lots()).state


# -- hiding --------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("-size=8x8", "-atoms=3"), ("-size=6x5", "-atoms=3-4")])
def test_unobtrusive_layouts_can_be_any(words: tuple[str, ...]) -> None:
    options = GAME.options(words, 2)
    hidden = {hard_layout(options, Rng(b"hide", n)) for n in range(10)}
    assert len(hidden) == 10
    assert all(options.least <= len(layout) <= options.most for layout in hidden)


@pytest.mark.parametrize(
    "words", [(), ("-size=8x8", "-atoms=3"), ("-size=3x3", "-atoms=2"), ("-size=12x12",)]
)
def test_where_equal_results_are_right_the_hard_bot_hides_what_is_unique(
    words: tuple[str, ...],
) -> None:
    options = GAME.options((*words, "-fair"), 2)
    hidden = [hard_layout(options, Rng(b"hide", n)) for n in range(15)]
    if max(options.width, options.height) < 10:
        assert all(is_unique(options, layout) for layout in hidden)


def test_hidden_layouts_are_hard_to_find() -> None:
    """A random one takes the tree 6.6 probes."""
    options = GAME.options((), 2)
    layouts = [hard_layout(options, Rng(b"hide", n)) for n in range(60 if DEEP else 12)]
    assert mean(mean_probes(options, layout) or 0 for layout in layouts) > 7.5


@pytest.mark.usefixtures("reread_trees")
def test_a_damaged_tree_only_makes_hiding_plainer(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> bytes:
        raise Damaged(name)

    monkeypatch.setattr(trees, "read_stored", broken)
    assert len(hard_layout(GAME.options((), 2), Rng(b"hide", 1))) == 4
