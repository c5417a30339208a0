"""The outcome of a command: the parts of its answer, and the people it notifies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pbmserv.engine.types import Seat
from pbmserv.errors import ServerFault
from pbmserv.service.core.said import Said
from pbmserv.store.boards.boards import Sitter


@dataclass(frozen=True, slots=True)
class Part:
    """One message of a letter.

    Attributes:
        letter: the template folder that words it.
        words: values as JSON that the record does not hold.
        board, ply: the position that it shows, if any.
        seat: the seat that sees the position; `None`: a spectator.
        opens: the board's thread word, if this letter begins the thread.
    """

    letter: str
    words: Mapping[str, Any] = field(default_factory=dict)
    board: int | None = None
    ply: int | None = None
    seat: Seat | None = None
    opens: str = ""

    def __post_init__(self) -> None:
        """Check that words of a player for others have passed the guard.

        Raises:
            ServerFault: they have not.
        """
        words = self.words
        if "by" in words and words.get("said") and not isinstance(words["said"], Said):
            raise ServerFault("words for others have not passed the guard")


@dataclass(frozen=True, slots=True)
class Notification:
    """A letter to somebody other than the actor, or to another address of the actor.

    Attributes:
        player_id: the player who gets it; `None` if only an address is known.
        digest: the player wants one mail a day, so news that are not urgent wait for it.
    """

    recipient: str
    player_id: int | None
    part: Part
    digest: bool = False

    @classmethod
    def sitter(cls, sitter: Sitter, part: Part) -> Notification:
        """Return a letter to a player at a board."""
        return cls(sitter.address, sitter.player_id, part, sitter.digest)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one command.

    Attributes:
        parts: the answer to the actor; empty if there is none.
        notifications: the letters to others.
    """

    parts: tuple[Part, ...] = ()
    notifications: tuple[Notification, ...] = ()

    def letters(self, sitter: Sitter) -> tuple[Notification, ...]:
        """Return all letters after an act that no mail asked for.

        Args:
            sitter: the player who gets the answer as a letter.
        """
        own = (Notification.sitter(sitter, part) for part in self.parts)
        return *own, *self.notifications

    def with_words(self, **words: Any) -> Answer:
        """Return the answer with more words in each part."""
        parts = (replace(part, words={**part.words, **words}) for part in self.parts)
        return replace(self, parts=tuple(parts))
