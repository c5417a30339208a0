"""The lengths of letters: no mail program may cut one.

A letter that would be too long is shortened in this order. Players' words are never cut.

1. Boards lose links, and then they are not drawn (`rendering.Links`). A letter of its own has room
   for `LONGEST_HTML`; the parts of a summary or a digest share `ROOM`.
2. A summary leaves out the last of its parts, and says so (`shortening.cut_to_room`).
3. The letter is sent as text alone, if its HTML or the whole mail is too long. The same words may
   take three times as many octets in the mail, if they are in another script.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lengths:
    """Octets of text and of HTML."""

    text: int
    html: int


LONGEST = 100_000
"""Most octets of a mail without files. Gmail hides everything after 102 kB."""

LONGEST_HTML = 60_000
"""Most octets of HTML, so that the text has room in the same mail."""

LONGEST_TINY_TEXT = 480
"""Octets of the text of a tiny letter, which has less than 1,000 with its headers."""

ROOM = Lengths(text=38_000, html=47_000)
"""Most octets of all parts of a letter. With the frame and the fields of their boards they are less
than `LONGEST`. Players' words are up to `service.delivery.digest.MOST_SAID` of them."""

ROOM_FOR_STRANGERS = Lengths(text=20_000, html=20_000)
"""Most octets of all parts of a letter to an unproven sender. They are fewer, since a forger may
have such letters sent to somebody else."""


class Room:
    """The room for the parts of a letter, which are rendered one after the other.

    Args:
        most: lengths of all parts together.
        parts: number of parts.
    """

    def __init__(self, most: Lengths, parts: int) -> None:
        self._text, self._html = most.text, most.html
        self._parts = parts

    def next_share(self) -> Lengths:
        """Return the room for the next part: an equal share of what the earlier parts left."""
        parts = max(1, self._parts)
        self._parts = parts - 1
        return Lengths(self._text // parts, self._html // parts)

    def take(self, lengths: Lengths) -> None:
        """Take the room of a part that was rendered."""
        self._text -= lengths.text
        self._html -= lengths.html
