"""The coach: what each probe of a finished game was worth.

What a player could know is the set of layouts that fit the results so far. Where all of them can
be looked at, everything here is exact. On larger boards a sample stands for them, and what a sample
cannot tell is left out. The work has an end, which no clock decides (`Effort`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, log2
from typing import Any

from pbmserv.engine.types import Seat, Step
from pbmserv.games.blackbox.bots.difficulty import percentile
from pbmserv.games.blackbox.bots.knowledge import (
    Known,
    beginning,
    best_line,
    effort_for,
    gained,
)
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import HIT, kind_of, trace
from pbmserv.games.blackbox.state import State

SLIP = 0.2
"""Bits by which a port must be worse than the best before the best line leaves the player's."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A row of the report.

    Attributes:
        what: ``probe``, ``clue`` (a port that a clue fired) or ``guess`` (a wrong one).
        port, result, exit: of a ray, as players call them; of a guess "".
        before, after: layouts that fitted; ``None`` = not known.
        gained: bits that the result told; ``None`` = not known.
        expected: bits that a result at this port tells on average; ``None`` as above, or no probe.
        best, best_bits: the port that tells most on average; "" and ``None`` as above.
        wasted: every layout that fitted gave this result.
        sampled: of what is told here, the bits are from a sample.
        share: what was still to be told after it, in percent of the bits at the start; ``None`` =
            not known.
        about: layouts that fitted after it, as its sample's bits tell, where *after* is not known;
            ``None`` = these do not, either.
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
    """What became of one box.

    Attributes:
        seat: who solved it.
        ended: ``solved``, ``out-of-guesses``, ``resigned`` or ``forfeit``; "" = the others
            ended the game.
        opened: the reader may know where the atoms are; without that there is no best line.
        start: layouts there are of such a board.
        rows: probes, clues and wrong guesses, in their order.
        probes, wasted: how many probes, and how many of them could tell nothing.
        decided: after how many probes no further one could tell anything; 0 = never, or not known.
        left: layouts that fitted at the end; ``None`` = not known.
        gained, expected, possible: bits of all probes: told, told on average, and told on average
            by the best ports. Only probes whose three figures are known are in the sums.
        sampled: some bits are from a sample.
        needed: probes that the best port each time needs for this box, from the first on; 0 = not
            known.
        left_line: after how many probes the player left the best line; ``None`` = never, or not
            known.
        line: ports and results of the best line from there.
        percentile: how hard the box is, of all boxes like it: 0 easiest, 100 hardest.
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
    """Something that told its player something; *port* of a ray, *markers* of a wrong guess."""

    what: str
    port: int = -1
    markers: frozenset[int] = frozenset()


def _events(steps: Sequence[Step[State]], seat: Seat) -> Iterator[_Event]:
    """What the steps told the seat about its box, in order."""
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


def reported(state: State, reader: Seat | None) -> tuple[Seat, ...]:
    """The seats whose boxes the report is about: as `protocol.Reporting` has it. Of a race it is
    one, the reader's or the winner's, since all have the same box."""
    if state.options.race:
        places = state.outcome.places if state.outcome else (1,)
        return (reader if reader is not None else Seat(places.index(1)),)
    first = reader or 0
    seats = (*range(first, len(state.boxes)), *range(first))
    return tuple(Seat(seat) for seat in seats if state.boxes[seat].atoms is not None)


def report(steps: Sequence[Step[State]], seat: Seat) -> dict[str, Any]:
    """As `protocol.Reporting` has it: the words of `analyse`."""
    return asdict(analyse(steps, seat))


def analyse(steps: Sequence[Step[State]], seat: Seat) -> Report:
    """What a seat's play on its box was worth.

    Args:
        steps: of the game, the start first, without what was taken back.
        seat: whose box is not empty, and whose game on it has ended; while others still solve the
            same box the report holds nothing but what the seat could reckon itself.
    """
    last = steps[-1].state
    options, box = last.options, last.boxes[seat]
    assert box.atoms is not None
    effort = effort_for(options)
    known = first = beginning(options)
    bits = known.ports(effort)
    rows: list[Probe] = []
    decided, probes, slip = 0, 0, None
    about = float(first.total or 0)
    for event in _events(steps, seat):
        before = known
        if event.what == "guess":
            known = known.guessed(event.markers)
            rows.append(Probe("guess", before=before.total, after=known.total))
        else:
            out = trace(options.board, box.atoms, event.port)
            known = known.fired(event.port, out, effort)
            told = bits if event.what == "probe" else {}
            row = _row(options.board, event, out, before, known, told)
            about = float(row.after or about * 0.5 ** (inf if row.gained is None else row.gained))
            if row.after is None and about:
                about = known.reckoned(about)
                row = replace(row, about=max(1, round(about)))
            rows.append(row)
            lost = (row.best_bits or 0) - (row.expected or 0)
            if slip is None and before.complete and lost > SLIP:
                slip = (probes, before)
            probes += event.what == "probe"
        bits = known.ports(effort)
        if not decided and known.is_decided(bits):
            decided = probes
    most = 0
    for at in range(len(rows) - 1, -1, -1):  # fewer cannot have fitted than were found later
        most = max(most, rows[at].after or rows[at].about or 0)
        if rows[at].about is not None:
            rows[at] = replace(rows[at], about=most)
    found = _summed(seat, _ending(last, seat), first.total or 0, rows, decided, known.total)
    if last.outcome is None:
        return found
    needed = best_line(first, box.atoms, effort) if first.complete else None
    line = best_line(slip[1], box.atoms, effort) if slip is not None else None
    ports = options.board.ports
    return replace(
        found,
        opened=True,
        percentile=percentile(options, box.atoms),
        needed=len(needed or ()),
        left_line=slip[0] if slip is not None and line is not None else None,
        line=tuple((ports[port], kind_of(port, out)) for port, out in line or ()),
    )


def _row(
    board: Geometry,
    event: _Event,
    out: int,
    before: Known,
    after: Known,
    bits: dict[int, float],
) -> Probe:
    """The row of a ray; *bits*: of each port before it, as far as that is known."""
    expected, best, most = bits.get(event.port), "", None
    if bits:
        best_port = min(bits, key=lambda port: (-round(bits[port], 9), port != event.port, port))
        best, most = board.ports[best_port], bits[best_port]
    return Probe(
        event.what,
        board.ports[event.port],
        kind_of(event.port, out),
        "" if out in (HIT, event.port) else board.ports[out],
        before.total,
        after.total,
        gained(before, after, event.port, out),
        expected,
        best,
        most,
        wasted=before.complete and event.what == "probe" and before.total == after.total,
        sampled=before.is_sampled,
    )


def _summed(
    seat: Seat, ended: str, start: int, rows: list[Probe], decided: int, left: int | None
) -> Report:
    whole = log2(start or 1) or 1.0
    rows = [replace(row, share=_share(row.after or row.about, whole)) for row in rows]
    probes = [row for row in rows if row.what == "probe"]
    told = [
        (row.gained, row.expected, row.best_bits)
        for row in probes
        if row.gained is not None and row.expected is not None and row.best_bits is not None
    ]
    gained, expected, possible = map(sum, zip(*told, strict=True)) if told else (0.0, 0.0, 0.0)
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
    return None if left is None else round(100 * log2(left or 1) / whole)


def _ending(last: State, seat: Seat) -> str:
    """How the seat's game on its box ended; "" = the others ended it."""
    if last.options.race or last.outcome is None:
        return last.boxes[seat].result.reason
    return last.outcome.reason if last.outcome.seat == seat else ""
