"""The hashes in a letter about a board, and the file with which a result opens them.

See decision 0151.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Connection

from pbmserv.engine.proof import (
    TINY_DIGITS,
    Growth,
    RecordHash,
    RecordHashes,
    first_digits,
    pledge_of,
)
from pbmserv.engine.record import write_record
from pbmserv.engine.types import Seat
from pbmserv.letters.mime import Attachment
from pbmserv.views.scoresheets import scoresheet_of
from pbmserv.views.shown_boards import ShownBoard

MOST_FIELDS = 20
"""Fields with hashes in one letter; a digest may be about more boards."""


Growths: TypeAlias = dict[tuple[int, bytes], Growth]
"""Hashes of earlier letters, so that the next letter about a board need not hash all moves."""

_MOST_GROWTHS = 1_000
"""Entries of `Growths`: some 0.3 MB."""


@dataclass(frozen=True, slots=True)
class BoardProof:
    """The hashes of a board as a letter shows it.

    Attributes:
        board: its number.
        seat: the reader's seat; `None` for a follower.
        turns: the number of turns that the reader may know of.
        pledge: see `engine.proof.pledge_of`.
        hashes: of the record.
    """

    board: int
    seat: Seat | None
    turns: int
    pledge: bytes
    hashes: RecordHash

    @property
    def field(self) -> str:
        """The value of the field ``Pbmserv-Record``, in lines that can be folded."""
        seat_part = "" if self.seat is None else f"; seat={self.seat}"
        words = [
            f"board={self.board}{seat_part}; turns={self.turns}",
            f"pledge={self.pledge.hex()}",
            f"record={self.hashes.record.hex()}",
        ]
        if self.hashes.move:
            words.append(f"move={self.hashes.move.hex()}")
        return ";\r\n ".join(words)

    @property
    def tiny_field(self) -> str:
        """The value of the field in a tiny letter: the record hash alone, and only its start."""
        seat_part = "" if self.seat is None else f"; seat={self.seat}"
        start = self.hashes.record.hex()[:TINY_DIGITS]
        return f"board={self.board}{seat_part}; turns={self.turns}; record={start}"

    @property
    def brief(self) -> str:
        """The newest hash for people."""
        if not self.hashes.move:
            return f"Pledge {first_digits(self.pledge)}"
        return f"Record {first_digits(self.hashes.record)}"

    @property
    def line(self) -> str:
        """The line below the text of a letter."""
        return (
            f"{self.brief}, pledge {first_digits(self.pledge)}" if self.hashes.move else self.brief
        )


def proof_of(shown: ShownBoard, growths: Growths) -> BoardProof:
    """Return the hashes for a letter.

    Args:
        growths: a cache, which is looked into and filled.
    """
    position, seat = shown.position, shown.seat
    pledge = pledge_of(position.head)
    if len(growths) > _MOST_GROWTHS:
        growths.clear()
    hashes = RecordHashes(pledge, seat, growths, shown.board.id).at(position)
    return BoardProof(shown.board.id, seat, position.turns_of(seat), pledge, hashes)


@dataclass(frozen=True, slots=True)
class SearchProof:
    """The pledge in a letter to a player who looks for opponents.

    Attributes:
        pledge: see `engine.chance.search_pledge`.
    """

    pledge: bytes

    @property
    def field(self) -> str:
        """The value of the field ``Pbmserv-Record``."""
        return f"search; pledge={self.pledge.hex()}"

    @property
    def line(self) -> str:
        """The line below the text of a letter."""
        return f"Pledge {first_digits(self.pledge)}"

    @property
    def brief(self) -> str:
        """The line in the frame of the HTML."""
        return self.line


def proofs_of_searches(letter: str, words: Mapping[str, Any]) -> list[SearchProof]:
    """Return the pledges of searches for opponents in a letter.

    Args:
        letter: its kind.
        words: the words of its template; a summary has those of several letters.
    """
    parts = [part for line in words.get("lines", ()) for part in line["parts"]]
    seeks = [part["words"] for part in parts if part["letter"] == "seek"]
    if letter == "seek":
        seeks.append(words)
    return [SearchProof(bytes.fromhex(seek["pledge"])) for seek in seeks if seek.get("pledge")]


def opened_record(connection: Connection, shown: ShownBoard) -> Attachment | None:
    """Return the file that opens the hashes of a finished board for one of its players.

    It is `None` while anything about the board is hidden from that player.
    """
    board, position = shown.board, shown.position
    if position.outcome is None or shown.seat is None or shown.is_shut:
        return None
    text = write_record(scoresheet_of(connection, board, position))
    return Attachment(f"{board.game}-{board.id}.txt", "text/plain", text.encode())
