"""Plays a `pbmserv.game.Game` by turns: passes, swaps, offers, take-backs, elimination.

The rules know sides: side 0 begins. Players have seats. A swap exchanges the sides of two players,
so that games need no code for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pbmserv.engine.game_options import DUPLICATE_OPTION
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Note, Outcome, Seat, Step
from pbmserv.errors import Illegal
from pbmserv.game import After, Game, Result, Told

SWAP = "swap"
DRAW = "draw"
TAKE_BACK = "takeback"
ACCEPT = "accept"
REJECT = "reject"

OFFER = "offer"
"""The kind of a note about an offer, which is news although it uses no turn."""

RESIGNED = "resigned"

_RESIGNS: Mapping[Seat | None, str] = {None: "resign"}
"""The text of a resignation, as everybody may read it."""

_DEALS = 2**32
"""Limit of the numbers of deals, and of draws in one."""

_PLACE = re.compile(r"\{([0-9])('s)?\}")


class BrokenRules(Exception):
    """A game returned a value that is impossible.

    Attributes:
        key: the key of the game.
        method: the method of the game.
        sentence: what is wrong with the value.
    """

    def __init__(self, game: Game[Any], method: str, sentence: str) -> None:
        super().__init__(f"{game.key}.{method}: {sentence}")
        self.key, self.method, self.sentence = game.key, method, sentence


@dataclass(frozen=True, slots=True)
class Table:
    """A board: the state of the game, and the facts that the server keeps beside it.

    Attributes:
        state: the state of the game.
        options: the value of each option.
        sides: the side of each seat.
        due: seats that may use a turn now, each with the number of that turn.
        used: the highest number of a turn that was used.
        out: seats that were eliminated or have resigned, the first one first.
        resigned: the seats in `out` that have resigned.
        chosen: if seats move together, the moves of this turn, which are not carried out yet.
        offer: the offer of a seat, `DRAW` or `TAKE_BACK`, and the seat.
        last: the last move, as everybody may read it.
        may_swap: whether the seat to move may take the other side.
        before: the table before the last turn; `None` at the start.
        mover: the seat that used the last turn.
        final: whether the last turn can never be taken back.
        dealt: on a board of a duplicate event, the number of the deal and of its draws so far.
    """

    state: Any
    options: tuple[tuple[str, Any], ...]
    sides: tuple[int, ...]
    due: tuple[tuple[Seat, int], ...]
    used: int = 0
    out: tuple[Seat, ...] = ()
    resigned: tuple[Seat, ...] = ()
    chosen: tuple[tuple[Seat, str], ...] = ()
    offer: tuple[str, Seat] | None = None
    last: str = ""
    may_swap: bool = False
    outcome: Outcome | None = None
    before: Table | None = field(default=None, compare=False, repr=False)
    mover: Seat | None = field(default=None, compare=False, repr=False)
    final: bool = field(default=False, compare=False, repr=False)
    dealt: tuple[int, int] = field(default=(0, 0), compare=False, repr=False)

    @property
    def seats(self) -> int:
        return len(self.sides)

    @property
    def movers(self) -> tuple[Seat, ...]:
        """Seats that may use a turn now."""
        return tuple([seat for seat, _ in self.due])

    def seat_of(self, side: int) -> Seat:
        return Seat(self.sides.index(side))

    def turn(self, seat: Seat) -> int:
        """Return the number of the turn that a seat uses next."""
        due = dict(self.due)
        if seat in due:
            return due[seat]
        last = max(due.values(), default=self.used)
        if not due or self.chosen:
            return last + 1
        live = [seat for seat in range(self.seats) if seat not in self.out]
        first = min(self.movers)
        waits = (seat - first) % self.seats
        return last + sum(1 for other in live if 0 < (other - first) % self.seats <= waits)

    def retaken(self, seat: Seat) -> Table | None:
        """Return the table before the last turn of a seat, `None` if it cannot be taken back."""
        table: Table | None = self
        while table is not None and table.before is not None:
            if table.final:
                return None
            if table.mover == seat:
                return table.before
            table = table.before
        return None


class CountedRng:
    """Random numbers for a game.

    Attributes:
        drawn: whether the game has drawn any.
        dealt: see `Table`; only draws of a duplicate event are counted.
    """

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self.drawn = False
        self.dealt = (0, 0)

    def below(self, limit: int, /) -> int:
        self.drawn = True
        return self._rng.below(limit)

    def choice(self, items: Sequence[Any], /) -> Any:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Any], /) -> list[Any]:
        self.drawn = True
        return self._rng.sample(items, len(items))

    def deal(self, number: int, /) -> None:
        """Do nothing: the number of the ply decides the draws."""


class DealtRng(CountedRng):
    """Random numbers for a board of a duplicate event.

    Draw *n* of deal *k* is the same on all boards of its game, whatever moves come before it.

    Args:
        rng: has the seed that these boards share.
        dealt: see `Table`.
    """

    def __init__(self, rng: Rng, dealt: tuple[int, int]) -> None:
        super().__init__(rng)
        self.dealt = dealt

    def below(self, limit: int, /) -> int:
        return self._next().below(limit)

    def shuffled(self, items: Sequence[Any], /) -> list[Any]:
        return self._next().sample(items, len(items))

    def deal(self, number: int, /) -> None:
        """Go to the first draw of a deal."""
        if not 0 <= number < _DEALS:
            raise ValueError(f"there is no deal {number}")
        if number != self.dealt[0]:
            self.dealt = number, 0

    def _next(self) -> Rng:
        """Return the numbers of the next draw, which do not depend on those of earlier draws."""
        deal, draws = self.dealt
        self.drawn, self.dealt = True, (deal, draws + 1)
        return Rng(self._rng.seed, deal * _DEALS + draws)


def rng_for(options: Iterable[tuple[str, Any]], rng: Rng, dealt: tuple[int, int]) -> CountedRng:
    """Return the random numbers of a board with these options."""
    return DealtRng(rng, dealt) if DUPLICATE_OPTION in options else CountedRng(rng)


class Keeper:
    """Carries out turns, offers and resignations at the tables of a game."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game

    def can_move(self, table: Table, seat: Seat) -> bool:
        """Return whether a seat has any move."""
        side = table.sides[seat]
        moves = self.game.moves(self.game.seen(table.state, side), side)
        return next(iter(moves), None) is not None

    def open_table(
        self,
        seats: int,
        options: tuple[tuple[str, Any], ...],
        state: Any,
        dealt: tuple[int, int],
    ) -> Table:
        """Return the table before the first move."""
        first = [Seat(seat) for seat in sorted(self.game.first(state)) if seat < seats]
        due = tuple((seat, 1) for seat in first)
        return Table(state, options, tuple(range(seats)), due, dealt=dealt)

    def play(self, table: Table, seat: Seat, move: str, rng: Rng) -> Step[Table]:
        """Carry out a turn of a seat whose turn it is."""
        if self.game.together:
            return self._choose(table, seat, move, rng)
        side, counted = table.sides[seat], rng_for(table.options, rng, table.dealt)
        after = _as_after(
            self.game, table, "play", self.game.play(table.state, side, move, counted)
        )
        notes, public = _notes_of_move(table, after, seat, move)
        notes += _notes_of_offer(table, seat)
        begun = replace(
            table,
            offer=None,
            may_swap=False,
            before=table,
            mover=seat,
            used=max(table.used, dict(table.due)[seat]),
            dealt=counted.dealt,
        )
        following = [(side + n) % table.seats for n in range(1, table.seats + 1)]
        return self._step_after(
            begun, after, following, notes, public, final=after.final or counted.drawn
        )

    def _choose(self, table: Table, seat: Seat, move: str, rng: Rng) -> Step[Table]:
        """Keep the move of a seat until all seats have chosen; then carry out all moves."""
        used = dict(table.due)[seat]
        due = tuple(turn for turn in table.due if turn[0] != seat)
        chosen = replace(
            table, chosen=(*table.chosen, (seat, move)), due=due, before=table, mover=seat
        )
        if due:
            mine = Note("told", seat, frozenset({seat}), {"text": f"{{{seat}}} chose {move}."})
            return Step(chosen, {seat: move, None: ""}, (mine,))
        return self._all_at_once(replace(chosen, used=used), seat, rng)

    def _all_at_once(self, table: Table, seat: Seat, rng: Rng) -> Step[Table]:
        """Carry out the moves that all seats have chosen; *seat* was the last to choose."""
        moves = {table.sides[chooser]: text for chooser, text in sorted(table.chosen)}
        counted = rng_for(table.options, rng, table.dealt)
        after = _as_after(
            self.game, table, "play_all", self.game.play_all(table.state, moves, counted)
        )
        if not after.told:
            reports = [f"{{{side}}} played {text}." for side, text in moves.items()]
            after = replace(after, told=reports)
        notes = [_note(table, sentence, seat) for sentence in after.told]
        public: dict[Seat | None, str] = {None: ", ".join(moves.values())}
        order = range(table.seats)
        begun = replace(table, chosen=(), dealt=counted.dealt)
        return self._step_after(begun, after, order, notes, public, final=True)

    def _step_after(
        self,
        table: Table,
        after: After[Any],
        following: Sequence[int],
        notes: Sequence[Note],
        public: Mapping[Seat | None, str],
        *,
        final: bool,
    ) -> Step[Table]:
        """Return the step after the game has carried out a move.

        Args:
            table: the table before the move, with the new number of turns.
            after: the result of the move.
            following: sides in the order in which they come to move.
        """
        all_notes = list(notes)
        out = [table.seat_of(side) for side in after.out]
        last = public[None]
        table = replace(
            table, last=last, state=after.state, out=(*table.out, *out), final=final, due=()
        )
        all_notes += [Note("out", seat, None) for seat in out]
        outcome = self._outcome(table)
        if outcome is not None:
            table = replace(table, outcome=outcome)
            return Step(table, public, tuple(all_notes), reveals=True)
        passed, due = self._due(table, after.next, following)
        all_notes += [Note("passed", seat, None) for seat in passed]
        is_first = table.before is not None and table.before.before is None
        may_swap = self.game.swap and is_first and table.seats == 2 and not passed
        table = replace(table, due=due, may_swap=may_swap)
        return Step(table, public, tuple(all_notes), reveals=final)

    def _due(
        self, table: Table, chosen: Collection[int] | None, following: Sequence[int]
    ) -> tuple[list[Seat], tuple[tuple[Seat, int], ...]]:
        """Return the seats that pass, and those to move now, each with the number of its turn."""
        number = table.used + 1
        live = [side for side in following if table.seat_of(side) not in table.out]
        if chosen is not None:
            named = [side for side in live if side in chosen]
            groups = [named, *([side] for side in _after_last(live, named))]
        elif self.game.together:
            groups = [live]
        else:
            groups = [[side] for side in live]
        earlier = dict(table.before.due) if table.before is not None else {}
        passed: list[Seat] = []
        for group in groups:
            seats = sorted(table.seat_of(side) for side in group)
            can = [seat for seat in seats if self.can_move(table, seat)]
            passed += [seat for seat in seats if seat not in can]
            if can:
                turns = {other: turn for other, turn in earlier.items() if other != table.mover}
                return passed, tuple((seat, turns.get(seat, number)) for seat in can)
        raise BrokenRules(self.game, "over", "no seat has a move, and yet the board has not ended")

    def _outcome(self, table: Table) -> Outcome | None:
        result: Any = self.game.over(table.state)
        if result is not None and not isinstance(result, Result):
            raise BrokenRules(
                self.game, "over", f"returns {result!r}, which is neither None nor a result"
            )
        live = [seat for seat in range(table.seats) if seat not in table.out]
        if result is None and len(live) > 1:
            return None
        if result is None:
            order = [*live, *reversed(table.out)]
            places = [1 + order.index(table.seat_of(side)) for side in range(table.seats)]
            result = Result(tuple(places))
        return outcome_of(self.game, table, result)

    # -- other acts of a player ------------------------------------------------------------

    def swap(self, table: Table, seat: Seat) -> Step[Table]:
        """Exchange the sides of two players after the first move."""
        if not table.may_swap or seat not in table.movers:
            raise Illegal(f"{self.game.key}.no-swap", part=SWAP)
        used = dict(table.due)[seat]
        other = Seat(1 - seat)
        after = replace(
            table,
            sides=table.sides[::-1],
            used=used,
            due=((other, used + 1),),
            may_swap=False,
            offer=None,
            before=table,
            mover=seat,
            final=False,
        )
        return Step(after, {None: SWAP}, (Note("swapped", seat, None),))

    def offer(self, table: Table, seat: Seat, proposal: str) -> Step[Table]:
        """Return the step after a seat has offered something to the other one."""
        after = replace(table, offer=(proposal, seat))
        return Step(after, {None: proposal}, (Note(OFFER, seat, None, {"what": proposal}),))

    def answer(self, table: Table, seat: Seat, *, agreed: bool) -> Step[Table]:
        """Return the step after a seat has answered an offer."""
        assert table.offer is not None
        proposal, by = table.offer
        kind = "agreed" if agreed else "refused"
        notes = (Note(OFFER, seat, None, {"what": f"{proposal}-{kind}"}),)
        public: dict[Seat | None, str] = {None: ACCEPT if agreed else REJECT}
        if not agreed:
            return Step(replace(table, offer=None), public, notes)
        if proposal == DRAW:
            outcome = Outcome((1,) * table.seats, "by agreement")
            after = replace(table, offer=None, outcome=outcome, due=())
            return Step(after, public, notes, reveals=True)
        target = table.retaken(by)
        if target is None:
            raise Illegal(f"{self.game.key}.no-take-back", part=TAKE_BACK)
        due = tuple((due_seat, table.used + 1) for due_seat, _ in target.due)
        return Step(replace(target, due=due, used=table.used, offer=None), public, notes)

    def claim_draw(self, table: Table, seat: Seat) -> Step[Table]:
        """Return the step after a seat has claimed a draw, since the other one is silent."""
        outcome = Outcome((1,) * table.seats, "claimed after a long silence")
        after = replace(table, offer=None, outcome=outcome, due=())
        notes = (Note(OFFER, seat, None, {"what": "draw-claimed"}),)
        return Step(after, {None: "claim"}, notes, reveals=True)

    def resign(self, table: Table, seat: Seat, rng: Rng) -> Step[Table]:
        """Return the step after a seat has resigned. Two or more other players play on."""
        gone = replace(table, out=(*table.out, seat), resigned=(*table.resigned, seat), offer=None)
        others = [other for other in range(table.seats) if other not in gone.out]
        if len(others) < 2:
            return self._end_by_resignation(gone, seat, others)
        side = table.sides[seat]
        after = _as_after(
            self.game, table, "leave", self.game.leave(table.state, side, CountedRng(rng))
        )
        notes = [
            Note(RESIGNED, seat, None),
            *(_note(table, sentence, seat) for sentence in after.told),
        ]
        due = tuple(turn for turn in table.due if turn[0] != seat)
        begun = replace(gone, before=table, mover=seat)
        if after.next is None and (seat not in table.movers or due):
            return self._wait_for_others(replace(begun, state=after.state, due=due), notes)
        if self.game.together and after.next is None:
            begun = replace(begun, state=after.state, used=max(used for _, used in table.due))
            step = self._all_at_once(begun, seat, rng)
            return replace(step, notes=(*notes, *step.notes), reveals=True)
        following = [(side + n) % table.seats for n in range(1, table.seats + 1)]
        return self._step_after(
            replace(begun, chosen=()), after, following, notes, _RESIGNS, final=True
        )

    def _end_by_resignation(self, table: Table, seat: Seat, others: Sequence[int]) -> Step[Table]:
        """End the board after a seat has resigned and at most one other one is left."""
        places = [1 if table.seat_of(side) in others else 2 for side in range(table.seats)]
        result = outcome_of(self.game, table, Result(tuple(places)))
        outcome = replace(result, reason=RESIGNED, seat=seat)
        ended = replace(table, outcome=outcome, due=())
        return Step(ended, _RESIGNS, (Note(RESIGNED, seat, None),), reveals=True)

    def _wait_for_others(self, table: Table, notes: Sequence[Note]) -> Step[Table]:
        """Let the seats that are due move on after another one has resigned."""
        outcome = self._outcome(table)
        after = table if outcome is None else replace(table, outcome=outcome, due=())
        return Step(after, _RESIGNS, tuple(notes), reveals=True)


