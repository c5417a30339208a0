"""Positions of a board as a chain: each one knows the ply that led to it.

The chain makes a position cheap to extend, and lets a letter look back to what
happened since its reader's last turn without replaying anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pbmserv.engine import record
from pbmserv.engine.protocol import Explaining, Sized, coached, keeps, races
from pbmserv.engine.record import (
    FORFEIT,
    HINT,
    NO_SEED,
    REDO,
    RESTART,
    UNDO,
    WITHDRAW,
    GameRecord,
    Ply,
)
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Move, Note, Outcome, Rng, Seat, Step
from pbmserv.errors import Illegal, MoveError

_LEADING_BACK = frozenset({UNDO, REDO})
_PAST = frozenset({UNDO, REDO, RESTART})
_CHARACTERS = 24


def weight(characters: int) -> int:
    """Return the work of reading a move of so many characters: one for each 24 begun."""
    return 1 + characters // _CHARACTERS


def work_of(game: AnyGame, state: Any, text: str) -> int:
    """Return the work of applying a ply on a board, in tens of microseconds.

    Args:
        state: any state of that board.
        text: the canonical text of the ply.
    """
    rules: Any = game
    sized = keeps(game, Sized) and text not in _PAST
    return weight(len(text)) + (rules.effort(state, text) if sized else 0)


def start(game: AnyGame, record: GameRecord) -> Any:
    """The state before the first ply."""
    options = game.options(record.options, record.seats)
    return game.setup(record.seats, options, Rng(record.seed, 0))


def advance(game: AnyGame, seed: bytes, state: Any, ply: Ply) -> Step[Any]:
    """Apply one recorded ply."""
    if ply.text == WITHDRAW:
        return game.withdraw(state, ply.seat)
    if ply.text == FORFEIT:
        late = game.overdue if races(game) else game.withdraw
        return _forfeited(late(state, ply.seat))
    if ply.text == HINT:
        return _hinted(game, state, ply.seat)
    return game.apply(state, ply.seat, Move(ply.text, ply.free), Rng(seed, ply.number))


def _hinted(game: object, state: Any, seat: Seat) -> Step[Any]:
    if not coached(game):
        raise Illegal("no-hint", part=HINT)
    return game.hinted(state, seat)


def _forfeited(step: Step[Any]) -> Step[Any]:
    """A game tells of a withdrawal by a note of the kind ``resigned``; nobody has said so here."""
    notes = tuple(replace(n, kind=FORFEIT) if n.kind == "resigned" else n for n in step.notes)
    public = {seat: FORFEIT if text == WITHDRAW else text for seat, text in step.public.items()}
    return replace(step, notes=notes, public=public)


@dataclass(frozen=True, slots=True)
class Position:
    """A board after some ply.

    Attributes:
        game: its rules.
        seed: of the board; secret.
        step: what the last ply did; its ``state`` is the position.
        ply: the ply that led here; ``None`` at the start.
        before: the position before it; ``None`` at the start.
        state: the game's own; only its `view` may leave the server.
        number: how many plies have been played.
        outcome: how the board ended, ``None`` while it runs; a game itself knows of no clock.
        apart: each seat plays by itself, unseen by the others until the end.
        turns: how many turns have been used. It is what everybody may know of the number of
            plies: free moves may be private (seals), and so is how many there were.
        weight: the work of all plies (`work_of`), also of those that were taken back.
        redo: positions that redo would bring back, the next one first.
        stands: after an undo or redo: see `newest`.
    """

    game: AnyGame
    seed: bytes = field(repr=False)
    step: Step[Any] = field(repr=False)
    ply: Ply | None
    before: Position | None = field(repr=False)
    state: Any = field(repr=False, compare=False)
    number: int = field(repr=False, compare=False)
    outcome: Outcome | None = field(repr=False, compare=False)
    apart: bool = field(repr=False, compare=False)
    turns: int = 0
    weight: int = 0
    redo: tuple[Position, ...] = field(default=(), repr=False)
    stands: Position | None = field(default=None, repr=False)

    def turns_of(self, seat: Seat | None) -> int:
        """How many turns this reader may know of: where each seat plays by itself, its own."""
        if not self.apart or self.outcome is not None:
            return self.turns
        return 0 if seat is None else int(self.game.turn(self.state, seat)) - 1

    def is_news_for(self, seat: Seat | None) -> bool:
        """Whether this seat (``None`` = spectators) could learn anything from the last ply."""
        step = self.step
        if step.public.get(seat, step.public[None]):
            return True
        return bool([n for n in step.notes if n.audience is None or seat in n.audience])

    @property
    def given_up_early(self) -> bool:
        """Whether somebody has given up, or forfeited, while the game was still in its opening: it
        was hardly played, so it says nothing about anybody's strength."""
        if self.ply is None or self.ply.text not in {WITHDRAW, FORFEIT} or self.outcome is None:
            return False
        used = [0] * len(self.outcome.places)
        for position in self.backwards():
            ply = position.ply
            if ply is not None and not ply.free and ply.text not in {WITHDRAW, FORFEIT}:
                used[ply.seat] += 1
        return min(used) < self.game.info.opening

    def at_turn(self, turns: int, seat: Seat | None) -> Position:
        """Return the newest position with at most that many turns, as this reader counts them."""
        position = self
        while position.before is not None and self._counted(position, seat) > turns:
            position = position.before
        return position

    def _counted(self, position: Position, seat: Seat | None) -> int:
        """Return the turns of an earlier position, counted as the reader of this one counts."""
        return position.turns if self.outcome is not None else position.turns_of(seat)

    def at(self, number: int) -> Position:
        """The position after ply *number*, which is this one or an earlier one."""
        position = self
        while position.number > number and position.before is not None:
            position = position.before
        return position

    def backwards(self) -> Iterator[Position]:
        """This position and those before it, newest first, without the start.

        Undos and the plies that they took back are left out, and all before a restart.
        """
        position = self.newest
        while position is not None and not position.restarts:
            yield position
            position = position.before.newest if position.before is not None else None

    @property
    def newest(self) -> Position | None:
        """The newest position that stands: this one, or the one that an undo or a redo led back
        to; ``None`` at the start."""
        if self.ply is None:
            return None
        return self.stands if self.ply.text in _LEADING_BACK else self

    @property
    def restarts(self) -> bool:
        """Whether its ply began the board anew; what came before can be had back by undo."""
        return self.ply is not None and self.ply.text == RESTART

    def after(self, number: int) -> list[Position]:
        """Positions after ply *number*, oldest first, without what was taken back."""
        return [position for position in self.backwards() if position.number > number][::-1]

    def since(self, seat: Seat | None) -> list[Position]:
        """Positions after the last turn of *seat*, oldest first; all if it had none yet."""
        found = []
        position: Position | None = self
        while position is not None and (ply := position.ply) is not None:
            if ply.text in _LEADING_BACK:  # neither it nor what it took back counts
                position = position.stands
                continue
            if ply.seat == seat and not ply.free:
                break
            found.append(position)
            position = position.before
        return found[::-1]

    def play(self, ply: Ply) -> Position:
        """The position after one more recorded ply."""
        match ply.text:
            case record.UNDO:
                target = self.undoable(ply.seat)
                assert self.newest is not None
                return self._back(ply, target, "undone", (self.newest, *self.redo))
            case record.REDO if self.redo:
                return self._back(ply, self.redo[0], "redone", self.redo[1:])
            case record.RESTART:
                return self._back(ply, self._first, "restarted", ())
        step = advance(self.game, self.seed, self.state, ply)
        outcome = self.game.outcome(step.state)
        if outcome is not None and ply.text == FORFEIT and outcome.seat == ply.seat:
            outcome = replace(outcome, reason=FORFEIT)
        turns = self.turns + (not ply.free)
        work = work_of(self.game, self.state, ply.text)
        return self._after(ply, step, outcome, turns, work)

    def _back(self, ply: Ply, target: Position, kind: str, redo: tuple[Position, ...]) -> Position:
        """The position after a ply that leads to one that was there before, its turns too."""
        notes: tuple[Note, ...] = (Note(kind, ply.seat, frozenset({ply.seat})),)
        newest = target.newest
        if newest is not None and (kind == "redone" or target.outcome is not None):
            notes += newest.step.notes
        step = Step(target.state, {None: ""}, notes)
        return self._after(ply, step, target.outcome, target.turns, 1, redo, newest)

    def _after(
        self,
        ply: Ply,
        step: Step[Any],
        outcome: Outcome | None,
        turns: int,
        heavier: int,
        redo: tuple[Position, ...] = (),
        stands: Position | None = None,
    ) -> Position:
        """The position to which a ply that weighs so much leads."""
        return Position(
            self.game,
            self.seed,
            step,
            ply,
            self,
            step.state,
            ply.number,
            outcome,
            self.apart,
            turns,
            self.weight + heavier,
            redo,
            stands,
        )

    @property
    def shut(self) -> Position:
        """The position for a player who, after the end, may not know the hidden facts yet."""
        if self.outcome is None or not races(self.game):
            return self
        step = self.game.shut(self.step)
        return replace(self, step=step, state=step.state)

    def weight_of(self, seat: Seat) -> int:
        """Return the work of the plies of one seat."""
        work = 0
        position: Position | None = self
        while position is not None and position.ply is not None:
            if position.ply.seat == seat:
                work += work_of(self.game, self.state, position.ply.text)
            position = position.before
        return work

    @property
    def _first(self) -> Position:
        position = self
        while position.before is not None:
            position = position.before
        return position

    def undoable(self, seat: Seat) -> Position:
        """The position that an undo by *seat* leads back to; a restart can be undone, too.

        In a race it is the position without the seat's own last ply: the plies of the other seats
        stay, and it makes no difference whether there are any.

        Raises:
            Illegal: the last ply is another seat's, or somebody learnt something from it.
        """
        last = self.newest
        if self.apart and last is not None and last.ply is not None and last.ply.seat != seat:
            last = self._last_of(seat)
        if last is None or last.ply is None or last.before is None:
            raise Illegal("undo-nothing")
        if last.ply.seat != seat:
            raise Illegal("undo-not-yours")
        if last.step.reveals:
            raise Illegal("undo-revealed")
        target = last.before
        if last is not self.newest:
            for later in self.after(last.ply.number):
                assert later.ply is not None
                target = target.play(later.ply)
        return target

    def _last_of(self, seat: Seat) -> Position | None:
        """Return the newest position that stands and was made by a ply of *seat*."""
        made = (one for one in self.backwards() if one.ply is not None and one.ply.seat == seat)
        return next(made, None)

    def move(self, seat: Seat, move: Move) -> Position:
        """The position after a move that the game's `parse` has just read."""
        return self.play(Ply(self.number + 1, seat, move.text, move.free))

    def undo(self, seat: Seat) -> Position:
        """The position after *seat* has taken back its last ply; raises as `undoable`."""
        return self.play(Ply(self.number + 1, seat, UNDO, free=True))

    def practise(self, seat: Seat, text: str) -> Position:
        """The position after a `REDO` or `RESTART`, which only practice has.

        Raises:
            Illegal: this is no practice, or nothing was undone.
        """
        if not self.is_practice:
            raise Illegal("no-practice", part=text)
        if text == REDO and not self.redo:
            raise Illegal("redo-nothing")
        return self.play(Ply(self.number + 1, seat, text, free=True))

    def hint(self, seat: Seat) -> Position:
        """The position after *seat* has asked for a hint: an earlier one where it would get the
        same one again, since it has done nothing since.

        Raises:
            Illegal: its game gives none, or not to this seat now.
        """
        return self.hint_of(seat) or self.play(Ply(self.number + 1, seat, HINT, free=True))

    def hint_of(self, seat: Seat) -> Position | None:
        """Where a seat asked for a hint, if that was the last thing it has done."""
        last = self._last_of(seat)
        return last if last is not None and last.is_hint_of(seat) else None

    def is_hint_of(self, seat: Seat) -> bool:
        """Whether its ply is that by which a seat asked for a hint."""
        return self.ply is not None and self.ply.seat == seat and self.ply.text == HINT

    @property
    def is_practice(self) -> bool:
        """Whether everything can be taken back, also what ended it."""
        return races(self.game) and bool(self.game.practice(self.state))

    def withdraw(self, seat: Seat) -> Position:
        """The position after *seat* has resigned."""
        return self.play(Ply(self.number + 1, seat, WITHDRAW, free=False))

    def forfeit(self, seat: Seat) -> Position:
        """The position after *seat* has taken too long."""
        return self.play(Ply(self.number + 1, seat, FORFEIT, free=False))


