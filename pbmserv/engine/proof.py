"""Hashes with which players check a finished board against their letters (decision 0151)."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass

from pbmserv.engine.chance import digest
from pbmserv.engine.position import Position
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.types import Seat


def pledge_of(record: GameRecord) -> bytes:
    """Return the hash that fixes chance and hidden boxes of a board before its first move."""
    options = " ".join(record.options)
    return digest("pledge", record.game, record.rules_version, record.seats, options, record.seed)


def move_hash(seed: bytes, ply: Ply) -> bytes:
    """Return the salted hash of a ply, which shows nothing about it."""
    salt = digest("salt", seed, ply.number)
    return digest("move", salt, ply.number, ply.seat, int(ply.free), ply.mark, ply.text)


@dataclass(frozen=True, slots=True)
class RecordHash:
    """The hash of a board's record as far as a reader may know that it has grown.

    Attributes:
        record: the hash; the pledge before the first move.
        move: hash of the newest move in it; ``b""`` before the first one.
    """

    record: bytes
    move: bytes


@dataclass(frozen=True, slots=True)
class Growth:
    """A hash of the record at a ply.

    Attributes:
        record, move: see `RecordHash`.
        waiting: hashes of private moves that are not in it yet.
    """

    record: bytes
    move: bytes = b""
    waiting: tuple[bytes, ...] = ()


class RecordHashes:
    """Hashes of the record of one board for one reader, `None` for a spectator.

    A hash changes only when a ply is news for everybody, so that it does not count private moves.
    Private moves are taken along by the next such ply. Where seats play apart, each has hashes of
    its own, and private moves of others are left out.

    Args:
        pledge: the pledge of the board, with which its record hashes begin.
        reader: the reader.
        growths: hashes of earlier calls by pledge and ply, to which new ones are added.
    """

    def __init__(
        self,
        pledge: bytes,
        reader: Seat | None,
        growths: MutableMapping[tuple[bytes, int], Growth] | None = None,
    ) -> None:
        self._pledge = pledge
        self._reader = reader
        self._growths = {} if growths is None else growths

    def at(self, position: Position) -> RecordHash:
        """Return the hash at a position of the board."""
        later: list[Position] = []
        growth = None
        for after in position.backwards():
            # Where seats play apart, an undo repeats later plies of others with their numbers.
            if not after.apart and (growth := self._growths.get((self._pledge, after.number))):
                break
            later.append(after)
        growth = growth or Growth(self._pledge)
        for after in reversed(later):
            growth = self._after(growth, after)
            if not after.apart:
                self._growths[self._pledge, after.number] = growth
        return RecordHash(growth.record, growth.move)

    def _after(self, growth: Growth, after: Position) -> Growth:
        ply = after.ply
        assert ply is not None
        is_news = after.is_news_for(self._reader if after.apart else None)
        if after.apart and ply.seat == self._reader:
            is_news = True
        elif after.apart and not is_news:
            return growth
        newest = move_hash(after.seed, ply)
        waiting = (*growth.waiting, newest)
        if not is_news:
            return Growth(growth.record, growth.move, waiting)
        return Growth(digest("record", growth.record, *waiting), newest)


def short(full: bytes) -> str:
    """Return the first digits of a hash for people, such as ``9f3a-22c1-07be``."""
    digits = full.hex()
    return f"{digits[:4]}-{digits[4:8]}-{digits[8:12]}"
