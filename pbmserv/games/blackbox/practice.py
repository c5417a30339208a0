"""A game of one player on one box whose atoms are known to the program, with undo and redo; and
its transcript: a text that people can read, with everything that was taken back in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import NoReturn

from pbmserv.engine.protocol import Spend
from pbmserv.engine.record import HINT, RESTART
from pbmserv.engine.types import Note, Rng, Seat
from pbmserv.errors import Illegal, MoveError, NotUnderstood, OptionError
from pbmserv.games.blackbox.game_ids import (
    GameId,
    atoms_of,
    cells_of,
    clipped,
    described,
    is_plain,
    seed_digits,
    seed_of_digits,
    stored_id,
)
from pbmserv.games.blackbox.legality import elements_of
from pbmserv.games.blackbox.moves import move_of
from pbmserv.games.blackbox.options import ENDLESS, MOST_GUESSES, Options
from pbmserv.games.blackbox.racing import Score, hinted, score
from pbmserv.games.blackbox.rules import dropped_out, explained, play
from pbmserv.games.blackbox.state import State, new_state
from pbmserv.games.blackbox.views import View, view_of

VERSION = 1
FIRST_LINE = "pbmserv transcript"
MOST_MOVES = 2000
MOST_CHARACTERS = 200_000
MOST_SECONDS = 10**9

SOLVE = "solve"
"""The word for giving up; that for beginning again is `engine.record.RESTART`."""

_FIRST = re.compile(rf"{FIRST_LINE} ([0-9]{{1,9}})")
_FIELD = re.compile(r"([a-z]+):(?: (.*))?")
_MOVE = re.compile(r"([1-9][0-9]{0,3})\. (\S.*)")
_SECONDS = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A game on one box, as it is written down.

    Attributes:
        game: the box.
        options: words such as ``-guesses=3``; those about size and atoms are in the ID.
        seconds: for how long it was played.
        moves: what was done, taken back or not, in order.
        done: how many of them count; the rest was taken back.
    """

    game: GameId
    options: tuple[str, ...]
    seconds: int
    moves: tuple[str, ...]
    done: int


def write_transcript(transcript: Transcript) -> str:
    """The text; `read_transcript` reads it again."""
    moves = [f"{number}. {text}" for number, text in enumerate(transcript.moves, 1)]
    if transcript.done < len(moves):
        moves.insert(transcript.done, "undone:")
    head = (
        f"{FIRST_LINE} {VERSION}",
        "game: blackbox",
        *_box_lines(transcript.game),
        f"options: {' '.join(transcript.options)}".rstrip(),
        f"seconds: {transcript.seconds}",
        "",
    )
    return "\n".join((*head, *moves, "end")) + "\n"


def _box_lines(game: GameId) -> Iterator[str]:
    """The lines of a box and its seed. A seed with blanks at its ends goes into digits, since a
    mail may lose them."""
    seed = game.seed
    is_safe = seed is not None and is_plain(seed) and seed == seed.strip()
    if game.cells is None and seed is not None and seed.isprintable() and seed == seed.strip():
        yield f"box: {game.seeded}"
        return
    yield f"box: {described(game)}"
    if seed is not None:
        yield f"seed: {seed}" if is_safe else f"hexseed: {seed_digits(seed)}"


def read_transcript(text: str) -> Transcript:
    """Read a transcript. Whether its moves can be made is seen when they are (`practice`).

    Raises:
        NotUnderstood: with the number of the line that is wrong (0 = something is missing).
        OptionError: the game ID in it is wrong.
    """
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstood("blackbox.transcript-long", length=len(text), most=MOST_CHARACTERS)
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    _skip_to_first(lines)
    head = _read_head(lines)
    game = _with_seed(stored_id(head["box"][1]), head)
    line, seconds = head.get("seconds", (0, "0"))
    if not _SECONDS.fullmatch(seconds) or int(seconds) > MOST_SECONDS:
        _refuse("transcript-line", seconds, line)
    moves, done = _read_moves(lines)
    options = tuple(head.get("options", (0, ""))[1].split())
    return Transcript(game, options, int(seconds), tuple(moves), done)


def _with_seed(game: GameId, head: Mapping[str, tuple[int, str]]) -> GameId:
    """The box with the seed that the head names beside it."""
    seed = head["seed"][1] if "seed" in head else game.seed
    if "hexseed" in head:
        line, digits = head["hexseed"]
        seed = seed_of_digits(digits)
        if seed is None:
            _refuse("transcript-line", digits, line)
    if seed == game.seed:
        return game
    return replace(game, cells=cells_of(game), seed=seed)


def _skip_to_first(lines: Iterator[tuple[int, str]]) -> None:
    for number, line in lines:
        if found := _FIRST.fullmatch(line):
            if int(found[1]) != VERSION:
                _refuse("transcript-version", found[1], number)
            return
    _refuse("transcript-none", FIRST_LINE, 0)


