"""Keeps letters short: shares their room among the parts, and leaves out repeats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pbmserv.letters.mime import Attachment
from pbmserv.letters.proof import BoardProof
from pbmserv.letters.rendering import ROOM, Composed
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.store.accounts.players import Player

ROOM_FOR_STRANGERS = 24_000
"""Most characters of text, and of HTML, in a letter to an unproven sender. They are few, since a
forger may have such letters sent to somebody else."""

_FRAME = 200
"""Characters around each part; the HTML of a letter to a player has further room for them."""

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
        form: ``html``, ``text`` or ``spoken``, as the player wants letters.
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
    room: int = ROOM - 5_000
    text_room: int = 45_000
    parts: int = 0
    proofs: dict[int, BoardProof] = field(default_factory=dict)
    opened: dict[int, Attachment] = field(default_factory=dict)

    def share(self) -> tuple[int, int, int]:
        """Return the room for the next part: a fair share of HTML, and the most HTML and text.

        The most is what leaves a minimum for each of the other parts.
        """
        self.parts = max(1, self.parts) - 1
        return (
            self.room // (self.parts + 1),
            self.room - self.parts * _PART,
            self.text_room - self.parts * _TEXT_PART,
        )


def without_repeats(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the parts of a summary that equal an earlier one.

    ``see`` of a line becomes the number of the line that shows the part, or 0 if none is left out.
    Parts with boards stay: they are drawn once anyway, at the last command.
    """
    first: dict[str, int] = {}
    shortened = []
    for number, line in enumerate(lines, 1):
        parts, see = [], 0
        for part in line["parts"]:
            earlier = first.setdefault(json.dumps(part, sort_keys=True), number)
            if earlier == number or part["board"] is not None:
                parts.append(part)
            else:
                see = earlier
        shortened.append({**line, "parts": parts, "see": see})
    return shortened


def cut_to_room(lines: Sequence[Mapping[str, Any]], *, for_stranger: bool) -> list[dict[str, Any]]:
    """Keep the parts of the first lines, as far as a letter has room for them.

    ``cut`` of a line says whether its parts were left out.
    """
    text = html = ROOM_FOR_STRANGERS if for_stranger else ROOM
    around = _FRAME if for_stranger else 0
    shortened = []
    is_first = True
    for line in lines:
        parts: Sequence[Composed] = line["parts"]
        text -= sum(len(part.text) + _FRAME for part in parts) + len(line["echo"])
        html -= sum(len(part.html) + around for part in parts)
        is_cut = bool(parts) and not is_first and min(text, html) < 0
        shortened.append({**line, "parts": [] if is_cut else parts, "cut": is_cut})
        is_first = is_first and not parts
    return shortened


def seated_boards(lines: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the boards in a summary at which its reader sits; empty if there is only one."""
    parts = [part for line in lines for part in line["parts"]]
    boards = {part["board"] for part in parts if part["seat"] is not None}
    return sorted(boards - {None}) if len(boards) > 1 else []
