"""The coach's report on a finished game: the value of each probe.

A player knows the set of layouts that fit the results so far. If all of them can be examined, the
report is exact. On larger boards a sample represents them, and facts that a sample cannot show are
left out. The work is limited without a clock (`Effort`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, log2
from typing import Any

from pbmserv.engine.types import Seat, Step
from pbmserv.games.blackbox.bots.difficulty import percentile
from pbmserv.games.blackbox.bots.knowledge import (
    Effort,
    Knowledge,
    beginning,
    best_line,
    effort_for,
    information_of,
)
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import exit_of, kind_of, trace
from pbmserv.games.blackbox.state import State

SLIP = 0.2
"""Bits by which a probe must be worse than the best one to count as a departure from the best
line."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A row of the report.

    Attributes:
        what: ``probe``, ``clue`` (a port that a clue fired) or ``guess`` (a wrong one).
        port, result, exit: the labels and result of a ray, ``""`` for a guess.
        before, after: the number of layouts that fitted, `None` if unknown.
        gained: the bits of the result, `None` if unknown.
        expected: the mean bits of a probe at this port, `None` if unknown or not a probe.
        best, best_bits: the best port and its mean bits; ``""`` and `None` if unknown.
        wasted: all layouts that fitted have this result.
        sampled: the bits come from a sample.
        share: the information that was still missing afterwards, in percent of the bits at the
            start; `None` if unknown.
        about: the approximate number of layouts that fitted afterwards, if *after* is unknown and
            the bits of the sample show it; else `None`.
    """

    what: str
    port: str = ""
    result: str = ""
    exit: str = ""
    before: int | None = None
    after: int | None = None
    gained: float | None = None
    expected: float | None = None
    best: str = ""
    best_bits: float | None = None
    wasted: bool = False
    sampled: bool = False
    share: int | None = None
    about: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The report on one seat's box.

    Attributes:
        seat: the solver.
        ended: ``solved``, ``out-of-guesses``, ``resigned`` or ``forfeit``; ``""`` if other seats
            ended the game.
        opened: the reader may know the atoms. Otherwise there is no best line.
        start: the number of layouts of such a board.
        rows: probes, clues and wrong guesses, in order.
        probes, wasted: the number of probes, and of those that could not give information.
        decided: the number of probes after which no further one could give information; 0 for
            never or unknown.
        left: the number of layouts that fitted at the end, `None` if unknown.
        gained, expected, possible: sums of the bits of all probes: of their results, on average at
            their ports, and on average at the best ports. Probes with an unknown number are not
            in the sums.
        sampled: some bits come from a sample.
        needed: the number of probes of a player who always fires at the best port, 0 if unknown.
        left_line: the number of probes after which the player left the best line, `None` for never
            or unknown.
        line: ports and results of the best line from there.
        percentile: the difficulty of the box among all such boxes, from 0 (easiest) to 100.
    """

    seat: int
    ended: str
    opened: bool
    start: int
    rows: tuple[Probe, ...]
    probes: int
    wasted: int
    decided: int
    left: int | None
    gained: float
    expected: float
    possible: float
    sampled: bool
    needed: int = 0
    left_line: int | None = None
    line: tuple[tuple[str, str], ...] = ()
    percentile: int | None = None


@dataclass(frozen=True, slots=True)
class _Event:
    """A source of information: a ray into *port*, or a wrong guess of *markers*."""

    what: str
    port: int = -1
    markers: frozenset[int] = frozenset()


def _events(steps: Sequence[Step[State]], seat: Seat) -> Iterator[_Event]:
    """Yield the events that gave a seat information about its box, in order."""
    for step in steps:
        state = step.state
        for note in step.notes:
            if note.seat != seat:
                continue
            if note.kind in {"probe", "clue-port"}:
                port = state.options.board.port(str(note.values["port"]))
                assert port is not None
                yield _Event("probe" if note.kind == "probe" else "clue", port)
            elif note.kind == "guess-wrong":
                yield _Event("guess", markers=state.boxes[seat].guessed[-1])


def reported_seats(state: State, reader: Seat | None) -> tuple[Seat, ...]:
    """Return the seats that the report is about; see `protocol.Reporting`.

    In a race this is only the reader or the winner, since all seats have the same box.
    """
    if state.options.race:
        places = state.outcome.places if state.outcome else (1,)
        return (reader if reader is not None else Seat(places.index(1)),)
    first = reader or 0
    seats = (*range(first, len(state.boxes)), *range(first))
    return tuple(Seat(seat) for seat in seats if state.boxes[seat].atoms is not None)


def report(steps: Sequence[Step[State]], seat: Seat) -> dict[str, Any]:
    """Return the report of `analyse` as a dictionary; see `protocol.Reporting`."""
    return asdict(analyse(steps, seat))


def analyse(steps: Sequence[Step[State]], seat: Seat) -> Report:
    """Return the report on a seat's game.

    While others still solve the same box, the report has only facts that the seat could work out.

    Args:
        steps: the steps of the game from the start, without those that were taken back.
        seat: a seat whose game on its box is over.
    """
    last = steps[-1].state
    options, atoms = last.options, last.boxes[seat].atoms
    assert atoms is not None
    effort = effort_for(options)
    first = beginning(options)
    replay = _Replay(atoms, effort, first)
    for event in _events(steps, seat):
        replay.take_in(event)
    rows = _with_bounds(replay.rows)
    start, left = first.total or 0, replay.knowledge.total
    summary = _summary(seat, _ending(last, seat), start, rows, replay.decided, left)
    if last.outcome is None:
        return summary
    needed = best_line(first, atoms, effort) if first.complete else None
    slip = replay.slip
    line = best_line(slip[1], atoms, effort) if slip is not None else None
    ports = options.board.ports
    return replace(
        summary,
        opened=True,
        percentile=percentile(options, atoms),
        needed=len(needed or ()),
        left_line=slip[0] if slip is not None and line is not None else None,
        line=tuple((ports[port], kind_of(port, out)) for port, out in line or ()),
    )


