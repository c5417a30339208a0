"""The contract between games and the rest of the server: a protocol for each ability of a game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, runtime_checkable

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Drawing, GameInfo, Move, Note, Outcome, Preview, Saved, Seat, Step

O = TypeVar("O")  # noqa: E741 - O, S and V are the protocol's published names
S = TypeVar("S")
V = TypeVar("V")
V_contra = TypeVar("V_contra", contravariant=True)

Spend: TypeAlias = Callable[[int], None]
"""Called with work before it is done, in the unit of `engine.position.work_of`. It may raise."""


class Bot(Protocol[V_contra]):
    """A bot, which chooses a move by a view, like a player.

    It is a function of the view and of random numbers. It may take a second, so it is called only
    where nobody waits.
    """

    def agree(self, options: Any) -> None:
        """Agree to play a board with these options, which do not reveal a hidden box.

        Raises:
            OptionError: the bot does not agree; the refusal names the option and a better one.
        """
        ...

    def choose(self, view: V_contra, rng: Rng) -> str:
        """Return the text of a legal move for the seat of the view, which may use a turn now."""
        ...


class Game(Protocol[O, S, V]):
    """A game, which consists of pure functions over options O, states S and views V.

    Options, states and views are immutable. Hidden facts leave a state only through `view`. `parse`
    gets a view, so that refusals cannot reveal hidden facts.
    """

    def __hash__(self) -> int: ...  # answers of a game are cached

    @property
    def info(self) -> GameInfo: ...

    @property
    def bots(self) -> Mapping[str, Bot[V]]:
        """The bots by userid, some of `types.BOT_USERIDS`."""
        ...

    def options(self, words: Sequence[str], seats: int) -> O:
        """Read the option words of a challenge (``-size=8x8``, ``-fair``).

        Raises:
            OptionError: a word is wrong; the refusal names it and has an example.
        """
        ...

    def describe(self, options: O) -> tuple[str, ...]:
        """Return the options as canonical words, so that ``options(describe(o), n) == o``.

        Defaults are left out, so that a board without options has ``()``.
        """
        ...

    def rated(self, options: O) -> bool:
        """Return whether a board with these options changes ratings."""
        ...

    def setup(self, seats: int, options: O, rng: Rng) -> S:
        """Return the state before the first move."""
        ...

    def to_act(self, state: S) -> frozenset[Seat]:
        """Return the seats that may use a turn now, none if and only if there is an outcome."""
        ...

    def turn(self, state: S, seat: Seat) -> int:
        """Return the number of the next turn of a seat, counted from 1.

        ``#n`` and reply addresses have this number. For a waiting seat, it is the number if each
        seat before it uses one turn.
        """
        ...

    def view(self, state: S, seat: Seat | None) -> V:
        """Return the board as a seat sees it, `None` for a spectator."""
        ...

    def parse(self, view: V, text: str) -> Move:
        """Read a move as people type it.

        Raises:
            NotUnderstood | Illegal | Ambiguous: the refusal names the wrong part.
        """
        ...

    def legal(self, view: V) -> Iterable[str] | None:
        """Return some legal turns of this seat, `None` if there are too many."""
        ...

    def apply(self, state: S, seat: Seat, move: Move, rng: Rng) -> Step[S]:
        """Apply a move that `parse` returned for the present view of the seat.

        Raises:
            Illegal: the move is not legal in this state, since a record is damaged or it is not the
                seat's turn.
        """
        ...

    def withdraw(self, state: S, seat: Seat, rng: Rng) -> Step[S]:
        """Let a seat resign."""
        ...

    def outcome(self, state: S) -> Outcome | None:
        """Return the outcome, `None` while the board runs."""
        ...


@runtime_checkable
class Answering(Protocol[V_contra]):
    """A game that can say if a condition of a plan holds, such as another player's move."""

    def condition(self, view: V_contra, text: str) -> str:
        """Return the canonical text of a condition such as ``a=#``.

        Raises:
            NotUnderstood | Illegal: the refusal names the wrong part.
        """
        ...

    def holds(self, view: V_contra, condition: str) -> bool:
        """Return whether a canonical condition is true in this view; `False` if unknown."""
        ...


