"""Races, in which each seat solves the same box on its own, and their scores."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace

from pbmserv.engine.record import HINT
from pbmserv.engine.types import SCORE, Note, Outcome, Seat, Step, Value
from pbmserv.errors import Illegal, OptionError
from pbmserv.games.blackbox import game_ids
from pbmserv.games.blackbox.options import MOST_GUESSES, RACE, Grade, Options
from pbmserv.games.blackbox.rays import HIT_MARK, REFLECTION_MARK
from pbmserv.games.blackbox.state import Box, State, hiding

PER_WRONG = 5
"""Points for a wrong atom in the last guess (classic)."""

TIMED_PORT, TIMED_FAULT = 15, 50
"""Points for a port with a mark, and for a wrong marker in a guess (timed)."""

HINT_PRICE = {"classic": 3, "timed": 45, "first": 0}
"""Points for a hint, more than the points of a probe that the best port may save."""

GIVEN_UP = frozenset({"", "resigned", "forfeit", "declined"})
"""Reasons of seats without a last guess; see `state.Result`."""

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
    """A score and its parts. Lower is better.

    Attributes:
        hits, reflections, detours: the results of probes, without clues.
        ports: the number of ports that they marked.
        wrong, faults, seconds, hints: see `state.Result`.
        total: the points or, in a race for the first place, the place.
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
    """Return a move of a timed race with its time, in a form that players cannot type."""
    return f"{text}@{max(0, seconds)}"


def unstamped(text: str) -> tuple[str, int | None]:
    """Return a recorded move without its time, and the time in seconds, `None` for none."""
    move, _, seconds = text.rpartition("@")
    return (move, int(seconds)) if _STAMP.fullmatch(seconds) and "@" in text else (text, None)


def score(options: Options, box: Box) -> Score:
    """Return the score of a box so far."""
    marks = [mark for port, mark in enumerate(box.marks) if mark and port not in box.result.clues]
    hits, reflections = marks.count(HIT_MARK), marks.count(REFLECTION_MARK)
    detours = (len(marks) - hits - reflections) // 2
    result = box.result
    if options.scoring == "timed":
        total = TIMED_PORT * len(marks) + TIMED_FAULT * result.faults + result.seconds
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
        len(marks),
        result.wrong,
        result.faults,
        result.seconds,
        result.hints,
        total,
    )


def allows_hints(options: Options, seats: int) -> bool:
    """Return whether players may ask for hints: a player alone, or all if they agreed to it."""
    return options.hints or seats == 1


def hint_price(options: Options) -> int:
    """Return the points for a hint, 0 if no points are counted."""
    return HINT_PRICE[options.scoring] if options.race and not options.practice else 0


def hinted(state: State, seat: Seat) -> Step[State]:
    """Count a hint, visibly for the readers of the seat's turns.

    Raises:
        Illegal: the players did not agree to hints, or the seat has nothing to solve now.
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
    public = {None: "" if options.race else HINT, seat: HINT}
    note = Note("hint", seat, readers, values)
    return Step(after, public, (note,), reveals=not options.practice)


def after_turn(state: State, seat: Seat, box: Box, reason: str, seconds: int | None) -> State:
    """Return the race after a turn of a seat.

    Args:
        state: the race before the turn.
        seat: the seat.
        box: its box after the turn.
        reason: the reason if the turn ended its race, see `state.Result`; else ``""``.
        seconds: the time of the turn, `None` if time does not count.
    """
    ended = sum(bool(other.result.reason) for other in state.boxes)
    result = replace(
        box.result,
        turns=box.result.turns + 1,
        reason=reason,
        order=ended + 1 if reason else 0,
        seconds=seconds if seconds is not None else box.result.seconds,
    )
    after = state.with_box(seat, replace(box, result=result))
    return replace(after, turns=state.turns + 1, outcome=outcome(after))


def outcome(state: State) -> Outcome | None:
    """Return the outcome of a race, or `None` while it runs.

    A race ends when every seat is done. If only the first solver counts, it ends as soon as a seat
    solves the box. Seats that solved the box come first, then the seats whose last guess was wrong,
    then those that gave up. Within a group fewer points are better, and equal points share a place.
    If no seat solved the box, nobody wins and all seats share the first place.
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
    """Return the sort key of a seat: its group, then its points."""
    reason = box.result.reason
    if options.scoring == "first":
        return (0, box.result.order) if reason == "solved" else (1, 0)
    group = 0 if reason == "solved" else 2 if reason in GIVEN_UP else 1
    return group, score(options, box).total


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A seat's line in the table at the end of a board.

    Attributes:
        seat: the seat.
        place: its place in a race of several seats, 0 if there are no places.
        reason: see `state.Result`; ``""`` if the board is not a race.
        score: its score.
        clues: the number of ports that clues fired for free.
    """

    seat: Seat
    place: int
    reason: str
    score: Score
    clues: int


def score_lines(state: State) -> tuple[ScoreLine, ...]:
    """Return the table of a board that is over, the best seat first; empty while it runs."""
    if state.outcome is None:
        return ()
    places = state.outcome.places
    has_places = state.options.race and _has_places(state)
    lines = [
        ScoreLine(
            Seat(seat),
            places[seat] if has_places else 0,
            box.result.reason,
            score(state.options, box),
            len(box.result.clues),
        )
        for seat, box in enumerate(state.boxes)
        if box.atoms is not None
    ]
    return tuple(sorted(lines, key=lambda line: places[line.seat]))


def _has_places(state: State) -> bool:
    """Return whether the seats have places: there are several, and one solved the box."""
    unsolved = state.outcome is not None and state.outcome.reason == "unsolved"
    return len(state.boxes) > 1 and not unsolved


def score_notes(state: State) -> tuple[Note, ...]:
    """Return a note for each seat with the end of its race and the parts of its score."""
    notes = []
    for seat, box in enumerate(state.boxes):
        places = state.outcome.places if state.outcome else ()
        values: dict[str, Value] = {
            "scoring": "none" if state.options.practice else state.options.scoring,
            "reason": box.result.reason,
            "place": places[seat] if _has_places(state) and places else 0,
            "hint_price": hint_price(state.options),
            "clues": len(box.result.clues),
            **asdict(score(state.options, box)),
        }
        notes.append(Note(SCORE, Seat(seat), None, values))
    return tuple(notes)


def kind_of_board(options: Options) -> str:
    """Return the kind of boards whose scores can be compared, such as ``8x8/4 timed hard``.

    It is ``""`` if the score cannot be compared.
    """
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
    """Return the rules of a day's box. Day 0 was a Thursday."""
    side, atoms, grade = DAILY[(day + 3) % 7]
    return replace(RACE, width=side, height=side, least=atoms, most=atoms, clue=True, grade=grade)


def read_kind(text: str) -> str:
    """Return a kind of board from text such as ``8x8``, ``8x8/4`` or ``7x7/4 timed hard``.

    Raises:
        OptionError: the text is not a kind of board.
    """
    size, *words = text.lower().split() or [""]
    options = replace(Options.of(game_ids.any_parameters(size)), race=True, guesses=1)
    for word in words:
        name, _, value = word.partition("=")
        if word == "timed":
            options = replace(options, scoring="timed")
        elif word in set(Grade) and options.gradable:
            options = replace(options, grade=word)
        elif name == "guesses" and value.isdigit() and 1 <= int(value) <= MOST_GUESSES:
            options = replace(options, guesses=int(value))
        else:
            raise OptionError("blackbox.scores-kind", part=word, example=f"{size} timed")
    return kind_of_board(options)
