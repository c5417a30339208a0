"""Checks a game of `pbmserv.game` by playing it: what its author would else hear from players.

Each finding names the method and says in one sentence what is wrong.
"""

from __future__ import annotations

import inspect
import io
import random
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TypeVar

from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.engine.adapter import AdaptedGame, adapt
from pbmserv.engine.game_view import View
from pbmserv.engine.position import Position, notes_for, octets_of, opening, replay
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.rng import Rng
from pbmserv.engine.table import BrokenRules, Table
from pbmserv.engine.types import Move, Seat, Step
from pbmserv.errors import MoveError
from pbmserv.game import Game, Grid
from pbmserv.game.cells import laid_out
from pbmserv.game.search import Effort
from pbmserv.testing.endless import EndlessError, endless_calls_stopped

T = TypeVar("T")

LONGEST = 3_000
"""Moves after which a random game does not seem to end."""
SLOW_S = 0.5
"""Processor seconds for one move after which players of other boards wait too long."""
LARGE = 200_000
"""Octets of a state; the server keeps many of them."""
BOT_S = 5.0
_IN_EARNEST = (0, 5)
"""Moves of a bot for which it may think as long as it wants."""
WIDTH = 76
LONGEST_SHOWN = 60
"""Characters of a printed line that a finding shows."""

GARBAGE = (
    *("", "?", "hello", "Hi Bob, nice game", "a1 b2 c3", "99", "-1", "pass", "\N{SNOWMAN}"),
    *("A" * 500, "1 2 3 4 5 6", "resign", "On 3 May Alice wrote:", "e2 e4 e6", "swap", "0"),
)
NAMES = ("player1", "player2", "player3", "player4", "player5", "player6", "player7", "player8")


@dataclass(frozen=True, order=True)
class Finding:
    """Something that is wrong.

    Attributes:
        method: of the game, or the attribute of its class.
        sentence: what is wrong with it.
    """

    method: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.method}: {self.sentence}"


@dataclass
class Report:
    """The findings of a check.

    Attributes:
        games, moves: how many were played.
        slowest: processor seconds of the slowest move.
        largest: octets of the largest state.
    """

    key: str = ""
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    games: int = 0
    moves: int = 0
    slowest: float = 0.0
    largest: int = 0

    def add(self, method: str, sentence: str) -> None:
        """Note a finding; of one kind for a method only the first."""
        kind = re.sub(r"[0-9]+|'[^']*'|\"[^\"]*\"", "*", sentence)
        self.findings.setdefault((method, kind), Finding(method, sentence))

    @property
    def listed(self) -> list[Finding]:
        return sorted(self.findings.values())


class _Broken(Exception):
    """The game broke down; it has been noted."""


def check_game(rules: Game[Any], seeds: int = 12) -> Report:
    """Play a game in every way that the server would, and report what is wrong.

    Args:
        seeds: how many random games to play.
    """
    report = Report(getattr(rules, "key", "") or type(rules).__name__)
    try:
        game = adapt(rules)
    except ValueError as error:
        name, _, reason = str(error).partition(" ")
        report.add(name.rpartition(".")[2].rstrip(":"), reason)
        return report
    checks = _Checks(rules, game, report)
    if rules.key in BY_NAME:
        report.add("key", f"must not be {rules.key!r}, which is a command")
    if rules.seats[0] < 2:
        report.add("seats", "two players or more are needed; nobody can play alone")
    if missing := [
        name for name in _needed(rules) if getattr(type(rules), name) is getattr(Game, name)
    ]:
        for name in missing:
            report.add(name, "is missing")
        return report
    before = deepcopy(vars(rules))
    try:
        with endless_calls_stopped(checks.file), checks.output_noted():
            checks.all(seeds)
    except EndlessError as error:
        method, line = checks.blame(error)
        report.add(method, f"{error} (line {line}){checks.where}")
    if repr(vars(rules)) != repr(before):
        report.add(type(rules).__name__, "an attribute changed in play; keep everything in states")
    return report


