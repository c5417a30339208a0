"""Whose letter is being made, and how much room is left in it."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.letters.scene import ROOM
from pbmserv.store.accounts.players import Player

_PART = 1_500
"""Characters of HTML that a part of a report or a digest has without its board."""

_TEXT_PART = 600
"""Octets of text that such a part has without its board."""


@dataclass(slots=True)
class Reader:
    """Whose letter is being made, and how much of it is left to fill.

    Attributes:
        player: ``None`` = a stranger.
        reply_to: where an answer to the letter goes.
        room: characters of HTML that are left for parts.
        text_room: octets of text that are left for parts.
        parts: how many of them are still to come.
    """

    player: Player | None
    reply_to: str
    room: int = ROOM - 5_000
    text_room: int = 45_000
    parts: int = 0

    def share(self) -> tuple[int, int, int]:
        """For the next part: a fair share of HTML, and all but what the others surely need of
        HTML and of text."""
        self.parts = max(1, self.parts) - 1
        return (
            self.room // (self.parts + 1),
            self.room - self.parts * _PART,
            self.text_room - self.parts * _TEXT_PART,
        )

    @property
    def userid(self) -> str:
        return self.player.userid if self.player else ""

    @property
    def spoken(self) -> bool:
        return self.player is not None and self.player.spoken