def notes_for(game: AnyGame, step: Step[Any], seat: Seat | None) -> Iterator[Note]:
    """Return the notes of a step that *seat* (``None`` = a spectator) may read, worked out."""
    rules: Any = game
    explains = keeps(game, Explaining)
    for note in step.notes:
        if note.audience is not None and seat not in note.audience:
            continue
        if explains:
            yield from rules.explained(step.state, note)
        else:
            yield note


def opening(game: AnyGame, record: GameRecord) -> Position:
    """The position before the first ply of a record."""
    state = start(game, record)
    outcome, apart = game.outcome(state), races(game) and game.apart(state)
    step = Step(state, {None: ""})
    return Position(game, record.seed, step, None, None, state, 0, outcome, apart)


def replay(game: AnyGame, record: GameRecord, upto: int | None = None) -> list[Step[Any]]:
    """Every step of the record, up to and with ply *upto* (default: all).

    Element 0 is the start, so ``steps[n].state`` is the position after ply n.
    """
    position = opening(game, record)
    steps = [position.step]
    for ply in record.plies[:upto]:
        position = position.play(ply)
        steps.append(position.step)
    return steps


def played_out(position: Position) -> list[Step[Any]]:
    """The start and all steps that stand, oldest first: see `Position.backwards`."""
    standing = list(position.backwards())
    first = standing[-1].before if standing else position
    assert first is not None
    return [first.step, *(one.step for one in reversed(standing))]


def without_seed(played: Position, record: GameRecord) -> GameRecord:
    """Return the record as it may be shown: without its seed, unless that changes the game.

    Args:
        played: the position after all plies of the record.
    """
    bare = replace(record, seed=NO_SEED)
    states = [played.state]
    while played.before is not None:
        played = played.before
        states.append(played.state)
    try:
        same = [step.state for step in replay(played.game, bare)] == states[::-1]
    except MoveError:  # what was legal is not any more: chance had a part in it
        same = False
    return bare if same else record


def bot_move(position: Position, seat: Seat, level: str) -> Move:
    """The move that the bot called *level* makes for a seat that may use a turn now.

    The same position gives the same move. Lots are drawn from a stream of their own, so that they
    tell nothing of those that the rules draw; it is numbered by the seat's turns, since the number
    of plies is not everybody's to know.

    Raises:
        MoveError: the bot has named what is no legal move.
    """
    game, state = position.game, position.state
    view = game.view(state, seat)
    # "house" is part of every move that a bot has made: another word would be another game.
    stream = hashlib.sha256(b"house\0" + bytes([seat]) + position.seed).digest()
    text = game.bots[level].choose(view, Rng(stream, game.turn(state, seat)))
    return game.parse(view, text)