@runtime_checkable
class Conditional(Answering[V], Protocol[V]):
    """A game whose plans can be checked when they are written.

    It promises that other players' moves never make a refused move legal.
    """

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """The conditions as written and their meanings for help, in order."""
        ...

    def expect(self, view: V, move: Move) -> V:
        """Return the view at the seat's next turn after a move, without its hidden results."""
        ...


@runtime_checkable
class Forgiving(Protocol[V_contra]):
    """A game that understands moves in other forms."""

    def meant(self, view: V_contra, text: str) -> Move | None:
        """Return the only legal move that a refused text can mean, `None` for none or several.

        It is a function of the view alone, like `parse`.
        """
        ...

    def meanwhile(self, view: V_contra, move: Move) -> tuple[Move | None, str]:
        """Return the part of a legal move that is possible while another seat has the turn.

        Also return the text of the other part.
        """
        ...


@runtime_checkable
class TwiceLabelled(Protocol[V_contra]):
    """A game whose cells have a second name that is easily used by mistake."""

    def far_cells(self, view: V_contra, text: str) -> tuple[tuple[str, str], ...]:
        """Return the parts of a legal move with such a name, as typed and in canonical text.

        The player must confirm them, unless used to these names.
        """
        ...


@runtime_checkable
class Previewing(Protocol[V]):
    """A game that can show the effect of a move without making it."""

    def preview(self, view: V, seat: Seat, text: str) -> Preview[V]:
        """Return the effect of a move by *seat* as the reader of *view* would see it.

        It is a function of the view alone, so that it cannot reveal hidden facts.

        Raises:
            MoveError: the move is not legal.
        """
        ...


@runtime_checkable
class Tappable(Protocol[V_contra]):
    """A game whose page (``page.html.j2``) composes moves tap by tap."""

    def tapped(self, view: V_contra, draft: str, tap: str) -> str:
        """Return the text of a move after a tap on a spot of the board.

        Args:
            view: the view of the player.
            draft: the text so far, ``""`` at first. It may be forged, as may *tap*.
            tap: the value of the page's button. A second tap on it takes the first one back.
        """
        ...


@runtime_checkable
class Placing(Protocol[V_contra]):
    """A game that begins with a secret placement, which the server can draw for a player."""

    def placement(self, view: V_contra, rng: Rng) -> str:
        """Return a random placement as a move; ``""`` if the player has nothing to place now."""
        ...


@runtime_checkable
class ManualSetup(Protocol):
    """A game whose hidden box one person can fill by hand for another at the same device."""

    def spots_after_tap(self, options: Any, spots: Sequence[str], tap: str) -> tuple[str, ...]:
        """Return the hidden spots after a tap, which may be forged."""
        ...

    def manual_view(self, options: Any, spots: Sequence[str]) -> Any:
        """Return the open box as seen by the person filling it."""
        ...

    def manual_options(self, options: Any, spots: Sequence[str]) -> Any:
        """Return the options of a solo game on that box, for its record.

        Raises:
            Illegal: these spots are not allowed.
        """
        ...


@runtime_checkable
class Drawable(Protocol[V_contra]):
    """A game whose boards can be drawn. ``drawing.j2`` describes the drawing in words."""

    def drawing(self, view: V_contra, seat: Seat, end: V_contra | None) -> Drawing | None:
        """Return a drawing of a seat's board, `None` if the reader may not see it.

        Args:
            view: the view of the reader.
            seat: the seat whose board is drawn.
            end: a view after the end of the board, if all may be shown; else `None`.
        """
        ...


