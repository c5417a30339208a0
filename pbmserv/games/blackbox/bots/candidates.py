"""The layouts that a solver must still reckon with, each with the weight of its likelihood.

They come from `search`, and on larger boards from the loops of `sampler`. These go through all
cases, as `search` does, many times as quick. Where there are too many, results are taken in one
after the other, with many layouts at once: those that contradict a new result die out, the others
take their place, and then the atoms of each wander (a particle filter whose particles move by the
Metropolis rule). Lots begin alike, so the same results give the same layouts.
"""

from __future__ import annotations

import hashlib
import logging
import os
from bisect import bisect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate, combinations
from math import comb
from mmap import PAGESIZE, PROT_EXEC, PROT_READ, PROT_WRITE, mmap
from pathlib import Path
from types import ModuleType
from typing import Any

from pbmserv.engine.types import Rng
from pbmserv.extras import why_missing
from pbmserv.games.blackbox.bots.search import Case, Found, Result, search, wander
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import HIT, field_of, trace_all
from pbmserv.games.blackbox.views import View

ALL = 300
"""Up to so many layouts are all looked at; of more, a sample."""

SAMPLE = 200
"""How many of them. A hundred would lose 0.1 probes on 7x7 with 4 atoms."""

FEWEST = 40
"""How many on the largest boards."""

SEARCHED = 60_000
"""Rays of a search, about a fifth of a second; 8x8 with 5 atoms needs most of them at times."""

WANDERED = 100_000
"""Rays fired at wandering atoms, on a board that is too large for the search."""

LARGE = 144
"""Cells of a board for which all this is meant; larger ones, whose rays are longer, get less."""

LARGE_RACE = 100
"""`LARGE` for races, where one mail leads to all of the bot's turns."""

PLAIN = 1_000_000
"""Layouts of a board up to which `search` does in plain Python: 8x8 with 4 atoms has 635,376."""

COMPILED = 1_500_000
"""Rays of a search by compiled loops, about a twentieth of a second: enough for 10x10 with 6 atoms,
once three results are known. Where a search comes to no end anyway, it gets less."""

CASES = 8_000
"""How many cases it may find."""

CROWD = 1000
"""Layouts to play by where all this is compiled."""

MOVES, ROUNDS = 200, 4
"""See `settled`."""

VAST = 400
"""Cells of a board above which a sample is twice as large, and moves half as much again."""

DOUBTED = 12
"""As many kinds of layouts may all be known on a board too large to prove it."""

CROWDS, KIN = 4, 8
"""Samples that know nothing of each other; after so many results two that were one do not."""

