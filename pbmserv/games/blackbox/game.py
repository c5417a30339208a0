"""Blackbox as the engine knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pbmserv.engine.protocol import Bot, Game, Saved
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import GameInfo, Move, Note, Outcome, Preview, Seat, Step
from pbmserv.errors import Illegal
from pbmserv.games.blackbox import conditions, foresight, racing, saving
from pbmserv.games.blackbox import options as rules
from pbmserv.games.blackbox import state as truth
from pbmserv.games.blackbox.bots.levels import LEVELS
from pbmserv.games.blackbox.checking import check_markers, test_ray
from pbmserv.games.blackbox.notation import gameids
from pbmserv.games.blackbox.notation.moves import Kind, print_elements
from pbmserv.games.blackbox.notation.reading import elements_of, read_move
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.playing import dropped_out, lost, place, play, revealed
from pbmserv.games.blackbox.state import State
from pbmserv.games.blackbox.views import View, view_of


class Blackbox:
    """The two-player game: each hides atoms for the other and fires rays to find theirs."""

    info = GameInfo(
        key="blackbox",
        title="Blackbox",
        summary="fire rays into a box to find the atoms that your opponent hid",
        min_seats=rules.SEATS,
        max_seats=rules.SEATS,
        hidden=True,
        rules_version=1,
        options=rules.MEANINGS,
        opening=rules.OPENING,
    )
    bots: Mapping[str, Bot[View]] = LEVELS
    conditions = conditions.MEANINGS
    mark = saving.MARK

    def options(self, words: Sequence[str], seats: int) -> Options:
        """As `options.read_options`."""
        return rules.read_options(words, seats)

    def describe(self, options: Options) -> tuple[str, ...]:
        """As `options.describe`."""
        return rules.describe(options)

    def rated(self, options: Options) -> bool:
        """As `options.rated`."""
        return rules.rated(options)

    def fixed(self, options: Options, rng: Rng) -> Options:
        """As `options.fixed`."""
        return rules.fixed(options, rng)

    def shown(self, options: Options) -> tuple[str, ...]:
        """As `options.shown`."""
        return rules.shown(options)

    def anew(self, options: Options) -> Options:
        """As `options.anew`."""
        return rules.anew(options)

    def apart(self, state: State) -> bool:
        """Whether it is a race."""
        return state.options.race

    def practice(self, state: State) -> bool:
        """Whether everything can be taken back and nothing counts."""
        return state.options.practice

    def timed(self, state: State) -> bool:
        """Whether moves carry the moment at which they were made."""
        return state.options.scoring == "timed"

    def stamped(self, move: Move, seconds: int) -> Move:
        """The move with its moment, for the record of a timed race."""
        return replace(move, text=racing.stamped(move.text, seconds))

    def is_race(self, options: Options) -> bool:
        """As the option says."""
        return options.race

    def guessed(self, state: State, seat: Seat) -> bool:
        """Whether this seat's race ended with a guess, right or wrong."""
        return state.boxes[seat].result.reason in {"solved", "out-of-guesses"}

    def read_kind(self, text: str) -> str:
        """As `racing.read_kind`."""
        return racing.read_kind(text)

    def daily(self, day: int) -> Options:
        """As `racing.daily_options`."""
        return racing.daily_options(day)

    def shots(self, notes: Sequence[Note]) -> tuple[str, ...]:
        """The marks of the probes, in their order."""
        return tuple(str(note.values["mark"]) for note in notes if note.kind == "probe")

    def save(self, options: Options, saved: Saved, board: int | None) -> str:
        """As `saving.save`."""
        return saving.save(options, saved, board)

    def load(self, text: str, options_of: Callable[[int], tuple[str, ...]]) -> Saved:
        """As `saving.load`."""
        return saving.load(text, options_of)

    def squares(self, state: State) -> int:
        """The cells of one box."""
        return len(state.options.board.cells)

    def kind(self, state: State) -> str:
        """As `racing.kind_of_board`."""
        return racing.kind_of_board(state.options)

    def setup(self, seats: int, options: Options, rng: Rng) -> State:
        """A board on which nobody has hidden atoms; for a race the server has."""
        if not options.race:
            return truth.new_state(options, seats)
        box = rules.fixed(options, rng)
        # Views and bots are handed a state's options: from here on only the atoms tell the box.
        return truth.new_state(rules.anew(box), seats, gameids.atoms_of(gameids.read_id(box.id)))

    def to_act(self, state: State) -> frozenset[Seat]:
        """Those who still have to hide, together; then the players in turn."""
        return truth.to_act(state)

    def turn(self, state: State, seat: Seat) -> int:
        """The hidings are the first turns of the board, then each probe or guess counts one."""
        return truth.turn(state, seat)

    def view(self, state: State, seat: Seat | None) -> View:
        """As `views.view_of`."""
        return view_of(state, seat)

    def parse(self, view: View, text: str) -> Move:
        """As `reading.read_move`."""
        return read_move(view, text)

    def legal(self, view: View) -> Iterable[str]:
        """A sample of turns: one placement, or every unused port and two ways to guess."""
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
        """Apply a move as `parse` gave it.

        Raises:
            Illegal: it is not legal now, or not this seat's turn.
            NotUnderstood: the text is no move.
        """
        text, seconds = racing.unstamped(move.text)
        elements = elements_of(view_of(state, seat), text)
        placement = elements[0].kind == Kind.CELL
        uses_turn = any(e.kind in (Kind.CELL, Kind.PROBE, Kind.GUESS) for e in elements)
        if text != print_elements(elements) or move.free == uses_turn:
            raise Illegal("blackbox.not-canonical")  # without its text: it may hold atoms
        if uses_turn and seat not in truth.to_act(state):
            raise Illegal("blackbox.not-your-turn")
        if placement:
            return place(state, seat, elements)
        return play(state, seat, elements, rng, seconds)

    def withdraw(self, state: State, seat: Seat) -> Step[State]:
        """The seat resigns and the other wins; both boxes are opened. In a race it drops out.

        Raises:
            Illegal: the board is over.
        """
        if state.outcome is not None:
            raise Illegal("blackbox.finished")
        if state.options.race:
            return dropped_out(state, seat)
        after = replace(state, outcome=lost(len(state.boxes), seat, "resigned"))
        notes = (Note("resigned", seat, None), *revealed(after))
        return Step(after, {None: "resign"}, notes, reveals=True)

    def condition(self, view: View, text: str) -> str:
        """As `conditions.read_condition`."""
        return conditions.read_condition(view, text)

    def holds(self, view: View, condition: str) -> bool:
        """As `conditions.holds`."""
        return conditions.holds(view, condition)

    def plan(self, view: View) -> str:
        """As `conditions.example_plan`."""
        return conditions.example_plan(view)

    def expect(self, view: View, move: Move) -> View:
        """As `foresight.expect`."""
        return foresight.expect(view, move)

    def preview(self, view: View, seat: Seat, text: str) -> Preview[View]:
        """As `foresight.preview`."""
        return foresight.preview(view, seat, text)

    def check(self, view: View) -> tuple[Note, ...]:
        """As `checking.check_markers`."""
        return check_markers(view)

    def drawn(self, view: View, text: str) -> Preview[View]:
        """As `checking.test_ray`."""
        return test_ray(view, text)

    def outcome(self, state: State) -> Outcome | None:
        """How the board ended, or ``None`` while it runs."""
        return state.outcome


GAME: Game[Options, State, View] = Blackbox()
