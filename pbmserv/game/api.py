"""The types with which the author of a game writes its rules; see `Game`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from pbmserv.game import matching

S = TypeVar("S")
T = TypeVar("T")

Seat: TypeAlias = int
"""A player's place in the game, counted from 0."""

LETTERS = ascii_uppercase
"""A to Z: the default names of columns."""


class No(Exception):
    """Raised by `Game.read`: the move is refused, and this sentence says why."""


class Rng(Protocol):
    """Chance. A board's seed and the number of the move give the same draws on every platform."""

    def below(self, limit: int, /) -> int:
        """Return a number from 0 to *limit* - 1."""
        ...

    def choice(self, items: Sequence[T], /) -> T:
        """Return one of the items."""
        ...

    def shuffled(self, items: Sequence[T], /) -> list[T]:
        """Return all items in a random order."""
        ...

    def deal(self, number: int, /) -> None:
        """Begin deal or game *number* of a board that has several.

        In a duplicate event all players get the same draws in each deal, even if an earlier one was
        longer for some of them. On other boards this does nothing.
        """
        ...


Bot: TypeAlias = Callable[[S, Seat, Rng], str]
"""Chooses a move for a seat by the state that it may see."""


@dataclass(frozen=True)
class Option:
    """An option of a challenge: ``-name=value``, or ``-name`` alone if it is on or off.

    Attributes:
        help: its meaning, in a few words.
        values: the allowed values, such as ``(9, 13, 19)``; ``(False, True)`` for on or off.
        rated: whether a board with another value than the default can change ratings.
    """

    name: str
    help: str
    values: Sequence[Any]
    default: Any
    rated: bool = True


@dataclass(frozen=True)
class Result:
    """The end of a board.

    Attributes:
        places: the place of each seat; 1 is the best, and equal numbers are a tie.
        why: the reason in a few words, such as "three in a row".
        scores: the score of each seat, if the game counts any.
    """

    places: tuple[int, ...]
    why: str = ""
    scores: tuple[int, ...] = ()


def win(seat: Seat, why: str = "", seats: int = 2) -> Result:
    """Return the result of a board that one seat has won."""
    return Result(tuple(1 if other == seat else 2 for other in range(seats)), why)


def draw(why: str = "", seats: int = 2) -> Result:
    """Return the result of a board that nobody has won."""
    return Result((1,) * seats, why)


def ranked(scores: Sequence[int], why: str = "") -> Result:
    """Return the result of a board on which the highest score wins."""
    places = tuple(1 + sum(other > score for other in scores) for score in scores)
    return Result(places, why, tuple(scores))


@dataclass(frozen=True)
class Told:
    """A sentence about something that happened.

    Attributes:
        text: the sentence. In it, ``{0}`` is the name of seat 0 ("You" for that seat itself) and
            ``{0's}`` its possessive form ("your").
        to: the seats that may read it; `None` = everybody.
    """

    text: str
    to: Collection[Seat] | None = None


@dataclass(frozen=True)
class After(Generic[S]):
    """The result of a move, if there is more to say than the new state.

    Attributes:
        state: the new state.
        told: sentences about the move; if empty, "NAME played MOVE."
        next: the seats to move now; `None` = the next seat that is not out.
        out: seats that were eliminated.
        secret: the text that others read in place of the move.
        final: whether the move can never be taken back, because it revealed something. A move for
            which dice were rolled is always final.
    """

    state: S
    told: Sequence[str | Told] = ()
    next: Collection[Seat] | None = None
    out: Sequence[Seat] = ()
    secret: str | None = None
    final: bool = False


@dataclass(frozen=True)
class Piece:
    """A piece on a board.

    Attributes:
        text: one or two characters, for boards of plain text.
        say: its name in a sentence, such as "white knight".
        seat: its owner.
        glyph: a character for boards with colours; `text` if empty.
    """

    text: str
    say: str
    seat: Seat | None = None
    glyph: str = ""


X_AND_O: Mapping[str, Piece] = MappingProxyType(
    {"X": Piece("X", "X", 0, "\N{MULTIPLICATION X}"), "O": Piece("O", "O", 1, "\N{WHITE CIRCLE}")}
)
"""The default pieces: X belongs to seat 0, O to seat 1."""

Shape: TypeAlias = Literal["squares", "chequered", "lines", "hexes", "points"]


