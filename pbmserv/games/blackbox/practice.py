"""A game of one player on one box, with undo and redo, as `play` and practice boards offer it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from pbmserv.engine.protocol import Spend
from pbmserv.engine.record import HINT, RESTART
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Note, Seat
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


USUAL_GUESSES = {
    Scoring.PRACTICE: ENDLESS,
    Scoring.CLASSIC: 1,
    Scoring.TIMED: MOST_GUESSES,
}


@dataclass(frozen=True, slots=True)
class PracticeStep:
    """One step of the chain: the text of the move, the board after it, and its notes."""

    text: str
    state: State = field(repr=False)
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Practice:
    """A position of a game. Each change returns a new one.

    Attributes:
        game: the box.
        options: the rules.
        scoring: the kind of scoring.
        start: the board before the first move.
        chain: all steps, including those that were taken back.
        done: the number of steps that count.
    """

    game: GameId
    options: Options
    scoring: Scoring
    start: State = field(repr=False)
    chain: tuple[PracticeStep, ...] = ()
    done: int = 0

    @property
    def state(self) -> State:
        """The board after the steps that count."""
        return self.chain[self.done - 1].state if self.done else self.start

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
        return bool(self.done) and self.chain[self.done - 1].text == HINT

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on the newest step, with lessons in full; see `lessons.explained`."""
        if not self.done:
            return ()
        step = self.chain[self.done - 1]
        return tuple(chain.from_iterable(explained(step.state, note) for note in step.notes))

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
            NotUnderstood | Illegal: see `refusals.elements_of`, or the chain is too long.
        """
        elements = elements_of(self.view, text)
        rng = Rng(self.game.text.encode(), self.done)  # the same moves give the same clues
        stamp = seconds if self.scoring is Scoring.TIMED else None
        step = play(self.state, PLAYER, move_of(elements).text, elements, rng, stamp)
        return self._with(PracticeStep(step.public[PLAYER], step.state, step.notes))

    def solve(self) -> Practice:
        """Give up and open the box. In practice, this can be taken back.

        Raises:
            Illegal: the game is over.
        """
        if self.over:
            raise Illegal("blackbox.finished")
        step = drop_out(self.state, PLAYER)
        return self._with(PracticeStep(SOLVE, step.state, step.notes))

    def hint(self) -> Practice:
        """Note that the player asks for a hint, which `bots.hints` works out.

        In a scored game it costs points. A second request in a row changes nothing.

        Raises:
            Illegal: the game is over.
        """
        if self.asks_for_hint:
            return self
        step = hinted(self.state, PLAYER)
        return self._with(PracticeStep(HINT, step.state, step.notes))

    def restart(self) -> Practice:
        """Begin the same box again.

        In practice, undo takes this back. In a scored game the earlier try is over.
        """
        return self._with(PracticeStep(RESTART, self.start))

    @property
    def tries(self) -> int:
        """The number of times that this box was begun."""
        return 1 + sum(step.text == RESTART for step in self.chain[: self.done])

    def undo(self) -> Practice:
        """Take back the newest step.

        Raises:
            Illegal: there is no step, or it counts for the score.
        """
        if not self.done:
            raise Illegal("blackbox.nothing-to-undo")
        before = self.chain[self.done - 2].state if self.done > 1 else self.start
        if self.scoring is not Scoring.PRACTICE and self._counts(before):
            raise Illegal("blackbox.scored", part=self.chain[self.done - 1].text)
        return replace(self, done=self.done - 1)

    def redo(self) -> Practice:
        """Repeat the step that was taken back.

        Raises:
            Illegal: no step was taken back.
        """
        if self.done == len(self.chain):
            raise Illegal("blackbox.nothing-to-redo")
        return replace(self, done=self.done + 1)

    def transcript(self, seconds: int) -> Transcript:
        """Return the whole game as a transcript."""
        moves = tuple(step.text for step in self.chain)
        return Transcript(self.game, tuple(self._option_words()), seconds, moves, self.done)

    def score(self, seconds: int) -> Score:
        """Return the score so far, after *seconds* of playing."""
        box = self.state.boxes[PLAYER]
        if not self.over:
            box = replace(box, result=replace(box.result, seconds=seconds))
        return score(self.options, box)

    def _counts(self, before: State) -> bool:
        """Return whether the newest step used a turn or a hint, or ended the game."""
        return (self.state.turns, self.state.outcome, self.state.boxes[PLAYER].result.hints) != (
            before.turns,
            before.outcome,
            before.boxes[PLAYER].result.hints,
        )

    def _with(self, step: PracticeStep) -> Practice:
        if self.done >= MOST_MOVES:
            raise Illegal("blackbox.transcript-moves", most=MOST_MOVES, line=0)
        return replace(self, chain=(*self.chain[: self.done], step), done=self.done + 1)

    def _option_words(self) -> Iterator[str]:
        is_practice = self.scoring is Scoring.PRACTICE
        yield "-practice" if is_practice else f"-scoring={self.scoring}"
        if self.options.guesses != ENDLESS:
            yield f"-guesses={self.options.guesses}"
        for flag in ("fair", "clue"):
            if getattr(self.options, flag):
                yield f"-{flag}"


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
    return Practice(game, options, scoring, new_state(options, 1, atoms_of(game), described(game)))


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
