"""A board as one reader may see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from pbmserv.engine.clocks import USUAL, Terms
from pbmserv.engine.position import Position, notes_for
from pbmserv.engine.protocol import Aided, coached, previews
from pbmserv.engine.record import Scoresheet
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import SCORE, Note, Outcome, Seat
from pbmserv.views.texts import note_sentences

Form: TypeAlias = Literal["text", "speech", "letter", "page", "own-page"]
"""A form of a board: plain text, words for people who listen, or HTML.

An ``own-page`` is a page of the game's own; other games have none.
"""

_TEMPLATES: Mapping[Form, tuple[str, ...]] = {
    "text": ("games/{key}/board.txt.j2",),
    "speech": ("games/{key}/spoken.txt.j2", "games/{key}/board.txt.j2"),
    "letter": ("games/{key}/board.html.j2",),
    "page": ("games/{key}/page.html.j2", "web/plain-board.html.j2"),
    "own-page": ("games/{key}/page.html.j2",),
}
"""Templates that draw a board in a form; the first that exists is used."""


@dataclass(frozen=True)
class BoardScene:
    """A board as one reader may see it; templates learn nothing else about a game.

    Attributes:
        number: the board's number.
        game: the rules; templates get only their views.
        key: the game's key: its template folder, and its word in commands.
        title: the game's name for people.
        names: userids by seat.
        you: the reader's seat; ``None`` for a spectator.
        view: the game's view for that seat.
        events: a sentence for each recent event, oldest first.
        scores: a sentence for each score, for readers who do not want a table.
        turn: number of the reader's next turn, ``#n`` in commands; ``None`` for a spectator.
        waiting: userids of the other players who are to move.
        your_turn: whether the reader may use a turn now.
        moves: turns used. Free moves are not counted, since they may be private.
        outcome: how the board ended; ``None`` while it runs.
        best: userids of the players in first place; empty while the board runs.
        options: canonical option words of the challenge.
        race: whether each player has a box of their own that the others see only at the end.
        done: whether the reader has no further turn while others still play: the reader has
            finished a race, or is out.
        rated: whether the result changes ratings.
        terms: how long players may take.
        daily: number of this box of the day; 0 for other boards.
        shut: whether the board is over but its hidden facts stay hidden for a while.
        chooser: userid of the player who chose the box of a race and may know it; "" for none.
        undrawn: whether dice and the like are drawn later, when all have accepted. Until then no
            form shows the view, since it will change.
        unforeseen: whether the letter is about a move whose effect shows only when it is played.
    """

    number: int
    game: AnyGame
    key: str
    title: str
    names: tuple[str, ...]
    you: Seat | None
    view: Any
    events: tuple[str, ...]
    scores: tuple[str, ...]
    turn: int | None
    waiting: tuple[str, ...]
    your_turn: bool
    moves: int
    outcome: Outcome | None
    best: tuple[str, ...]
    options: tuple[str, ...]
    race: bool
    done: bool
    rated: bool
    terms: Terms
    daily: int
    shut: bool
    chooser: str
    undrawn: bool = False
    unforeseen: bool = False

    @property
    def has_coach(self) -> bool:
        """Whether a coach can report on this board once it is over."""
        return coached(self.game) and not self.shut

    @property
    def players(self) -> str:
        """The players in one phrase, by seat."""
        return " - ".join(self.names)

    def templates(self, form: Form) -> list[str]:
        """Return the names of the templates that draw the board in a form, the best one first.

        The list is empty for the game's own page of a board that is not drawn yet.
        """
        if not self.undrawn:
            return [name.format(key=self.key) for name in _TEMPLATES[form]]
        if form == "own-page":
            return []
        ending = "txt" if form in {"text", "speech"} else "html"
        return [f"letters/pieces/undrawn.{ending}.j2"]


def board_scene(
    position: Position,
    *,
    number: int,
    names: tuple[str, ...],
    options: tuple[str, ...],
    seat: Seat | None,
    own_move: bool = True,
    after: int | None = None,
    rated: bool = False,
    terms: Terms = USUAL,
    daily: int = 0,
    chooser: str = "",
) -> BoardScene:
    """Return a position as *seat* may see it.

    Args:
        position: the board after some plies.
        number, names, options, rated, terms, daily, chooser: see `BoardScene`.
        seat: the reader's seat; ``None`` for a spectator.
        own_move: whether the events are those of the last ply. Otherwise they are those since the
            seat's last turn, without its own.
        after: a ply; the events are then those after it.
    """
    game, state = position.game, position.state
    recent = _recent_positions(position, seat, own_move=own_move, after=after)
    notes = [note for moved in recent for note in notes_for(game, moved.step, seat)]
    events = [note for note in notes if note.kind != SCORE]
    scores = [note for note in notes if note.kind == SCORE]
    to_act, outcome = game.to_act(state), position.outcome
    places = zip(names, outcome.places if outcome else (), strict=False)
    race = "-race" in options or len(names) == 1
    return BoardScene(
        number=number,
        game=game,
        key=game.info.key,
        title=game.info.title,
        names=names,
        you=seat,
        view=game.view(state, seat),
        events=tuple(note_sentences(game, events, names, seat)),
        scores=tuple(note_sentences(game, scores, names, seat)) if scores else (),
        turn=None if seat is None else game.turn(state, seat),
        waiting=tuple([names[s] for s in sorted(to_act) if s != seat]),
        your_turn=seat in to_act,
        moves=position.turns_of(seat),
        outcome=outcome,
        best=tuple([name for name, place in places if place == 1]),
        options=options,
        race=race,
        done=outcome is None and seat is not None and _is_done(position, seat, race=race),
        rated=rated,
        terms=terms,
        daily=daily,
        shut=outcome is not None and game.outcome(state) is None,
        chooser=chooser,
    )


def _is_done(position: Position, seat: Seat, *, race: bool) -> bool:
    """Return whether a seat has finished its race, or is out of a game that goes on."""
    if race:
        return seat not in position.game.to_act(position.state)
    return position.is_out(seat)


def _recent_positions(
    position: Position, seat: Seat | None, *, own_move: bool, after: int | None
) -> list[Position]:
    """Return the positions whose events a reader gets; see `board_scene`."""
    if after is not None:
        return position.after(after)
    if own_move and position.ply:
        return [position]
    # The seat knows its own free moves, such as markers.
    return [
        earlier
        for earlier in position.since(seat)
        if earlier.ply is not None and earlier.ply.seat != seat
    ]


def scene_of_sheet(sheet: Scoresheet, position: Position, seat: Seat | None) -> BoardScene:
    """Return the board of a score sheet, as this seat (`None`: a spectator) saw a position."""
    return board_scene(
        position,
        number=sheet.board,
        names=sheet.names,
        options=sheet.record.options,
        rated=True,
        seat=seat,
    )


def previewed_scene(scene: BoardScene, mover: Seat, move: str) -> BoardScene:
    """Return the scene with the effect of a move, as far as its reader can foresee it.

    It is made from the reader's view alone, so nothing hidden can get into it. The scene of a game
    without previews is unchanged.

    Raises:
        MoveError: the move is not legal.
    """
    if not previews(scene.game):
        return scene
    preview = scene.game.preview(scene.view, mover, move)
    shown = _with_notes(scene, preview.view, preview.notes)
    return replace(shown, unforeseen=preview.is_unforeseen)


def checked_scene(scene: BoardScene, spot: str = "") -> BoardScene:
    """Return the scene with notes on the reader's markers, from the reader's view alone.

    The scene of a game without such notes is unchanged.

    Args:
        spot: where a ray starts that is drawn through the markers; "" for none.

    Raises:
        MoveError: the reader has no markers, or there is no such ray.
    """
    game = scene.game
    if not isinstance(game, Aided):
        return scene
    if not spot:
        return _with_notes(scene, scene.view, game.check(scene.view))
    preview = game.drawn(scene.view, spot)
    return _with_notes(scene, preview.view, preview.notes)


def _with_notes(scene: BoardScene, view: Any, notes: Sequence[Note]) -> BoardScene:
    sentences = note_sentences(scene.game, notes, scene.names, scene.you)
    return replace(scene, view=view, events=tuple(sentences))