logger = logging.getLogger("pbmserv.games")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Layouts that explain everything their seat has seen.

    Attributes:
        layouts: all of them, or a sample.
        weights: how likely each of them is, in any unit.
        spectra: for each layout where rays into all ports come out.
        complete: these are all there are; on boards too large to prove it, a few of those that rays
            cannot tell apart may be missing.
    """

    layouts: Sequence[frozenset[int]]
    weights: Sequence[int]
    spectra: Sequence[Sequence[int]]
    complete: bool


def candidates(view: View, rng: Rng, crowd: int = CROWD) -> Candidates:
    """What the reader of a view must reckon with in the own box; *crowd*: as many, by the loops."""
    own, options = view.own, view.options
    assert own is not None
    effort = _effort(view)
    wanted = max(FEWEST, int(SAMPLE * effort)) if loops_for(options) is None else crowd
    place = {port: at for at, port in enumerate(own.order)}
    results = sorted(own.results, key=lambda ray: min(place.get(port, len(place)) for port in ray))
    return _fitting(view, consistent(options, results, wanted, effort, rng))


def consistent(
    options: Options, results: Sequence[Result], wanted: int, effort: float, rng: Rng
) -> Candidates:
    """Layouts that explain some results, without their spectra; with the same lots the same ones.

    How many atoms there are counts as equally likely for every number the options allow.

    Args:
        results: in the order in which they came; then those before the last may be remembered.
        wanted: how many, about, where these cannot be all.
        effort: how much of the usual effort plain Python may make; compiled loops need no bound.
    """
    board, counts = options.board, range(options.least, options.most + 1)
    likely = _likelihoods(len(board.cells), counts)
    loops = loops_for(options)
    if loops is None:
        found = search(board, results, options.least, options.most, int(SEARCHED * effort))
    else:
        found = searched(loops, options, results)
    if found.complete:
        ways = [_ways(case, counts) for case in found.cases]
        if sum(map(sum, ways)) <= (ALL if loops is None else wanted):
            layouts = [layout for case in found.cases for layout in _expanded(case, counts)]
            return Candidates(layouts, [likely[len(one)] for one in layouts], (), complete=True)
        shares = [[n * likely[k] for n, k in zip(row, counts, strict=True)] for row in ways]
        layouts = _drawn(found.cases, counts, shares, wanted, rng)
        return Candidates(layouts, [1] * len(layouts), (), complete=False)
    if loops is not None:
        return _settled(loops, options, results, wanted)
    layouts = wander(board, results, counts, wanted, int(WANDERED * effort), rng)
    return Candidates(layouts, [likely[len(one)] for one in layouts], (), complete=False)


def searched(loops: ModuleType, options: Options, results: Sequence[Result]) -> Found:
    """All cases, unless they are too many."""
    rays = COMPILED if len(options.board.cells) <= LARGE else COMPILED // 10
    found: Found = loops.search(options.board, results, options.least, options.most, rays, CASES)
    return found


def samples_of(
    loops: ModuleType, options: Options, results: Sequence[Result], wanted: int
) -> list[list[frozenset[int]]]:
    """Samples as `settled` has them, of about *wanted* layouts in all."""
    people, moves = max(1, wanted // CROWDS), MOVES
    if len(options.board.cells) > VAST:
        people, moves = people * 2, moves * 3 // 2
    limits = options.least, options.most
    return settled(loops, options.board, tuple(results), limits, people, moves, ROUNDS)


def _settled(
    loops: ModuleType, options: Options, results: Sequence[Result], wanted: int
) -> Candidates:
    """Several samples in one. If all hold the same few layouts, as far as rays can tell, these are
    said to be all there are: others would have been found."""
    board, samples = options.board, samples_of(loops, options, results, wanted)
    layouts = list(dict.fromkeys(layout for sample in samples for layout in sample))
    kinds = [{tuple(shown) for shown in loops.spectra(board, sample)} for sample in samples]
    agree = len(kinds) > 1 and all(these == kinds[0] for these in kinds)
    if not agree or len(kinds[0]) > DOUBTED:
        return Candidates(layouts, [1] * len(layouts), (), complete=False)
    likely = _likelihoods(len(board.cells), range(options.least, options.most + 1))
    return Candidates(layouts, [likely[len(one)] for one in layouts], (), complete=True)


def settled(
    loops: ModuleType,
    board: Geometry,
    results: tuple[Result, ...],
    limits: tuple[int, int],
    *amounts: int,
) -> list[list[frozenset[int]]]:
    """Different layouts that explain the results, in up to `CROWDS` samples; none that is empty.

    Args:
        results: in the order in which they are taken in; all but the last one may be remembered.
        limits: the least and the most atoms there may be; each number is as likely as any.
        amounts: layouts in a sample at most; moves and rounds, as in `sampler.taken_in`.
    """
    cells = {square: cell for cell, square in enumerate(field_of(board).squares)}
    samples: dict[tuple[int, int], dict[frozenset[int], None]] = {}
    for (every, _, bad), kin in _crowds(loops, board, results, limits, *amounts):
        fit = samples.setdefault(kin, {})
        fit |= {frozenset(cells[at] for at in row if at): None for row in every[bad == 0].tolist()}
    return [list(sample) for sample in samples.values() if sample]


@lru_cache(maxsize=256)
def _crowds(
    loops: ModuleType,
    board: Geometry,
    results: tuple[Result, ...],
    limits: tuple[int, int],
    people: int,
    *amounts: int,
) -> tuple[tuple[Any, tuple[int, int]], ...]:
    """Crowds that have taken all results in, and whose kin each is: since when, and which. One that
    has died out takes over another; where all have, one begins anew, detours first."""
    if not results:
        return tuple((loops.scattered(board, limits, people, at), (0, at)) for at in range(CROWDS))
    count, after = len(results), []
    before = _crowds(loops, board, results[:-1], limits, people, *amounts)
    for at, (old, kin) in enumerate(before):
        crowd = loops.taken_in(board, results, old, *amounts, count * CROWDS + at)
        after.append((crowd, kin if count - kin[0] < KIN else (0, at)))
    living = [at for at, (crowd, _) in enumerate(after) if not crowd[2].all()]
    if not living:
        crowd = loops.scattered(board, limits, people, count)
        ordered = sorted(results, key=lambda ray: (ray[1] in (HIT, ray[0]), ray))
        for end in range(1, count + 1):
            crowd = loops.taken_in(board, ordered[:end], crowd, *amounts, end)
        return ((crowd, (count, 0)),) * CROWDS
    places = [at if at in living else living[at % len(living)] for at in range(CROWDS)]
    shared = {place for place in places if places.count(place) > 1}
    return tuple((after[at][0], (count, at) if at in shared else after[at][1]) for at in places)


def loops_for(options: Options) -> ModuleType | None:
    """The module `sampler`; ``None`` on a small board, and where it cannot be had."""
    cells = len(options.board.cells)
    layouts = sum(comb(cells, count) for count in range(options.least, options.most + 1))
    return compiled_loops() if layouts > PLAIN else None


@cache
def compiled_loops() -> ModuleType | None:
    """The module `sampler`, compiled; ``None`` where it cannot be had.

    Only one process compiles. Others that want it wait, and read what that one has kept.
    """
    missing = missing_loops()
    if not missing:
        try:
            from numba import config

            with _kept_loops() as folder:
                before = config.CACHE_DIR
                config.CACHE_DIR = folder
                try:
                    from pbmserv.games.blackbox.bots import sampler

                    sampler.compile_all()
                finally:
                    config.CACHE_DIR = before
                return sampler
        except (ImportError, OSError) as error:
            missing = str(error)
    logger.warning("the house is weak on large Blackbox boards", extra={"because": missing})
    return None


def missing_loops() -> str:
    """Return why this process cannot have compiled loops and what would help, for operators; ``""``
    if it can. Does not load numba."""
    if reason := why_missing("numba"):
        return reason
    try:
        # What it compiles is written and then run, which the system may forbid.
        mmap(-1, PAGESIZE, prot=PROT_READ | PROT_WRITE | PROT_EXEC).close()
    except OSError as error:
        return f"nothing compiled may run ({error.strerror}): MemoryDenyWriteExecute=no allows it"
    return ""


def equipment() -> str:
    """As `registry.Equipped` has it."""
    missing = missing_loops()
    return f"large Blackbox boards: {missing or 'compiled search'}"


@contextmanager
def _kept_loops() -> Iterator[str]:
    """The folder for what is compiled, as long as no other process may use it; "": no folder can
    be written to, so nothing is kept.

    numba notices when the module changes in which a loop stands, but not when another one does
    that the loop calls. So all is compiled anew when one of them has changed.
    """
    read = hashlib.sha256()
    for name in ("bots/sampler.py", "bots/search.py", "geometry.py"):
        read.update(files("pbmserv.games.blackbox").joinpath(name).read_bytes())
    for place in _places():
        folder = place / "blackbox-loops"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "sources").open("a+", encoding="ascii")
        except OSError:
            continue
        with lock:
            flock(lock, LOCK_EX)
            lock.seek(0)
            if lock.read() != read.hexdigest():
                for old in folder.glob("*/*.nb[ci]"):
                    old.unlink(missing_ok=True)
                lock.truncate(0)
                lock.write(read.hexdigest())
                lock.flush()
            yield str(folder)
        return
    yield ""


def _places() -> Iterator[Path]:
    """Where numba would keep what it compiles."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        yield Path(named)
        return
    yield Path(__file__).parent / "__pycache__"
    for name in ("CACHE_DIRECTORY", "XDG_CACHE_HOME"):  # the first is systemd's
        if os.environ.get(name):
            yield Path(os.environ[name]) / "pbmserv"
    with suppress(RuntimeError):  # nobody's home
        yield Path.home() / ".cache" / "pbmserv"


