"""The compiled loops find all fitting layouts and no others, and their samples are fair."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from errno import EPERM
from itertools import combinations
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from examples import DEEP
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.bots import candidates as finding
from pbmserv.games.blackbox.bots import loops as loading
from pbmserv.games.blackbox.bots.candidates import (
    candidates,
    settled_samples,
)
from pbmserv.games.blackbox.bots.levels import LEVELS
from pbmserv.games.blackbox.bots.loops import compiled_loops, why_no_loops
from pbmserv.games.blackbox.bots.search import Case, Result, search
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import Geometry, geometry
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.games.blackbox.state import new_state
from pbmserv.games.blackbox.views import View

pytestmark = pytest.mark.slow
sampler: ModuleType  # as the house has it

NO_END = 10**9


@pytest.fixture(autouse=True, scope="module")
def _compiled() -> None:
    """Compiled by one of all processes of a run, and read by the others.

    Whether numba is there is asked here: to import it takes each process long that has none of
    these tests.
    """
    pytest.importorskip("numba")
    global sampler  # noqa: PLW0603 - no test but these wants it compiled
    loops = compiled_loops()
    assert loops is not None
    sampler = loops


ALICE = Seat(0)
LARGE = ("-size=13x13", "-atoms=5")
"""A board whose layouts are never all searched."""


def random_results(board: Geometry, count: int, ports: int, seed: int) -> list[Result]:
    """Return the results of some ports of a random box."""
    lots = Random(seed)
    real = trace_all(board, lots.sample(board.cells, count))
    return [(port, real[port]) for port in lots.sample(range(len(real)), ports)]


def explains(board: Geometry, layout: frozenset[int], results: list[Result]) -> bool:
    outs = trace_all(board, layout)
    return all(outs[port] == out for port, out in results)


@rows("seed", range(12 if DEEP else 3))
def test_the_compiled_search_finds_the_cases_that_plain_python_finds(seed: int) -> None:
    board, count = geometry(3 + seed % 4, 3 + seed % 3), 1 + seed % 4
    results = random_results(board, count, seed % 7, seed)
    least = max(0, count - seed % 2)
    rooms = (board, results, least, count, NO_END)
    result = search(*rooms)
    assert result.cases
    assert result == search(*rooms, 20_000, sampler.search_squares)


def test_a_search_gives_up_when_rays_or_room_are_used_up() -> None:
    board, compiled = geometry(10, 10), sampler.search_squares
    results = random_results(board, 6, 3, 1)
    assert not search(board, results, 6, 6, 1_000, 8_000, compiled).complete
    assert not search(board, results, 6, 6, NO_END, 10, compiled).complete
    assert search(board, [], 6, 6, 10, 1, compiled).cases == [Case((), tuple(board.cells))]


@rows(("side", "count", "ports"), [(5, 0, 4), (15, 10, 14), (26, 20, 9)])
def test_every_layout_of_a_sample_explains_all_results(side: int, count: int, ports: int) -> None:
    board = geometry(side, side)
    results = random_results(board, count, ports, side)
    amounts = (count, count), 60, 100, 4
    samples = settled_samples(sampler, board, tuple(results), *amounts)
    assert samples
    for layouts in samples:
        assert len(layouts) == len(set(layouts)) >= 1
        assert all(len(layout) == count and explains(board, layout, results) for layout in layouts)
    finding._crowds.cache_clear()
    assert samples == settled_samples(sampler, board, tuple(results), *amounts)


def test_a_sample_is_nearly_as_likely_to_hold_one_layout_as_another() -> None:
    """Each of 40 to 200 fitting layouts is drawn about equally often."""
    board, count = geometry(6, 6), 3
    results = random_results(board, count, 3, 4)
    fits = [
        atoms
        for atoms in map(frozenset, combinations(board.cells, count))
        if explains(board, atoms, results)
    ]
    assert 40 <= len(fits) <= 200
    drawn: Counter[frozenset[int]] = Counter()
    for moves in range(50, 125 if DEEP else 68):  # others each time
        for layouts in settled_samples(
            sampler, board, tuple(results), (count, count), 40, moves, 4
        ):
            drawn.update(layouts)
    assert set(drawn) == set(fits)
    mean = drawn.total() / len(fits)
    assert min(drawn.values()) > mean / 2
    assert max(drawn.values()) < mean * 2


def test_each_number_of_atoms_counts_as_equally_likely() -> None:
    board = geometry(6, 6)
    results = random_results(board, 3, 1, 5)
    drawn: Counter[int] = Counter()
    for layouts in settled_samples(sampler, board, tuple(results), (2, 3), 400, 50, 4):
        drawn.update(map(len, layouts))
    likely = []
    for count in (2, 3):
        every = list(map(frozenset, combinations(board.cells, count)))
        likely.append(sum(explains(board, atoms, results) for atoms in every) / len(every))
    assert drawn[2] / drawn[3] == pytest.approx(likely[0] / likely[1], rel=0.3)


def test_spectra_are_those_of_plain_python() -> None:
    board = geometry(12, 7)
    layouts = [frozenset(Random(seed).sample(board.cells, seed)) for seed in range(9)]
    assert sampler.spectra(board, layouts) == [trace_all(board, layout) for layout in layouts]


# -- moves of the house ----------------------------------------------------------------------


def box_of(words: tuple[str, ...], seed: int) -> frozenset[int]:
    """Return the atoms of a random box."""
    options = GAME.options(words, 2)
    return frozenset(Random(seed).sample(options.board.cells, options.least))


def view_of(words: tuple[str, ...], atoms: frozenset[int], fired: Iterable[int]) -> View:
    """Return alice's view of a box after she fired at some ports."""
    options = GAME.options(words, 2)
    start = new_state(options, 2)
    state = replace(start, boxes=tuple(replace(box, atoms=atoms) for box in start.boxes), turns=2)
    for port in fired:
        own = GAME.view(state, ALICE).own
        assert own is not None
        if not own.marks[port]:
            move = GAME.parse(GAME.view(state, ALICE), options.board.ports[port])
            state = replace(GAME.apply(state, ALICE, move, Rng(b"", 0)).state, turns=2)
    return GAME.view(state, ALICE)


