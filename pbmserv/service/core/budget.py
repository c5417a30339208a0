"""Budgets of mails and pages: work is counted before it is done, and limited.

The unit of a price is about ten microseconds of a processor, including the letters that follow;
`make bench` shows the cost of the heaviest allowed mails. No clock is read, so the same mail at the
same boards always stops at the same place, and never within a statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.table.command_types import ReplyMove, TrayReply
from pbmserv.engine.position import Position, work_of, work_of_text
from pbmserv.engine.protocol import Sized, implements
from pbmserv.engine.record import Ply
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import PlayerError

ALLOWED = 36_000
"""The budget of a mail: 0.36 s, so that work that is slower than usual still ends in 0.5 s."""


class Work(Enum):
    """Kinds of work, with their prices."""

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
    PLY_IN_LETTER = "a ply that a letter tells of", 4
    EXPORT = "all that is kept of a player, as a file", 20_000
    REPORT = "a player's game, worked through by the coach in the bots' process", 3_000
    SQUARES = "64 squares of a board that is set up or drawn", 30

    def __init__(self, _meaning: str, price: int) -> None:
        self.price = price


class TooMuch(PlayerError):
    """A mail or page asks for too much work; the commands below are not tried."""


@dataclass(slots=True)
class Budget:
    """The work of one mail or press.

    Attributes:
        allowed: the limit; `math.inf` for clocks, bots and operators.
        spent: the work so far, by the prices of `Work`.
        is_over: the limit was exceeded once.
        drawn: boards that the answer draws, each with the seat that sees it.
    """

    allowed: float = ALLOWED
    spent: int = 0
    is_over: bool = False
    drawn: set[tuple[int | None, int | None]] = field(default_factory=set)
    _begun: int = 0

    def limit_to(self, allowed: float) -> None:
        """Set the limit, which the work so far may exceed already. Nothing is raised."""
        self.allowed = allowed
        self.is_over = self.spent > allowed

    def charge(self, work: Work, amount: int) -> None:
        """Count work that is done already, such as reading the mail. Nothing is raised."""
        self.spent += work.price * amount
        self.is_over = self.spent > self.allowed

    def begin(self, line: Line) -> None:
        """Begin a command: work before it belongs to other commands.

        Raises:
            TooMuch: the budget is used up.
        """
        self._begun = self.spent
        command = line.meaning
        length = len(line.echo)
        if isinstance(command, TrayReply):
            length = max(length, len(command.text))
        elif isinstance(command, ReplyMove):
            length = sum(map(len, command.lines))
        self.spend(Work.COMMAND)
        self.spend(Work.TEXT, work_of_text(length))

    def spend(self, work: Work, amount: int = 1) -> None:
        """Count work before it is done.

        Raises:
            TooMuch: the budget is used up. A command that catches it fails all the same.
        """
        self.spent += work.price * amount
        if self.spent > self.allowed:
            self.is_over = True
            self.check()

    def replay(self, position: Position, plies: Iterable[Ply]) -> None:
        """Count plies before they are replayed after *position*.

        Raises:
            TooMuch: the budget is used up.
        """
        game, state = position.game, position.state
        if position.number == 0:
            self.spend(Work.SQUARES, squares_of(game, state))
        self.spend(Work.PLY, sum(work_of(game, state, ply.text) for ply in plies))

    def check(self) -> None:
        """Raise the error again that a command may have caught.

        Raises:
            TooMuch: the budget is used up.
        """
        if self.is_over:
            alone = self.spent - self._begun > self.allowed
            raise TooMuch("too-much-alone" if alone else "too-much")


def squares_of(game: AnyGame, state: Any) -> int:
    """Return the size of a board in units of 64 squares; 0 if its game is small."""
    rules: Any = game
    return 1 + rules.squares(state) // 64 if implements(game, Sized) else 0
