"""Positions of a board, which form a chain: each position has its ply and the position before it.

A chain is cheap to extend. A letter can follow it back to the last turn of its reader without
replaying the board.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from pbmserv.engine import record
from pbmserv.engine.chance import mixed_chance
from pbmserv.engine.protocol import (
    Claimable,
    Dealing,
    Eliminating,
    Explaining,
    Sized,
    coached,
    implements,
    races,
)
from pbmserv.engine.record import (
    CLAIM,
    DECLINE,
    DUPLICATE,
    EARLY_ENDS,
    FORFEIT,
    HINT,
    JOIN,
    LAPSE,
    REDO,
    RESTART,
    UNDO,
    WITHDRAW,
    GameRecord,
    Ply,
)
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import LAPSED, Move, Note, Outcome, Seat, Step
from pbmserv.errors import Illegal

_RESTORING = frozenset({UNDO, REDO})
_PAST = frozenset({UNDO, REDO, RESTART})
_DROPPED_OUT = {FORFEIT: "forfeit", DECLINE: "declined", LAPSE: LAPSED}
"""Texts of withdrawals that are not resignations, each with the kind of its note, which is also the
reason that a race shows."""
_CHARACTERS = 24

LARGEST_STATE = 1_000_000
"""Octets of a state that a board may have; `game check` objects to a fifth of that."""
LARGEST_BOARD = 50_000_000
"""Octets of a state, multiplied by the number of plies: a replay has all states in memory."""


def work_of_text(characters: int) -> int:
    """Return the work of reading a text, one unit for each 24 characters."""
    return 1 + characters // _CHARACTERS


def octets_of(state: object) -> int | None:
    """Return the size of a state of a game; `None` if it is not a plain value.

    A part that several states share counts once. The size is the length of a pickle, because that
    follows every type that a state can have, and fails for what no record could replay: a lock, a
    generator. Nothing is ever read back.
    """
    try:
        return len(pickle.dumps(state))
    except Exception:  # noqa: BLE001 - a lock, a generator: anything
        return None


def work_of(game: AnyGame, state: Any, text: str) -> int:
    """Return the work of applying a ply on a board, in tens of microseconds.

    Args:
        state: any state of that board.
        text: the canonical text of the ply.
    """
    rules: Any = game
    sized = implements(game, Sized) and text not in _PAST
    return work_of_text(len(text)) + (rules.effort(state, text) if sized else 0)


def _begun(game: AnyGame, head: GameRecord, chance: bytes) -> tuple[Any, bool]:
    """Return the state before the first move, and whether the game has drawn anything for it."""
    rng = Rng(chance, 0)
    state = game.setup(head.seats, game.options(head.options, head.seats), rng)
    return state, rng.is_used


def advance(game: AnyGame, chance: bytes, state: Any, ply: Ply) -> Step[Any]:
    """Apply a recorded ply; *chance* is the seed with the mails mixed in, see `Position`."""
    rng = Rng(chance, ply.number)
    if ply.text == WITHDRAW:
        return game.withdraw(state, ply.seat, rng)
    if ply.text in _DROPPED_OUT:
        return _dropped_out(game, state, ply, rng)
    if ply.text == CLAIM:
        return _claimed(game, state, ply.seat)
    if ply.text == HINT:
        return _hinted(game, state, ply.seat)
    return game.apply(state, ply.seat, Move(ply.text, ply.free), rng)


def _hinted(game: object, state: Any, seat: Seat) -> Step[Any]:
    if not coached(game):
        raise Illegal("no-hint", part=HINT)
    return game.hinted(state, seat)


def _claimed(game: object, state: Any, seat: Seat) -> Step[Any]:
    if not isinstance(game, Claimable):
        raise Illegal("no-claim", part=CLAIM)
    return game.claim_draw(state, seat)


def _dropped_out(game: AnyGame, state: Any, ply: Ply, rng: Rng) -> Step[Any]:
    """Return the step of a withdrawal with the notes and texts of its reason."""
    reason = _DROPPED_OUT[ply.text]
    if races(game):
        step = game.drop_out(state, ply.seat, reason, rng)
    else:
        step = game.withdraw(state, ply.seat, rng)
    notes = tuple(replace(n, kind=reason) if n.kind == "resigned" else n for n in step.notes)
    public = {seat: ply.text if text == WITHDRAW else text for seat, text in step.public.items()}
    return replace(step, notes=notes, public=public)


@dataclass(frozen=True, slots=True)
class Position:
    """A board after a ply.

    Attributes:
        game: the rules.
        head: the record of the board without its plies.
        step: the effect of the last ply.
        ply: the last ply, `None` at the start.
        before: the position before it, `None` at the start.
        outcome: the outcome, `None` while the board runs. It differs from the game's own outcome
            after a forfeit.
        apart: whether each seat plays by itself, unseen by the others until the end.
        turns: the number of used turns. Unlike the number of plies it is public, since free moves
            such as seals may be private.
        work: the work of all plies, also of those that were taken back; see `work_of`.
        redo: the positions that redo would restore, the next one first.
        restored: after an undo or redo, the position that it restored; see `newest`.
        chance: the seed of draws: that of the board, with marked mails mixed in. An undo leaves it.
        marked: the seats whose mails are mixed in.
        draws: whether mails are mixed into the draws before the first move. `False` without such
            draws, and in a race of several players, which begins before all have accepted.
    """

    game: AnyGame
    head: GameRecord = field(repr=False)
    step: Step[Any] = field(repr=False)
    ply: Ply | None
    before: Position | None = field(repr=False)
    outcome: Outcome | None = field(repr=False, compare=False)
    apart: bool = field(repr=False, compare=False)
    turns: int = 0
    work: int = 0
    redo: tuple[Position, ...] = field(default=(), repr=False)
    restored: Position | None = field(default=None, repr=False)
    chance: bytes = field(default=b"", repr=False)
    marked: frozenset[Seat] = frozenset()
    draws: bool = field(default=False, compare=False)

    @property
    def seed(self) -> bytes:
        """The secret seed of the board."""
        return self.head.seed

    @property
    def full_record(self) -> GameRecord:
        """The record of the board with all plies so far, also those that were taken back."""
        plies = list[Ply]()
        position: Position | None = self
        while position is not None and position.ply is not None:
            plies.append(position.ply)
            position = position.before
        return replace(self.head, plies=tuple(reversed(plies)))

    @property
    def state(self) -> Any:
        """The state of the game; only views of it may leave the server."""
        return self.step.state

    @property
    def number(self) -> int:
        """The number of plies."""
        return 0 if self.ply is None else self.ply.number

    def turns_of(self, seat: Seat | None) -> int:
        """Return the number of turns that a reader may know: in a race, only the reader's own."""
        if not self.apart or self.outcome is not None:
            return self.turns
        return 0 if seat is None else int(self.game.turn(self.state, seat)) - 1

    def is_out(self, seat: Seat) -> bool:
        """Return whether a seat was eliminated or has resigned, and the others go on."""
        game: Any = self.game
        return implements(game, Eliminating) and game.is_out(self.state, seat)

    def is_news_for(self, seat: Seat | None) -> bool:
        """Return whether a seat could learn anything from the last ply; `None` for spectators."""
        step = self.step
        if step.public.get(seat, step.public[None]):
            return True
        return any(note.audience is None or seat in note.audience for note in step.notes)

    @property
    def ended_in_opening(self) -> bool:
        """Whether a player resigned, forfeited or claimed a draw in the opening of the game.

        Such a game does not show the strength of its players.
        """
        if self.ply is None or self.ply.text not in EARLY_ENDS or self.outcome is None:
            return False
        used = [0] * len(self.outcome.places)
        for position in self.backwards():
            ply = position.ply
            if ply is not None and not ply.free and ply.text not in EARLY_ENDS:
                used[ply.seat] += 1
        return min(used) < self.game.info.opening

    def at_turn(self, turns: int, seat: Seat | None) -> Position:
        """Return the newest position with at most *turns* turns, as the reader counts them."""
        position = self
        while position.before is not None and self._counted(position, seat) > turns:
            position = position.before
        return position

    def _counted(self, position: Position, seat: Seat | None) -> int:
        """Return the turns of an earlier position, counted as the reader of this one counts."""
        return position.turns if self.outcome is not None else position.turns_of(seat)

    def at(self, number: int) -> Position:
        """Return the position after ply *number*, which is this one or an earlier one.

        No position is before the last draw with the mark of a mail.
        """
        position = self
        while position.number > number and position.before is not None and not position.is_draw:
            position = position.before
        return position

    def backwards(self) -> Iterator[Position]:
        """Yield this and earlier positions, newest first, without the start.

        Plies that were taken back are left out, and so are undos and all positions before a
        restart.
        """
        position = self.newest
        while position is not None and not position.restarts:
            yield position
            position = position.before.newest if position.before is not None else None

    @property
    def newest(self) -> Position | None:
        """The newest position whose ply counts: this one, or the one that an undo or redo restored.

        `None` at the start.
        """
        if self.ply is None:
            return None
        return self.restored if self.ply.text in _RESTORING else self

    def moved(self) -> frozenset[Seat]:
        """Return the seats that have made a ply, except to draw again or decline a race."""
        plies = [position.ply for position in self.backwards()]
        return frozenset(ply.seat for ply in plies if ply and ply.text not in {JOIN, DECLINE})

    @property
    def is_draw(self) -> bool:
        """Whether its ply is a `record.JOIN`, which begins the game again."""
        return self.ply is not None and self.ply.text == JOIN

    @property
    def is_duplicate(self) -> bool:
        """Whether it is a board of a duplicate event, whose draws come from the seed alone."""
        return DUPLICATE in self.head.options

    def _chance_of(self, ply: Ply) -> bytes:
        """Return the seed of the draws of a ply."""
        return self.chance if self.is_duplicate else mixed_chance(self.chance, ply)

    @property
    def restarts(self) -> bool:
        """Whether its ply restarted the board. An undo restores the positions before it."""
        return self.ply is not None and self.ply.text == RESTART

    def after(self, number: int) -> list[Position]:
        """Return the positions after ply *number*, oldest first, without plies taken back."""
        return [position for position in self.backwards() if position.number > number][::-1]

    def since(self, seat: Seat | None) -> list[Position]:
        """Return the positions after the last turn of *seat*, oldest first; all if it had none."""
        positions = []
        position: Position | None = self
        while position is not None and (ply := position.ply) is not None:
            if ply.text in _RESTORING:  # skip it and the plies that it took back
                position = position.restored
                continue
            if ply.seat == seat and not ply.free:
                break
            positions.append(position)
            position = position.before
        return positions[::-1]

    def play(self, ply: Ply) -> Position:
        """Return the position after a recorded ply."""
        match ply.text:
            case record.UNDO:
                target = self.undoable(ply.seat)
                assert self.newest is not None
                return self._restore(ply, target, "undone", (self.newest, *self.redo))
            case record.REDO if self.redo:
                return self._restore(ply, self.redo[0], "redone", self.redo[1:])
            case record.RESTART:
                return self._restore(ply, self._first, "restarted", ())
            case record.JOIN if self.draws or (ply.free and ply.mark):
                return self._begin_again(ply)
        step = advance(self.game, self._chance_of(ply), self.state, ply)
        outcome = self.game.outcome(step.state)
        if outcome is not None and ply.text == FORFEIT and outcome.seat == ply.seat:
            outcome = replace(outcome, reason=FORFEIT)
        if outcome is not None and ply.text == LAPSE:
            outcome = Outcome((1,) * self.head.seats, LAPSED)
        turns = self.turns + (not ply.free)
        work = work_of(self.game, self.state, ply.text)
        return self._after(ply, step, outcome, turns, work)

    def _begin_again(self, ply: Ply) -> Position:
        """Return the start of the game, drawn again with the mark of a mail.

        Raises:
            Illegal: a move was made before, the seat has drawn again before, or the seed alone
                decides.
        """
        if self.is_duplicate:
            raise Illegal("undo-nothing", part=ply.text)
        position: Position | None = self
        while position is not None and position.ply is not None:
            if not position.is_draw or position.ply.seat == ply.seat:
                raise Illegal("undo-nothing", part=ply.text)
            position = position.before
        state, _ = _begun(self.game, self.head, self._chance_of(ply))
        step = Step(state, {None: ""}, reveals=True)
        return self._after(ply, step, self.game.outcome(state), 0, 1)

    def _restore(
        self, ply: Ply, target: Position, kind: str, redo: tuple[Position, ...]
    ) -> Position:
        """Return the position after a ply that restores an earlier position with its turns."""
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
        work: int,
        redo: tuple[Position, ...] = (),
        restored: Position | None = None,
    ) -> Position:
        """Return the position after a ply with a step.

        Args:
            ply: the ply.
            step: its effect.
            outcome: the outcome afterwards.
            turns: the number of turns afterwards.
            work: the work of the ply.
            redo, restored: see `Position`.
        """
        return Position(
            game=self.game,
            head=self.head,
            step=step,
            ply=ply,
            before=self,
            outcome=outcome,
            apart=self.apart,
            turns=turns,
            work=self.work + work,
            redo=redo,
            restored=restored,
            chance=self._chance_of(ply),
            marked=self.marked | {ply.seat} if ply.mark else self.marked,
            draws=self.draws,
        )

    @property
    def shut(self) -> Position:
        """The position for a player from whom hidden facts stay hidden after the end."""
        game: Any = self.game
        if self.outcome is None or not (races(game) or implements(game, Dealing)):
            return self
        step = game.without_solution(self.step)
        return replace(self, step=step)

    def work_by(self, seat: Seat) -> int:
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
        while position.before is not None and not position.is_draw:
            position = position.before
        return position

    def undoable(self, seat: Seat) -> Position:
        """Return the position that an undo by *seat* restores. A restart can also be undone.

        In a race, only the last ply of the seat is taken back. The plies of other seats remain.

        Raises:
            Illegal: the last ply is by another seat, or a player learned something from it.
        """
        last = self.newest
        if self.apart and last is not None and last.ply is not None and last.ply.seat != seat:
            last = self._last_of(seat)
        if last is None or last.ply is None or last.before is None or last.is_draw:
            raise Illegal("undo-nothing")
        if last.ply.seat != seat:
            raise Illegal("undo-not-yours")
        if last.step.reveals:
            raise Illegal("undo-revealed")
        target = last.before
        if last is not self.newest:
            for later in self.after(last.ply.number):
                before = later.before
                assert later.ply is not None
                assert before is not None
                target = replace(target, chance=before.chance, marked=before.marked)
                target = target.play(later.ply)
        return target

    def _last_of(self, seat: Seat) -> Position | None:
        """Return the newest position that counts and has a ply of *seat*."""
        for position in self.backwards():
            if position.ply is not None and position.ply.seat == seat:
                return position
        return None

    def move(self, seat: Seat, move: Move, mark: str = "") -> Position:
        """Return the position after a move that the game's `parse` has read; *mark*: see `Ply`."""
        return self.play(Ply(self.number + 1, seat, move.text, move.free, mark))

    def undo(self, seat: Seat) -> Position:
        """Return the position after *seat* takes back its last ply; raises as `undoable`."""
        return self.play(Ply(self.number + 1, seat, UNDO, free=True))

    def practise(self, seat: Seat, text: str) -> Position:
        """Return the position after a `REDO` or `RESTART`, which only practice has.

        Raises:
            Illegal: the board is not practice, or nothing was undone.
        """
        if not self.is_practice:
            raise Illegal("no-practice", part=text)
        if text == REDO and not self.redo:
            raise Illegal("redo-nothing")
        return self.play(Ply(self.number + 1, seat, text, free=True))

    def hint(self, seat: Seat) -> Position:
        """Return the position after *seat* asks for a hint.

        If its last ply asked for a hint, that position is returned, since the hint is the same.

        Raises:
            Illegal: the game has no hints, or the seat may not have one now.
        """
        return self.hint_of(seat) or self.play(Ply(self.number + 1, seat, HINT, free=True))

    def hint_of(self, seat: Seat) -> Position | None:
        """Return the position after a seat's last ply if it asked for a hint, else `None`."""
        last = self._last_of(seat)
        return last if last is not None and last.is_hint_of(seat) else None

    def is_hint_of(self, seat: Seat) -> bool:
        """Return whether its ply asked for a hint for a seat."""
        return self.ply is not None and self.ply.seat == seat and self.ply.text == HINT

    @property
    def is_practice(self) -> bool:
        """Whether all plies can be taken back, including the last one of the board."""
        return races(self.game) and bool(self.game.practice(self.state))

    def withdraw(self, seat: Seat) -> Position:
        """Return the position after *seat* resigns."""
        return self.play(Ply(self.number + 1, seat, WITHDRAW, free=False))

    def lapse(self, seat: Seat) -> Position:
        """Return the position after *seat* and the other player took too long: nobody wins."""
        return self.play(Ply(self.number + 1, seat, LAPSE, free=False))

    def decline(self, seat: Seat) -> Position:
        """Return the position after *seat* declines a race, in which the others go on."""
        return self.play(Ply(self.number + 1, seat, DECLINE, free=False))

    def claim(self, seat: Seat) -> Position:
        """Return the position after *seat* claims a draw.

        Raises:
            Illegal: the game has no draws by agreement.
        """
        return self.play(Ply(self.number + 1, seat, CLAIM, free=False))

    def forfeit(self, seat: Seat) -> Position:
        """Return the position after *seat* took too long."""
        return self.play(Ply(self.number + 1, seat, FORFEIT, free=False))