@dataclass(frozen=True)
class Grid:
    """A board. Text, HTML, pages, pictures, speech and JSON are made of this one description.

    Attributes:
        rows: keys of pieces, top row first; ``.`` is an empty cell, a blank is no cell.
        title: the heading above the board.
        columns: the name of each column.
        lines: the name of each row; if empty, 1, 2, 3 from the top. The name of a cell is its
            column and its line, as in "B2".
        shape: ``lines`` puts the pieces on crossings, as in Go; ``hexes`` shifts each row by half
            a cell; ``points`` are the points of backgammon.
        new: names of cells that the last move changed.
        strong: names of cells to mark, such as a winning line.
        strong_is: the meaning of these marks in the legend.
        edges: the owners of edges, by ``top``, ``right``, ``bottom`` and ``left``.
        names: other names of cells, by (row, column).
        counts: the number of pieces in a cell, by its name, where there may be several.
        still: whether there is nothing to tap on this board.
    """

    rows: Sequence[Sequence[str]]
    pieces: Mapping[str, Piece] = field(default_factory=lambda: X_AND_O)
    title: str = ""
    columns: Sequence[str] = LETTERS
    lines: Sequence[str] = ()
    shape: Shape = "squares"
    new: Collection[str] = ()
    strong: Collection[str] = ()
    strong_is: str = "the winning line"
    edges: Mapping[str, Seat] = field(default_factory=dict)
    names: Mapping[tuple[int, int], str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    still: bool = False

    def name(self, row: int, column: int) -> str:
        """Return the name of a cell."""
        if (row, column) in self.names:
            return self.names[row, column]
        line = self.lines[row] if self.lines else str(row + 1)
        return f"{self.columns[column]}{line}"


@dataclass(frozen=True)
class Items:
    """Things beside the board: dice, cards, captured pieces.

    Attributes:
        items: keys of `pieces`, or texts.
    """

    title: str
    items: Sequence[str]
    pieces: Mapping[str, Piece] = field(default_factory=dict)


Part: TypeAlias = Grid | Items | str
"""A part of what a player sees; a `str` is a paragraph."""


class Game(Generic[S]):
    """The rules of a game; the docstring of a subclass explains them to players.

    The first line of that docstring says what the game is about; players read it in lists.

    States are immutable values of any type that can be compared. Moves are texts. Each method
    gives the same answer whenever it is asked the same; chance comes from *rng* alone.

    The server knows whose turn it is and numbers the turns. It passes for a seat without moves,
    offers swaps, draws and take-backs, and knows who has resigned.

    Attributes:
        key: its word in commands: small letters, digits and underscores.
        title: its name for people.
        seats: the lowest and highest number of players.
        version: to be raised if an old game would replay differently.
        hidden: whether `seen` hides anything from anybody.
        swap: whether the second player may take over the first player's side after the first move.
        draws: whether players may offer a draw.
        rotates: whether the second player sees boards from the other side.
        together: whether all seats choose a move, which `play_all` carries out at once.
        chance: whether moves roll dice or the like. A game that draws in `start` need not say so.
        bots: functions that choose a move, by the names ``house-beginner``, ``house-casual``,
            ``house-easy``, ``house``, ``house-hard`` and ``house-best``. Without any,
            ``house`` moves at random.
        words: words of moves that `moves` does not list at all times; for a game that has its own
            `read`, all words that may stand in a move.
    """

    key: str
    title: str
    seats: tuple[int, int] = (2, 2)
    version: int = 1
    options: Sequence[Option] = ()
    hidden: bool = False
    swap: bool = False
    draws: bool = True
    rotates: bool = False
    together: bool = False
    chance: bool = False
    bots: Mapping[str, Bot[S]] = MappingProxyType({})
    words: Collection[str] = ()

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> S:
        """Return the state before the first move.

        Args:
            options: the value of each option, by its name.
        """
        raise NotImplementedError

    def first(self, state: S) -> Collection[Seat]:
        """Return the seats that begin: seat 0, or all seats if they move together."""
        return range(self.seats[1]) if self.together else (0,)

    def moves(self, state: S, seat: Seat) -> Iterable[str]:
        """Return the legal moves of a seat whose turn it is. If there are none, the seat passes.

        A game with its own `read` may return only some of them.
        """
        raise NotImplementedError

    def read(self, state: S, seat: Seat, text: str) -> str:
        """Return the move that a player means.

        This method returns the one of `moves` that the text spells in any case and punctuation, or
        the only one that occurs among other words.

        Raises:
            No: the text is not a move, or not a legal one now; the sentence says why.
        """
        moves = list(self.moves(state, seat))
        move = matching.spelt(text, moves) or matching.among_words(text, moves)
        if move is not None:
            return move
        several = matching.beginning_with(text, moves)
        if several:
            raise No(f"{text.strip()} could mean {matching.choices(several)}.")
        raise No(f"{' '.join(text.split())[:60]!r} is not a move that you can make now.")

    def play(self, state: S, seat: Seat, move: str, rng: Rng) -> S | After[S]:
        """Carry out a move that `moves` lists or `read` has returned."""
        raise NotImplementedError

    def play_all(self, state: S, moves: Mapping[Seat, str], rng: Rng) -> S | After[S]:
        """Carry out the moves of all seats at once, if the game is played together."""
        raise NotImplementedError

    def over(self, state: S) -> Result | None:
        """Return the result if the board has ended."""
        raise NotImplementedError

    def seen(self, state: S, seat: Seat | None) -> S:
        """Return the state without the facts that a seat may not know; `None` = a spectator."""
        return state

    def show(self, state: S, seat: Seat | None) -> Part | Sequence[Part]:
        """Return the parts of the board as a seat sees them; `None` = a spectator."""
        raise NotImplementedError

    def ask(self, state: S, seat: Seat) -> str:
        """Say what the seat to move can reply with; if empty, the server lists the moves."""
        return ""

    def worth_swapping(self, state: S) -> bool:
        """Return whether a bot takes over the first player's side after the first move."""
        return False

    def file(
        self, state: S, players: Sequence[str], result: Result | None, day: str
    ) -> tuple[str, str] | None:
        """Return a board in the format that programs for this game read.

        Args:
            state: what `seen` returns for the player who asks.
            players: their names, by seat.
            day: the day of the first move, as in "2026-03-05"; "" before it.

        Returns:
            The suffix of the file's name, such as ".pgn", and its text; `None` if the game has no
            such format.
        """
        return None

    def leave(self, state: S, seat: Seat, rng: Rng) -> S | After[S]:
        """Return the state after one of three or more players has resigned."""
        return state
