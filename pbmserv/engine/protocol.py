"""The one contract between a game and everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar, runtime_checkable

from pbmserv.engine.types import (
    Drawing,
    GameInfo,
    Move,
    Note,
    Outcome,
    Preview,
    Rng,
    Saved,
    Seat,
    Step,
)

O = TypeVar("O")  # noqa: E741 - O, S and V are the protocol's published names
S = TypeVar("S")
V = TypeVar("V")
V_contra = TypeVar("V_contra", contravariant=True)

Spend: TypeAlias = Callable[[int], None]
"""Counts work that is about to be done, in the unit of `engine.position.weight`; may raise."""


class Bot(Protocol[V_contra]):
    """A bot: sees a view, like everybody else, and names a move.

    A function of the view and the lots it draws; it may take a second, so it is never called
    where others wait.
    """

    def agree(self, options: Any) -> None:
        """Say whether it plays a board with these options, which do not tell a hidden box.

        Raises:
            OptionError: it does not; names the option, and one with which it does.
        """
        ...

    def choose(self, view: V_contra, rng: Rng) -> str:
        """A legal move's text for the seat whose view this is, which may use a turn now."""
        ...


class Game(Protocol[O, S, V]):
    """A game: pure functions over options O, states S and views V.

    Options, states and views are immutable values. Hidden facts leave a state
    by `view` alone; `parse` is handed a view, so that a refusal cannot leak.
    """

    def __hash__(self) -> int: ...  # as every object's: what a game has answered is remembered

    @property
    def info(self) -> GameInfo: ...

    @property
    def bots(self) -> Mapping[str, Bot[V]]:
        """Its bots by their userids, which are some of `types.BOT_USERIDS`."""
        ...

    def options(self, words: Sequence[str], seats: int) -> O:
        """Read the option words of a challenge (``-size=8x8``, ``-fair``).

        Raises:
            OptionError: naming the word, why, and one that works.
        """
        ...

    def describe(self, options: O) -> tuple[str, ...]:
        """The options as canonical words: ``options(describe(o), n) == o``.

        Defaults are left out, so a classic board gives ``()``.
        """
        ...

    def rated(self, options: O) -> bool:
        """Whether a board with these options changes ratings."""
        ...

    def setup(self, seats: int, options: O, rng: Rng) -> S:
        """The position before the first move."""
        ...

    def to_act(self, state: S) -> frozenset[Seat]:
        """Seats that may use a turn now; empty exactly when there is an outcome."""
        ...

    def turn(self, state: S, seat: Seat) -> int:
        """Number (1-based) of the turn this seat would use next.

        It is what ``#n`` and reply addresses carry. For a seat that has to wait it is the number
        its next turn will have if everybody before it uses one turn.
        """
        ...

    def view(self, state: S, seat: Seat | None) -> V:
        """What this seat may know; ``None`` = a spectator."""
        ...

    def parse(self, view: V, text: str) -> Move:
        """Read a move as people type it; canonical text comes back.

        Raises:
            NotUnderstood | Illegal | Ambiguous: naming the offending part.
        """
        ...

    def legal(self, view: V) -> Iterable[str] | None:
        """Some legal turns for this seat now, or ``None`` if too many to list."""
        ...

    def apply(self, state: S, seat: Seat, move: Move, rng: Rng) -> Step[S]:
        """Apply a move that `parse` gave for this seat's present view.

        Raises:
            Illegal: it is not legal in this state (a record that was damaged,
                or a turn used by a seat that is not to act).
        """
        ...

    def withdraw(self, state: S, seat: Seat) -> Step[S]:
        """The seat resigns."""
        ...

    def outcome(self, state: S) -> Outcome | None:
        """How the board ended, or ``None`` while it runs."""
        ...


@runtime_checkable
class Conditional(Protocol[V]):
    """A game whose queued moves may depend on what their player has learnt by then.

    It promises that what others do never makes a refused move legal, so that a plan can be
    checked when it is written.
    """

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """(condition as written, meaning) pairs for help, in order."""
        ...

    def condition(self, view: V, text: str) -> str:
        """Read one condition, such as ``a=#``; its canonical text comes back.

        Raises:
            NotUnderstood | Illegal: naming the offending part.
        """
        ...

    def holds(self, view: V, condition: str) -> bool:
        """Whether a canonical condition holds, as far as this view tells; unknown is no."""
        ...

    def expect(self, view: V, move: Move) -> V:
        """The view to expect at the seat's next turn after *move*, hidden results left open."""
        ...


@runtime_checkable
class Answering(Protocol[V_contra]):
    """A game that can say whether a condition of a plan holds, such as another player's move."""

    def condition(self, view: V_contra, text: str) -> str:
        """Read one condition; its canonical text comes back.

        Raises:
            NotUnderstood | Illegal: naming the offending part.
        """
        ...

    def holds(self, view: V_contra, condition: str) -> bool:
        """Whether a canonical condition holds, as far as this view tells; unknown is no."""
        ...


