"""The state that commands change: of one command, and of all commands of a mail or press.

- `Proofs` collect what the mail proves about its writer. A refused command's proofs stay.
- `Effects` collect what handlers have changed, for the work after the commit. A refused command's
  effects are taken back.
- `CurrentCommand` is the state of one command, which handlers may set. Each command has a new one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from pbmserv.commands.grammar.readings import Line
from pbmserv.engine.position import Position
from pbmserv.engine.types import Seat
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow, Sitter


@dataclass(slots=True)
class Focus:
    """The board of a command, which a refusal may have to show."""

    board: BoardRow
    seat: Seat


Speaker: TypeAlias = Player | Sitter
"""The player who gives a command, to whom the answer goes."""


@dataclass(slots=True)
class CurrentCommand:
    """The state of the command that is being carried out.

    Attributes:
        speaker: the player who gives it, once the handler has found out.
        focus: the board, once the handler has found it.
        moved: boards on which the command has moved, each with the plans that wait there.
        changes_game: the command has begun a board, or added a ply to one.
        echo_hidden: the command must not be quoted, because it may hold a password.
        line_words: words for others that belong to the command; `None`: those of the submission.
        left_out: withheld passages of the command's words for others.
    """

    speaker: Speaker | None = None
    focus: Focus | None = None
    moved: dict[int, dict[Seat, str]] = field(default_factory=dict)
    changes_game: bool = False
    echo_hidden: bool = False
    line_words: str | None = None
    left_out: dict[Line, None] = field(default_factory=dict)


@dataclass(slots=True)
class Proofs:
    """Proofs of the writer of a mail or press, collected by its commands.

    Attributes:
        players: the players whose mail or press it is, in the order of proof, each with the time
            since when letters to the player come back, `None` if they arrive.
        counted: the players whose limits it was counted against.
        right_passwords: userids whose passwords were right.
        unproven: the answer goes to a player who may not have written the mail.
    """

    players: dict[int, datetime | None] = field(default_factory=dict)
    counted: set[int] = field(default_factory=set)
    right_passwords: set[str] = field(default_factory=set)
    unproven: bool = False

    def add(self, player_id: int, unreachable_since: datetime | None) -> None:
        """Note that the mail or press is proven to be a player's."""
        self.players.setdefault(player_id, unreachable_since)


@dataclass(slots=True)
class Effects:
    """Effects of the commands so far, except refused ones, for the work after the commit.

    Attributes:
        positions: newest positions of boards, made or loaded, to be cached then.
        plies: board and number of each new ply, for the log.
        bot_turns: boards on which a bot is to move, each with whether the answer waits for it.
        boards_for_coach: boards for which the coach has a report or hint to work out.
    """

    positions: dict[int, Position] = field(default_factory=dict)
    plies: list[tuple[int, int]] = field(default_factory=list)
    bot_turns: list[tuple[int, bool]] = field(default_factory=list)
    boards_for_coach: set[int] = field(default_factory=set)

    def copy(self) -> Effects:
        """Return a copy, for `CommandContext.take_back` if the next command is refused."""
        return Effects(
            dict(self.positions),
            list(self.plies),
            list(self.bot_turns),
            set(self.boards_for_coach),
        )
