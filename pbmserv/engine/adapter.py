"""Makes a game of `engine.protocol` out of a `pbmserv.game.Game`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import cleandoc
from itertools import islice
from typing import Any

from pbmserv.engine.board_drawing import board_drawing
from pbmserv.engine.board_facts import GameBoard, grids_of, things_of
from pbmserv.engine.record import DUPLICATE
from pbmserv.engine.table import (
    ACCEPT,
    DRAW,
    DUPLICATE_OPTION,
    REJECT,
    SWAP,
    TAKE_BACK,
    CountedRng,
    Keeper,
    Table,
    rng_for,
)
from pbmserv.engine.types import (
    BOT_USERIDS,
    Drawing,
    GameInfo,
    Move,
    Outcome,
    Preview,
    Rng,
    Seat,
    Step,
)
from pbmserv.errors import Ambiguous, Illegal, MoveError, NotUnderstood, OptionError
from pbmserv.game import Game, Grid, Items, No, Option, Part, Result, matching
from pbmserv.game.cells import laid_out

adapted_games: dict[str, AdaptedGame] = {}
"""Games whose boards the server draws, by their keys."""

_WORDS: Mapping[str, tuple[str, ...]] = {
    SWAP: ("swap", "swap sides"),
    DRAW: ("draw", "offer draw", "offer a draw", "i offer a draw", "propose draw", "propose"),
    TAKE_BACK: ("takeback", "take back", "ask to take back"),
    ACCEPT: ("accept",),
    REJECT: ("reject", "decline"),
}
_UNRATED = Option("unrated", "the result changes no ratings", (False, True), False, rated=False)
_CELL = re.compile(r"[A-Za-z]{1,2}[0-9]{1,2}")
_YES = frozenset({"yes", "true", "on", "1"})
_NO = frozenset({"no", "false", "off", "0"})
_OPTION = re.compile(r"[a-z][a-z0-9-]{0,19}")
LONGEST_TITLE = 40
_LISTED = 12
"""Moves that a letter lists."""


class Settings(Mapping[str, Any]):
    """The options of a board: a mapping, whose values are attributes as well."""

    def __init__(self, values: Iterable[tuple[str, Any]]) -> None:
        self.items_in_order = tuple(values)

    def __getitem__(self, name: str) -> Any:
        return dict(self.items_in_order)[name]

    def __getattr__(self, name: str) -> Any:
        for key, value in self.__dict__.get("items_in_order", ()):
            if key.replace("-", "_") == name:
                return value
        raise AttributeError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.items_in_order))

    def __len__(self) -> int:
        return len(self.items_in_order)

    def __hash__(self) -> int:
        return hash(self.items_in_order)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self.items_in_order == other.items_in_order

    def __repr__(self) -> str:
        return f"Settings({dict(self.items_in_order)})"


@dataclass(frozen=True)  # without slots, so that properties can be cached
class View:
    """A board as one reader may see it.

    Attributes:
        rules: the game; never shown.
        table: its state is what `pbmserv.game.Game.seen` returns for this reader.
        seat: `None` for a spectator.
        may_take_back: whether this seat may ask to take back its last turn.
    """

    rules: AdaptedGame = field(compare=False, repr=False)
    table: Table
    seat: Seat | None
    may_take_back: bool = False

    @property
    def side(self) -> int | None:
        """The reader's side in the game."""
        return None if self.seat is None else self.table.sides[self.seat]

    @property
    def is_over(self) -> bool:
        return self.table.outcome is not None

    @property
    def may_act(self) -> bool:
        """Whether the reader may use a turn now."""
        return self.seat is not None and self.seat in self.table.movers

    @property
    def waiting(self) -> tuple[Seat, ...]:
        """Seats that may use a turn now."""
        return self.table.movers

    @property
    def may_swap(self) -> bool:
        """Whether the reader may take the other side now."""
        return self.may_act and self.table.may_swap

    @property
    def offer(self) -> str:
        """The offer that waits for the reader's answer; "" if there is none."""
        offer = self.table.offer
        return offer[0] if offer and self.seat is not None and offer[1] != self.seat else ""

    @property
    def may_offer_draw(self) -> bool:
        """Whether the reader may offer a draw now."""
        table, game = self.table, self.rules.rules
        can = game.draws and table.seats == 2 and self.seat is not None and table.offer is None
        return can and table.outcome is None and table.used >= table.seats

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the board as the reader sees them, with the cells of the last move."""
        shown = self.rules.rules.show(self.table.state, self.side)
        parts = (shown,) if isinstance(shown, Grid | Items | str) else tuple(shown)
        return tuple(self._with_news(part) for part in parts)

    def _with_news(self, part: Part) -> Part:
        """Return a grid with the cells of the last move, if its game does not say what is new."""
        if not isinstance(part, Grid) or part.new or part.still:
            return part
        names = [cell.name for cell in laid_out(part).cells if cell.piece is not None]
        move = self.table.last
        is_cell = move.upper() in map(str.upper, names)
        last = {name.upper() for name in ([move] if is_cell else _CELL.findall(move))}
        return replace(part, new=tuple(name for name in names if name.upper() in last))

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The moves that the game lists for the reader."""
        if self.seat is None or not self.may_act:
            return ()
        return tuple(self.rules.rules.moves(self.table.state, self.table.sides[self.seat]))

    @property
    def ask(self) -> str:
        """A sentence that says how to reply; "" if it is not the reader's turn."""
        if self.seat is None or not self.may_act:
            return ""
        text = self.rules.rules.ask(self.table.state, self.table.sides[self.seat])
        if text:
            return _sentence(text)
        return f"Reply with {'a' if len(self.moves) > 1 else 'your'} move: {self._few()}."

    def _few(self) -> str:
        return matching.choices(self.moves[: _LISTED + 1])

    @property
    def example(self) -> str:
        """A move that the reader could make now; "" if it is not their turn."""
        return next(iter(self.moves), "")

    @property
    def is_tappable(self) -> bool:
        """Whether a tap on the board is a move, or begins one."""
        moves = self.moves
        return any(
            cell.tap
            for part in self.parts
            if isinstance(part, Grid)
            for cell in laid_out(part, moves).cells
        )

    @property
    def words(self) -> list[str]:
        """Moves that no tap on the board leads to, a few of them."""
        cells = {
            "".join(matching.tokens(cell.name))
            for part in self.parts
            if isinstance(part, Grid) and not part.still
            for cell in laid_out(part).cells
        }
        columns = {re.sub("[0-9]", "", name) for name in cells}
        squeezed = {move: "".join(matching.tokens(move)) for move in self.moves}
        words = [
            move
            for move, text in squeezed.items()
            if text not in columns and not any(text.startswith(cell) for cell in cells)
        ]
        return [*words[:_LISTED], *([SWAP] if self.may_swap else [])]

    @property
    def is_turned(self) -> bool:
        """Whether the reader sees the board from the other side."""
        return self.rules.rules.rotates and self.side == 1

    def names_by_side(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names of players in the order of their sides."""
        return tuple(names[seat] for seat in map(self.table.seat_of, range(self.table.seats)))


class ListedBot:
    """A bot of a game: a function of what its seat may see."""

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
    """A `pbmserv.game.Game` as the rest of the server knows games."""

    def __init__(self, rules: Game[Any]) -> None:
        check_declaration(rules)
        self.rules = rules
        self._keeper = Keeper(rules)
        self._options = (*rules.options, _UNRATED)
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
            options=tuple((_form(option), _meaning(option)) for option in self._options),
            opening=1,
        )
        bots = dict(rules.bots) or {"house": self._random_move}
        self.bots: Mapping[str, Any] = {
            userid: ListedBot(self, bots[userid]) for userid in BOT_USERIDS if userid in bots
        }
        adapted_games[rules.key] = self

    @property
    def server_rules(self) -> list[str]:
        """Paragraphs about what the server adds to the rules."""
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

    # -- options ---------------------------------------------------------------------------

    def options(self, words: Sequence[str], seats: int) -> Settings:  # noqa: ARG002 - a contract
        """Read the option words of a challenge."""
        values = {option.name: option.default for option in self._options}
        options_by_name = {option.name.casefold(): option for option in self._options}
        for word in words:
            if word == DUPLICATE and self.has_chance:
                continue
            name, sign, text = word.removeprefix("-").partition("=")
            option = options_by_name.get(name.casefold())
            if option is None or not word.startswith("-"):
                raise self._refused_option("no-option", word, options=self._forms())
            values[option.name] = self._value(option, word, text if sign else None)
        chosen = [(option.name, values[option.name]) for option in self._options]
        is_duplicate = DUPLICATE in words
        return Settings([*chosen, DUPLICATE_OPTION] if is_duplicate else chosen)

    def _value(self, option: Option, word: str, text: str | None) -> Any:
        if set(option.values) == {False, True}:
            if text is None or text.casefold() in _YES:
                return True
            if text.casefold() in _NO:
                return False
        for value in option.values:
            if text is not None and str(value).casefold() == text.casefold():
                return value
        raise self._refused_option("no-value", word, option=option.name, values=_values(option))

    def _refused_option(self, code: str, part: str, **values: str) -> OptionError:
        facts = {"title": self.info.title, **values}
        return OptionError(f"{self.info.key}.{code}", part=part, **facts)

    def _forms(self) -> str:
        return ", ".join(_form(option) for option in self._options)

    def describe(self, options: Settings) -> tuple[str, ...]:
        """Return the words of all options that differ from their defaults."""
        changed = [option for option in self._options if options[option.name] != option.default]
        words = tuple(
            f"-{option.name}"
            if options[option.name] is True
            else f"-{option.name}={'no' if options[option.name] is False else options[option.name]}"
            for option in changed
        )
        return (*words, DUPLICATE) if DUPLICATE_OPTION in options.items_in_order else words

    def rated(self, options: Settings) -> bool:
        """Whether a board with these options changes ratings."""
        return all(
            option.rated or options[option.name] == option.default for option in self._options
        )

    # -- play ------------------------------------------------------------------------------

    def setup(self, seats: int, options: Settings, rng: Rng) -> Table:
        """Return the table before the first move."""
        counted = rng_for(options.items_in_order, rng, (0, 0))
        state = self.rules.start(seats, options, counted)
        return self._keeper.opened(seats, options.items_in_order, state, counted.dealt)

    def to_act(self, state: Table) -> frozenset[Seat]:
        """Seats that may use a turn now."""
        return frozenset(state.movers)

    def turn(self, state: Table, seat: Seat) -> int:
        """Return the number of the turn that a seat uses next."""
        return state.turn(seat)

    def view(self, state: Table, seat: Seat | None) -> View:
        """Return what a seat may know: after the end everything, however the game ended."""
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
        return View(self, seen, seat, can_ask)

    def parse(self, view: View, text: str) -> Move:
        """Read a move as people type it."""
        word = " ".join(matching.tokens(text))
        spoken = next((command for command, forms in _WORDS.items() if word in forms), "")
        listed = view.moves
        move = matching.spelt(text, listed)
        if move is not None:
            return Move(move)
        if spoken and (answer := self._spoken(view, spoken, text)) is not None:
            return answer
        vocabulary = [*self._vocabulary(view), *listed]
        is_like = matching.is_like(text, vocabulary, freely=self._reads_itself)
        if not is_like:
            raise self._refused(NotUnderstood, "not-a-move", view, text)
        if not view.may_act:
            raise self._refused(Illegal, "not-now", view, text)
        if self._reads_itself:
            try:
                return Move(self._own_reading(view, text))
            except No as no:
                raise self._refused(Illegal, "said", view, text, why=_sentence(str(no))) from no
        begun = matching.beginning_with(text, listed)
        if len(begun) == 1:
            return Move(begun[0])
        if begun:
            raise self._refused(Ambiguous, "several", view, text, moves=matching.choices(begun))
        raise self._refused(Illegal, "illegal", view, text)

    def _own_reading(self, view: View, text: str) -> str:
        assert view.side is not None
        return self.rules.read(view.table.state, view.side, text)

    def _vocabulary(self, view: View) -> Iterable[str]:
        """Yield words that may stand in a move of this game."""
        yield from self.rules.words
        for part in view.parts if not view.may_act else ():
            if isinstance(part, Grid) and not part.still:
                yield from part.columns[: len(part.rows[0])] if part.rows else ()

    def _spoken(self, view: View, word: str, text: str) -> Move | None:
        """Return what a word of the server means now; `None` if it means nothing here."""
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
        return kind(f"{self.info.key}.{code}", part=" ".join(text.split())[:60], **facts)

    def meant(self, view: View, text: str) -> Move | None:
        """Return the one legal move that occurs among other words."""
        listed = view.moves
        if not listed:
            return None
        move = matching.among_words(text, listed)
        if move is None and self._reads_itself:
            move = self._own_meaning(view, text)
        if move is None and view.may_swap and SWAP in matching.tokens(text):
            return Move(SWAP)
        return None if move is None else Move(move)

    def _own_meaning(self, view: View, text: str) -> str | None:
        """Return the move that the game itself reads between words of talk: "Nf3, please"."""
        between = matching.without_talk(text)
        if not matching.is_like(between, self._vocabulary(view), freely=True):
            return None
        try:
            return self._own_reading(view, between)
        except No:
            return None

    def meanwhile(self, view: View, move: Move) -> tuple[Move | None, str]:  # noqa: ARG002
        """Return that no part of a move can be made while another seat has the turn."""
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
            return self._freely(state, seat, move)
        if state.outcome is not None or seat not in state.movers:
            raise Illegal(f"{self.info.key}.not-now", part=move.text, title=self.info.title, ask="")
        if move.text == SWAP and state.may_swap:
            return self._keeper.swapped(state, seat)
        try:
            return self._keeper.played(state, seat, move.text, rng)
        except Exception:
            self.parse(self.view(state, seat), move.text)  # a damaged record: say so
            raise

    def _freely(self, state: Table, seat: Seat, move: Move) -> Step[Table]:
        """Carry out an offer or the answer to one."""
        view = self.view(state, seat)
        if self.parse(view, move.text) != move:
            raise Illegal(f"{self.info.key}.not-now", part=move.text, title=self.info.title, ask="")
        if move.text in {ACCEPT, REJECT}:
            return self._keeper.answered(state, seat, agreed=move.text == ACCEPT)
        return self._keeper.offered(state, seat, move.text)

    def claimed(self, state: Table, seat: Seat) -> Step[Table]:
        """Carry out that a seat claims a draw from a silent opponent.

        Raises:
            Illegal: the game has no draws by agreement, or more than two players.
        """
        if not self.rules.draws or state.seats != 2 or state.outcome is not None:
            raise Illegal("no-claim", part="claim", title=self.info.title)
        return self._keeper.claimed(state, seat)

    def withdraw(self, state: Table, seat: Seat) -> Step[Table]:
        """Carry out that a seat resigns.

        Raises:
            Illegal: the board is over, or the seat is out.
        """
        if state.outcome is not None or seat in state.out:
            raise Illegal(f"{self.info.key}.not-now", part="resign", title=self.info.title, ask="")
        return self._keeper.left(state, seat, Rng(b"resigned", state.used))

    def outcome(self, state: Table) -> Outcome | None:
        """Return how the board ended."""
        return state.outcome

    # -- what a page and a letter ask beside --------------------------------------------------

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
        """Return what a move would do, as far as nothing hidden and no dice have a part in it."""
        own = replace(view, seat=seat)
        if view.seat is None and self.rules.hidden:
            raise self._refused(Illegal, "not-now", view, text)
        move = self.parse(own, text)
        table = view.table
        if move.text == ACCEPT or self.rules.hidden or self.rules.together:
            return Preview(move, view, ())
        rng = Rng(b"preview", 0)
        step = self.apply(table, seat, move, rng)
        if step.reveals and step.state.outcome is None:
            return Preview(move, view, ())
        shown = self.view(step.state, view.seat)
        return Preview(move, replace(shown, may_take_back=False), step.notes)

    def condition(self, view: View, text: str) -> str:  # noqa: ARG002 - a contract
        """Read the condition that another player's last move was this one."""
        move = " ".join(text.split())
        if not matching.is_like(move, self.rules.words, freely=True):
            raise NotUnderstood(
                f"{self.info.key}.no-condition", part=move[:60], title=self.info.title
            )
        return move.upper() if _CELL.fullmatch(move) else move.lower()

    def holds(self, view: View, condition: str) -> bool:
        """Whether the last move was this one."""
        last = view.table.last
        return matching.tokens(last) == matching.tokens(condition) or bool(
            condition and matching.spelt(condition, [last])
        )

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
        """Whether the game has its own way to read moves."""
        return type(self.rules).read is not Game.read


def adapted(game: Any) -> Any:
    """Return the game as the server knows games; one of `engine.protocol` as it is."""
    return AdaptedGame(game) if isinstance(game, Game) else game


def check_declaration(rules: Game[Any]) -> None:
    """Refuse a game whose class says something that cannot be.

    Raises:
        ValueError: names the attribute.
    """
    name = type(rules).__name__
    for attribute in ("key", "title"):
        if not isinstance(getattr(rules, attribute, None), str) or not getattr(rules, attribute):
            raise ValueError(f"{name}.{attribute} must be a text")
    if not (type(rules).__doc__ or "").strip():
        raise ValueError(f"{name} has no docstring; it explains the rules to players")
    if len(rules.title) > LONGEST_TITLE or not rules.title.isprintable():
        raise ValueError(f"{name}.title must be one line of at most {LONGEST_TITLE} characters")
    least, most = rules.seats
    if not 1 <= least <= most <= 8:
        raise ValueError(f"{name}.seats = {rules.seats}: there are 1 to 8 players")
    if rules.swap and rules.seats != (2, 2):
        raise ValueError(f"{name}.swap needs two players")
    for userid in rules.bots:
        if userid not in BOT_USERIDS:
            raise ValueError(f"{name}.bots: {userid!r} is not one of {', '.join(BOT_USERIDS)}")
        if not callable(rules.bots[userid]):
            raise ValueError(f"{name}.bots: {userid!r} must be a function")
    _check_options(name, rules.options)


def _check_options(name: str, options: Sequence[Option]) -> None:
    names = [option.name for option in options]
    for option in options:
        is_own = option.name not in {_UNRATED.name, DUPLICATE_OPTION[0]}
        if not (_OPTION.fullmatch(option.name) and is_own) or names.count(option.name) > 1:
            raise ValueError(f"{name}.options: {option.name!r} is not a word of its own")
        if option.default not in option.values:
            raise ValueError(f"{name}.options: {option.name} has the default {option.default!r}")


def _form(option: Option) -> str:
    if set(option.values) == {False, True}:
        return f"-{option.name}" + ("=no" if option.default else "")
    return f"-{option.name}={option.name.upper()}"


def _meaning(option: Option) -> str:
    if set(option.values) == {False, True}:
        return f"turns this off: {option.help}" if option.default else option.help
    return f"{option.help}: {_values(option)} (default {option.default})"


def _values(option: Option) -> str:
    values = option.values
    if isinstance(values, range) and values.step == 1:
        return f"{values[0]} to {values[-1]}"
    return ", ".join(map(str, values))


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."