def _needed(rules: Game[Any]) -> Sequence[str]:
    """Return the names of the methods that a game cannot do without."""
    return "start", "moves", "play_all" if rules.together else "play", "over", "show"


class _Overheard(io.TextIOBase):
    """An output that reports each line, with the frames that have written its end.

    Args:
        report: called with the line.
    """

    def __init__(self, report: Callable[[str, Sequence[traceback.FrameSummary]], None]) -> None:
        self._report = report
        self._line = ""
        self._frames: Sequence[traceback.FrameSummary] = ()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text.strip():
            # Functions of the same file may have called the checks, if it is that of a test.
            frame = inspect.currentframe()
            stack = traceback.walk_stack(frame.f_back if frame else None)
            calls = takewhile(_is_below_checks, stack)
            self._frames = traceback.StackSummary.extract(calls, lookup_lines=False)[::-1]
        *lines, rest = (self._line + text).split("\n")
        self._line = rest[:WIDTH]
        for line in filter(str.strip, lines):
            self._report(line.strip(), self._frames)
        return len(text)

    def close(self) -> None:
        if not self.closed and self._line.strip():
            self._report(self._line.strip(), self._frames)
        super().close()


def _is_below_checks(call: tuple[FrameType, int]) -> bool:
    """Return whether a frame, with its line, is not one of this module."""
    frame, _ = call
    return frame.f_globals.get("__name__") != __name__


