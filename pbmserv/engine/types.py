"""Values that games, the engine and their users exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NewType, TypeVar

S = TypeVar("S")
V = TypeVar("V")

Seat = NewType("Seat", int)
"""A player's place at a board, 0-based in the order of the challenge."""

BOT_USERIDS = (
    "house-beginner",
    "house-casual",
    "house-easy",
    "house",
    "house-hard",
    "house-best",
)
"""Userids of the server's own players, the weakest first. A game has a bot for some of them."""

Value = str | int | bool | tuple[str, ...]
"""A value of a note for a template, which JSON can represent."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved game.

    Attributes:
        options: option words of a practice board with the same box.
        moves: canonical texts and the words ``restart`` and ``resign`` of records, in order.
        done: the number of moves that count; the others were taken back.
    """

    options: tuple[str, ...]
    moves: tuple[str, ...]
    done: int


@dataclass(frozen=True, slots=True)
class GameInfo:
    """The description of a game.

    Attributes:
        key: the word in commands, the folder name and the entry point name.
        title: the name for people.
        summary: what players do and how one wins, in a sentence without its capital and full stop.
        min_seats, max_seats: the range of the number of players (1 to 8).
        hidden: whether some facts are hidden from some seats.
        rules_version: increased whenever an old record would replay differently.
        options: the option words and their meanings for help, in order.
        opening: the turns that each seat must use before a resigned or forfeited game can change
            ratings.
        strength: measurements of its bots by userid: ``mu`` (see `ratings.Rating`) and numbers for
            the help page. Games with other bots change no ratings.
        boxes: whether one player may play it alone, against a box that the server hides. Commands
            for that are not shown where no game has it.
    """

    key: str
    title: str
    summary: str
    min_seats: int
    max_seats: int
    hidden: bool
    rules_version: int
    options: tuple[tuple[str, str], ...] = ()
    opening: int = 0
    strength: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)
    boxes: bool = False

    def is_for(self, players: int) -> bool:
        """Return whether so many players can play the game."""
        return self.min_seats <= players <= self.max_seats


@dataclass(frozen=True, slots=True)
class Move:
    """A move.

    Attributes:
        text: the canonical text; ``parse(view, move.text)`` returns the same move.
        free: the move uses no turn. A seated player may make it at any time, and replies to earlier
            letters stay valid.
    """

    text: str
    free: bool = False


SCORE = "score"
"""The kind of notes with a score, which are shown if there is no table of the scores."""


@dataclass(frozen=True, slots=True)
class Note:
    """A fact about a step, for the seats of its audience.

    Attributes:
        kind: the name of a macro in the game's ``notes.j2``, such as ``"probe"``.
        seat: the seat that acted.
        audience: the seats that may read it, `None` for everybody including spectators.
        values: values for the macro.
    """

    kind: str
    seat: Seat
    audience: frozenset[Seat] | None
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """The effect of a move or withdrawal.

    Attributes:
        state: the state afterwards.
        public: the text of the move for each seat. The key `None` is for spectators and for seats
            without a text of their own.
        notes: the notes on it, in order.
        reveals: whether a seat learned a hidden fact, so that the step cannot be taken back.
    """

    state: S
    public: Mapping[Seat | None, str]
    notes: tuple[Note, ...] = ()
    reveals: bool = False


@dataclass(frozen=True, slots=True)
class Preview(Generic[V]):
    """The effect that a move would have.

    Attributes:
        move: the move.
        view: the view afterwards, without facts that only the move itself can reveal.
        notes: the notes on it, in order.
        is_unforeseen: whether dice, hidden facts or other players decide about the effect, so that
            the view is the one before the move.
    """

    move: Move
    view: V
    notes: tuple[Note, ...]
    is_unforeseen: bool = False


LAPSED = "lapsed"
"""The reason of an outcome without a winner, since both players took too long."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished board.

    Attributes:
        places: the place of each seat, 1 is best; equal numbers are a tie.
        scores: the score of each seat, empty if the game has no scores.
        reason: a word for the templates, such as ``"solved"``, ``"out-of-guesses"`` or
            ``"resigned"``; `LAPSED` if both players took too long.
        seat: the seat to which the reason applies, such as the one that resigned; `None` for all.
    """

    places: tuple[int, ...]
    reason: str
    seat: Seat | None = None
    scores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """A part of a drawing.

    Attributes:
        kind: ``box``, ``line``, ``dot``, ``diamond``, ``word`` or
            ``name`` (a small word beside another one).
        role: its meaning, which determines its colour: ``field``, ``rule``, ``label``, ``atom``,
            ``mark``, ``hit``, ``turned``, ``passed`` or ``right``.
        at: left, top, width and height of a box; x and y of each point of a line; x, y and radius
            of a dot or diamond; x and y of the centre of a word or name.
        text: the word.
        is_new: the last turn caused it.
    """

    kind: str
    role: str
    at: tuple[float, ...]
    text: str = ""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of one seat's board, in any unit.

    Attributes:
        seat: the seat.
        width, height: the size.
        shapes: the shapes, in the order in which they are drawn.
        facts: values for ``drawing.j2``, which describes the drawing in words.
    """

    seat: Seat
    width: float
    height: float
    shapes: tuple[Shape, ...]
    facts: Mapping[str, Value] = field(default_factory=dict)
