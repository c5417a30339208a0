"""What a job leaves to do in memory once it is committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pbmserv.engine.position import Position
from pbmserv.service.core.receipt import Receipt
from pbmserv.store.boards.positions import Positions


@dataclass(frozen=True, slots=True)
class Done:
    """What a committed job leaves to do in memory.

    Attributes:
        played: newest positions by board.
        letters: how many were queued.
        bots: it has become a bot's turn somewhere.
        receipt: of the mail that the job stored, if it was one.
    """

    played: Mapping[int, Position]
    letters: int
    bots: bool = False
    receipt: Receipt | None = None

    def remember(self, positions: Positions) -> None:
        """Keep the positions for whoever looks at these boards next."""
        for board_id, position in self.played.items():
            positions.remember(board_id, position)


NOTHING = Done({}, 0)
