"""What handlers give back: the answer to the sender, and letters to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pbmserv.engine.types import Seat
from pbmserv.errors import ServerFault
from pbmserv.service.core.words_for_others import Said
from pbmserv.store.boards.boards import Sitter


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a letter says.

    Attributes:
        letter: the template folder that says it.
        words: JSON-ready values that the record does not hold.
        board, ply: the position it shows, if any.
        seat: through whose eyes; ``None`` = a spectator's.
        opens: the board's thread word, when this letter is the first one of its thread.
    """

    letter: str
    words: Mapping[str, Any] = field(default_factory=dict)
    board: int | None = None
    ply: int | None = None
    seat: Seat | None = None
    opens: str = ""

    def __post_init__(self) -> None:
        """Nobody's words get into a letter to others but through the guard.

        Raises:
            ServerFault: these words have not passed it.
        """
        words = self.words
        if "by" in words and words.get("said") and not isinstance(words["said"], Said):
            raise ServerFault("words for others have not passed the guard")


@dataclass(frozen=True, slots=True)
class Notification:
    """A letter to somebody who is not the sender (or to a second address of theirs).

    `digest`: they get one mail a day, so that what is not urgent waits for it.
    """

    recipient: str
    player_id: int | None
    part: Part
    digest: bool = False

    @classmethod
    def sitter(cls, sitter: Sitter, part: Part) -> Notification:
        """A letter to a player at a board."""
        return cls(sitter.address, sitter.player_id, part, sitter.digest)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one command led to. No parts: the sender is told nothing (others may be)."""

    parts: tuple[Part, ...] = ()
    told: tuple[Notification, ...] = ()