def _effort(view: View) -> float:
    """How much of the usual effort a turn is worth: all of it when only a guess can follow."""
    own = view.own
    if own is None or "" not in own.marks:
        return 1.0
    large = LARGE_RACE if view.options.race else LARGE
    return min(1.0, (large / len(own.board.cells)) ** 2)


def _likelihoods(cells: int, counts: Sequence[int]) -> dict[int, int]:
    """How likely one single layout of each number of atoms is."""
    if len(counts) == 1:
        return {counts[0]: 1}
    unit = max(comb(cells, count) for count in counts) << 20
    return {count: unit // comb(cells, count) for count in counts}


def _ways(case: Case, counts: Sequence[int]) -> list[int]:
    """How many layouts of each number of atoms a case holds."""
    here, open_ = len(case.atoms), len(case.open)
    return [comb(open_, count - here) if count >= here else 0 for count in counts]


def _expanded(case: Case, counts: Sequence[int]) -> Iterator[frozenset[int]]:
    for count in counts:
        further = count - len(case.atoms)
        if 0 <= further <= len(case.open):
            for more in combinations(case.open, further):
                yield frozenset((*case.atoms, *more))


def _drawn(
    cases: Sequence[Case],
    counts: Sequence[int],
    shares: Sequence[Sequence[int]],
    sample: int,
    rng: Rng,
) -> list[frozenset[int]]:
    """Different layouts of these cases, up to *sample*, drawn by their shares."""
    ends = list(accumulate(map(sum, shares)))
    drawn: dict[frozenset[int], None] = {}
    for lot in sorted(rng.below(ends[-1]) for _ in range(sample)):
        case = bisect(ends, lot)
        which = bisect(list(accumulate(shares[case])), lot - (ends[case] - sum(shares[case])))
        atoms, open_ = cases[case].atoms, cases[case].open
        more = rng.sample(open_, counts[which] - len(atoms))
        drawn[frozenset((*atoms, *more))] = None
    return list(drawn)


def _fitting(view: View, found: Candidates) -> Candidates:
    """Those that earlier guesses have not shown to be wrong, with their spectra."""
    own, options = view.own, view.options
    assert own is not None
    board, wrong = options.board, set(own.guessed)
    guessed = own.guessed if options.fair else ()
    wrong_spectra = [trace_all(board, layout) for layout in guessed]
    loops = loops_for(options)
    if loops is None:
        spectra: Sequence[Sequence[int]] = [trace_all(board, layout) for layout in found.layouts]
    else:
        spectra = loops.spectra(board, found.layouts)
    kept = [
        (layout, weight, spectrum)
        for layout, weight, spectrum in zip(found.layouts, found.weights, spectra, strict=True)
        if layout not in wrong and spectrum not in wrong_spectra
    ]
    return Candidates(
        [one[0] for one in kept], [one[1] for one in kept], [one[2] for one in kept], found.complete
    )