def _read_head(lines: Iterator[tuple[int, str]]) -> dict[str, tuple[int, str]]:
    head: dict[str, tuple[int, str]] = {}
    for number, line in lines:
        if not line:
            break
        found = _FIELD.fullmatch(line)
        if found is None or found[1] in head:
            _refuse("transcript-line", line, number)
        head[found[1]] = (number, (found[2] or "").strip())
    for asked in ("game", "box"):
        if not head.get(asked, (0, ""))[1]:
            _refuse("transcript-missing", asked, 0)
    line_number, game = head["game"]
    if game != "blackbox":
        _refuse("transcript-game", game, line_number)
    return head


def _read_moves(lines: Iterator[tuple[int, str]]) -> tuple[list[str], int]:
    moves: list[str] = []
    done: int | None = None
    for number, line in lines:
        if line == "end":
            return moves, len(moves) if done is None else done
        if not line:
            continue
        if line == "undone:" and done is None:
            done = len(moves)
            continue
        found = _MOVE.fullmatch(line)
        if found is None or int(found[1]) != len(moves) + 1:
            _refuse("transcript-line", line, number)
        if len(moves) == MOST_MOVES:
            raise NotUnderstood("blackbox.transcript-moves", most=MOST_MOVES, line=number)
        moves.append(found[2])
    return _refuse("transcript-no-end", "end", 0)


def _refuse(code: str, part: str, line: int) -> NoReturn:
    raise NotUnderstood(f"blackbox.{code}", part=clipped(part), line=line, known=VERSION)


PLAYER = Seat(0)


class Scoring(StrEnum):
    """How a game is scored."""

    PRACTICE = "practice"
    CLASSIC = "classic"
    TIMED = "timed"


USUAL_GUESSES = {
    Scoring.PRACTICE: ENDLESS,
    Scoring.CLASSIC: 1,
    Scoring.TIMED: MOST_GUESSES,
}