class _Replay:
    """A game on one box, gone through again event by event.

    Attributes:
        knowledge: the solver's knowledge after the events so far.
        rows: a row of the report for each of them.
        decided: see `Report`.
        slip: the number of probes before the first one that left the best line, and the knowledge
            then; `None` if there is none.
    """

    def __init__(self, atoms: frozenset[int], effort: Effort, knowledge: Knowledge) -> None:
        self._atoms = atoms
        self._effort = effort
        self._bits = knowledge.ports(effort)
        self._probes = 0
        self._estimate = float(knowledge.total or 0)
        self.knowledge = knowledge
        self.rows: list[Probe] = []
        self.decided = 0
        self.slip: tuple[int, Knowledge] | None = None

    def take_in(self, event: _Event) -> None:
        """Add the next event."""
        if event.what == "guess":
            before = self.knowledge
            self.knowledge = before.after_guess(event.markers)
            self.rows.append(Probe("guess", before=before.total, after=self.knowledge.total))
        else:
            self._take_in_ray(event)
        self._bits = self.knowledge.ports(self._effort)
        if not self.decided and self.knowledge.is_decided(self._bits):
            self.decided = self._probes

    def _take_in_ray(self, event: _Event) -> None:
        board, before = self.knowledge.options.board, self.knowledge
        out = trace(board, self._atoms, event.port)
        self.knowledge = before.after_ray(event.port, out, self._effort)
        bits = self._bits if event.what == "probe" else {}
        row = _row(board, event, out, before, self.knowledge, bits)
        self.rows.append(self._with_estimate(row))
        lost = (row.best_bits or 0) - (row.expected or 0)
        if self.slip is None and before.complete and lost > SLIP:
            self.slip = (self._probes, before)
        self._probes += event.what == "probe"

    def _with_estimate(self, row: Probe) -> Probe:
        """Return a row with an estimate of the layouts that fitted if their number is unknown."""
        gained_bits = inf if row.gained is None else row.gained
        self._estimate = float(row.after or self._estimate * 0.5**gained_bits)
        if row.after is not None or not self._estimate:
            return row
        self._estimate = self.knowledge.estimated_total(self._estimate)
        return replace(row, about=max(1, round(self._estimate)))


def _with_bounds(rows: Sequence[Probe]) -> list[Probe]:
    """Return rows whose estimates are at least the later numbers: all layouts that fit later also
    fitted earlier."""
    bounded: list[Probe] = []
    most = 0
    for row in reversed(rows):
        most = max(most, row.after or row.about or 0)
        bounded.append(row if row.about is None else replace(row, about=most))
    return bounded[::-1]


def _row(
    board: Geometry,
    event: _Event,
    out: int,
    before: Knowledge,
    after: Knowledge,
    bits: dict[int, float],
) -> Probe:
    """Return the row of a ray.

    Args:
        board: the board.
        event: the ray.
        out: its result; see `rays.trace`.
        before, after: the knowledge before and after it.
        bits: the expected bits of each port before it, empty if unknown.
    """
    expected, best, most = bits.get(event.port), "", None
    if bits:
        best_port = min(bits, key=lambda port: (-round(bits[port], 9), port != event.port, port))
        best, most = board.ports[best_port], bits[best_port]
    return Probe(
        event.what,
        board.ports[event.port],
        kind_of(event.port, out),
        exit_of(board, event.port, out),
        before.total,
        after.total,
        information_of(before, after, event.port, out),
        expected,
        best,
        most,
        wasted=before.complete and event.what == "probe" and before.total == after.total,
        sampled=before.is_sampled,
    )


def _summary(
    seat: Seat, ended: str, start: int, rows: list[Probe], decided: int, left: int | None
) -> Report:
    """Return the report without the facts about an opened box."""
    whole = log2(start or 1) or 1.0
    rows = [replace(row, share=_share(row.after or row.about, whole)) for row in rows]
    probes = [row for row in rows if row.what == "probe"]
    known_bits = [
        (row.gained, row.expected, row.best_bits)
        for row in probes
        if row.gained is not None and row.expected is not None and row.best_bits is not None
    ]
    gained, expected, possible = (
        map(sum, zip(*known_bits, strict=True)) if known_bits else (0.0, 0.0, 0.0)
    )
    return Report(
        seat,
        ended,
        opened=False,
        start=start,
        rows=tuple(rows),
        probes=len(probes),
        wasted=sum(row.wasted for row in probes),
        decided=decided,
        left=left,
        gained=gained,
        expected=expected,
        possible=possible,
        sampled=any(row.sampled for row in probes),
    )


def _share(left: int | None, whole: float) -> int | None:
    """Return the missing bits in percent, `None` if unknown."""
    return None if left is None else round(100 * log2(left or 1) / whole)


def _ending(last: State, seat: Seat) -> str:
    """Return the reason for the end of the seat's game, ``""`` if other seats ended it."""
    if last.options.race or last.outcome is None:
        return last.boxes[seat].result.reason
    return last.outcome.reason if last.outcome.seat == seat else ""
