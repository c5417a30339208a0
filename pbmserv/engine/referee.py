"""Positions of a board as a chain: each one knows the ply that led to it.

The chain makes a position cheap to extend, and lets a letter look back to what
happened since its reader's last turn without replaying anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pbmserv.engine.record import (
    FORFEIT,
    UNDO,
    WITHDRAW,
    GameRecord,
    Ply,
    advance,
    start,
    take_back,
)
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Move, Outcome, Seat, Step
from pbmserv.errors import Illegal


@dataclass(frozen=True, slots=True)
class Position:
    """A board after some ply.

    Attributes:
        game: its rules.
        seed: of the board; secret.
        step: what the last ply did; its ``state`` is the position.
        ply: the ply that led here; ``None`` at the start.
        before: the position before it; ``None`` at the start.
        turns: how many turns have been used. It is what everybody may know of the number of
            plies: free moves may be private (seals), and so is how many there were.
    """

    game: AnyGame
    seed: bytes = field(repr=False)
    step: Step[Any] = field(repr=False)
    ply: Ply | None
    before: Position | None = field(repr=False)
    turns: int = 0

    @property
    def state(self) -> Any:
        """The game's own state; only its `view` may leave the house."""
        return self.step.state

    @property
    def number(self) -> int:
        """How many plies have been played."""
        return self.ply.number if self.ply else 0

    @property
    def outcome(self) -> Outcome | None:
        """How the board ended; a game itself knows of no clock."""
        outcome: Outcome | None = self.game.outcome(self.state)
        if outcome is not None and self.ply is not None and self.ply.text == FORFEIT:
            return replace(outcome, reason=FORFEIT, seat=self.ply.seat)
        return outcome

    def at_turn(self, turns: int) -> Position:
        """The newest position with at most that many turns."""
        position = self
        while position.turns > turns and position.before is not None:
            position = position.before
        return position

    def at(self, number: int) -> Position:
        """The position after ply *number*, which is this one or an earlier one."""
        position = self
        while position.number > number and position.before is not None:
            position = position.before
        return position

    def backwards(self) -> Iterator[Position]:
        """This position and those before it, newest first, without the start.

        Undos and the plies that they took back are left out.
        """
        position: Position | None = self
        undone = 0
        while position is not None and position.ply is not None:
            if position.ply.text == UNDO:
                undone += 1
            elif undone:
                undone -= 1
            else:
                yield position
            position = position.before

    def after(self, number: int) -> list[Position]:
        """Positions after ply *number*, oldest first, without what was taken back."""
        return [position for position in self.backwards() if position.number > number][::-1]

    def since(self, seat: Seat | None) -> list[Position]:
        """Positions after the last turn of *seat*, oldest first; all if it had none yet."""
        found = []
        for position in self.backwards():
            ply = position.ply
            if ply is not None and ply.seat == seat and not ply.free:
                break
            found.append(position)
        return found[::-1]

    def play(self, ply: Ply) -> Position:
        """The position after one more recorded ply."""
        if ply.text == UNDO:
            step = take_back(self.undoable(ply.seat).state, ply.seat)
        else:
            step = advance(self.game, self.seed, self.state, ply)
        turns = self._turns_before(ply) + (not ply.free)
        return Position(self.game, self.seed, step, ply, self, turns)

    def _turns_before(self, ply: Ply) -> int:
        """An undo gives the turn back that it undoes."""
        return self.undoable(ply.seat).turns if ply.text == UNDO else self.turns

    def undoable(self, seat: Seat) -> Position:
        """The position that an undo by *seat* leads back to.

        Raises:
            Illegal: the last ply is another seat's, or somebody learnt something from it.
        """
        last = next(self.backwards(), None)
        if last is None or last.ply is None or last.before is None:
            raise Illegal("undo-nothing")
        if last.ply.seat != seat:
            raise Illegal("undo-not-yours")
        if last.step.reveals:
            raise Illegal("undo-revealed")
        return last.before

    def move(self, seat: Seat, move: Move) -> Position:
        """The position after a move that the game's `parse` has just read."""
        return self.play(Ply(self.number + 1, seat, move.text, move.free))

    def undo(self, seat: Seat) -> Position:
        """The position after *seat* has taken back its last ply; raises as `undoable`."""
        return self.play(Ply(self.number + 1, seat, UNDO, free=True))

    def withdraw(self, seat: Seat) -> Position:
        """The position after *seat* has resigned."""
        return self.play(Ply(self.number + 1, seat, WITHDRAW, free=False))

    def forfeit(self, seat: Seat) -> Position:
        """The position after *seat* has taken too long."""
        return self.play(Ply(self.number + 1, seat, FORFEIT, free=False))


def opening(game: AnyGame, record: GameRecord) -> Position:
    """The position before the first ply of a record."""
    return Position(game, record.seed, Step(start(game, record), {None: ""}), None, None)