def notes_for(game: AnyGame, step: Step[Any], seat: Seat | None) -> Iterator[Note]:
    """Yield the notes of a step for a seat, with lessons and the like in full.

    *seat* is `None` for a spectator.
    """
    rules: Any = game
    explains = implements(game, Explaining)
    for note in step.notes:
        if note.audience is not None and seat not in note.audience:
            continue
        if explains:
            yield from rules.explained(step.state, note)
        else:
            yield note


def opening(game: AnyGame, record: GameRecord) -> Position:
    """Return the position before the first ply of a record."""
    state, has_drawn = _begun(game, record, record.seed)
    outcome, apart = game.outcome(state), races(game) and game.apart(state)
    step = Step(state, {None: ""})
    return Position(
        game=game,
        head=replace(record, plies=()),
        step=step,
        ply=None,
        before=None,
        outcome=outcome,
        apart=apart,
        chance=record.seed,
        draws=has_drawn and (not apart or record.seats == 1),
    )


def replay(game: AnyGame, record: GameRecord) -> list[Step[Any]]:
    """Return the steps of a record.

    Element 0 is the start, so that ``steps[n].state`` is the state after ply n.
    """
    position = opening(game, record)
    steps = [position.step]
    for ply in record.plies:
        position = position.play(ply)
        steps.append(position.step)
    return steps


def played_out(position: Position) -> list[Step[Any]]:
    """Return the start and all steps that count, oldest first; see `Position.backwards`."""
    positions = list(takewhile(lambda earlier: not earlier.is_draw, position.backwards()))
    first = positions[-1].before if positions else position
    assert first is not None
    return [first.step, *(later.step for later in reversed(positions))]


def bot_move(position: Position, seat: Seat, level: str) -> Move:
    """Return the move of a bot for a seat that may use a turn now.

    The same position gives the same move. Random numbers come from a stream of their own, so that
    they reveal nothing about those of the rules. The stream depends on the number of the seat's
    turn, since the number of plies is not public.

    Raises:
        MoveError: the bot returned an illegal move.
    """
    game, state = position.game, position.state
    view = game.view(state, seat)
    # With another word than "house", bots would make other moves in old games.
    stream = hashlib.sha256(b"house\0" + bytes([seat]) + position.seed).digest()
    text = game.bots[level].choose(view, Rng(stream, game.turn(state, seat)))
    return game.parse(view, text)