def outcome_of(game: Game[Any], table: Table, result: Result) -> Outcome:
    """Return the result of a game by seats; players who have resigned come last.

    Raises:
        BrokenRules: it is not a result for so many seats.
    """
    if len(result.places) != table.seats or len(result.scores) not in {0, table.seats}:
        raise BrokenRules(game, "over", f"{result} does not fit {table.seats} players")
    places = [result.places[table.sides[seat]] for seat in range(table.seats)]
    stayed = [seat for seat in range(table.seats) if seat not in table.resigned]
    if table.resigned and stayed:
        ranks = {seat: 1 + sum(places[o] < places[seat] for o in stayed) for seat in stayed}
        for n, seat in enumerate(reversed(table.resigned)):
            ranks[seat] = len(stayed) + 1 + n
        places = [ranks[Seat(seat)] for seat in range(table.seats)]
    scores = (
        tuple(result.scores[table.sides[s]] for s in range(table.seats)) if result.scores else ()
    )
    reason = result.why or ("draw" if len(set(places)) == 1 else "won")
    return Outcome(tuple(places), reason, None, scores)


def _as_after(game: Game[Any], table: Table, method: str, done: Any) -> After[Any]:
    """Return the value that a method of the rules has returned as an `After`.

    Raises:
        BrokenRules: the server cannot carry it out.
    """
    after = done if isinstance(done, After) else After(done)
    for fault in _faults_of(after, table.seats):
        raise BrokenRules(game, method, fault)
    return after