@dataclass(frozen=True, slots=True)
class Done:
    """One step of the chain: what was done, the board after it, and what is told of it."""

    text: str
    state: State = field(repr=False)
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Practice:
    """A game as it stands; every change gives a new one.

    Attributes:
        game: the box.
        options: the rules.
        scoring: how it is scored.
        start: the board before the first move.
        chain: all steps, those that were taken back included.
        done: how many of them count.
    """

    game: GameId
    options: Options
    scoring: Scoring
    start: State = field(repr=False)
    chain: tuple[Done, ...] = ()
    done: int = 0

    @property
    def state(self) -> State:
        """The board as it stands."""
        return self.chain[self.done - 1].state if self.done else self.start

    @cached_property
    def view(self) -> View:
        """What the player may see of it."""
        return view_of(self.state, PLAYER)

    @property
    def over(self) -> bool:
        """Whether it is solved, lost or given up."""
        return self.state.outcome is not None

    @property
    def asks_for_hint(self) -> bool:
        """Whether the newest step asked for a hint."""
        return bool(self.done) and self.chain[self.done - 1].text == HINT

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on the newest step, worked out."""
        if not self.done:
            return ()
        step = self.chain[self.done - 1]
        return tuple(chain.from_iterable(explained(step.state, note) for note in step.notes))

    def work(self, text: str) -> int:
        """Return the work of one more step, as `engine.position.work_of` counts it.

        A step reads its view and its move twice, as people and as records write it.
        """
        squares = len(self.options.board.cells)
        if text == SOLVE:
            return 3 + squares // 64 + self.options.most // 8
        return 3 + len(text) // 8 + squares // 64 + (squares // 16 if "?" in text else 0)

    def play(self, text: str, seconds: int = 0) -> Practice:
        """Make a move, as people write it, after so many *seconds* of playing.

        Raises:
            NotUnderstood | Illegal: see `legality.elements_of`, or the chain is too long.
        """
        elements = elements_of(self.view, text)
        rng = Rng(self.game.text.encode(), self.done)  # the same chain gives the same clues
        stamp = seconds if self.scoring is Scoring.TIMED else None
        step = play(self.state, PLAYER, move_of(elements).text, elements, rng, stamp)
        return self._with(Done(step.public[PLAYER], step.state, step.notes))

    def solve(self) -> Practice:
        """Give up and open the box; it can be taken back in practice.

        Raises:
            Illegal: the game is over.
        """
        if self.over:
            raise Illegal("blackbox.finished")
        step = dropped_out(self.state, PLAYER)
        return self._with(Done(SOLVE, step.state, step.notes))

    def hint(self) -> Practice:
        """Ask for a hint, which `bots.hints` works out; where points count it costs some. One that
        was asked for already is the same.

        Raises:
            Illegal: the game is over.
        """
        if self.asks_for_hint:
            return self
        step = hinted(self.state, PLAYER)
        return self._with(Done(HINT, step.state, step.notes))

    def restart(self) -> Practice:
        """Return the same box before the first move. In practice, undo takes that back; in a scored
        game the earlier try is over, and `tries` counts it."""
        return self._with(Done(RESTART, self.start))

    @property
    def tries(self) -> int:
        """How often this box was begun."""
        return 1 + sum(step.text == RESTART for step in self.chain[: self.done])

    def undo(self) -> Practice:
        """Take back the newest step.

        Raises:
            Illegal: there is none, or it counts for the score.
        """
        if not self.done:
            raise Illegal("blackbox.nothing-to-undo")
        before = self.chain[self.done - 2].state if self.done > 1 else self.start
        if self.scoring is not Scoring.PRACTICE and self._counts(before):
            raise Illegal("blackbox.scored", part=self.chain[self.done - 1].text)
        return replace(self, done=self.done - 1)

    def redo(self) -> Practice:
        """Do again what was taken back.

        Raises:
            Illegal: there is nothing.
        """
        if self.done == len(self.chain):
            raise Illegal("blackbox.nothing-to-redo")
        return replace(self, done=self.done + 1)

    def transcript(self, seconds: int) -> Transcript:
        """All of it, to be written down."""
        moves = tuple(step.text for step in self.chain)
        return Transcript(self.game, tuple(self._words()), seconds, moves, self.done)

    def score(self, seconds: int) -> Score:
        """What it has cost so far, with *seconds* of playing."""
        box = self.state.boxes[PLAYER]
        if not self.over:
            box = replace(box, result=replace(box.result, seconds=seconds))
        return score(self.options, box)

    def _counts(self, before: State) -> bool:
        return (self.state.turns, self.state.outcome, self.state.boxes[PLAYER].result.hints) != (
            before.turns,
            before.outcome,
            before.boxes[PLAYER].result.hints,
        )

    def _with(self, step: Done) -> Practice:
        if self.done >= MOST_MOVES:
            raise Illegal("blackbox.transcript-moves", most=MOST_MOVES, line=0)
        return replace(self, chain=(*self.chain[: self.done], step), done=self.done + 1)

    def _words(self) -> Iterator[str]:
        practice = self.scoring is Scoring.PRACTICE
        yield "-practice" if practice else f"-scoring={self.scoring}"
        if self.options.guesses != ENDLESS:
            yield f"-guesses={self.options.guesses}"
        for flag in ("fair", "clue"):
            if getattr(self.options, flag):
                yield f"-{flag}"


def begin(game: GameId, scoring: Scoring, guesses: int, *, fair: bool, clue: bool) -> Practice:
    """A game at its beginning."""
    options = Options(
        game.width,
        game.height,
        game.least,
        game.most,
        guesses,
        fair=fair,
        clue=clue,
        race=True,
        scoring="timed" if scoring is Scoring.TIMED else "classic",
        practice=scoring is Scoring.PRACTICE,
    )
    return Practice(game, options, scoring, new_state(options, 1, atoms_of(game), described(game)))


def at_no_charge(_work: int) -> None:
    """Count nothing, for a program that works for its own user."""


def resumed(transcript: Transcript, spend: Spend = at_no_charge) -> Practice:
    """Return the game of a transcript as it stood when it was written down.

    Args:
        spend: is told of each move before it is made; what it raises goes through.

    Raises:
        OptionError: one of its options is none.
        NotUnderstood: one of its moves cannot be made where it stands.
    """
    practice = _begun(transcript)
    for number, text in enumerate(transcript.moves, 1):
        spend(practice.work(text))
        try:
            if text == SOLVE:
                practice = practice.solve()
            elif text == HINT:
                practice = practice.hint()
            elif text == RESTART:
                practice = practice.restart()
            else:
                practice = practice.play(text, transcript.seconds)
        except MoveError:
            raise NotUnderstood(
                "blackbox.transcript-move", part=clipped(text), number=number
            ) from None
    return replace(practice, done=min(transcript.done, len(practice.chain)))


def _begun(transcript: Transcript) -> Practice:
    scoring, guesses, flags = Scoring.CLASSIC, "", set()
    for word in transcript.options:
        name, _, value = word.partition("=")
        if word == "-practice":
            scoring = Scoring.PRACTICE
        elif name == "-scoring" and value in (Scoring.CLASSIC, Scoring.TIMED):
            scoring = Scoring(value)
        elif name == "-guesses" and value.isascii() and value.isdigit() and len(value) < 3:
            guesses = value
        elif word in ("-fair", "-clue"):
            flags.add(word)
        else:
            raise OptionError("blackbox.transcript-option", part=word[:40])
    return begin(
        transcript.game,
        scoring,
        max(1, int(guesses)) if guesses else USUAL_GUESSES[scoring],
        fair="-fair" in flags,
        clue="-clue" in flags,
    )
