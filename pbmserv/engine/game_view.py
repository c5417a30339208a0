"""A board of a `pbmserv.game.Game` as one reader may see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pbmserv.engine.table import SWAP, BrokenRules, Table
from pbmserv.engine.types import Seat
from pbmserv.game import Game, Grid, Items, Part, matching
from pbmserv.game.cells import laid_out

CELL = re.compile(r"[A-Za-z]{1,2}[0-9]{1,2}")
"""The usual name of a cell."""
_LISTED = 12
"""Moves that a letter lists."""


@dataclass(frozen=True)  # without slots, so that properties can be cached
class View:
    """A board as one reader may see it.

    Attributes:
        rules: the game, whose methods get only what this reader may see.
        table: its state is what `pbmserv.game.Game.seen` returns for this reader.
        seat: `None` for a spectator.
        may_take_back: whether this seat may ask to take back its last turn.
    """

    rules: Game[Any] = field(compare=False, repr=False)
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
    def is_out(self) -> bool:
        """Whether the reader was eliminated or has resigned, and the others go on."""
        return not self.is_over and self.seat in self.table.out

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
        table = self.table
        is_player = self.seat is not None and table.seats == 2
        has_begun = table.outcome is None and table.used >= table.seats
        return self.rules.draws and is_player and has_begun and table.offer is None

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the board as the reader sees them, with the cells of the last move."""
        shown: Any = self.rules.show(self.table.state, self.side)
        if isinstance(shown, Grid | Items | str):
            parts: tuple[Part, ...] = (shown,)
        elif isinstance(shown, Iterable):
            parts = tuple(shown)
        else:
            raise BrokenRules(self.rules, "show", f"returns {shown!r} in place of a board")
        for part in parts:
            if not isinstance(part, Grid | Items | str):
                raise BrokenRules(
                    self.rules, "show", f"returns {part!r}, not a Grid, Items or a text"
                )
            if isinstance(part, Items) and not isinstance(part.items, Sequence):
                raise BrokenRules(
                    self.rules, "show", f"Items has {part.items!r} in place of a list of texts"
                )
        return tuple(self._with_news(part) for part in parts)

    def _with_news(self, part: Part) -> Part:
        """Return a grid with the cells of the last move, if its game does not say what is new."""
        if not isinstance(part, Grid) or part.new or part.still:
            return part
        names = [cell.name for cell in laid_out(part).cells if cell.piece is not None]
        move = self.table.last
        is_cell = move.upper() in map(str.upper, names)
        last = {name.upper() for name in ([move] if is_cell else CELL.findall(move))}
        return replace(part, new=tuple(name for name in names if name.upper() in last))

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The moves that the game lists for the reader."""
        if self.seat is None or not self.may_act:
            return ()
        return tuple(self.rules.moves(self.table.state, self.table.sides[self.seat]))

    @property
    def ask(self) -> str:
        """A sentence that says how to reply; "" if it is not the reader's turn."""
        if self.seat is None or not self.may_act:
            return ""
        text = self.rules.ask(self.table.state, self.table.sides[self.seat])
        if text:
            return sentence(text)
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
        return self.rules.rotates and self.side == 1

    def names_by_side(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names of players in the order of their sides."""
        return tuple(names[seat] for seat in map(self.table.seat_of, range(self.table.seats)))


def sentence(text: str) -> str:
    """Return a text in one line, with a full stop unless it ends a sentence already."""
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?")) else f"{text}."