def _faults_of(after: Any, seats: int) -> Iterator[str]:
    """Yield what is wrong with an `After` of the rules, whose values may have any type."""
    if after.state is None:
        yield "returns None in place of a state"
    if not isinstance(after.secret, str | None):
        yield f"secret is {after.secret!r}, not a text"
    if isinstance(after.told, str) or not isinstance(after.told, Sequence):
        yield f"told is {after.told!r}, not a list of sentences"
        return
    named: list[tuple[str, Any]] = [("next", after.next), ("out", after.out)]
    for sentence in after.told:
        told = Told(sentence) if isinstance(sentence, str) else sentence
        if not (isinstance(told, Told) and isinstance(told.text, str)):
            yield f"told has {sentence!r}, which is not a text"
            return
        named.append(("told", told.to))
        if any(int(number) >= seats for number, _ in _PLACE.findall(told.text)):
            yield f"told names a seat that is not there: {told.text!r}"
    for name, sides in named:
        if sides is not None and not isinstance(sides, Collection):
            yield f"{name} is {sides!r}, not a list of seats"
        elif any(side not in range(seats) for side in sides or ()):
            yield f"{name} has a seat that is not there: {sides!r}"


def _after_last(live: Sequence[int], named: Sequence[int]) -> list[int]:
    """Return the sides that follow if none of those named can move."""
    return [side for side in live if side not in named] + list(named)


