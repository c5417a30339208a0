"""Races: several seats solve the same box, each on its own, and are compared at the end."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pbmserv.engine.record import HINT
from pbmserv.engine.types import SCORE, Note, Outcome, Seat, Step, Value
from pbmserv.errors import Illegal, OptionError
from pbmserv.games.blackbox import game_ids
from pbmserv.games.blackbox.options import MOST_GUESSES, RACE, Grade, Options
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK, Box, State, hiding

PER_WRONG = 5
"""Points for an atom that was wrong at the last guess (classic)."""

TIMED_PORT, TIMED_FAULT = 15, 50
"""Points for a port that shows a mark, and for a marker that is wrong at a guess (timed)."""

HINT_PRICE = {"classic": 3, "timed": 45, "first": 0}
"""Points for a hint: more than the probe costs that the best port may save."""

GIVEN_UP = frozenset({"", "resigned", "forfeit"})
"""Reasons with which a seat's race ends without a last guess; see `state.Result`."""

DAILY = (
    (6, 3, Grade.EASY),
    (7, 4, Grade.EASY),
    (7, 3, Grade.MEDIUM),
    (8, 4, Grade.MEDIUM),
    (8, 3, Grade.HARD),
    (7, 4, Grade.HARD),
    (8, 4, Grade.FIENDISH),
)
"""Side, atoms and grade of the box of the day, Monday to Sunday: harder through the week."""

_STAMP = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Score:
    """A score and what it is made of; lower is better.

    Attributes:
        hits, reflections, detours: results that the solver has fired for (no clues).
        ports: how many ports show a mark for them.
        wrong, faults, seconds, hints: as `state.Result` has them.
        total: the points; in a race for the first place just that place.
    """

    hits: int
    reflections: int
    detours: int
    ports: int
    wrong: int
    faults: int
    seconds: int
    hints: int
    total: int


def stamped(text: str, seconds: int) -> str:
    """A move of a timed race with the moment it was made at; no player can write that."""
    return f"{text}@{max(0, seconds)}"


def unstamped(text: str) -> tuple[str, int | None]:
    """A recorded move without its moment, and the moment."""
    move, _, seconds = text.rpartition("@")
    return (move, int(seconds)) if _STAMP.fullmatch(seconds) and "@" in text else (text, None)


def score(options: Options, box: Box) -> Score:
    """What a box has cost its solver so far."""
    paid = [mark for port, mark in enumerate(box.marks) if mark and port not in box.result.clues]
    hits, reflections = paid.count(HIT_MARK), paid.count(REFLECTION_MARK)
    detours = (len(paid) - hits - reflections) // 2
    result = box.result
    if options.scoring == "timed":
        total = TIMED_PORT * len(paid) + TIMED_FAULT * result.faults + result.seconds
        total += result.hints * hint_price(options)
    elif options.scoring == "first":
        total = result.order
    else:
        total = hits + reflections + 2 * detours + PER_WRONG * result.wrong
        total += result.hints * hint_price(options)
    return Score(
        hits,
        reflections,
        detours,
        len(paid),
        result.wrong,
        result.faults,
        result.seconds,
        result.hints,
        total,
    )


def allows_hints(options: Options, seats: int) -> bool:
    """Whether players of such a board may ask for hints: who plays alone, and where all agreed."""
    return options.hints or seats == 1


def hint_price(options: Options) -> int:
    """What a hint costs in points; 0 = nothing, since no points are counted."""
    return HINT_PRICE[options.scoring] if options.race and not options.practice else 0


def hinted(state: State, seat: Seat) -> Step[State]:
    """Count a hint; everybody sees that who sees the seat's turns.

    Raises:
        Illegal: its players have not agreed to hints, or it has nothing to solve now.
    """
    options, box = state.options, state.boxes[seat]
    if state.outcome is not None:
        raise Illegal("blackbox.finished")
    if not allows_hints(options, len(state.boxes)):
        raise Illegal("blackbox.hints-race" if options.race else "blackbox.hints-off")
    if hiding(state):
        raise Illegal("blackbox.hint-early")
    if box.result.reason:
        raise Illegal("blackbox.done")
    count = box.result.hints + 1
    after = state.with_box(seat, replace(box, result=replace(box.result, hints=count)))
    readers = frozenset({seat}) if options.race else None
    values: dict[str, Value] = {"price": hint_price(options), "count": count}
    told = {None: "" if options.race else HINT, seat: HINT}
    note = Note("hint", seat, readers, values)
    return Step(after, told, (note,), reveals=not options.practice)


def after_turn(state: State, seat: Seat, box: Box, reason: str, seconds: int | None) -> State:
    """The race after a seat has used a turn; *reason* says how that ended its race, if it did."""
    done = sum(bool(other.result.reason) for other in state.boxes)
    result = replace(
        box.result,
        turns=box.result.turns + 1,
        reason=reason,
        order=done + 1 if reason else 0,
        seconds=seconds if seconds is not None else box.result.seconds,
    )
    after = state.with_box(seat, replace(box, result=result))
    return replace(after, turns=state.turns + 1, outcome=outcome(after))