@runtime_checkable
class Forgiving(Protocol[V_contra]):
    """A game that makes the best of what people write."""

    def meant(self, view: V_contra, text: str) -> Move | None:
        """The one legal move that a text which `parse` refuses can mean; ``None``: none, several.

        A function of the view alone, as `parse` is.
        """
        ...

    def meanwhile(self, view: V_contra, move: Move) -> tuple[Move | None, str]:
        """What of a legal move can be made while another seat has the turn, and the rest of it."""
        ...


@runtime_checkable
class TwiceLabelled(Protocol[V_contra]):
    """A game whose places have a second name that is easily written by mistake."""

    def far_cells(self, view: V_contra, text: str) -> tuple[tuple[str, str], ...]:
        """Return the parts of a legal move that use such a name, as typed and in canonical text.

        They are confirmed before they count, unless their player is used to these names.
        """
        ...


@runtime_checkable
class Previewing(Protocol[V]):
    """A game that can say what a move would do without doing it."""

    def preview(self, view: V, seat: Seat, text: str) -> Preview[V]:
        """What the reader of *view* would see if *seat* made this move.

        A function of the view alone, so it cannot tell what is hidden.

        Raises:
            MoveError: the move would be refused.
        """
        ...


@runtime_checkable
class Tappable(Protocol[V_contra]):
    """A game whose moves can be put together on its page (``page.html.j2``), tap by tap."""

    def tapped(self, view: V_contra, draft: str, tap: str) -> str:
        """The text of a move after one more tap on a spot of the board.

        Args:
            draft: the text so far, "" at first; anything may stand in it, as in *tap*.
            tap: what the page's button says; the same one again takes it back.
        """
        ...


@runtime_checkable
class ManualSetup(Protocol):
    """A game whose hidden box one person can fill by hand for another one at the same device."""

    def laid(self, options: Any, spots: Sequence[str], tap: str) -> tuple[str, ...]:
        """Return the hidden spots after a tap; anything may stand in *tap*."""
        ...

    def laid_view(self, options: Any, spots: Sequence[str]) -> Any:
        """Return the open box as the person who fills it sees it."""
        ...

    def laid_options(self, options: Any, spots: Sequence[str]) -> Any:
        """Return the options of a game of one on that box, for the record.

        Raises:
            Illegal: the box may not be filled like that.
        """
        ...


@runtime_checkable
class Drawable(Protocol[V_contra]):
    """A game whose boards can be drawn; ``drawing.j2`` says the same in words."""

    def drawing(self, view: V_contra, seat: Seat, end: V_contra | None) -> Drawing | None:
        """What *seat* plays on as the reader of *view* sees it; ``None``: that is not to be seen.

        Args:
            end: a view after the end of the same board, where all may be told; else ``None``.
        """
        ...


@runtime_checkable
class Racing(Protocol):
    """A game that can be played as a race: every seat by itself, unseen by the others.

    Of its other boards `fixed` and `anew` give the options back as they are, and the rest says no.
    """

    def fixed(self, options: Any, rng: Rng) -> Any:
        """The options with all that chance decides before the first move, for the record."""
        ...

    def shown(self, options: Any) -> tuple[str, ...]:
        """Canonical words as everybody may read them while the board runs."""
        ...

    def anew(self, options: Any) -> Any:
        """Return the options without what fixes chance, such as a seed."""
        ...

    def apart(self, state: Any) -> bool:
        """Whether each seat plays alone, unseen till the end; the same in all states of a board."""
        ...

    def practice(self, state: Any) -> bool:
        """Whether everything can be undone, redone and begun anew, and nothing counts."""
        ...

    def timed(self, state: Any) -> bool:
        """Whether the record must say when a turn was made; see `stamped`."""
        ...

    def is_race(self, options: Any) -> bool:
        """Whether a board with these options is a race."""
        ...

    def grade(self, options: Any) -> str:
        """How hard a board's box is, as everybody may know, in a word; "" = nobody is told."""
        ...

    def solved(self, state: Any, seat: Seat) -> bool:
        """Whether a seat reached the aim of its race, so that its score counts in the tables."""
        ...

    def read_kind(self, text: str) -> str:
        """A kind of board as people write it, as `kind` writes it.

        Raises:
            OptionError: there is no such kind.
        """
        ...

    def daily(self, day: int) -> Any:
        """The rules of a day's box, a race of one; *day* counts from 1970-01-01."""
        ...

    def shots(self, notes: Sequence[Note]) -> tuple[str, ...]:
        """The results of the turns that these notes tell of, each as one mark; no spoiler."""
        ...

    def stamped(self, move: Move, seconds: int) -> Move:
        """A move as it is recorded where time counts, in seconds since its seat began."""
        ...

    def overdue(self, state: Any, seat: Seat) -> Step[Any]:
        """As `Game.withdraw`, of a seat that took too long: in a race its place says so."""
        ...

    def shut(self, step: Step[Any]) -> Step[Any]:
        """The step that ended a board of one, without anything that its end has opened.

        Its state has no outcome, and its view shows its player no more than before.
        """
        ...

    def kind(self, state: Any) -> str:
        """With what other boards the scores of this one can be compared; "" = with none."""
        ...


