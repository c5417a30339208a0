"""Makes a game of `engine.protocol` out of a `pbmserv.game.Game`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from inspect import cleandoc
from itertools import groupby, islice
from typing import Any

from pbmserv.engine.board_drawing import board_drawing
from pbmserv.engine.board_facts import GameBoard, grids_of, things_of
from pbmserv.engine.declaration import check_declaration
from pbmserv.engine.game_options import GameOptions, Settings
from pbmserv.engine.game_view import CELL, View, sentence
from pbmserv.engine.left_to_chance import leaves_it_to_chance
from pbmserv.engine.record import DUPLICATE
from pbmserv.engine.rng import Rng
from pbmserv.engine.table import (
    ACCEPT,
    DRAW,
    REJECT,
    SWAP,
    TAKE_BACK,
    CountedRng,
    Keeper,
    Table,
    rng_for,
)
from pbmserv.engine.types import BOT_USERIDS, Drawing, GameInfo, Move, Outcome, Preview, Seat, Step
from pbmserv.errors import Ambiguous, Illegal, MoveError, NotUnderstood
from pbmserv.game import Game, Grid, No, Result, matching

RANDOM = "random"
"""The move by which a game places for a player; players may write it in other words."""

adapted_games: dict[str, AdaptedGame] = {}
"""The games that `adapt` has made in this process, by their keys, as templates name them."""

_WORDS: Mapping[str, tuple[str, ...]] = {
    SWAP: ("swap", "swap sides"),
    DRAW: ("draw", "offer draw", "offer a draw", "i offer a draw", "propose draw", "propose"),
    TAKE_BACK: ("takeback", "take back", "ask to take back"),
    ACCEPT: ("accept",),
    REJECT: ("reject", "decline"),
}

_AROUND_DRAW = frozenset(
    ("a", "the", "it", "i", "d", "we", "you", "would", "like", "let", "s", "lets", "shall", "want")
) | {"how", "about", "call", "offer", "propose", "please", "ok", "then"}
"""Words that may stand around "draw": "Let's call it a draw", "would you like a draw?"."""
_BESIDE_SWAP = frozenset(
    {"rather", "prefer", "side", "sides", "colour", "colours", "color", "colors", "you"}
)
"""Words that may stand beside "swap": "I would rather swap sides with you"."""
_BETWEEN_MOVES = re.compile(r"(?<!\d)[,;]|[,;](?!\d)")
"""A comma, unless it parts two numbers: "bid 1,2" is not the two bids 1 and 2."""
_PUNCTUATION = " ,;:.!?()\"'"
_LONGEST_MENDED = 200
"""Characters of the longest sentence whose move is offered as an example."""
_MOST_LIKE_MOVES = 3
"""The most parts of such a sentence that may look like moves; the game reads each of them."""


class ListedBot:
    """A bot of a game: a function of the facts that its seat may see."""

    def __init__(self, game: AdaptedGame, choose: Callable[[Any, int, Any], str]) -> None:
        self._game = game
        self._choose = choose

    def agree(self, options: Any) -> None:
        """Play with any options."""

    def choose(self, view: View, rng: Rng) -> str:
        assert view.seat is not None
        if view.may_swap and self._game.rules.worth_swapping(view.table.state):
            return SWAP
        return self._choose(view.table.state, view.table.sides[view.seat], CountedRng(rng))


class AdaptedGame:
    """A `pbmserv.game.Game` with the methods of `engine.protocol.Game`."""

    def __init__(self, rules: Game[Any]) -> None:
        check_declaration(rules)
        self.rules = rules
        self._keeper = Keeper(rules)
        self._options = GameOptions(rules)
        text = cleandoc(type(rules).__doc__ or rules.title)
        first, _, self.rules_text = text.partition("\n")
        self.summary = first.strip().rstrip(".")
        self.info = GameInfo(
            key=rules.key,
            title=rules.title,
            summary=self.summary[:1].lower() + self.summary[1:],
            min_seats=max(2, rules.seats[0]),
            max_seats=rules.seats[1],
            hidden=rules.hidden,
            rules_version=rules.version,
            options=self._options.described,
            opening=1,
        )
        bots = dict(rules.bots) or {"house": self._random_move}
        self.bots: Mapping[str, Any] = {
            userid: ListedBot(self, bots[userid]) for userid in BOT_USERIDS if userid in bots
        }

    @property
    def server_rules(self) -> list[str]:
        """Paragraphs about the moves that the server adds to the rules."""
        paragraphs = [
            "Small letters and capitals mean the same in a move, and so does any punctuation."
        ]
        if self.rules.swap:
            paragraphs.append(
                'The second player may reply "swap" to the first move: the sides change.'
            )
        if self.rules.draws and self.info.max_seats == 2:
            paragraphs.append(
                'Reply "draw" to offer a draw; the other player accepts or rejects it.'
            )
        if self.info.max_seats == 2:
            paragraphs.append(
                '"undo" takes back a move that nobody has been told of. "takeback" asks the other '
                "player whether your last move may be taken back."
            )
        if self.info.max_seats > 2:
            paragraphs.append("If somebody resigns, the others go on.")
        return paragraphs

    @cached_property
    def sample_moves(self) -> tuple[str, str, str]:
        """Three moves with which a game can begin; words for them if the game lists none."""
        listed: list[str] = []
        with suppress(Exception):
            seats = self.info.min_seats
            options = self.options((), seats)
            state = self.rules.start(seats, options, CountedRng(Rng(b"sample" * 4, 0)))
            seat = next(iter(self.rules.first(state)))
            moves = self.rules.moves(self.rules.seen(state, seat), seat)
            listed = sorted({move for move in islice(moves, 200) if len(move) <= 12})
        places = [n * (len(listed) - 1) // 2 for n in (1, 0, 2)]
        first, second, third = [listed[n] for n in places] if listed else ["MOVE"] * 3
        return first, second, third

    @cached_property
    def has_chance(self) -> bool:
        """Whether the game has dice or deals, with its usual options."""
        rng = CountedRng(Rng(b"sample" * 4, 0))
        with suppress(Exception):
            self.rules.start(self.info.min_seats, self.options((), self.info.min_seats), rng)
        return self.rules.chance or rng.drawn

    def without_solution(self, step: Step[Table]) -> Step[Table]:
        """Return the last step of a board without the hidden facts that its end reveals."""
        return replace(step, state=replace(step.state, outcome=None, due=()))

    def _random_move(self, state: Any, seat: int, rng: Any) -> str:
        move: str = rng.choice(list(self.rules.moves(state, seat)))
        return move

    def options(self, words: Sequence[str], seats: int) -> Settings:  # noqa: ARG002 - a contract
        """Read the option words of a challenge."""
        is_duplicate = DUPLICATE in words and self.has_chance
        return self._options.read(words, is_duplicate=is_duplicate)

    def describe(self, options: Settings) -> tuple[str, ...]:
        """Return the words of all options that differ from their defaults."""
        return self._options.words_of(options)

    def rated(self, options: Settings) -> bool:
        """Return whether a board with these options changes ratings."""
        return self._options.are_rated(options)

    # -- play ------------------------------------------------------------------------------

    def setup(self, seats: int, options: Settings, rng: Rng) -> Table:
        """Return the table before the first move."""
        items = tuple(options.items())
        counted = rng_for(items, rng, (0, 0))
        state = self.rules.start(seats, options, counted)
        return self._keeper.open_table(seats, items, state, counted.dealt)

    def to_act(self, state: Table) -> frozenset[Seat]:
        """Seats that may use a turn now."""
        return frozenset(state.movers)

    def turn(self, state: Table, seat: Seat) -> int:
        """Return the number of the turn that a seat uses next."""
        return state.turn(seat)

    def is_out(self, state: Table, seat: Seat) -> bool:
        """Return whether a seat was eliminated or has resigned."""
        return seat in state.out

    def view(self, state: Table, seat: Seat | None) -> View:
        """Return the board as a seat may see it: all of it after the end."""
        side = None if seat is None else state.sides[seat]
        seen = replace(
            state,
            state=state.state if state.outcome else self.rules.seen(state.state, side),
            chosen=tuple(
                (chooser, move if chooser == seat else "") for chooser, move in state.chosen
            ),
            before=None,
            mover=None,
            final=False,
            dealt=(0, 0),
        )
        can_ask = (
            seat is not None
            and state.seats == 2
            and state.outcome is None
            and state.offer is None
            and state.retaken(seat) is not None
        )
        return View(self.rules, seen, seat, can_ask)

    def parse(self, view: View, text: str) -> Move:
        """Read a move as people type it."""
        try:
            return self._one_move(view, text)
        except Illegal as refusal:
            first, rest = self._listed_moves(view, text)
            if not first:
                raise
            listed = self._refused(Illegal, "two-moves", view, text, first=first, rest=rest)
            raise listed.offering(first) from refusal

    def _listed_moves(self, view: View, text: str) -> tuple[str, str]:
        """Return the first part of a list, "e4, e5", and the rest of it.

        Both are ``""`` if the first part is not a turn by itself.
        """
        first, *others = _BETWEEN_MOVES.split(text, maxsplit=1)
        first, rest = first.strip(), " ".join(others).strip(" ,;")
        if rest:
            with suppress(MoveError):
                if not self._one_move(view, first).free:
                    return first, rest
        return "", ""

    def _one_move(self, view: View, text: str) -> Move:
        """Read a text as one move."""
        word = " ".join(matching.tokens(text))
        spoken = next((command for command, forms in _WORDS.items() if word in forms), "")
        if not spoken and set(matching.tokens(text)).difference(_AROUND_DRAW) == {DRAW}:
            spoken = DRAW
        listed = view.moves
        move = matching.spelt(text, listed)
        if move is not None:
            return Move(move)
        if spoken and (answer := self._spoken(view, spoken, text)) is not None:
            return answer
        vocabulary = [*self._vocabulary(view), *listed]
        whole = matching.with_whole_cells(text)
        if not matching.is_like(whole, vocabulary, freely=self._reads_itself):
            refusal = self._refused(NotUnderstood, "not-a-move", view, text)
            raise refusal.offering(self._named_move(view, text))
        if not view.may_act:
            waits = not view.is_over and view.seat is not None and not view.is_out
            raise self._refused(Illegal, "not-your-turn" if waits else "not-now", view, text)
        if self._reads_itself:
            try:
                return Move(self._own_reading(view, text))
            except No as no:
                raise self._refused(Illegal, "said", view, text, why=sentence(str(no))) from no
        begun = matching.beginning_with(text, listed)
        if len(begun) == 1:
            return Move(begun[0])
        if begun:
            raise self._refused(Ambiguous, "several", view, text, moves=matching.choices(begun))
        raise self._refused(Illegal, "illegal", view, text)

    def _own_reading(self, view: View, text: str) -> str:
        assert view.side is not None
        return self.rules.read(view.table.state, view.side, matching.with_whole_cells(text))

    def _named_move(self, view: View, text: str) -> str:
        """Return the only move that a sentence names, ``""`` for none: "b3 ha ha".

        It is offered as an example, because such a sentence may be talk.
        """
        if not view.may_act or len(text) > _LONGEST_MENDED or matching.negates(text):
            return ""
        if not self._reads_itself:
            return matching.only_named(text, view.moves) or ""
        vocabulary = list(self._vocabulary(view))
        words = [word.strip(_PUNCTUATION) for word in text.split()]
        is_like = partial(matching.is_like, words=vocabulary, freely=True)
        runs = [" ".join(run) for fits, run in groupby(words, is_like) if fits]
        if len(runs) > _MOST_LIKE_MOVES:
            return ""
        named = {}
        for run in runs:
            with suppress(No):
                named[self._own_reading(view, run)] = run
        return next(iter(named.values())) if len(named) == 1 else ""

    def _vocabulary(self, view: View) -> Iterable[str]:
        """Yield words that may stand in a move of this game."""
        yield from self.rules.words
        for part in view.parts if not view.may_act else ():
            if isinstance(part, Grid) and not part.still:
                yield from part.columns[: len(part.rows[0])] if part.rows else ()

    def _spoken(self, view: View, word: str, text: str) -> Move | None:
        """Return the move that a word of the server means now; `None` if it means none."""
        if view.seat is None or view.is_over:
            return None
        if word == SWAP and self.rules.swap:
            if view.may_swap:
                return Move(SWAP)
            raise self._refused(Illegal, "no-swap", view, text)
        if word == DRAW and view.offer == DRAW:
            return Move(ACCEPT, free=True)
        if word == DRAW and self.rules.draws and view.table.seats == 2:
            if view.may_offer_draw:
                return Move(DRAW, free=True)
            raise self._refused(Illegal, "no-draw", view, text)
        if word == TAKE_BACK:
            if view.may_take_back:
                return Move(TAKE_BACK, free=True)
            raise self._refused(Illegal, "no-take-back", view, text)
        if word in {ACCEPT, REJECT} and view.offer:
            return Move(word, free=True)
        return None

    def _refused(
        self, kind: type[MoveError], code: str, view: View, text: str, **values: str
    ) -> MoveError:
        facts = {"title": self.info.title, "ask": view.ask, **values}
        part = " ".join(text.split())[:60]
        return kind(f"{self.info.key}.{code}", part=part, is_out=view.is_out, **facts)

    def meant(self, view: View, text: str) -> Move | None:
        """Return the one legal move that occurs among other words."""
        listed = view.moves
        if not listed:
            return None
        move = matching.among_words(text, listed)
        if move is None and self._reads_itself:
            move = self._own_meaning(view, text)
        if move is None and view.may_swap:
            move = matching.among_words(text, [*listed, SWAP], beside=_BESIDE_SWAP)
        return None if move is None else Move(move)

    def _own_meaning(self, view: View, text: str) -> str | None:
        """Return the move that the game itself reads between words of talk: "Nf3, please"."""
        vocabulary = frozenset(self._vocabulary(view))
        between = matching.without_talk(text, keeping=vocabulary)
        if not matching.is_like(between, vocabulary, freely=True):
            return None
        try:
            return self._own_reading(view, between)
        except No:
            return None

    def by_chance(self, view: View, sentence: str, rng: Rng) -> Move | None:  # noqa: ARG002
        """Return the move "random" if the game lists it and a sentence means it: "you choose"."""
        is_meant = RANDOM in view.moves and leaves_it_to_chance(sentence)
        return Move(RANDOM) if is_meant else None

    def meanwhile(self, view: View, move: Move) -> tuple[Move | None, str]:  # noqa: ARG002
        """Return no move and the whole text: every move of these games needs the turn."""
        return None, move.text

    def legal(self, view: View) -> Iterable[str]:
        """Return the moves of a seat."""
        return [*view.moves, *([SWAP] if view.may_swap else [])]

    def apply(self, state: Table, seat: Seat, move: Move, rng: Rng) -> Step[Table]:
        """Carry out a move that `parse` has read.

        Raises:
            Illegal: it is not this seat's turn, or the move is not legal.
        """
        if move.free:
            return self._apply_free(state, seat, move)
        if state.outcome is not None or seat not in state.movers:
            raise self._not_now(move.text)
        if move.text == SWAP and state.may_swap:
            return self._keeper.swap(state, seat)
        try:
            return self._keeper.play(state, seat, move.text, rng)
        except Exception:
            self.parse(self.view(state, seat), move.text)  # a damaged record: say so
            raise

    def _apply_free(self, state: Table, seat: Seat, move: Move) -> Step[Table]:
        """Carry out an offer or the answer to one."""
        view = self.view(state, seat)
        if self.parse(view, move.text) != move:
            raise self._not_now(move.text)
        if move.text in {ACCEPT, REJECT}:
            return self._keeper.answer(state, seat, agreed=move.text == ACCEPT)
        return self._keeper.offer(state, seat, move.text)

    def _not_now(self, part: str, *, is_out: bool = False) -> Illegal:
        """Return the refusal of a move for which a seat has no turn."""
        code, title = f"{self.info.key}.not-now", self.info.title
        return Illegal(code, part=part, title=title, ask="", is_out=is_out)

    def claim_draw(self, state: Table, seat: Seat) -> Step[Table]:
        """Return the step after a seat has claimed a draw from a silent opponent.

        Raises:
            Illegal: the game has no draws by agreement, or more than two players.
        """
        if not self.rules.draws or state.seats != 2 or state.outcome is not None:
            raise Illegal("no-claim", part="claim", title=self.info.title)
        return self._keeper.claim_draw(state, seat)

    def withdraw(self, state: Table, seat: Seat, rng: Rng) -> Step[Table]:
        """Return the step after a seat has resigned.

        Raises:
            Illegal: the board is over, or the seat is out.
        """
        if state.outcome is not None or seat in state.out:
            raise self._not_now("resign", is_out=state.outcome is None)
        return self._keeper.resign(state, seat, rng)

    def outcome(self, state: Table) -> Outcome | None:
        """Return how the board ended."""
        return state.outcome

    # -- pages, letters and programs -----------------------------------------------------------

    def file(self, view: View, names: Sequence[str], day: str) -> tuple[str, str] | None:
        """Return the board in the format of other programs, or `None`; see `Game.file`."""
        table = view.table
        outcome = table.outcome
        result = None
        if outcome is not None:
            by_side = [table.seat_of(side) for side in range(table.seats)]
            places = tuple(outcome.places[seat] for seat in by_side)
            scores = tuple(outcome.scores[seat] for seat in by_side) if outcome.scores else ()
            result = Result(places, outcome.reason, scores)
        return self.rules.file(table.state, view.names_by_side(names), result, day)

    def preview(self, view: View, seat: Seat, text: str) -> Preview[View]:
        """Return the effect of a move, without its hidden facts and dice."""
        own = replace(view, seat=seat)
        if view.seat is None and self.rules.hidden:
            raise self._refused(Illegal, "not-now", view, text)
        move = self.parse(own, text)
        table = view.table
        if move.text == ACCEPT or self.rules.hidden or self.rules.together:
            return Preview(move, view, (), is_unforeseen=True)
        rng = Rng(b"preview", 0)
        step = self.apply(table, seat, move, rng)
        if step.reveals and step.state.outcome is None:
            return Preview(move, view, (), is_unforeseen=True)
        shown = self.view(step.state, view.seat)
        return Preview(move, replace(shown, may_take_back=False), step.notes)

    def condition(self, view: View, text: str) -> str:  # noqa: ARG002 - a contract
        """Read a condition, which is a move: it holds if the last move was this one."""
        move = " ".join(text.split())
        if not matching.is_like(move, self.rules.words, freely=True):
            raise NotUnderstood(
                f"{self.info.key}.no-condition", part=move[:60], title=self.info.title
            )
        return move.upper() if CELL.fullmatch(move) else move.lower()

    def holds(self, view: View, condition: str) -> bool:
        """Return whether the last move was this one."""
        return matching.spelt(condition, [view.table.last]) is not None

    facts_type = GameBoard

    def facts(self, view: View) -> GameBoard:
        """Return the board as facts for programs."""
        parts, table = view.parts, view.table
        seats = [int(table.seat_of(side)) for side in range(table.seats)]
        return GameBoard(
            grids_of(parts, seats),
            things_of(parts),
            tuple(part for part in parts if isinstance(part, str)),
            view.moves,
            table.last,
            view.offer,
            view.may_swap,
        )

    def drawing(self, view: View, seat: Seat, end: View | None) -> Drawing | None:  # noqa: ARG002
        """Return a drawing of the board, which is the same for all seats."""
        return board_drawing(view.parts, turned=view.is_turned) if seat == 0 else None

    def tapped(self, view: View, draft: str, tap: str) -> str:
        """Return the text of a move after a tap on a cell, which may be half a move."""
        put, before = tap.strip(), draft.strip()
        if not put or put.casefold() == before.casefold():
            return ""
        moves = view.moves
        candidates = [f"{before} {put}", put] if before else [put]
        column = put.rstrip("0123456789")
        if column != put:
            candidates += [column]
        for text in candidates:
            if (move := matching.spelt(text, moves)) is not None:
                return move
            if begun := matching.beginning_with(text, moves):
                return begun[0] if len(begun) == 1 else text
        return candidates[0] if self._reads_itself else put

    @property
    def _reads_itself(self) -> bool:
        """Whether the game reads moves by a method of its own."""
        return type(self.rules).read is not Game.read


def adapt(rules: Game[Any]) -> AdaptedGame:
    """Return a game of `engine.protocol`, and let templates find it by its key.

    Of several versions of a game, templates find the newest one, whose rules help explains.

    Raises:
        ValueError: see `check_declaration`.
    """
    game = AdaptedGame(rules)
    known = adapted_games.get(rules.key)
    if known is None or known.rules.version <= rules.version:
        adapted_games[rules.key] = game
    return game


def adapted(game: Any) -> Any:
    """Return a game of `engine.protocol`, which is the game itself if it is one already.

    Raises:
        TypeError: it is a class.
    """
    if isinstance(game, type):
        raise TypeError(f"{game.__name__} is a class; GAME must be an object of it")
    return adapt(game) if isinstance(game, Game) else game