def test_on_a_large_board_the_house_knows_what_its_view_tells_and_no_more() -> None:
    """Two boxes with the same view lead to the same move, and so does the same box again."""
    ports = range(0, 52, 9)
    first = view_of(LARGE, box_of(LARGE, 8), ports)
    guesses = candidates(first, Rng(b"one", 1))
    assert len(guesses.layouts) > 20
    assert not guesses.complete, "it is not sure too early"
    for layout in guesses.layouts[:1]:
        other = view_of(LARGE, layout, ports)
        moves = {LEVELS["house-hard"].choose(view, Rng(b"turn", 3)) for view in (first, other)}
        assert len(moves) == 1
    assert candidates(first, Rng(b"one", 1)).layouts == guesses.layouts


def test_without_numba_the_house_says_so_and_plays_as_it_can(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with caplog.at_level(logging.WARNING, "pbmserv.games"):
        assert compiled_loops.__wrapped__() is None
    assert vars(caplog.records[-1])["because"] == why_no_loops()
    assert "needs numba, which is not installed" in why_no_loops()
    monkeypatch.setattr(loading, "compiled_loops", lambda: None)
    view = view_of(LARGE, box_of(LARGE, 8), range(0, 52, 9))
    guesses = candidates(view, Rng(b"plain", 1))
    assert guesses.layouts
    assert view.own is not None
    for spectrum in guesses.spectra:
        assert all(spectrum[port] == out for port, out in view.own.results)


def test_a_numba_that_does_not_load_is_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (tmp_path / "numba.py").write_text("raise ImportError('made for another processor')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "numba"]:
        monkeypatch.delitem(sys.modules, name)
    with caplog.at_level(logging.WARNING, "pbmserv.games"):
        assert compiled_loops.__wrapped__() is None
    assert "weak on large Blackbox boards" in caplog.text
    assert vars(caplog.records[-1])["because"] == "made for another processor"


def test_where_what_was_compiled_may_not_run_the_house_does_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(EPERM, "Operation not permitted")

    monkeypatch.setattr(loading, "mmap", refused)
    assert compiled_loops.__wrapped__() is None
    assert "MemoryDenyWriteExecute=no" in why_no_loops()


# -- compiled files -----------------------------------------------------------------------------


def test_code_compiled_from_other_sources_is_compiled_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with loading._compile_folder() as folder:
        kept = Path(folder, "bots_1", "sampler._search_squares-1.py311.1.nbc")
        kept.parent.mkdir()
        kept.touch()
    with loading._compile_folder() as folder:
        assert kept.exists()
    sources = Path(folder, "sources")
    sources.write_text("another rays.walk")
    with loading._compile_folder():
        assert not kept.exists()
    assert sources.read_text() != "another rays.walk"
