"""Links in a letter that open a reply with the words already in it (RFC 6068)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import quote


class Links(StrEnum):
    """How many links a board has, and whether there is room for the board at all.

    A letter begins at the top of this list and goes down until it is short enough.
    """

    ALL = "all"
    FEW = "few"
    NONE = "none"
    UNDRAWN = "undrawn"


@dataclass(frozen=True, slots=True)
class Mailto:
    """Makes the links of one letter; templates call it with the text of a reply.

    Attributes:
        address: where the reply goes; it says who speaks and of what.
        subject: of the reply; words of ours, for people to see.
    """

    address: str
    subject: str

    def __call__(self, words: str) -> str:
        """``mailto:…`` with address, subject and *words* filled in.

        More words of a move may be appended as they are if they are letters and digits. All else
        is percent-encoded, ``+`` as well: some programs take a bare one for a blank (RFC 6068,
        section 5); a line ends with CR LF.
        """
        return _start(self.address, self.subject) + quote(words.replace("\n", "\r\n"), safe="")


@lru_cache(maxsize=16)
def _start(address: str, subject: str) -> str:
    to, about = quote(address, safe="@"), quote(subject, safe="")
    return f"mailto:{to}?subject={about}&body="
