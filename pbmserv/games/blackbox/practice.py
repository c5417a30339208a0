"""A game of one player on one box, with undo and redo, in a terminal or in a file.

Practice boards of the server are positions of `engine.position`, which also keep the undone plies.
A file has only the steps, and needs each of them by its number.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from pbmserv.engine.protocol import Spend
from pbmserv.engine.record import HINT, RESTART
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Note, Seat, Step
from pbmserv.errors import Illegal, MoveError, NotUnderstood, OptionError
from pbmserv.games.blackbox.game_ids import GameId, atoms_of, clipped, described
from pbmserv.games.blackbox.lessons import explained
from pbmserv.games.blackbox.moves import move_of
from pbmserv.games.blackbox.options import ENDLESS, MOST_GUESSES, Options, Scoring
from pbmserv.games.blackbox.racing import Score, hinted, score
from pbmserv.games.blackbox.refusals import elements_of
from pbmserv.games.blackbox.rules import drop_out, play
from pbmserv.games.blackbox.state import State, new_state
from pbmserv.games.blackbox.transcripts import MOST_MOVES, Transcript
from pbmserv.games.blackbox.views import View, view_of

SOLVE = "solve"
"""The word for giving up; the word for beginning again is `engine.record.RESTART`."""

PLAYER = Seat(0)

_NO_DRAWS = Rng(b"", 0)
"""Moves draw no random numbers here: on a box that the server hid, the clue for a wrong guess
follows from the board."""


USUAL_GUESSES = {
    Scoring.PRACTICE: ENDLESS,
    Scoring.CLASSIC: 1,
    Scoring.TIMED: MOST_GUESSES,
}


@dataclass(frozen=True)
class Practice:
    """A position of a game. Each change returns a new one.

    Attributes:
        game: the box.
        steps: the board before the first move, then all steps with their texts for `PLAYER`. The
            last ones may have been taken back.
        done: the number of steps that count, without the first one.
    """

    game: GameId
    steps: tuple[Step[State], ...] = field(repr=False)
    done: int = 0

    @property
    def state(self) -> State:
        """The board after the steps that count."""
        return self.steps[self.done].state

    @property
    def options(self) -> Options:
        """The rules."""
        return self.state.options

    @property
    def scoring(self) -> Scoring:
        """The kind of scoring."""
        return Scoring.PRACTICE if self.options.practice else Scoring(self.options.scoring)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of all steps except the first one, which has none."""
        return tuple(step.public[PLAYER] for step in self.steps[1:])

    @cached_property
    def view(self) -> View:
        """The board as the player sees it."""
        return view_of(self.state, PLAYER)

    @property
    def over(self) -> bool:
        """Whether the game is solved, lost or given up."""
        return self.state.outcome is not None

    @property
    def asks_for_hint(self) -> bool:
        """Whether the newest step asked for a hint."""
        return self.steps[self.done].public[PLAYER] == HINT

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on the newest step, with lessons in full; see `lessons.explained`."""
        notes = self.steps[self.done].notes
        return tuple(chain.from_iterable(explained(self.state, note) for note in notes))

    @property
    def tries(self) -> int:
        """The number of times that this box was begun."""
        return 1 + self.texts[: self.done].count(RESTART)

    def work(self, text: str) -> int:
        """Return the work of one more step in the units of `engine.position.work_of`.

        A step makes a view and reads its move twice: as people write it, and as records do.
        """
        squares = len(self.options.board.cells)
        if text == SOLVE:
            return 3 + squares // 64 + self.options.most // 8
        return 3 + len(text) // 8 + squares // 64 + (squares // 16 if "?" in text else 0)

    def play(self, text: str, seconds: int = 0) -> Practice:
        """Make a move.

        Args:
            text: the move as people write it.
            seconds: the seconds for which the game was played.

        Raises:
            NotUnderstood | Illegal: see `refusals.elements_of`, or there are too many steps.
        """
        elements = elements_of(self.view, text)
        stamp = seconds if self.scoring is Scoring.TIMED else None
        canonical = move_of(elements).text
        return self._with(play(self.state, PLAYER, canonical, elements, _NO_DRAWS, stamp))

    def solve(self) -> Practice:
        """Give up and open the box. In practice, this can be taken back.

        Raises:
            Illegal: the game is over.
        """
        if self.over:
            raise Illegal("blackbox.finished")
        return self._with(replace(drop_out(self.state, PLAYER), public={PLAYER: SOLVE}))

    def hint(self) -> Practice:
        """Note that the player asks for a hint, which `bots.hints` works out.

        In a scored game it costs points. A second request in a row changes nothing.

        Raises:
            Illegal: the game is over.
        """
        return self if self.asks_for_hint else self._with(hinted(self.state, PLAYER))

    def restart(self) -> Practice:
        """Begin the same box again.

        In practice, undo takes this back. In a scored game the earlier try is over.
        """
        has_scored = bool(self.state.turns or self.state.boxes[PLAYER].result.hints)
        reveals = has_scored and self.scoring is not Scoring.PRACTICE
        return self._with(Step(self.steps[0].state, {PLAYER: RESTART}, reveals=reveals))

    def undo(self) -> Practice:
        """Take back the newest step.

        Raises:
            Illegal: there is no step, or it counts for the score.
        """
        if not self.done:
            raise Illegal("blackbox.nothing-to-undo")
        newest = self.steps[self.done]
        if newest.reveals:
            raise Illegal("blackbox.scored", part=newest.public[PLAYER])
        return replace(self, done=self.done - 1)

    def redo(self) -> Practice:
        """Repeat the step that was taken back.

        Raises:
            Illegal: no step was taken back.
        """
        if self.done == len(self.steps) - 1:
            raise Illegal("blackbox.nothing-to-redo")
        return replace(self, done=self.done + 1)

    def transcript(self, seconds: int) -> Transcript:
        """Return the whole game as a transcript."""
        words = option_words(self.options)
        return Transcript(self.game, words, seconds, self.texts, self.done)

    def score(self, seconds: int) -> Score:
        """Return the score so far, after *seconds* of playing."""
        box = self.state.boxes[PLAYER]
        if not self.over:
            box = replace(box, result=replace(box.result, seconds=seconds))
        return score(self.options, box)

    def _with(self, step: Step[State]) -> Practice:
        if self.done >= MOST_MOVES:
            raise Illegal("blackbox.transcript-moves", most=MOST_MOVES, line=0)
        return replace(self, steps=(*self.steps[: self.done + 1], step), done=self.done + 1)


def option_words(options: Options) -> tuple[str, ...]:
    """Return the option words of a transcript of a game with these rules."""
    words = ["-practice" if options.practice else f"-scoring={options.scoring}"]
    if options.guesses != ENDLESS:
        words.append(f"-guesses={options.guesses}")
    words += [f"-{flag}" for flag in ("fair", "clue") if getattr(options, flag)]
    return tuple(words)


def begin(game: GameId, scoring: Scoring, guesses: int, *, fair: bool, clue: bool) -> Practice:
    """Return a game before its first move."""
    options = replace(
        Options.of(game),
        guesses=guesses,
        fair=fair,
        clue=clue,
        race=True,
        scoring="timed" if scoring is Scoring.TIMED else "classic",
        practice=scoring is Scoring.PRACTICE,
    )
    start = new_state(options, 1, atoms_of(game), described(game))
    return Practice(game, (Step(start, {PLAYER: ""}),))


def begin_alike(game: GameId, earlier: Practice) -> Practice:
    """Return a game on another box with the rules of an earlier game."""
    rules = earlier.options
    return begin(game, earlier.scoring, rules.guesses, fair=rules.fair, clue=rules.clue)


def at_no_charge(_work: int) -> None:
    """Count no work, for a program that works for its own user."""


def resumed(transcript: Transcript, spend: Spend = at_no_charge) -> Practice:
    """Return the game of a transcript.

    Args:
        transcript: the transcript.
        spend: called with the work of each move before it is made. Its exceptions are not caught.

    Raises:
        OptionError: an option is unknown.
        NotUnderstood: a move cannot be made in its place.
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
    return replace(practice, done=min(transcript.done, len(transcript.moves)))


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
