"""Hashes with which players check a finished board against their letters (decision 0151).

Each letter about a board carries the record hash: a chain that begins with the pledge and grows by
the hashes of new plies.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass

from pbmserv.engine.chance import digest
from pbmserv.engine.position import Position
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.types import Seat

TINY_DIGITS = 24
"""Hexadecimal digits of the record hash in a tiny letter; nobody tries 96 bits against seeds."""


def pledge_of(record: GameRecord) -> bytes:
    """Return the hash that fixes the seed and options of a board before its first move."""
    options = " ".join(record.options)
    return digest("pledge", record.game, record.rules_version, record.seats, options, record.seed)


def move_hash(seed: bytes, ply: Ply) -> bytes:
    """Return the salted hash of a ply, which tells nothing about the ply."""
    salt = digest("salt", seed, ply.number)
    return digest("move", salt, ply.number, ply.seat, int(ply.free), ply.mark, ply.text)


@dataclass(frozen=True, slots=True)
class RecordHash:
    """The hash of the plies that one reader has learned of.

    Attributes:
        record: the hash; the pledge before the first ply.
        move: the hash of the newest ply in it; ``b""`` before the first one.
    """

    record: bytes
    move: bytes


@dataclass(frozen=True, slots=True)
class Growth:
    """A record hash after a ply, with the hashes that the next one needs.

    Attributes:
        number: the number of the ply, 0 at the start.
        record, move: see `RecordHash`.
        waiting: hashes of private plies that the next public ply adds.
    """

    number: int
    record: bytes
    move: bytes = b""
    waiting: tuple[bytes, ...] = ()


class RecordHashes:
    """Hashes of the record of one board for one reader, `None` for a spectator.

    The hash changes only with a ply that is news for everybody, so that a reader cannot count
    private plies. The next such ply adds the private plies before it. Where seats play apart, each
    seat has hashes of its own, without the private plies of others.

    Args:
        pledge: the pledge of the board, with which its record hashes begin.
        reader: the seat of the reader.
        growths: a cache of the newest hashes by board and pledge, which this object fills.
        board: the number of the board. The boards of a duplicate event share a pledge.
    """

    def __init__(
        self,
        pledge: bytes,
        reader: Seat | None,
        growths: MutableMapping[tuple[int, bytes], Growth] | None = None,
        board: int = 0,
    ) -> None:
        self._pledge = pledge
        self._reader = reader
        self._growths = {} if growths is None else growths
        self._board = board

    def at(self, position: Position) -> RecordHash:
        """Return the hash at a position of the board."""
        # Where seats play apart, an undo repeats later plies of others with their numbers.
        growths = {} if position.apart else self._growths
        key = self._board, self._pledge
        growth = Growth(0, self._pledge)
        cached = growths.get(key, growth)
        later: list[Position] = []
        for after in position.backwards():
            if after.number == cached.number:
                growth = cached
                break
            later.append(after)
        for after in reversed(later):
            growth = self._after(growth, after)
        growths[key] = growth
        return RecordHash(growth.record, growth.move)

    def _after(self, growth: Growth, after: Position) -> Growth:
        """Return the growth at a position from the growth before its ply."""
        ply = after.ply
        assert ply is not None
        is_news = after.is_news_for(self._reader if after.apart else None)
        if after.apart and ply.seat == self._reader:  # a draw says nothing, even to its own seat
            is_news = True
        elif after.apart and not is_news:
            return growth
        newest = move_hash(after.seed, ply)
        waiting = (*growth.waiting, newest)
        if not is_news:
            return Growth(ply.number, growth.record, growth.move, waiting)
        return Growth(ply.number, digest("record", growth.record, *waiting), newest)


def first_digits(full_hash: bytes) -> str:
    """Return the first digits of a hash for people, such as ``9f3a-22c1-07be``."""
    digits = full_hash.hex()
    return f"{digits[:4]}-{digits[4:8]}-{digits[8:12]}"
