"""Budgets of mails and pages: work is counted before it is done, and has an end.

A price is about ten microseconds of a processor, letters that follow included; `make bench` shows
the cost of the heaviest mails that are allowed. Nothing here looks at a clock: the same mail at the
same boards always ends at the same place, between two statements and never in one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.table.model import ReplyMove, TrayReply
from pbmserv.engine.position import Position, weight, work_of
from pbmserv.engine.protocol import Sized, keeps
from pbmserv.engine.record import Ply
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import PlayerError

ALLOWED = 36_000
"""What a mail may spend: 0.36 s, so that one whose work takes longer than usual ends in half a
second."""


class Work(Enum):
    """What is counted, with its price."""

    OCTETS = "a KiB of the mail, walked through and decoded", 25
    COMMAND = "a command, in its savepoint", 60
    TEXT = "24 characters of a command, read and applied", 14
    PLY = "a unit of `engine.position.work_of`, replayed here and again for the letter", 9
    GAME = "a unit of `engine.position.work_of` that a game does by itself for a file", 1
    MOVE = "a move made for a plan, logged", 65
    ROW = "a move of a file, stored with the others", 3
    BOARD = "a board looked up", 25
    NAME = "a player looked up", 20
    TABLE = "a table made for one player", 90
    DRAWN = "a board drawn in the answer", 150
    PART = "another part of the answer", 60
    LETTER = "a letter to somebody else", 350
    TOLD = "a ply that a letter tells of", 4
    EXPORT = "all that is kept of a player, as a file", 20_000
    REPORT = "a player's game, worked through by the coach in the bots' process", 3_000
    SQUARES = "64 squares of a board that is set up or drawn", 30

    def __init__(self, meaning: str, price: int) -> None:
        self.meaning = meaning
        self.price = price


class TooMuch(PlayerError):
    """A mail or a page asks for more than it may; nothing below the present command is tried."""


@dataclass(slots=True)
class Budget:
    """What one mail has spent while it is carried out once.

    Attributes:
        allowed: what it may spend; `math.inf` for what no mail asks for: clocks, bots, operators.
        spent: in all, by the prices of `Work`.
        is_over: more was asked for than there is; it stays so.
        drawn: boards that the answer draws, each with the seat that it is drawn for.
    """

    allowed: float = ALLOWED
    spent: int = 0
    is_over: bool = False
    drawn: set[tuple[int | None, int | None]] = field(default_factory=set)
    _begun: int = 0

    def charge(self, work: Work, amount: int) -> None:
        """Count what is done already, as the reading of a mail is; never refuses."""
        self.spent += work.price * amount
        self.is_over = self.spent > self.allowed

    def begin(self, line: Line) -> None:
        """A command is about to be carried out; what was spent before was others'. Raises as
        `spend`."""
        self._begun = self.spent
        asked = line.meaning
        text = len(line.echo)
        if isinstance(asked, TrayReply):
            text = max(text, len(asked.text))
        elif isinstance(asked, ReplyMove):
            text = sum(map(len, asked.lines))
        self.spend(Work.COMMAND)
        self.spend(Work.TEXT, weight(text))

    def spend(self, work: Work, amount: int = 1) -> None:
        """Count work that is about to be done.

        Raises:
            TooMuch: there is not so much left. A command that has caught it fails all the same.
        """
        self.spent += work.price * amount
        if self.spent > self.allowed:
            self.is_over = True
            self.check()

    def replay(self, position: Position, plies: Iterable[Ply]) -> None:
        """Count plies that are about to be replayed after *position*; raises as `spend`."""
        game, state = position.game, position.state
        if position.number == 0:
            self.spend(Work.SQUARES, squares_of(game, state))
        self.spend(Work.PLY, sum(work_of(game, state, ply.text) for ply in plies))

    def spend_on_game(self, work: int) -> None:
        """Count work that a game is about to do by itself; raises as `spend`."""
        self.spend(Work.GAME, work)

    def check(self) -> None:
        """Raise again what a command may have caught; raises as `spend`."""
        if self.is_over:
            alone = self.spent - self._begun > self.allowed
            raise TooMuch("too-much-alone" if alone else "too-much")


_SQUARES = 64


def squares_of(game: AnyGame, state: Any) -> int:
    """Return for how many times 64 squares a board is set up or drawn; 0 for a small game's."""
    rules: Any = game
    return 1 + rules.squares(state) // _SQUARES if keeps(game, Sized) else 0