@runtime_checkable
class Racing(Protocol):
    """A game that can be played as a race, in which each seat plays by itself, unseen by the
    others.

    For boards that are not races, `fixed` and `without_box` return the options unchanged, and the
    other methods return `False`.
    """

    def fixed(self, options: Any, rng: Rng) -> Any:
        """Return the options with all random choices before the first move, for the record."""
        ...

    def shown(self, options: Any) -> tuple[str, ...]:
        """Return canonical words that everybody may read while the board runs."""
        ...

    def without_box(self, options: Any) -> Any:
        """Return the options without those that determine the box, such as a seed."""
        ...

    def boxed(self, options: Any, state: Any) -> Any:
        """Return the options of a board with the box of its state, as `fixed` would."""
        ...

    def apart(self, state: Any) -> bool:
        """Return whether each seat plays unseen until the end. All states of a board agree."""
        ...

    def practice(self, state: Any) -> bool:
        """Return whether the board is practice, which has undo and restart and does not count."""
        ...

    def timed(self, state: Any) -> bool:
        """Return whether the record needs the time of each turn; see `stamped`."""
        ...

    def is_race(self, options: Any) -> bool:
        """Return whether a board with these options is a race."""
        ...

    def grade(self, options: Any) -> str:
        """Return the public grade of difficulty of the box in a word, ``""`` for none."""
        ...

    def solved(self, state: Any, seat: Seat) -> bool:
        """Return whether a seat reached the aim of its race, so that its score counts in tables."""
        ...

    def read_kind(self, text: str) -> str:
        """Return the name that `kind` uses for a kind of board as people write it.

        Raises:
            OptionError: there is no such kind.
        """
        ...

    def daily(self, day: int) -> Any:
        """Return the options of a day's box, a race of one. *day* counts from 1970-01-01."""
        ...

    def shots(self, notes: Sequence[Note]) -> tuple[str, ...]:
        """Return the results of the turns in these notes, each as one mark, without spoilers."""
        ...

    def stamped(self, move: Move, seconds: int) -> Move:
        """Return a move with its time in seconds since its seat began, for the record."""
        ...

    def drop_out(self, state: Any, seat: Seat, reason: str, rng: Rng) -> Step[Any]:
        """Withdraw a seat that took too long or declined. In a race, its place shows the reason."""
        ...

    def without_solution(self, step: Step[Any]) -> Step[Any]:
        """Return the last step of a board of one without the facts that the end revealed.

        Its state has no outcome, and its view shows the player no more than before.
        """
        ...

    def kind(self, state: Any) -> str:
        """Return the kind of boards with comparable scores, ``""`` if there is none."""
        ...


@runtime_checkable
class Dealing(Protocol):
    """A game with dice or deals that can be the same on several boards."""

    @property
    def has_chance(self) -> bool:
        """Whether the game has dice or deals, with its usual options."""
        ...

    def without_solution(self, step: Step[Any]) -> Step[Any]:
        """Return the last step of a board without the hidden facts that its end reveals."""
        ...


@runtime_checkable
class Eliminating(Protocol):
    """A game that some seats may have lost while the others go on."""

    def is_out(self, state: Any, seat: Seat) -> bool:
        """Return whether a seat was eliminated or has resigned, and gets no turn any more."""
        ...


@runtime_checkable
class Claimable(Protocol):
    """A game in which a player may claim a draw from a silent opponent."""

    def claim_draw(self, state: Any, seat: Seat) -> Step[Any]:
        """Return the step after a seat claims a draw.

        It raises `Illegal` if these rules have no draw by agreement.
        """
        ...


@runtime_checkable
class Sized(Protocol):
    """A game whose boards differ much in size."""

    def squares(self, state: Any) -> int:
        """Return the number of squares in a drawing of the board, which determine its cost."""
        ...

    def effort(self, state: Any, text: str) -> int:
        """Return the work of applying a ply with this canonical text, without reading it.

        The unit is about ten microseconds, as in `engine.position.work_of`. The work is the same
        for all states of a board.
        """
        ...


@runtime_checkable
class Explaining(Protocol):
    """A game with notes that are worked out only for a reader."""

    def explained(self, state: Any, note: Note) -> tuple[Note, ...]:
        """Return the notes that a reader gets in place of a note of the step that led to *state*.

        Most notes are returned unchanged. Others take too long to be made whenever a board is
        replayed.
        """
        ...


@runtime_checkable
class Saving(Protocol):
    """A game whose solo boards can be saved as a text and continued elsewhere.

    Attributes:
        marks: the beginning of a line of such a text, for each kind of text.
    """

    marks: tuple[str, ...]

    def save(
        self, options: Any, saved: Saved, board: int | None, spend: Spend
    ) -> tuple[tuple[str, str], ...]:
        """Return the texts of a board, each behind the suffix of its file name.

        Args:
            options: the options.
            saved: the moves.
            board: the number that replaces the hidden box in the texts, `None` to reveal the box.
            spend: called with the work of each move that is replayed. Its exceptions are not
                caught.
        """
        ...

    def load(self, text: str, options_of: Callable[[int], tuple[str, ...]], spend: Spend) -> Saved:
        """Read such a text.

        Args:
            text: the text.
            options_of: returns the option words of a board by its number.
            spend: see `save`.

        Raises:
            NotUnderstood | OptionError: the text is not a saved game.
        """
        ...