def outcome(state: State) -> Outcome | None:
    """Return the outcome of a race, or `None` while it runs.

    A race ends when every seat is done; where only the first solver counts, it ends as soon as one
    seat has solved the box. A race is won by solving it: solvers come first, then the seats whose
    last guess was wrong, then those that gave up. Within a group fewer points are better, and equal
    points share a place. If no seat solved the box, nobody has won and all seats share the place.
    """
    boxes, options = state.boxes, state.options
    solved = any(box.result.reason == "solved" for box in boxes)
    ended = all(box.result.reason for box in boxes)
    if not ended and not (solved and options.scoring == "first"):
        return None
    ranks = [_rank(options, box) if solved else (0, 0) for box in boxes]
    places = tuple(1 + sum(other < rank for other in ranks) for rank in ranks)
    scores = (
        ()
        if options.practice or options.scoring == "first"
        else tuple(score(options, box).total for box in boxes)
    )
    if len(boxes) == 1:
        return Outcome(places, boxes[0].result.reason, Seat(0), scores)
    return Outcome(places, "race" if solved else "unsolved", None, scores)


def _rank(options: Options, box: Box) -> tuple[int, int]:
    """Return the key that orders the seats of a race, the smallest first: group and points."""
    reason = box.result.reason
    if options.scoring == "first":
        return (0, box.result.order) if reason == "solved" else (1, 0)
    group = 0 if reason == "solved" else 2 if reason in GIVEN_UP else 1
    return group, score(options, box).total


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A seat's line in the table at the end of a board.

    Attributes:
        place: in a race of several; 0 = there are no places.
        reason: how its race ended, as `state.Result` has it; "" where both play on.
        clues: how many ports clues have fired for it, for nothing.
    """

    seat: Seat
    place: int
    reason: str
    score: Score
    clues: int


def score_lines(state: State) -> tuple[ScoreLine, ...]:
    """The table of a board that is over, the best first; else none."""
    if state.outcome is None:
        return ()
    places = state.outcome.places
    several = state.options.race and _placed(state)
    lines = [
        ScoreLine(
            Seat(seat),
            places[seat] if several else 0,
            box.result.reason,
            score(state.options, box),
            len(box.result.clues),
        )
        for seat, box in enumerate(state.boxes)
        if box.atoms is not None
    ]
    return tuple(sorted(lines, key=lambda line: places[line.seat]))


def _placed(state: State) -> bool:
    """Whether the seats have places: there are several, and one of them solved the box."""
    unsolved = state.outcome is not None and state.outcome.reason == "unsolved"
    return len(state.boxes) > 1 and not unsolved


def score_notes(state: State) -> tuple[Note, ...]:
    """One note for each seat: how its race ended, and its score item by item."""
    notes = []
    for seat, box in enumerate(state.boxes):
        found = score(state.options, box)
        places = state.outcome.places if state.outcome else ()
        values: dict[str, Value] = {
            "scoring": "none" if state.options.practice else state.options.scoring,
            "reason": box.result.reason,
            "place": places[seat] if _placed(state) and places else 0,
            "hits": found.hits,
            "reflections": found.reflections,
            "detours": found.detours,
            "ports": found.ports,
            "wrong": found.wrong,
            "faults": found.faults,
            "seconds": found.seconds,
            "hints": found.hints,
            "hint_price": hint_price(state.options),
            "total": found.total,
            "clues": len(box.result.clues),
        }
        notes.append(Note(SCORE, Seat(seat), None, values))
    return tuple(notes)


def kind_of_board(options: Options) -> str:
    """What boards a score can be compared with: ``8x8/4``, ``8x8/4 timed hard``; "" = none."""
    if not options.race or options.practice or options.scoring == "first":
        return ""
    words = [f"{options.width}x{options.height}/{options.atoms}"]
    if options.scoring != "classic":
        words.append(options.scoring)
    if options.guesses != 1:
        words.append(f"guesses={options.guesses}")
    if options.grade:
        words.append(options.grade)
    return " ".join(words)


def daily_options(day: int) -> Options:
    """The rules of a day's box; day 0 was a Thursday."""
    side, atoms, grade = DAILY[(day + 3) % 7]
    return replace(RACE, width=side, height=side, least=atoms, most=atoms, clue=True, grade=grade)


def read_kind(text: str) -> str:
    """A kind of board as people write it: ``8x8/4``, ``8x8``, ``7x7/4 timed hard``.

    Raises:
        OptionError: it is none.
    """
    first, *others = text.lower().split() or [""]
    sizes = game_ids.any_parameters(first)
    options = Options(sizes.width, sizes.height, sizes.least, sizes.most, race=True, guesses=1)
    for word in others:
        name, _, value = word.partition("=")
        if word == "timed":
            options = replace(options, scoring="timed")
        elif word in set(Grade) and options.gradable:
            options = replace(options, grade=word)
        elif name == "guesses" and value.isdigit() and 1 <= int(value) <= MOST_GUESSES:
            options = replace(options, guesses=int(value))
        else:
            raise OptionError("blackbox.scores-kind", part=word, example=f"{first} timed")
    return kind_of_board(options)
