"""Checks a game of `pbmserv.game` by playing it, so that its author hears of faults first.

Each finding names the method and says in one sentence what is wrong.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.engine.adapter import AdaptedGame, adapt
from pbmserv.engine.game_view import View
from pbmserv.engine.position import LARGEST_STATE, Position, octets_of, opening, replay
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.rng import Rng
from pbmserv.engine.table import Table
from pbmserv.engine.types import Move, Seat, Step
from pbmserv.errors import MoveError
from pbmserv.game import Game
from pbmserv.game.search import Effort
from pbmserv.testing.display_checks import DisplayChecks
from pbmserv.testing.endless import EndlessError, endless_calls_stopped
from pbmserv.testing.findings import Notes, PlayedGame, Report, playing_method
from pbmserv.testing.secret_checks import SecretChecks

T = TypeVar("T")

LONGEST = 3_000
"""Most moves of a random game; a longer one does not seem to end."""
SLOW_S = 0.5
"""Most processor seconds of a move; slower rules let players of other boards wait too long."""
LONGEST_WAIT_S = 8.0
"""Seconds that a move may spend waiting, more than a busy machine causes. A server stops a game
after 15 s."""
LARGE = 200_000
"""Most octets of a state, since the server keeps many states."""
BOT_S = 5.0
"""Most processor seconds in which a bot chooses a move."""
MOST_VALUES = 5
"""Most values of an option that are tried, beside its default."""
MOST_KEPT = 4
"""Games of a check that the report keeps, to be replayed once more."""
_IN_EARNEST = (0, 5)
"""Numbers of the moves for which a bot uses its whole budget."""
GARBAGE = (
    *("", "?", "hello", "Hi Bob, nice game", "a1 b2 c3", "99", "-1", "pass", "\N{SNOWMAN}"),
    *("A" * 500, "1 2 3 4 5 6", "resign", "On 3 May Alice wrote:", "e2 e4 e6", "swap", "0"),
)


def check_game(
    rules: Game[Any], seeds: int = 12, note_progress: Callable[[Progress], None] | None = None
) -> Report:
    """Play a game in every way that the server would, and report what is wrong.

    Args:
        seeds: how many random games to play.
        note_progress: called after each move.
    """
    report = Report(getattr(rules, "key", "") or type(rules).__name__)
    game = _declared_game(rules, report)
    if game is None:
        return report
    checks = _Checks(rules, game, report, note_progress or _do_not_note)
    before = deepcopy(vars(rules))
    try:
        with endless_calls_stopped(checks.notes.file), checks.notes.noting_output():
            checks.play_games(seeds)
    except _WaitingError:
        pass
    except EndlessError as error:
        method, line = checks.notes.blame(error)
        report.add(method, f"{error} (line {line})", checks.notes.where)
    if rules.hidden and report.games and not checks.secrets.hides:
        report.add("seen", "hides nothing from anybody, though hidden is True")
    if repr(vars(rules)) != repr(before):
        report.add(type(rules).__name__, "an attribute changed in play; keep everything in states")
    return report


def _declared_game(rules: Game[Any], report: Report) -> AdaptedGame | None:
    """Check what the class declares; return the game as a server has it.

    Returns:
        `None` if the game cannot be played.
    """
    try:
        game = adapt(rules)
    except ValueError as error:
        name, _, reason = str(error).partition(" ")
        report.add(name.rpartition(".")[2].rstrip(":"), reason)
        return None
    if rules.key in BY_NAME:
        report.add("key", f"must not be {rules.key!r}, which is a command")
    if rules.seats[0] < 2:
        report.add("seats", "two players or more are needed; nobody can play alone")
    needed = ("start", "moves", playing_method(rules), "over", "show")
    missing = [name for name in needed if getattr(type(rules), name) is getattr(Game, name)]
    for name in missing:
        report.add(name, "is missing")
    return None if missing else game


class _WaitingError(BaseException):
    """Ends a check whose moves wait; not an `Exception`, which would end one game alone."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a check.

    Attributes:
        games: games begun, with the present one.
        all_games: games that the check plays if nothing breaks down.
        moves: moves in the present game.
        where: the options or the bot of the present game in brackets; ``""`` for the default.
    """

    games: int
    all_games: int
    moves: int
    where: str


def _do_not_note(_progress: Progress) -> None:
    """Ignore the progress of a check."""


class _Checks:
    """The checks of one game."""

    def __init__(
        self,
        rules: Game[Any],
        game: AdaptedGame,
        report: Report,
        note_progress: Callable[[Progress], None],
    ) -> None:
        self.rules, self.game, self.report = rules, game, report
        self.note_progress = note_progress
        self.begun = self.all_games = 0
        self.playing = playing_method(rules)
        self.notes = Notes(rules, report)
        self.displays = DisplayChecks(rules, game, report)
        self.secrets = SecretChecks(rules, game, report)

    def play_games(self, seeds: int) -> None:
        """Play random games with all options; and with the bots, if a game came to its end."""
        bots = tuple(self.game.bots if self.rules.bots else ())
        plans = [
            (words, seed)
            for words in self.option_sets()
            for seed in range(max(1, seeds if not words else seeds // 4))
        ]
        self.all_games = len(plans) + len(bots)
        for words, seed in plans:
            self.begun += 1
            with self.notes.noting_faults():
                self.play_once(words, seed)
        if not self.report.games:
            return
        for level in bots:
            self.begun += 1
            with self.notes.noting_faults():
                self.play_bot(level)

    def note_move(self, moves: int) -> None:
        """Report the progress of the check."""
        self.note_progress(Progress(self.begun, self.all_games, moves, self.notes.where))

    def option_sets(self) -> list[tuple[str, ...]]:
        """Return the words of the default game, and other values of each option, one at a time.

        Of an option with many values these are a few, from the first one on.
        """
        sets: list[tuple[str, ...]] = [()]
        for option in self.rules.options:
            others = [value for value in option.values if value != option.default]
            for value in others[:: 1 + len(others) // MOST_VALUES]:
                text = "no" if value is False else value
                word = f"-{option.name}" if value is True else f"-{option.name}={text}"
                sets.append((word,))
        return sets

    def play_once(self, words: tuple[str, ...], seed: int) -> None:
        """Play a random game to its end, and check each position on the way."""
        info = self.game.info
        seats = info.min_seats + seed % (info.max_seats - info.min_seats + 1)
        self.notes.where = f" ({' '.join(words)})" if words else ""
        record = GameRecord(info.key, info.rules_version, seats, words, bytes([seed]) * 32)
        position = self.begin(record)
        draws = Rng(b"check" + bytes([seed]), 0)
        states = [position.state.state]
        plies: list[Ply] = []
        swaps = seed % 2 == 1
        while position.outcome is None:
            if len(plies) >= LONGEST:
                self.notes.fail("over", f"a random game has not ended after {LONGEST} moves")
            seat = draws.choice(sorted(position.game.to_act(position.state)))
            movers = words, seats, *(ply.seat for ply in plies)
            look = len(plies) % (1 + len(plies) // 4) == 0
            view = self.view_to_move(position, seat)
            if look:
                self.look_at(position, seats)
                self.check_leaving(position, seats)
                self.secrets.check_hidden(position, seats, movers)
            self.secrets.remember(movers, position.state.state)
            before = position
            text = self.random_move(view, draws, swaps=swaps, look=look)
            position = self.move(position, seat, text)
            assert position.ply is not None
            plies.append(position.ply)
            states.append(position.state.state)
            self.displays.check_sentences(position, seats)
            self.secrets.check_secret_move(before, seat, position, seats)
            self.note_move(len(plies))
        self.look_at(position, seats)
        self.check_result(position, seats)
        self.report.games += 1
        self.report.moves += len(plies)
        played = PlayedGame(replace(record, plies=tuple(plies)), states)
        self.check_replay(played.record, states)
        if len(self.report.played) < MOST_KEPT:
            self.report.played.append(played)

    def begin(self, record: GameRecord) -> Position:
        """Return the position before the first move, and check it and its options."""
        game, words, seats = self.game, record.options, record.seats
        options = game.options(words, seats)
        if game.options(game.describe(options), seats) != options:
            self.notes.fail("options", "a value does not come back from its own text")
        position = opening(game, record)
        if position.state.state is None:
            self.notes.fail("start", "returns None in place of a state")
        self.note_size("start", position.state.state)
        return position

    def look_at(self, position: Position, seats: int) -> None:
        """Check the board in every form in which a reader gets it."""
        self.displays.check_board(position, seats)
        self.displays.check_file(position, seats)

    def view_to_move(self, position: Position, seat: Seat) -> View:
        """Return the view of a seat whose turn it is, and check that its moves are texts."""
        view = self.game.view(position.state, seat)
        listed = list(view.moves)
        if not listed:
            self.notes.fail("moves", "lists nothing for a seat whose turn it is")
        for move in listed:
            if not isinstance(move, str) or move != " ".join(move.split()) or not move:
                self.notes.fail("moves", f"{move!r} is not a text of words")
        return view

    def random_move(self, view: View, draws: Rng, *, swaps: bool, look: bool) -> str:
        """Return a random move of a seat, read from its text."""
        listed = list(view.moves)
        if look:
            self.check_spellings(view, listed)
            self.check_garbage(view)
        if view.may_swap and swaps:
            return "swap"
        return draws.choice(listed)

    def check_spellings(self, view: View, listed: Sequence[str]) -> None:
        """Check that each move is read as itself."""
        if len(set(listed)) < len(listed):
            self.report.add("moves", "lists a move twice")
        elif len(set(map(str.casefold, listed))) < len(listed):
            self.report.add("moves", "lists moves that differ in capitals only")
        for move in listed[:40]:
            try:
                read = self.game.parse(view, move.lower())
            except MoveError:
                self.report.add("read", f"refuses {move.lower()!r}, which moves() lists")
                continue
            if read.text != move:
                self.report.add("read", f"reads {move.lower()!r} as {read.text!r}")

    def check_garbage(self, view: View) -> None:
        """Check that the game can read or refuse any text."""
        for text in GARBAGE:
            try:
                read = self.game.parse(view, text)
                if read.text not in {"swap", "draw", "takeback"}:
                    again = self.game.parse(view, read.text)
                    if again != read:
                        self.report.add("read", f"reads {read.text!r}, its own move, otherwise")
            except MoveError:
                continue

    def move(self, position: Position, seat: Seat, text: str) -> Position:
        """Return the position after a move, and check that the old state stays as it was."""
        state = position.state.state
        before = repr(state)

        def move() -> Position:
            return position.move(seat, self.game.parse(self.game.view(position.state, seat), text))

        began = time.monotonic()
        after, spent = _timed(move)
        if (waited := time.monotonic() - began - spent) > LONGEST_WAIT_S:
            why = f"a move waits for {waited:.0f} s; rules must not sleep or ask others"
            self.report.add(self.playing, why, self.notes.where)
            raise _WaitingError  # each of the other games would wait, too
        if spent > SLOW_S:  # Python may have collected garbage meanwhile
            after, spent = _timed(move)
        self.report.slowest = max(self.report.slowest, spent)
        if spent > SLOW_S:
            self.report.add(self.playing, f"a move takes {spent:.1f} s of processor time")
        if repr(state) != before:
            self.notes.fail(self.playing, "changes the state that it was given; return a new one")
        self.note_size(self.playing, after.state.state)
        return after

    def note_size(self, method: str, state: Any) -> None:
        """Note a state of a method that is too large; a server refuses the largest ones."""
        octets = octets_of(state)
        if octets is None:
            self.notes.fail(method, "returns a state that is not a plain value")
        self.report.largest = max(self.report.largest, octets)
        if octets > LARGEST_STATE:
            self.notes.fail(method, f"a state has {octets // 1000} kB; 1 MB is the most")
        if octets > LARGE:
            self.report.add(method, f"a state has {octets // 1000} kB, and boards keep many")

    def check_result(self, position: Position, seats: int) -> None:
        """Check a result."""
        outcome = position.outcome
        assert outcome is not None
        if len(outcome.places) != seats or min(outcome.places) != 1:
            self.report.add("over", f"places {outcome.places} do not fit {seats} players")
        if outcome.scores and len(outcome.scores) != seats:
            self.report.add("over", f"scores {outcome.scores} do not fit {seats} players")
        if any(type(number) is not int for number in (*outcome.places, *outcome.scores)):
            self.report.add("over", "places and scores must be whole numbers")

    def check_leaving(self, position: Position, seats: int) -> None:
        """Let each seat resign."""
        for seat in range(seats):
            state: Table = position.state
            if seat in state.out:
                continue
            step: Step[Table] = self.game.withdraw(state, Seat(seat), Rng(b"leave", seat))
            outcome = self.game.outcome(step.state)
            if outcome is None and not self.game.to_act(step.state):
                self.report.add("leave", "nobody is to move after a player has resigned")

    def check_replay(self, record: GameRecord, states: Sequence[Any]) -> None:
        """Replay a game; the same record gives the same states."""
        random.seed(len(states))
        try:
            steps = replay(self.game, record)
        except MoveError:
            self.notes.fail(
                self.playing, "a move is not legal when it is replayed; draw from rng alone"
            )
        for number, (step, state) in enumerate(zip(steps, states, strict=True)):
            if step.state.state != state:
                method, same = (self.playing, "move") if number else ("start", "seed")
                self.notes.fail(
                    method, f"the same {same} gives another state; draw from rng, not elsewhere"
                )

    def play_bot(self, level: str) -> None:
        """Let a bot play against itself."""
        self.notes.where = f" (bot {level})"
        seats = self.game.info.min_seats
        position = opening(
            self.game, GameRecord(self.rules.key, self.rules.version, seats, (), b"bots" * 8)
        )
        for number in range(30):
            if position.outcome is not None:
                return
            seat = Seat(min(self.game.to_act(position.state)))
            view = self.game.view(position.state, seat)
            Effort.share = 1.0 if number in _IN_EARNEST else 0.01
            try:
                text, spent = _timed(
                    partial(self.game.bots[level].choose, view, Rng(b"bot", number))
                )
            finally:
                Effort.share = 1.0
            if spent > BOT_S:
                self.report.add("bots", f"{level} thinks for {spent:.1f} s")
            if not isinstance(text, str):
                self.notes.fail("bots", f"{level} returns {text!r}, which is not a text")
            try:
                move: Move = self.game.parse(view, text)
            except MoveError:
                self.notes.fail("bots", f"{level} plays {text!r}, which is not legal")
            position = position.move(seat, move)
            self.note_move(number + 1)


def _timed(act: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a call, and the processor time of this thread in seconds."""
    begun = time.thread_time()
    result = act()
    return result, time.thread_time() - begun