def _notes_of_move(
    table: Table, after: After[Any], seat: Seat, move: str
) -> tuple[list[Note], dict[Seat | None, str]]:
    """Return the notes of a move, and its text as each seat may read it."""
    side = table.sides[seat]
    public: dict[Seat | None, str] = {None: move}
    if after.secret is not None:
        public = {seat: move, None: after.secret}
    if after.told:
        return [_note(table, sentence, seat) for sentence in after.told], public
    own = _note(table, Told(f"{{{side}}} played {move}."), seat)
    if after.secret is None:
        return [own], public
    others: frozenset[Any] = frozenset({None, *range(table.seats)} - {seat})
    theirs = _note(table, Told(f"{{{side}}} played {after.secret}."), seat)
    return [replace(own, audience=frozenset({seat})), replace(theirs, audience=others)], public


def _notes_of_offer(table: Table, seat: Seat) -> list[Note]:
    """Return what a seat that moves does to an offer that waits."""
    if table.offer is None:
        return []
    proposal, by = table.offer
    answer = "withdrawn" if by == seat else "refused"
    return [Note(OFFER, seat, None, {"what": f"{proposal}-{answer}"})]


def _note(table: Table, report: str | Told, seat: Seat) -> Note:
    text, to = (report, None) if isinstance(report, str) else (report.text, report.to)
    audience = None if to is None else frozenset(table.seat_of(side) for side in to)
    return Note("told", seat, audience, {"text": _seated(table, text)})


def _seated(table: Table, text: str) -> str:
    """Return a sentence with seats in place of sides."""

    def seat(match: re.Match[str]) -> str:
        return f"{{{table.seat_of(int(match[1]))}{match[2] or ''}}}"

    return _PLACE.sub(seat, text)