class RacingGame(Game[Any, Any, Any], Racing, Protocol):
    """A game, and one that can be played as a race."""


def races(game: object) -> TypeGuard[RacingGame]:
    """Whether a game is `Racing`, asked at every move: Python looks through all of a protocol's
    methods for an answer (20 us), and it never changes."""
    return keeps(game, Racing)


def only_meaning(game: Any, view: Any, text: str) -> Move | None:
    """The one legal move that a text which a game's `parse` refuses can mean, if the game is
    `Forgiving`; ``None``: none, or several."""
    return game.meant(view, text) if keeps(game, Forgiving) else None


def previews(game: object) -> TypeGuard[Previewing[Any]]:
    """Whether a game is `Previewing`; see `races`."""
    return keeps(game, Previewing)


@lru_cache(maxsize=1_000)
def keeps(game: object, contract: type) -> bool:
    """Whether a game is what one of the protocols here says; see `races`."""
    return isinstance(game, contract)


@runtime_checkable
class Sized(Protocol):
    """A game whose boards are of very different sizes."""

    def squares(self, state: Any) -> int:
        """Return how many squares a drawing of the board has; its price depends on them."""
        ...

    def effort(self, state: Any, text: str) -> int:
        """Return how much work it is to apply a ply with this canonical text, beside reading it.

        The unit is that of `engine.position.weight`, ten microseconds or so. The answer is the same
        for all states of a board.
        """
        ...


@runtime_checkable
class Explaining(Protocol):
    """A game that leaves some of its notes to be worked out when a reader gets them."""

    def explained(self, state: Any, note: Note) -> tuple[Note, ...]:
        """Return the notes that a reader gets in place of one of the step that led to *state*.

        Most notes stand for themselves. The others cost too much to be made whenever a board is
        replayed.
        """
        ...


@runtime_checkable
class Saving(Protocol):
    """A game whose solo boards can be written down and gone on with elsewhere.

    `marks`: what a line of such a text begins with, one for each kind of text.
    """

    marks: tuple[str, ...]

    def save(
        self, options: Any, saved: Saved, board: int | None, spend: Spend
    ) -> tuple[tuple[str, str], ...]:
        """Return a board as texts, each with the ending of its file's name.

        Args:
            board: the number that the texts name in place of the hidden box; ``None`` = they tell
                the box.
            spend: is told of each move before it is made again; what it raises goes through.
        """
        ...

    def load(self, text: str, options_of: Callable[[int], tuple[str, ...]], spend: Spend) -> Saved:
        """Read such a text.

        Args:
            options_of: gives the option words of a board that the text names.
            spend: as in `save`.

        Raises:
            NotUnderstood | OptionError: the text is no saved game.
        """
        ...


@runtime_checkable
class Reporting(Protocol):
    """A game that can say what play was worth, once it is over, and help a player on before."""

    def reported(self, state: Any, reader: Seat | None) -> tuple[Seat, ...]:
        """Whose play *reader* (``None`` = a spectator) gets a report on, the reader's own first."""
        ...

    def report(self, steps: Sequence[Step[Any]], seat: Seat) -> Mapping[str, Any]:
        """What one seat's play was worth, JSON-ready, for its ``report.txt.j2`` and ``.html.j2``.

        It may take seconds, so it is never called where others wait. While others of a race play
        on it tells nothing that the seat could not have reckoned itself. *steps* are all, without
        what was taken back.
        """
        ...

    def hinted(self, state: Any, seat: Seat) -> Step[Any]:
        """Count that a seat has asked for a hint; raises `Illegal` where it may not."""
        ...

    def hint(self, view: Any) -> Mapping[str, Any]:
        """What the reader of a view could work out, for ``hint.j2``; else as `report`."""
        ...


class CoachedGame(Game[Any, Any, Any], Reporting, Protocol):
    """A game, and one with reports and hints."""


def coached(game: object) -> TypeGuard[CoachedGame]:
    """Whether a game is `Reporting`; see `races`."""
    return keeps(game, Reporting)


@runtime_checkable
class Aided(Protocol[V_contra]):
    """A game that can judge a player's own marks and notes by what that player knows."""

    def check(self, view: V_contra) -> tuple[Note, ...]:
        """What the reader's own markers do and do not explain; a function of the view alone; raises
        `Illegal` where there is nothing of the reader's own to check."""
        ...

    def drawn(self, view: V_contra, text: str) -> Preview[Any]:
        """The view with what a player wants drawn into it, of what the player has marked alone;
        raises `Illegal` where there is nothing of that name to draw."""
        ...
