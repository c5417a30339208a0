"""Hashes with which players check a finished board against their letters (decision 0151)."""

from __future__ import annotations

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


class RecordHashes:
    """Hashes of the record of one board for one reader, `None` for a spectator.

    A hash changes only when a ply is news for everybody, so that it does not count private moves.
    Private moves are taken along by the next such ply. Where seats play apart, each has hashes of
    its own, and private moves of others are left out.
    """

    def __init__(self, pledge: bytes, reader: Seat | None) -> None:
        self._reader = reader
        self._begin = _Growth(pledge)
        self._grown: dict[int, _Growth] = {}

    def at(self, position: Position) -> RecordHash:
        """Return the hash at a position; positions must outlive this object."""
        later: list[Position] = []
        growth = self._begin
        for after in position.backwards():
            if (known := self._grown.get(id(after))) is not None:
                growth = known
                break
            later.append(after)
        for after in reversed(later):
            growth = self._grown[id(after)] = self._after(growth, after)
        return RecordHash(growth.record, growth.move)

    def _after(self, growth: _Growth, after: Position) -> _Growth:
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
            return _Growth(growth.record, growth.move, waiting)
        return _Growth(digest("record", growth.record, *waiting), newest)


@dataclass(frozen=True, slots=True)
class _Growth:
    """A hash of the record, and the hashes of private moves that are not in it yet."""

    record: bytes
    move: bytes = b""
    waiting: tuple[bytes, ...] = ()


def short(full: bytes) -> str:
    """Return the first digits of a hash for people, such as ``9f3a-22c1-07be``."""
    digits = full.hex()
    return f"{digits[:4]}-{digits[4:8]}-{digits[8:12]}"