@runtime_checkable
class Exporting(Protocol):
    """A game whose boards can be read by other programs, such as chess in PGN."""

    def file(self, view: Any, names: Sequence[str], day: str) -> tuple[str, str] | None:
        """Return a board, as a reader sees it, as a file; `None` if the game has no format.

        Args:
            names: the players, by seat.
            day: the day on which the board began, as in "2026-03-05".

        Returns:
            The suffix of the file's name and its text.
        """
        ...


@runtime_checkable
class Reporting(Protocol):
    """A game with reports on finished boards, and hints on running ones."""

    def reported_seats(self, state: Any, reader: Seat | None) -> tuple[Seat, ...]:
        """Return the seats in the report for a reader, the reader's own first.

        The reader is `None` for a spectator.
        """
        ...

    def report(self, steps: Sequence[Step[Any]], seat: Seat) -> Mapping[str, Any]:
        """Return the report on a seat's play for ``report.txt.j2`` and ``.html.j2``, JSON-ready.

        It may take seconds, so it is called only where nobody waits. While other seats of a race
        still play, it has only facts that the seat could work out.

        Args:
            steps: all steps without those that were taken back.
            seat: the seat.
        """
        ...

    def hinted(self, state: Any, seat: Seat) -> Step[Any]:
        """Count a hint for a seat; raises `Illegal` if the seat may not have one."""
        ...

    def hint(self, view: Any) -> Mapping[str, Any]:
        """Return a fact that the reader of a view could work out, for ``hint.j2``; see `report`."""
        ...


@runtime_checkable
class LeavingToChance(Protocol[V_contra]):
    """A game in which a player may leave a move to chance."""

    def by_chance(self, view: V_contra, sentence: str, rng: Rng) -> Move | None:
        """Return a legal move drawn at random if a sentence asks for one now, else `None`."""
        ...


@runtime_checkable
class Aided(Protocol[V_contra]):
    """A game that can judge a player's markers by the player's knowledge."""

    def check(self, view: V_contra) -> tuple[Note, ...]:
        """Return notes on the results that the reader's markers explain or contradict.

        It is a function of the view alone, and raises `Illegal` if the reader has no markers.
        """
        ...

    def drawn(self, view: V_contra, text: str) -> Preview[Any]:
        """Return the view with a drawing based on the reader's own markers.

        It raises `Illegal` if nothing of that name can be drawn.
        """
        ...


@runtime_checkable
class Equipped(Protocol):
    """A game whose bots play better with optional software."""

    def equipment(self) -> str:
        """Return a line for operators about the software that bots use, and how to install more."""
        ...


@runtime_checkable
class Readable(Protocol):
    """A game whose boards the API shows.

    Attributes:
        facts_type: a frozen dataclass that JSON can represent. Its docstring describes the fields.
    """

    facts_type: type[Any]

    def facts(self, view: Any) -> Any:
        """Return the board as the reader of *view* sees it, a function of the view alone."""
        ...


# -- questions about a game --------------------------------------------------------------------


class RacingGame(Game[Any, Any, Any], Racing, Protocol):
    """A game that is `Racing`."""


def races(game: object) -> TypeGuard[RacingGame]:
    """Return whether a game is `Racing`."""
    return implements(game, Racing)


def only_meaning(game: Any, view: Any, text: str) -> Move | None:
    """Return the only legal move that a refused text can mean, `None` for none or several.

    It is also `None` if the game is not `Forgiving`.
    """
    return game.meant(view, text) if implements(game, Forgiving) else None


def previews(game: object) -> TypeGuard[Previewing[Any]]:
    """Return whether a game is `Previewing`."""
    return implements(game, Previewing)


@lru_cache(maxsize=1_000)
def implements(game: object, contract: type) -> bool:
    """Return whether a game has a protocol of this module.

    The answer is cached, since each move needs it, and Python takes 20 us to compare all methods.
    """
    return isinstance(game, contract)


class CoachedGame(Game[Any, Any, Any], Reporting, Protocol):
    """A game that is `Reporting`."""


def coached(game: object) -> TypeGuard[CoachedGame]:
    """Return whether a game is `Reporting`."""
    return implements(game, Reporting)