class _Checks:
    """The checks of one game."""

    def __init__(self, rules: Game[Any], game: AdaptedGame, report: Report) -> None:
        self.rules, self.game, self.report = rules, game, report
        self.where = ""
        # States of earlier games in which the same seats have moved, to change what is hidden.
        self.others: dict[tuple[object, ...], Any] = {}
        self.printing: set[str] = set()  # methods that print

    # -- the frame ---------------------------------------------------------------------------

    @property
    def file(self) -> str:
        """The file of the game; ``""`` if it is not known."""
        return sys.modules[type(self.rules).__module__].__file__ or ""

    def all(self, seeds: int) -> None:
        """Play random games with all options; and with the bots, if a game came to its end."""
        for words in self.option_sets():
            for seed in range(max(1, seeds if not words else seeds // 4)):
                with self.broken_off():
                    self.play(words, seed)
        if not self.report.games:
            return
        for level in self.game.bots if self.rules.bots else ():
            with self.broken_off():
                self.bot(level)

    @contextmanager
    def broken_off(self) -> Iterator[None]:
        """Note an exception of the game."""
        try:
            yield
        except _Broken:
            pass
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a game raises
            if isinstance(error, BrokenRules):
                self.report.add(error.method, f"{error.sentence}{self.where}")
                return
            method, line = self.blame(error)
            place = f" (line {line})" if line else ""
            self.report.add(method, f"raises {type(error).__name__}: {error}{place}{self.where}")

    def blame(self, error: BaseException) -> tuple[str, int]:
        """Return the method of the game in which an exception began, and the line."""
        frames = traceback.extract_tb(error.__traceback__)
        return self.blame_frames(frames, "over" if "no seat has a move" in str(error) else "play")

    def blame_frames(
        self, frames: Sequence[traceback.FrameSummary], otherwise: str
    ) -> tuple[str, int]:
        """Return the method of the game that is in these frames, and the line.

        Args:
            frames: the newest last.
            otherwise: the method if there is none.
        """
        own = [frame for frame in frames if self.file and Path(frame.filename) == Path(self.file)]
        if own:
            methods = [frame.name for frame in own if hasattr(Game, frame.name)]
            return (methods or [own[0].name])[0], own[-1].lineno or 0
        called = [frame.name for frame in frames if hasattr(Game, frame.name)]
        return (called or [otherwise])[-1], 0

    @contextmanager
    def output_noted(self) -> Iterator[None]:
        """Note what the rules print, which on a server is written into the server's output."""
        with (
            _Overheard(partial(self.printed, "stdout")) as stdout,
            _Overheard(partial(self.printed, "stderr")) as stderr,
            redirect_stdout(stdout),
            redirect_stderr(stderr),
        ):
            yield

    def printed(self, stream: str, text: str, frames: Sequence[traceback.FrameSummary]) -> None:
        """Note a line that was printed; of each method only the first."""
        method, line = self.blame_frames(frames, "play")
        if method in self.printing:
            return
        self.printing.add(method)
        shown = text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."
        place = f" (line {line})" if line else ""
        self.report.add(
            method,
            f"writes {shown!r} to {stream}{place}, which on a server is the server's own output"
            f"{self.where}",
        )

    def fail(self, method: str, sentence: str) -> NoReturn:
        """Note a finding after which this game cannot go on."""
        self.report.add(method, sentence + self.where)
        raise _Broken

    def option_sets(self) -> list[tuple[str, ...]]:
        """Return the words of the default game, and one other value of each option at a time."""
        sets: list[tuple[str, ...]] = [()]
        for option in self.rules.options:
            for value in option.values:
                if value == option.default:
                    continue
                text = "no" if value is False else value
                word = f"-{option.name}" if value is True else f"-{option.name}={text}"
                sets.append((word,))
        return sets[:12]

    # -- a random game -----------------------------------------------------------------------

    def play(self, words: tuple[str, ...], seed: int) -> None:
        """Play a random game to its end, and look at everything on the way."""
        rules, game = self.rules, self.game
        least, most = max(2, rules.seats[0]), rules.seats[1]
        seats = least + seed % (most - least + 1)
        self.where = f" ({' '.join(words)})" if words else ""
        record = GameRecord(rules.key, rules.version, seats, words, bytes([seed]) * 32)
        options = game.options(words, seats)
        if game.options(game.describe(options), seats) != options:
            self.fail("options", "a value does not come back from its own text")
        position = opening(game, record)
        draws = Rng(b"check" + bytes([seed]), 0)
        states = [position.state.state]
        plies: list[Ply] = []
        swaps = seed % 2 == 1
        while position.outcome is None:
            if len(plies) >= LONGEST:
                self.fail("over", f"a random game has not ended after {LONGEST} moves")
            seat = draws.choice(sorted(position.game.to_act(position.state)))
            movers = words, seats, *(ply.seat for ply in plies)
            look = len(plies) % (1 + len(plies) // 4) == 0
            view = self.view_to_move(position, seat)
            if look:
                self.look(position, seats)
                self.leave(position, seats)
                self.secrets(position, seats, self.others.get(movers))
            self.others[movers] = position.state.state
            before = position
            text = self.a_move(view, draws, swaps=swaps, look=look)
            position = self.moved(position, seat, text)
            assert position.ply is not None
            plies.append(position.ply)
            states.append(position.state.state)
            self.told(position, seats)
            self.secret_move(before, seat, position, seats)
        self.look(position, seats)
        self.ended(position, seats)
        self.report.games += 1
        self.report.moves += len(plies)
        self.again(replace(record, plies=tuple(plies)), states)

    def view_to_move(self, position: Position, seat: Seat) -> View:
        """Return the view of a seat whose turn it is, and check that its moves are texts."""
        view = self.game.view(position.state, seat)
        listed = list(view.moves)
        if not listed:
            self.fail("moves", "lists nothing for a seat whose turn it is")
        for move in listed:
            if not isinstance(move, str) or move != " ".join(move.split()) or not move:
                self.fail("moves", f"{move!r} is not a text of words")
        return view

    def a_move(self, view: View, draws: Rng, *, swaps: bool, look: bool) -> str:
        """Return a random move of a seat, read from its text."""
        listed = list(view.moves)
        if look:
            self.spellings(view, listed)
            self.garbage(view)
        if view.may_swap and swaps:
            return "swap"
        return draws.choice(listed)

    def spellings(self, view: View, listed: Sequence[str]) -> None:
        """Check that each move is read as itself."""
        if len(set(map(str.casefold, listed))) < len(listed):
            self.report.add("moves", "lists moves that differ in capitals only")
        for move in listed[:40]:
            try:
                read = self.game.parse(view, move.lower())
            except MoveError:
                self.report.add("read", f"refuses {move.lower()!r}, which moves() lists")
                continue
            if read.text != move:
                self.report.add("read", f"reads {move.lower()!r} as {read.text!r}")

    def garbage(self, view: View) -> None:
        """Check that nothing that people write breaks the game."""
        for text in GARBAGE:
            try:
                read = self.game.parse(view, text)
                if read.text not in {"swap", "draw", "takeback"}:
                    again = self.game.parse(view, read.text)
                    if again != read:
                        self.report.add("read", f"reads {read.text!r}, its own move, otherwise")
            except MoveError:
                continue

    def moved(self, position: Position, seat: Seat, text: str) -> Position:
        """Return the position after a move, and check that the old state stays as it was."""
        state = position.state.state
        before = repr(state)

        def move() -> Position:
            return position.move(seat, self.game.parse(self.game.view(position.state, seat), text))

        after, spent = _timed(move)
        if spent > SLOW_S:  # Python may have collected garbage meanwhile
            after, spent = _timed(move)
        self.report.slowest = max(self.report.slowest, spent)
        if spent > SLOW_S:
            self.report.add("play", f"a move takes {spent:.1f} s of processor time")
        if repr(state) != before:
            self.fail("play", "changes the state that it was given; return a new one")
        self.size(after.state.state)
        return after

    def size(self, state: Any) -> None:
        """Note a state that is too large."""
        octets = octets_of(state)
        if octets is None:
            self.fail("play", "returns a state that is not a plain value")
        self.report.largest = max(self.report.largest, octets)
        if octets > LARGE:
            self.report.add("play", f"a state has {octets // 1000} kB, and boards keep many")

    # -- what readers see --------------------------------------------------------------------

    def look(self, position: Position, seats: int) -> None:
        """Draw the board for all readers in every form."""
        for you in (*map(Seat, range(seats)), None):
            state = position.state.state
            seen = self.rules.seen(state, you)
            if self.rules.seen(seen, you) != seen:
                self.report.add("seen", "hides more when it is asked again about what it returned")
            if seen != state and not self.rules.hidden:
                self.report.add("hidden", "must be True, since seen() hides something")
            view = self.game.view(position.state, you)
            self.parts(view)
            self.letters(view, NAMES[:seats], you)

    def parts(self, view: View) -> None:
        """Check what the game shows."""
        shown: Any = view.parts
        for part in shown:
            if not isinstance(part, Grid):
                continue
            if len({len(row) for row in part.rows}) > 1:
                self.report.add("show", "the rows of a grid differ in length")
            keys = {key for row in part.rows for key in row} - {".", " "}
            if unknown := sorted(keys - set(part.pieces)):
                self.report.add("show", f"no piece has the key {unknown[0]!r}")
            names = [cell.name for cell in laid_out(part).cells]
            if len(set(names)) < len(names):
                self.report.add("show", "two cells have the same name")
            if strange := sorted({*part.strong, *part.new} - set(names)):
                self.report.add("show", f"{strange[0]} is not a cell of the grid")

    def letters(self, view: View, names: Sequence[str], you: Seat | None) -> None:
        """Look at all that a letter and a page have of a board."""
        for name, text in _drawn(self.rules.key, view, names, you).items():
            if name.startswith("board") and not re.sub(r"<[^<>]*>|[\s|+-]", "", text):
                self.report.add("show", f"the board is empty ({name})")
            wide = [line for line in text.splitlines() if len(line) > WIDTH]
            if wide and name.endswith("txt"):
                self.report.add("show", f"a line has {len(wide[0])} columns; {WIDTH} are the most")

    # -- secrets -----------------------------------------------------------------------------

    def secrets(self, position: Position, seats: int, other: Any) -> None:
        """Change what is hidden from a reader, and compare what the reader gets.

        Args:
            other: the state of another game after as many moves of the same seats, `None` if there
                is none yet.
        """
        table = position.state
        if other is None or not self.rules.hidden or table.outcome is not None:
            return
        for you in (*map(Seat, range(seats)), None):
            side = None if you is None else table.sides[you]
            seen = self.rules.seen(table.state, side)
            changed = _with_other_secrets(table.state, seen, other)
            if changed == table.state:
                continue
            if self.rules.seen(changed, side) != seen:
                reader = "a spectator" if you is None else f"seat {you}"
                self.report.add("seen", f"what it shows to {reader} depends on what it hides")
                continue
            self.compare(position, _in_place(position, replace(table, state=changed)), you, seats)

    def secret_move(self, before: Position, seat: Seat, after: Position, seats: int) -> None:
        """Make another move in place of a secret one, and compare what the others get."""
        assert after.ply is not None
        text = after.ply.text
        if after.outcome is not None or after.step.public.get(None, text) in {text, ""}:
            return
        if self.rules.together and after.state.state != before.state.state:
            return  # the last choice of a turn shows them all
        listed = list(self.game.view(before.state, seat).moves)
        twin = next((move for move in listed if move != text), None)
        if twin is None:  # such as "random": other chance is another move
            before, twin = replace(before, seed=before.seed[::-1] + b"twin"), text
        instead = before.move(seat, self.game.parse(self.game.view(before.state, seat), twin))
        for you in (*map(Seat, range(seats)), None):
            if you != seat and instead.outcome is None:
                self.compare(after, instead, you, seats)

    def compare(self, first: Position, second: Position, you: Seat | None, seats: int) -> None:
        """Compare, octet by octet, all that a reader gets of two positions."""
        reader = "a spectator" if you is None else f"seat {you}"
        views = [self.game.view(position.state, you) for position in (first, second)]
        if views[0].table.state != views[1].table.state:
            self.report.add("seen", f"{reader} can tell which secret move was made")
            return
        drawn = [_drawn(self.rules.key, view, NAMES[:seats], you) for view in views]
        for name, text in drawn[0].items():
            if text != drawn[1][name]:
                self.report.add("show", f"{reader} reads something hidden ({name})")
        sentences = [
            [(note.kind, dict(note.values)) for note in notes_for(self.game, position.step, you)]
            for position in (first, second)
        ]
        if sentences[0] != sentences[1]:
            self.report.add("play", f"told says something hidden to {reader}")

    def told(self, position: Position, seats: int) -> None:
        """Check the sentences about a move."""
        for you in (*map(Seat, range(seats)), None):
            for note in notes_for(self.game, position.step, you):
                text = str(note.values.get("text", ""))
                rest = re.sub(r"\{[0-9]('s)?\}", "", text)
                if "{" in rest or any(int(n) >= seats for n in re.findall(r"\{([0-9])", text)):
                    self.report.add("play", f"tells of a seat that is not there: {text!r}")

    # -- ends --------------------------------------------------------------------------------

    def ended(self, position: Position, seats: int) -> None:
        """Check a result."""
        outcome = position.outcome
        assert outcome is not None
        if len(outcome.places) != seats or min(outcome.places) != 1:
            self.report.add("over", f"places {outcome.places} do not fit {seats} players")
        if outcome.scores and len(outcome.scores) != seats:
            self.report.add("over", f"scores {outcome.scores} do not fit {seats} players")
        if any(type(number) is not int for number in (*outcome.places, *outcome.scores)):
            self.report.add("over", "places and scores must be whole numbers")

    def leave(self, position: Position, seats: int) -> None:
        """Let each seat resign."""
        for seat in range(seats):
            state: Table = position.state
            if seat in state.out:
                continue
            step: Step[Table] = self.game.withdraw(state, Seat(seat))
            outcome = self.game.outcome(step.state)
            if outcome is None and not self.game.to_act(step.state):
                self.report.add("leave", "nobody is to move after a player has resigned")

    def again(self, record: GameRecord, states: Sequence[Any]) -> None:
        """Replay a game; the same record gives the same states."""
        random.seed(len(states))
        try:
            steps = replay(self.game, record)
        except MoveError:
            self.fail("play", "a move is not legal when it is replayed; draw from rng alone")
        for number, (step, state) in enumerate(zip(steps, states, strict=True)):
            if step.state.state != state:
                method = "play" if number else "start"
                self.fail(method, "the same move gives another state; draw from rng, not elsewhere")

    def bot(self, level: str) -> None:
        """Let a bot play against itself."""
        self.where = f" (bot {level})"
        least = self.rules.seats[0]
        position = opening(
            self.game, GameRecord(self.rules.key, self.rules.version, least, (), b"bots" * 8)
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
                self.fail("bots", f"{level} returns {text!r}, which is not a text")
            try:
                move: Move = self.game.parse(view, text)
            except MoveError:
                self.fail("bots", f"{level} plays {text!r}, which is not legal")
            position = position.move(seat, move)


def _timed(act: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a call, and the processor time of this thread in seconds."""
    begun = time.thread_time()
    result = act()
    return result, time.thread_time() - begun


def _in_place(position: Position, table: Table) -> Position:
    return replace(position, step=replace(position.step, state=table))


def _drawn(key: str, view: View, names: Sequence[str], you: Seat | None) -> dict[str, str]:
    """Return all that a letter has of a board, by the names of its templates."""
    from pbmserv.letters.rendering import Links
    from pbmserv.letters.replies import Mailto
    from pbmserv.views.environment import environment

    people = [name for seat, name in enumerate(names) if seat != you]
    mailto = Mailto("pbmserv+token@games.example", "Re: a board")
    variables = {"board": 12, "mailto": mailto, "links": Links.ALL, "people": people}
    variables |= {"compact": False, "view": view, "names": names, "you": you, "beginner": True}
    return {
        name: environment().get_template(f"games/{key}/{name}.j2").render(variables)
        for name in ("board.txt", "advice.txt", "spoken.txt", "board.html", "advice.html")
    }


def _with_other_secrets(state: Any, seen: Any, other: Any) -> Any:
    """Return a state whose hidden parts are those of another one.

    A part is hidden if *seen* differs there. It is left as it is if the other state has nothing of
    the same form: how many cards somebody holds may be known.
    """
    if state == seen or type(state) is not type(other):
        return state
    if is_dataclass(state) and not isinstance(state, type) and type(seen) is type(state):
        values = {part.name: getattr(state, part.name) for part in fields(state) if part.init}
        parts = {
            name: _with_other_secrets(value, getattr(seen, name), getattr(other, name))
            for name, value in values.items()
        }
        return replace(state, **parts)
    if isinstance(state, tuple | list) and len(state) == len(other):
        if type(seen) is type(state) and len(seen) == len(state):
            triples = zip(state, seen, other, strict=True)
            parts_in_order = [_with_other_secrets(*triple) for triple in triples]
            if hasattr(state, "_make"):
                return type(state)._make(parts_in_order)
            return type(state)(parts_in_order)
        return other
    if isinstance(state, Mapping) and isinstance(seen, Mapping) and state.keys() == other.keys():
        return {
            key: _with_other_secrets(value, seen.get(key), other[key])
            for key, value in state.items()
        }
    return state if isinstance(state, Sized) and len(state) != len(other) else other
