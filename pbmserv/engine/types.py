"""Values that games and the engine hand to each other and to the outside."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NewType, TypeVar

S = TypeVar("S")
V = TypeVar("V")
T = TypeVar("T")

Seat = NewType("Seat", int)
"""A player's place at a board, 0-based in the order of the challenge."""

BOT_USERIDS = ("house-beginner", "house-easy", "house", "house-hard", "house-best")
"""Userids under which the server itself plays, where a game has a bot of that name; the weakest
first."""

Value = str | int | bool | tuple[str, ...]
"""What a note may carry: flat, JSON-ready facts for a template."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A game that was read from a text.

    Attributes:
        options: words for a practice board with the same box.
        moves: canonical texts, and the record's words ``restart`` and ``resign``; in order.
        done: how many of them count; the rest was taken back.
    """

    options: tuple[str, ...]
    moves: tuple[str, ...]
    done: int


@dataclass(frozen=True, slots=True)
class GameInfo:
    """What a game says of itself, before any board exists.

    Attributes:
        key: the word in commands, the folder name and the entry point name.
        title: for people.
        summary: one line for ``list``.
        min_seats, max_seats: how many players a board may have (1 to 8).
        hidden: whether some facts are hidden from some seats.
        rules_version: raised whenever an old record would replay differently.
        options: (word as written, meaning) pairs for help, in order.
        opening: turns that each seat must have used before a game that somebody gives up, or
            forfeits, can change ratings.
        strength: what was measured of its bots, by userid: ``mu``, as `ratings.Rating` has it, and
            what its help says. A game with a bot that is not there changes no ratings.
    """

    key: str
    title: str
    summary: str
    min_seats: int
    max_seats: int
    hidden: bool
    rules_version: int
    options: tuple[tuple[str, str], ...] = ()
    opening: int = 0
    strength: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Move:
    """A move in its canonical text.

    Attributes:
        text: canonical; ``parse(view, move.text)`` gives the same move again.
        free: uses no turn, may come at any time from a seated player, and
            makes nobody's reply stale.
    """

    text: str
    free: bool = False


SCORE = "score"
"""The kind of the notes that tell a score in a sentence, where no table of the scores is drawn."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that happened in a step, for those in its audience.

    Attributes:
        kind: names a macro in the game's ``notes.j2``, e.g. ``"probe"``.
        seat: whose action it tells of.
        audience: seats that may read it; ``None`` = everybody, also spectators.
        values: facts the macro mentions.
    """

    kind: str
    seat: Seat
    audience: frozenset[Seat] | None
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """What one applied move (or withdrawal) did.

    Attributes:
        state: the state after it.
        public: the move's text as each seat may read it; key ``None`` is what
            spectators read. A seat that is missing reads the ``None`` text.
        notes: what happened, in order.
        reveals: whether a hidden fact became known to someone, so that the
            step can no longer be taken back.
    """

    state: S
    public: Mapping[Seat | None, str]
    notes: tuple[Note, ...] = ()
    reveals: bool = False


@dataclass(frozen=True, slots=True)
class Preview(Generic[V]):
    """What a move would do.

    Attributes:
        move: canonical.
        view: as it would be, without anything that only the move itself can tell.
        notes: what would happen, in order.
    """

    move: Move
    view: V
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a finished board ended.

    Attributes:
        places: for each seat its place, 1 = best; equal numbers are a tie.
        scores: for each seat a score where the game keeps one, else empty.
        reason: a word that the templates know, e.g. ``"solved"``,
            ``"out-of-guesses"``, ``"resigned"``.
        seat: the seat the reason speaks of (who solved, who resigned);
            ``None`` when it speaks of all.
    """

    places: tuple[int, ...]
    reason: str
    seat: Seat | None = None
    scores: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Rng:
    """Draws for one ply of one board, which replay: a counter over SHA-256.

    A board's seed and the number of a ply give the same draws on every platform
    and in every version, so a record replays to the same position forever.
    Block *i* is ``SHA-256(seed ‖ 0x00 ‖ ply ‖ i)`` with ply and i as 8-byte
    big-endian integers; its bytes are consumed in order.
    """

    seed: bytes = field(repr=False)
    ply: int
    _block: int = 0
    _buffer: bytes = field(default=b"", repr=False)

    def bytes(self, count: int) -> bytes:
        """The next *count* bytes of the stream."""
        while len(self._buffer) < count:
            numbers = self.ply.to_bytes(8, "big") + self._block.to_bytes(8, "big")
            self._buffer += hashlib.sha256(self.seed + b"\0" + numbers).digest()
            self._block += 1
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def below(self, limit: int) -> int:
        """A number in ``range(limit)``, every one equally likely.

        Raises:
            ValueError: *limit* is less than 1.
        """
        if limit < 1:
            raise ValueError("limit must be at least 1")
        bits = (limit - 1).bit_length()
        width = (bits + 7) // 8
        mask = (1 << bits) - 1
        while True:  # rejection sampling: no modulo bias
            drawn = int.from_bytes(self.bytes(width), "big") & mask
            if drawn < limit:
                return drawn

    def choice(self, items: Sequence[T]) -> T:
        """One of *items*."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """*count* different places of *items*, in the order drawn.

        Raises:
            ValueError: there are fewer than *count*.
        """
        if count > len(items):
            raise ValueError("sample larger than the population")
        pool = list(items)
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]


@dataclass(frozen=True, slots=True)
class Shape:
    """A part of a drawing.

    Attributes:
        kind: ``box``, ``line``, ``dot`` or ``word``.
        role: what it is, which decides its colour: ``field``, ``rule``, ``label``, ``atom``,
            ``mark``, ``hit``, ``turned``, ``passed`` or ``right``.
        at: of a box its left, top, width and height; of a line x and y of each of its points; of a
            dot x, y and radius; of a word x and y of its middle.
        text: the word.
        is_new: it came about by the last turn.
    """

    kind: str
    role: str
    at: tuple[float, ...]
    text: str = ""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of what one seat plays on, in a unit of its own.

    Attributes:
        seat: whose.
        shapes: what lies below comes first.
        facts: what stands in its place for those who hear it: values for ``drawing.j2``.
    """

    seat: Seat
    width: float
    height: float
    shapes: tuple[Shape, ...]
    facts: Mapping[str, Value] = field(default_factory=dict)
