"""The game object of Blackbox, which implements the protocols of `engine.protocol`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pbmserv.engine.protocol import Bot, Game
from pbmserv.engine.record import NOT_PLAYED, WITHDRAW
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import GameInfo, Move, Note, Outcome, Seat, Step
from pbmserv.errors import Illegal
from pbmserv.games.blackbox import (
    legality,
    lessons,
    manual,
    marker_checks,
    meanings,
    picture,
    plans,
    previews,
    racing,
    refusals,
    rules,
    saving,
    taps,
    views,
)
from pbmserv.games.blackbox import options as choices
from pbmserv.games.blackbox.bots import coach, hints
from pbmserv.games.blackbox.bots.difficulty import with_graded_box
from pbmserv.games.blackbox.bots.levels import LEVELS, measured
from pbmserv.games.blackbox.bots.loops import equipment
from pbmserv.games.blackbox.facts import BlackboxBoard, facts_of
from pbmserv.games.blackbox.game_ids import (
    atoms_of,
    described,
    stored_id,
)
from pbmserv.games.blackbox.moves import Kind, move_of
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.state import State, new_state
from pbmserv.games.blackbox.views import View

_WIDE = re.compile(r"!(?:[A-Z]+|[0-9]+)(?=,|$)|-")
"""A row, column or area that a move seals."""


class Blackbox:
    """A game of two players, each of whom hides atoms for the other and fires rays to find them."""

    info = GameInfo(
        key="blackbox",
        title="Blackbox",
        summary="fire rays into your box to find the atoms that your opponent hid there; "
        "the first to find them all wins",
        min_seats=choices.SEATS,
        max_seats=choices.SEATS,
        hidden=True,
        rules_version=1,
        options=choices.MEANINGS,
        opening=choices.OPENING,
        strength=measured(),
        boxes=True,
    )
    bots: Mapping[str, Bot[View]] = LEVELS
    conditions = plans.CONDITIONS
    marks = saving.MARKS

    options = staticmethod(choices.read_options)
    describe = staticmethod(choices.describe)
    rated = staticmethod(choices.rated)
    fixed = staticmethod(with_graded_box)
    shown = staticmethod(choices.shown)
    without_box = staticmethod(choices.without_box)
    read_kind = staticmethod(racing.read_kind)
    daily = staticmethod(racing.daily_options)
    to_act = staticmethod(rules.to_act)
    turn = staticmethod(rules.turn)
    view = staticmethod(views.view_of)
    parse = staticmethod(refusals.read_move)
    meant = staticmethod(meanings.meant)
    by_chance = staticmethod(meanings.by_chance)
    placement = staticmethod(meanings.placement)
    far_cells = staticmethod(meanings.far_cells)
    meanwhile = staticmethod(legality.meanwhile)
    condition = staticmethod(plans.read_condition)
    holds = staticmethod(plans.holds)
    expect = staticmethod(plans.expect)
    facts = staticmethod(facts_of)
    facts_type = BlackboxBoard
    preview = staticmethod(previews.preview)
    check = staticmethod(marker_checks.check_markers)
    drawn = staticmethod(marker_checks.ray_through_markers)
    drawing = staticmethod(picture.drawing)
    tapped = staticmethod(taps.tapped)
    save = staticmethod(saving.save)
    load = staticmethod(saving.load)
    spots_after_tap = staticmethod(manual.spots_after_tap)
    manual_view = staticmethod(manual.manual_view)
    manual_options = staticmethod(manual.manual_options)
    reported_seats = staticmethod(coach.reported_seats)
    report = staticmethod(coach.report)
    hint = staticmethod(hints.hint)
    hinted = staticmethod(racing.hinted)
    equipment = staticmethod(equipment)
    explained = staticmethod(lessons.explained)

    def setup(self, seats: int, options: Options, rng: Rng) -> State:
        """Return a board without atoms, except in a race, whose box the server hides."""
        if not options.race:
            return new_state(options, seats)
        box = with_graded_box(options, rng)
        game = stored_id(box.id)
        # Views and bots get the options of a state, so that these must not tell the atoms.
        return new_state(choices.without_box(box), seats, atoms_of(game), described(game))

    def legal(self, view: View) -> Iterable[str]:
        """Return some legal turns: a placement, or the unused ports and two guesses."""
        if not view.may_act:
            return ()
        examples = view.examples
        if not view.has_hidden:
            return (examples.placement,)
        guess = examples.guess
        moves = [*view.unused_ports, guess]
        if view.unused_ports:
            moves.append(f"{view.unused_ports[-1]},{guess}")
        return moves

    def apply(self, state: State, seat: Seat, move: Move, rng: Rng) -> Step[State]:
        """Apply a move that `parse` returned.

        Raises:
            Illegal: the move is not legal now, or it is not this seat's turn.
            NotUnderstood: the text is not a move.
        """
        text, seconds = move.text, None
        if "@" in text:
            text, seconds = racing.unstamped(text)
        elements = legality.check(views.standing_of(state, seat), text)
        canonical = move_of(elements)
        if (canonical.text, canonical.free) != (text, move.free):
            raise Illegal("blackbox.not-canonical")  # without its text, which may name atoms
        if not move.free and seat not in rules.to_act(state):
            raise Illegal("blackbox.not-your-turn")
        if elements[0].kind == Kind.CELL:
            return rules.place(state, seat, elements)
        return rules.play(state, seat, text, elements, rng, seconds)

    def withdraw(self, state: State, seat: Seat, rng: Rng) -> Step[State]:
        """Let a seat resign, so that the other wins and both boxes open. In a race, it drops out.

        Raises:
            Illegal: the board is over.
        """
        if state.outcome is not None:
            raise Illegal("blackbox.finished")
        if state.options.race:
            return rules.drop_out(state, seat)
        after = replace(state, outcome=rules.lost(len(state.boxes), seat, "resigned"))
        notes = (Note("resigned", seat, None), *rules.revealed(after))
        return Step(after, {None: "resign"}, notes, reveals=True)

    def drop_out(self, state: State, seat: Seat, reason: str, rng: Rng) -> Step[State]:
        """Withdraw a seat as in `withdraw`. In a race, its result has the reason."""
        if state.options.race and state.outcome is None:
            return rules.drop_out(state, seat, reason)
        return self.withdraw(state, seat, rng)

    def without_solution(self, step: Step[State]) -> Step[State]:
        """Return the last step of a board without atoms, game ID, lessons and score."""
        final_notes = rules.over(step.state)
        notes = tuple(note for note in step.notes if note not in final_notes)
        return replace(step, state=replace(step.state, outcome=None), notes=notes)

    def outcome(self, state: State) -> Outcome | None:
        return state.outcome

    def boxed(self, options: Options, state: State) -> Options:
        if not options.race or options.id:
            return options
        return replace(options, id=state.boxes[0].id, grade=state.options.grade)

    def apart(self, state: State) -> bool:
        return state.options.race

    def practice(self, state: State) -> bool:
        return state.options.practice

    def timed(self, state: State) -> bool:
        return state.options.scoring == "timed"

    def stamped(self, move: Move, seconds: int) -> Move:
        """Return the move with its time, as the record of a timed race stores it."""
        return replace(move, text=racing.stamped(move.text, seconds))

    def is_race(self, options: Options) -> bool:
        return options.race

    def solved(self, state: State, seat: Seat) -> bool:
        return state.boxes[seat].result.reason == "solved"

    def shots(self, notes: Sequence[Note]) -> tuple[str, ...]:
        """Return the marks of the probes in their order."""
        return tuple(str(note.values["mark"]) for note in notes if note.kind == "probe")

    def squares(self, state: State) -> int:
        """Return the number of cells of a box."""
        return len(state.options.board.cells)

    def effort(self, state: State, text: str) -> int:
        """Return the work of a ply in units of ten microseconds.

        A guess fires all ports, the end of a board names all atoms, and a wide seal takes a whole
        line or area.
        """
        squares = len(state.options.board.cells)
        if "?" in text:
            return 1 + squares // 16
        if text in NOT_PLAYED or text == WITHDRAW:
            return 1 + squares // 128 + state.options.most // 8
        if "!" in text:
            return len(_WIDE.findall(text)) * (1 + squares // 256)
        return squares // 300 if text[0] not in "+/" else 0

    def grade(self, options: Options) -> str:
        """Return the grade of the option, which `fixed` has made true."""
        return options.grade

    def kind(self, state: State) -> str:
        return racing.kind_of_board(state.options)


GAME: Game[Options, State, View] = Blackbox()
