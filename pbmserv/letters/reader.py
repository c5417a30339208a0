"""The reader of a letter that is being made."""

from __future__ import annotations

from dataclasses import dataclass, field

from pbmserv.letters.mime import Attachment
from pbmserv.letters.proof import BoardProof
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.store.accounts.players import Player


@dataclass(slots=True)
class Reader:
    """The reader of a letter that is being made, and what its boards add to the mail.

    Attributes:
        player: the player; ``None`` for a stranger.
        answer: what the reply address says; ``None`` for the plain address.
        reply_to: the address for answers.
        form: ``html``, ``text``, ``spoken`` or ``tiny``, as the player wants letters.
        proofs: the hashes of the boards in the letter, by board.
        opened: files that open the hashes of finished boards, by board.
    """

    player: Player | None
    answer: ReplyAddress | None
    reply_to: str
    form: str
    proofs: dict[int, BoardProof] = field(default_factory=dict)
    opened: dict[int, Attachment] = field(default_factory=dict)
