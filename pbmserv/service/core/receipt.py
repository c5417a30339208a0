"""What can be told of a mail that has been stored, in numbers only: for the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(slots=True)
class Tally:
    """What a mail has led to so far.

    Attributes:
        plies: board and number of each ply that it added.
        done, refused: how many of its commands were.
    """

    plies: list[tuple[int, int]] = field(default_factory=list)
    done: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """A stored mail.

    Attributes:
        mail: its number in the inbox; of a copy, that of the mail it is a copy of.
        outcome: what became of it.
        player: who spoke, 0 for nobody known.
        plies: board and number of each ply that it added.
        done, refused: how many of its commands were.
        letters: how many it led to at once.
    """

    mail: int
    outcome: Literal["taken", "copy", "ignored", "kept"]
    player: int = 0
    plies: tuple[tuple[int, int], ...] = ()
    done: int = 0
    refused: int = 0
    letters: int = 0
