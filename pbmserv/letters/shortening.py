"""Keeps letters short: how much room is left for each part, and what is said once or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pbmserv.letters.scene import ROOM, Composed
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.store.accounts.players import Player

ROOM_FOR_STRANGERS = 24_000
"""Characters of text, and of HTML, that answer somebody who may not be the one who wrote: less
than 60 kB together, and a flood of them is no great flood."""

_FRAME = 200
"""Characters around each part; a player's HTML has room for them beside `ROOM`."""

_PART = 3_000
"""Characters of HTML that a part of a summary or a digest has without its board."""

_TEXT_PART = 600
"""Octets of text that such a part has without its board."""


@dataclass(slots=True)
class Reader:
    """Whose letter is being made, and how much of it is left to fill.

    Attributes:
        player: ``None`` = a stranger.
        answer: what an answer to the letter says by its address; `None` for the plain address.
        reply_to: the address of that answer.
        form: how they want letters: ``html``, ``text`` or ``spoken``.
        room: characters of HTML that are left for parts.
        text_room: octets of text that are left for parts.
        parts: how many of them are still to come.
    """

    player: Player | None
    answer: ReplyAddress | None
    reply_to: str
    form: str
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


def told_once(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines of a summary; a part that is quite like an earlier one's is left out.

    ``see`` is the number of the line that shows it, 0 where nothing is left out. Parts with
    boards stay: they are drawn once anyhow, and the last one is the one that counts.
    """
    first: dict[str, int] = {}
    found = []
    for number, line in enumerate(lines, 1):
        parts, see = [], 0
        for part in line["parts"]:
            before = first.setdefault(json.dumps(part, sort_keys=True), number)
            if before == number or part["board"] is not None:
                parts.append(part)
            else:
                see = before
        found.append({**line, "parts": parts, "see": see})
    return found


def cut(lines: Sequence[Mapping[str, Any]], *, stranger: bool) -> list[dict[str, Any]]:
    """The lines with as many of their parts as a letter has room for, the first ones.

    ``cut``: a line's parts are not shown.
    """
    text = html = ROOM_FOR_STRANGERS if stranger else ROOM
    around = _FRAME if stranger else 0
    found = []
    is_first = True
    for line in lines:
        parts: Sequence[Composed] = line["parts"]
        text -= sum(len(part.text) + _FRAME for part in parts) + len(line["echo"])
        html -= sum(len(part.html) + around for part in parts)
        is_cut = bool(parts) and not is_first and min(text, html) < 0
        found.append({**line, "parts": [] if is_cut else parts, "cut": is_cut})
        is_first = is_first and not parts
    return found


def numbers(lines: Sequence[Mapping[str, Any]]) -> list[int]:
    """The boards at which the reader of a summary sits, if they are several."""
    found = {p["board"] for line in lines for p in line["parts"] if p["seat"] is not None}
    return sorted(found - {None}) if len(found) > 1 else []
