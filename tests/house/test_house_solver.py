"""The solver of the house finds all fitting layouts, and agrees with published numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb, log2
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.bots import candidates as finding
from pbmserv.games.blackbox.bots import difficulty
from pbmserv.games.blackbox.bots.candidates import candidates
from pbmserv.games.blackbox.bots.difficulty import is_unique, likelihoods, mean_probes, numbered
from pbmserv.games.blackbox.bots.levels import (
    LEVELS,
    hard_layout,
    informative,
    random_layout,
)
from pbmserv.games.blackbox.bots.search import Case, search, wander
from pbmserv.games.blackbox.bots.trees import Damaged
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import Geometry, geometry
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


def test_a_search_that_gives_up_says_so() -> None:
    assert not search(geometry(8, 8), [(3, HIT)], 5, 5, 100).complete


def test_bits_of_a_first_probe() -> None:
    """On 7x7 with 4 atoms."""
    side, atoms = 7, 4
    board = geometry(side, side)
    for port, bits in enumerate((2.555, 3.150)):
        shares = []
        for out in (HIT, *range(len(board.ports))):
            layouts = search(board, [(port, out)], atoms, atoms, NO_END)
            ways = sum(comb(len(case.open), atoms - len(case.atoms)) for case in layouts.cases)
            shares.append(ways / comb(side * side, atoms))
        assert sum(shares) == pytest.approx(1)
        assert -sum(s * log2(s) for s in shares if s) == pytest.approx(bits, abs=0.0005)


def turned(board: Geometry) -> Iterator[tuple[list[int], list[int]]]:
    """Return the new cells and ports of a square board for its eight symmetries."""
    last = board.width - 1
    points = [divmod(cell, board.width) for cell in board.cells]
    side = range(board.width)
    rim = [(-1, n) for n in side] + [(n, last + 1) for n in side]
    rim += [(last + 1, n) for n in side] + [(n, -1) for n in side]
    for flip in (False, True):
        for quarter in range(4):

            def moved(
                point: tuple[int, int], flip: bool = flip, quarter: int = quarter
            ) -> tuple[int, int]:
                row, column = (point[1], point[0]) if flip else point
                for _ in range(quarter):
                    row, column = column, last - row
                return row, column

            yield (
                [points.index(moved(point)) for point in points],
                [rim.index(moved(point)) for point in rim],
            )


def test_six_by_six_with_four_atoms_has_so_many_ambiguous_spectra() -> None:
    """One of eight symmetric layouts is traced, and the results of the others follow."""
    board = geometry(6, 6)
    ways = [(cells, [*ports, HIT]) for cells, ports in turned(board)]
    spectra: dict[frozenset[int], tuple[int, ...]] = {}
    for layout in map(frozenset, combinations(board.cells, 4)):
        if layout in spectra:
            continue
        outs = trace_all(board, layout)
        for cells, ports in ways:
            moved = [0] * len(outs)
            for port, out in enumerate(outs):
                moved[ports[port]] = ports[out]
            spectra[frozenset(cells[cell] for cell in layout)] = tuple(moved)
    assert len(spectra) == 58_905
    sizes = Counter(Counter(spectra.values()).values())
    del sizes[1]
    assert sizes == {2: 696, 3: 36, 4: 24, 5: 8}
    assert sum(size * number for size, number in sizes.items()) == 1_636


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
    options = GAME.options(("-size=5x5", "-atoms=1-2"), 2)
    state = box_to_solve(options, frozenset({5}))
    drawn = candidates(seen(state.boxes[ALICE], state), lots())
    assert not drawn.complete
    weights: Counter[int] = Counter()
    small = GAME.options(("-size=4x4", "-atoms=1-2"), 2)
    state = box_to_solve(small, frozenset({5}))
    guesses = candidates(seen(state.boxes[ALICE], state), lots())
    assert guesses.complete
    for layout, weight in zip(guesses.layouts, guesses.weights, strict=True):
        weights[len(layout)] += weight
    assert weights[1] == pytest.approx(weights[2], rel=0.001)


def test_wandering_atoms_come_to_rest_where_they_explain_everything() -> None:
    board = geometry(12, 12)
    real = trace_all(board, frozenset({3, 20, 41, 77, 100, 120}))
    results = [(port, real[port]) for port in (0, 5, 11, 14, 30)]
    layouts = wander(board, results, [6], 30, 60_000, lots())
    assert len(layouts) == len(set(layouts)) > 5
    for layout in layouts:
        outs = trace_all(board, layout)
        assert all(outs[port] == out for port, out in results)


def test_a_full_box_leaves_wandering_atoms_nothing_to_do() -> None:
    assert len(wander(geometry(2, 2), [], [4], 3, 2_000, lots())) <= 1


def test_the_largest_boards_are_played_too() -> None:
    for words in (("-size=26x26", "-atoms=300"), ("-size=26x3", "-atoms=2-40")):
        options = GAME.options(words, 2)
        state = new_state(options, 2)
        for seat in (Seat(0), Seat(1)):
            view = GAME.view(state, seat)
            text = LEVELS["house-hard"].choose(view, Rng(b"large", seat))
            state = GAME.apply(state, seat, GAME.parse(view, text), lots()).state
        for turn in range(2):
            seat = min(GAME.to_act(state))
            view = GAME.view(state, seat)
            move = GAME.parse(view, LEVELS["house-hard"].choose(view, Rng(b"large", turn)))
            state = GAME.apply(state, seat, move, lots()).state


def test_a_race_tells_the_house_no_more_than_any_player() -> None:
    words = ("-race", "-size=6x6", "-atoms=3")
    named = GAME.options((*words, "-seed=monday"), 2)
    other = GAME.options((*words, "-seed=tuesday"), 2)
    for level in LEVELS.values():
        moves = []
        for options in (named, other):
            view = GAME.view(GAME.setup(2, options, lots()), ALICE)
            moves.append(level.choose(view, lots()))
        assert moves[0] == moves[1]


# -- strength --------------------------------------------------------------------------------------


def turns_to_win(level: str, number: int) -> int:
    """Return the turns of a game on 7x7 with 4 atoms without moves of the opponent; 15 is lost."""
    options = GAME.options((), 2)
    lot = Rng(b"strength", number)
    state = box_to_solve(options, random_layout(options, lot))
    for turn in range(1, 60):
        view = GAME.view(state, ALICE)
        move = GAME.parse(view, LEVELS[level].choose(view, Rng(b"chances", 100 * number + turn)))
        state = GAME.apply(state, ALICE, move, lot).state
        if state.outcome is not None:
            return turn if state.outcome.reason == "solved" else 15
        state = replace(state, turns=state.turns + 1)
    raise AssertionError("it never guesses")


@pytest.mark.slow
def test_the_levels_are_as_strong_as_measured() -> None:
    """Over many games the means are 7.3, 8.4 and 10.0 turns (`python -m benchmarks.strength`)."""
    levels = ("house-hard", "house", "house-easy")
    needed = {level: mean(turns_to_win(level, n) for n in range(8)) for level in levels}
    assert 6.0 < needed["house-hard"] < 8.6
    assert 7.0 < needed["house"] < 9.8
    assert 8.0 < needed["house-easy"] < 12.0
    assert needed["house-hard"] < needed["house"] < needed["house-easy"]


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


def test_hidden_layouts_are_hard_to_find_and_to_foresee() -> None:
    options = GAME.options((), 2)
    shares = dict(likelihoods(options, fair=False))
    assert len(shares) == comb(49, 4)
    assert max(shares.values()) * 1000 < sum(shares.values())
    lots = [hard_layout(options, Rng(b"hide", n)) for n in range(60)]
    assert all(tuple(sorted(layout)) in shares for layout in lots)
    assert mean(mean_probes(options, layout) or 0 for layout in lots) > 7.5
    entropy = log2(sum(shares.values())) - sum(
        share * log2(share) for share in shares.values() if share
    ) / sum(shares.values())
    assert entropy > 15.5  # of 17.7: the likelihoods give little information


@pytest.mark.usefixtures("reread_trees")
def test_a_damaged_file_of_likelihoods_only_makes_hiding_plainer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(name: str) -> bytes:
        raise Damaged(name)

    monkeypatch.setattr(difficulty, "read_stored", broken)
    assert len(hard_layout(GAME.options((), 2), Rng(b"hide", 1))) == 4


def test_layouts_are_numbered_as_combinations_come() -> None:
    assert [numbered(n, 6, 3) for n in range(20)] == list(combinations(range(6), 3))


def test_a_port_at_which_all_agree_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "ALL", 0)  # a sample, although all layouts could be listed
    options = GAME.options(("-size=3x3", "-atoms=1"), 2)
    state = box_to_solve(options, frozenset({4}))
    guesses = candidates(seen(state.boxes[ALICE], state), lots())
    assert not guesses.complete
    ports = informative(guesses, range(12))
    assert ports
    assert all(port.bits > 0 and 1 <= port.points <= 2 for port in ports)
    alone = replace(guesses, layouts=guesses.layouts[:1], weights=[1], spectra=guesses.spectra[:1])
    assert informative(alone, range(12)) == []
