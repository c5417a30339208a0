"""The reader of a letter that is being made, and the room that is left in the letter."""

from __future__ import annotations

from dataclasses import dataclass, field

from pbmserv.letters.mime import Attachment
from pbmserv.letters.proof import BoardProof
from pbmserv.letters.rendering import ROOM, Share
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.store.accounts.players import Player

_FRAME = 5_000
"""Characters of HTML around the parts."""

_ROOM_FOR_TEXT = 45_000
"""Octets of text for all parts."""

_PART = 3_000
"""Characters of HTML of a part without its board."""

_TEXT_PART = 600
"""Octets of text of a part without its board."""


@dataclass(slots=True)
class Reader:
    """The reader of a letter that is being made, and the room that is left in it.

    Attributes:
        player: the player; ``None`` for a stranger.
        answer: what the reply address says; ``None`` for the plain address.
        reply_to: the address for answers.
        form: ``html``, ``text``, ``spoken`` or ``tiny``, as the player wants letters.
        room: characters of HTML that are left for parts.
        text_room: octets of text that are left for parts.
        parts: number of parts that are not rendered yet.
        proofs: the hashes of the boards in the letter, by board.
        opened: files that open the hashes of finished boards, by board.
    """

    player: Player | None
    answer: ReplyAddress | None
    reply_to: str
    form: str
    room: int = ROOM - _FRAME
    text_room: int = _ROOM_FOR_TEXT
    parts: int = 0
    proofs: dict[int, BoardProof] = field(default_factory=dict)
    opened: dict[int, Attachment] = field(default_factory=dict)

    def next_share(self) -> Share:
        """Return the room for the next part, which leaves a minimum for each later one."""
        self.parts = max(1, self.parts) - 1
        return Share(
            fair=self.room // (self.parts + 1),
            most=self.room - self.parts * _PART,
            most_text=self.text_room - self.parts * _TEXT_PART,
        )
