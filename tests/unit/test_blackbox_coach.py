"""The coach's report against a brute force over all layouts, and against published numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb, log2
from random import Random

import pytest
from examples import DEEP, examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.engine.position import Position, opening, played_out
from pbmserv.engine.record import GameRecord
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.bots import coach, knowledge
from pbmserv.games.blackbox.bots.difficulty import with_graded_box
from pbmserv.games.blackbox.bots.knowledge import Effort, beginning, best_line
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.options import Options, draw_cells
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.games.blackbox.views import View

ME = Seat(0)


def alone(words: list[str], seed: int) -> Position:
    """Return a board of one player with a random box."""
    rng = Rng(b"coach", seed)
    options = with_graded_box(GAME.options(["-race", *words], 1), rng)
    return opening(GAME, GameRecord("blackbox", 1, 1, GAME.describe(options), b"seed", ()))


def played(words: list[str], seed: int, turns: int) -> Position:
    """Play random ports and guesses, then give up."""
    position, lots = alone(words, seed), Random(seed)
    for _ in range(turns):
        view = GAME.view(position.state, ME)
        if position.outcome is not None:
            return position
        ports = view.unused_ports
        probes = bool(ports) and lots.random() < 0.75
        text = lots.choice(ports) if probes else _guess(view, lots)
        position = position.move(ME, GAME.parse(view, text))
    return position if position.outcome else position.withdraw(ME)


def _guess(view: View, lots: Random) -> str:
    assert view.own is not None
    options = view.options
    names = options.board.names
    atoms = lots.sample(range(len(names)), lots.randint(options.least, options.most))
    off = "".join(f"/{names[cell]}," for cell in view.own.markers)
    return off + "".join(f"+{names[cell]}," for cell in atoms) + "?"


@cache
def _spectra(options: Options) -> dict[frozenset[int], list[int]]:
    """Return the results of all ports of each layout."""
    counts = range(options.least, options.most + 1)
    cells = options.board.cells
    return {
        frozenset(combination): trace_all(options.board, combination)
        for count in counts
        for combination in combinations(cells, count)
    }


class Brute:
    """All fitting layouts one by one, with their weights."""

    def __init__(self, options: Options) -> None:
        self.options = options
        cells, counts = options.board.cells, range(options.least, options.most + 1)
        self.weights = {
            frozenset(combination): 1 / comb(len(cells), count)
            for count in counts
            for combination in combinations(cells, count)
        }
        self.spectra = _spectra(options)

    def bits(self, port: int) -> float:
        shares: dict[int, float] = defaultdict(float)
        for layout, weight in self.weights.items():
            shares[self.spectra[layout][port]] += weight
        total = sum(shares.values())
        return -sum(share / total * log2(share / total) for share in shares.values())

    def keep(self, fits: set[frozenset[int]]) -> float:
        """Keep only these layouts, and return the information in bits."""
        before = sum(self.weights.values())
        self.weights = {layout: weight for layout, weight in self.weights.items() if layout in fits}
        return log2(before / sum(self.weights.values()))

    def fire(self, port: int, out: int) -> float:
        return self.keep({layout for layout in self.weights if self.spectra[layout][port] == out})

    def rule_out(self, guess: frozenset[int]) -> None:
        same = trace_all(self.options.board, guess)
        self.keep(
            {layout for layout in self.weights if layout != guess and self.spectra[layout] != same}
        )


BOARDS = (
    ["-size=3x3", "-atoms=2"],
    ["-size=4x4", "-atoms=3"],
    ["-size=5x3", "-atoms=2"],
    ["-size=4x4", "-atoms=1-3"],
    ["-size=2x6", "-atoms=0-2"],
)


@examples(10)
@given(st.sampled_from(BOARDS), st.integers(0, 10**6), st.integers(0, 9))
def test_every_row_is_what_a_brute_force_finds(words: list[str], seed: int, turns: int) -> None:
    position = played([*words, "-guesses=9"], seed, turns)
    steps = played_out(position)
    report = coach.analyse(steps, ME)
    box, options = position.state.boxes[ME], position.state.options
    truth, board = trace_all(options.board, box.atoms), options.board
    brute, wrong, fired = Brute(options), iter(box.guessed), set[int]()
    assert report.start == len(brute.weights)
    decided = 0
    for row in report.rows:
        assert row.before == len(brute.weights)
        if row.what == "guess":
            brute.rule_out(next(wrong))
        else:
            port = board.port(row.port)
            assert port is not None
            bits = {port: brute.bits(port) for port in range(len(truth)) if port not in fired}
            if row.what == "probe":
                assert row.expected == pytest.approx(bits[port])
                assert row.best_bits == pytest.approx(max(bits.values()))
                assert bits[board.port(row.best) or 0] == pytest.approx(max(bits.values()))
                assert row.wasted == (bits[port] < 1e-9)
            assert row.gained == pytest.approx(brute.fire(port, truth[port]))
            fired |= {port, truth[port]}
        assert row.after == len(brute.weights)
        if not decided and len({tuple(brute.spectra[layout]) for layout in brute.weights}) == 1:
            decided = sum(
                earlier.what == "probe" for earlier in report.rows[: report.rows.index(row) + 1]
            )
    assert report.decided == decided
    assert report.left == len(brute.weights)
    assert report.gained == pytest.approx(
        sum(r.gained or 0 for r in report.rows if r.what == "probe")
    )


@examples(2)
@given(st.integers(0, 10**6))
def test_the_best_line_leads_to_one_class_of_layouts(seed: int) -> None:
    options = Options(4, 4, 2, 2)
    atoms = frozenset(draw_cells(options, Rng(b"box", seed)))
    truth = trace_all(options.board, atoms)
    line = best_line(beginning(options), atoms, Effort())
    assert line is not None
    brute = Brute(options)
    for port, out in line:
        assert len({tuple(brute.spectra[layout]) for layout in brute.weights}) > 1
        assert brute.bits(port) == pytest.approx(max(map(brute.bits, range(len(truth)))))
        brute.fire(port, out)
    assert {tuple(brute.spectra[layout]) for layout in brute.weights} == {tuple(truth)}


@rows(
    ("size", "atoms", "bits"),
    [(7, 4, (2.555, 3.150, 3.173, 3.179)), (8, 3, (2.420, 3.392, 3.410, 3.418))],
)
def test_the_first_probe_tells_what_was_published(
    size: int, atoms: int, bits: tuple[float, ...]
) -> None:
    """Columns A to D, in `solver.md`, computed there by another tracer."""
    ports = beginning(Options(size, size, atoms, atoms)).ports(Effort())
    assert [round(ports[column], 3) for column in range(4)] == list(bits)
    assert ports[0] == ports[size - 1] == ports[size]  # mirrored and turned


def _rows_of(size: str, seed: int, turns: int) -> Iterator[coach.Probe]:
    yield from coach.analyse(played_out(played(size.split(), seed, turns)), ME).rows


@pytest.mark.slow
def test_larger_boards_are_sampled_and_what_is_counted_there_is_true(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Compare the same game with all layouts and with a sample."""
    for seed in range(10 if DEEP else 1):
        exact = list(_rows_of("-size=6x6 -atoms=3 -guesses=9", seed, 7))
        with monkeypatch.context() as large:
            large.setattr(knowledge, "EXACT", 100)
            large.setattr(knowledge, "LISTED", 200)
            about = list(_rows_of("-size=6x6 -atoms=3 -guesses=9", seed, 7))
        assert any(row.sampled for row in about)
        for row, other in zip(exact, about, strict=True):
            assert row.port == other.port
            if other.after is not None and not other.sampled:
                assert row.after == other.after
            if other.best_bits is not None:
                assert other.best_bits == pytest.approx(row.best_bits, abs=0.3)


@pytest.mark.slow
def test_the_work_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "loops_for", lambda options: None)  # to compile takes long
    effort = Effort(left=1_000)
    state = beginning(Options(12, 12, 8, 8))
    for port in range(3):
        state.ports(effort)
        state = state.after_ray(port, -1, effort)
    assert effort.left < 0
    assert state.ports(effort) == {}
