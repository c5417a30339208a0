"""Game IDs: a box as a text that Simon Tatham's Black Box and this game both read.

There are two forms, and both begin with the parameters, such as ``w8h8m3M6``:

- ``w8h8m3M6:5b7e…`` describes the box. The digits hide it from a glance, not from a program.
- ``w8h8m3M6#any text`` names the seed from which the box is drawn, just as his program draws it
  (his ``random.c`` and ``blackbox.c``): with SHA-1 in counter mode, which is a way to agree on a
  box, not a way to keep one secret. Blanks and tabs belong to the text, at its end, too.

His program refuses parameters that fill the whole box (``w2h2m4M4``), and so does `read_id`. A box
that is full all the same, in a game with ``-atoms=4``, is described as one of ``w2h2m3M4``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from hashlib import sha1
from typing import NoReturn

from pbmserv.errors import OptionError
from pbmserv.games.blackbox.geometry import LARGEST, SMALLEST, has_labels

SEED_LIMIT = 100
"""Longest text of a seed, in characters."""

TEXT_LIMIT = 4 * (LARGEST * LARGEST + 1) + 50
"""Longest game ID: the one of a full board of the largest size, and some blanks."""

EXAMPLE_SEED = "w8h8m5M5#123456789012345"
EXAMPLE_ID = "w8h8m5M5:9fef256fb015513fe87e0c4c"
EXAMPLE_PARAMETERS = "8x8/3-6"

_OURS = re.compile(
    r"([0-9]{1,4})\s*[xX*\u00d7]\s*([0-9]{1,4})(?:\s*/\s*([0-9]{1,4})(?:-([0-9]{1,4}))?)?"
)
_TATHAM = re.compile(r"(?:[whmM][0-9]{1,4})+")
_TATHAM_DEFAULTS = {"w": 8, "h": 8, "m": 5, "M": 5}
_USUAL_COUNT = 4
_HEX = re.compile(r"[0-9a-fA-F]*")
_UNFIT = frozenset({"Cc", "Cs", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Parameters:
    """What kind of box it is.

    Attributes:
        width, height: cells across and down, 2 or more each and 52 together (see
            `geometry.has_labels`; Simon Tatham's program allows 255 each).
        least, most: how many atoms there may be, 0 to all cells.
    """

    width: int
    height: int
    least: int
    most: int

    @property
    def parameters(self) -> str:
        """As Simon Tatham's program writes them: ``w8h8m3M6``."""
        return f"w{self.width}h{self.height}m{self.least}M{self.most}"


@dataclass(frozen=True, slots=True)
class GameId(Parameters):
    """A game ID that was read; at least one of `cells` and `seed` is there.

    Attributes:
        cells: where the atoms are, in the order of the ID; they count if `seed` is there, too.
        seed: the text that they are drawn from.
    """

    cells: tuple[int, ...] | None = field(default=None, repr=False)
    seed: str | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The ID in its canonical spelling; the descriptive one if the cells were given."""
        if self.cells is None:
            return self.seeded
        return f"{self.parameters}:{described(self).partition(':')[2]}"

    @property
    def seeded(self) -> str:
        """The ID that names the seed; ``""`` if there is none."""
        return "" if self.seed is None else f"{self.parameters}#{self.seed}"


def read_parameters(text: str) -> Parameters:
    """Read ``w8h8m3M6``, or as people write it: ``8x8``, ``8x8/5``, ``8x8/3-6``.

    A size alone means four atoms, or three on 2x2. In the first form missing parts are 8 by 8 with
    5 atoms, as in Simon Tatham's program.

    Raises:
        OptionError: it is neither, or no such box can be made.
    """
    kind = any_parameters(text)
    _must_leave_a_cell(kind, text.strip())
    return kind


def any_parameters(text: str) -> Parameters:
    """Read parameters as `read_parameters` does, and also some that fill the box.

    Raises:
        OptionError: it is neither, or no such box can be made.
    """
    plain = text.strip()
    if found := _OURS.fullmatch(plain):
        width, height = int(found[1]), int(found[2])
        least = int(found[3] or max(0, min(_USUAL_COUNT, width * height - 1)))
        parameters = Parameters(width, height, least, int(found[4] or least))
    elif _TATHAM.fullmatch(plain):
        parameters = _from_letters(plain)
    else:
        _refuse("parameters-form", plain, EXAMPLE_PARAMETERS)
    _check(parameters, plain)
    return parameters


def read_id(text: str) -> GameId:
    """Read a game ID of either form; blanks around it do not count, but those of a seed.

    Raises:
        OptionError: it is none, or no such box can be made; nothing of it is drawn yet, so
            this is cheap whatever *text* is.
    """
    game = stored_id(text)
    _must_leave_a_cell(game, re.split("[:#]", text)[0].strip())
    return game


def stored_id(text: str) -> GameId:
    """Read a game ID as `read_id` does, and also one that fills the box, as old records have.

    Raises:
        OptionError: as `read_id`.
    """
    if len(text) > TEXT_LIMIT:
        raise OptionError(
            "blackbox.id-long",
            part=text[:40] + "…",
            example=EXAMPLE_ID,
            length=len(text),
            most=TEXT_LIMIT,
        )
    found = re.search("[:#]", text)
    if not found:
        _refuse("id-form", text.strip(), EXAMPLE_SEED)
    kind = any_parameters(text[: found.start()])
    rest = text[found.end() :]
    if found[0] == "#":
        seed = read_seed(rest.rstrip("\r\n"))
        return GameId(kind.width, kind.height, kind.least, kind.most, seed=seed)
    cells = _described_cells(kind, rest.strip())
    return GameId(kind.width, kind.height, kind.least, kind.most, cells)


def cells_of(game: GameId) -> tuple[int, ...]:
    """The cells that hold an atom, in the order of the ID; a seed's are drawn."""
    if game.cells is not None:
        return game.cells
    return drawn_cells(game, game.seed or "")


def drawn_cells(kind: Parameters, seed: str) -> tuple[int, ...]:
    """The cells of the atoms that are drawn from a seed."""
    octets = seed.encode("utf-8", "surrogateescape")
    return cells_from_seed(kind.width, kind.height, kind.least, kind.most, octets)


def atoms_of(game: GameId) -> frozenset[int]:
    """The cells that hold an atom; a seed's are drawn."""
    return frozenset(cells_of(game))


def described(game: GameId) -> str:
    """The descriptive form of any ID, as Simon Tatham's program gives it for the same box."""
    return descriptive_id(game.width, game.height, game.least, game.most, cells_of(game))


def descriptive_id(width: int, height: int, least: int, most: int, atoms: Iterable[int]) -> str:
    """The ID that describes a box.

    Args:
        width, height, least, most: as in `Parameters`.
        atoms: the cells in the order that the ID keeps. A set has none; it is taken row by row,
            so that the same box has the same ID.

    Raises:
        OptionError: there is no such box.
    """
    cells = sorted(atoms) if isinstance(atoms, AbstractSet) else list(atoms)
    kind = Parameters(width, height, min(least, width * height - 1), most)
    _check(kind, kind.parameters)
    if not kind.least <= len(cells) <= most or not _are_cells(kind, cells):
        _refuse("id-cells", kind.parameters, EXAMPLE_ID)
    plain = bytearray((width, height))
    for cell in cells:
        row, column = divmod(cell, width)
        plain += bytes((column, row))
    return f"{kind.parameters}:{_obscured(bytes(plain)).hex()}"


def seeded_id(kind: Parameters, seed: str) -> str:
    """The ID that names a seed.

    Raises:
        OptionError: the seed is empty, too long, or not one line of text.
    """
    return f"{kind.parameters}#{read_seed(seed)}"


def _from_letters(text: str) -> Parameters:
    values = dict(_TATHAM_DEFAULTS)
    seen = set()
    for letter, digits in re.findall("([whmM])([0-9]+)", text):
        if letter in seen:
            raise OptionError(
                "blackbox.parameters-twice", part=text, example="w8h8m3M6", letter=letter
            )
        seen.add(letter)
        values[letter] = int(digits)
    return Parameters(values["w"], values["h"], values["m"], values["M"])


def _check(kind: Parameters, part: str) -> None:
    must_have_labels(kind.width, kind.height, part, EXAMPLE_PARAMETERS)
    if kind.most < kind.least:
        turned = Parameters(kind.width, kind.height, kind.most, kind.least)
        _refuse("atoms-order", part, turned.parameters)
    cells = kind.width * kind.height
    if kind.most > cells:
        raise OptionError(
            "blackbox.atoms-many",
            part=part,
            example=EXAMPLE_PARAMETERS,
            cells=cells,
            width=kind.width,
            height=kind.height,
        )


def _must_leave_a_cell(kind: Parameters, part: str) -> None:
    """Refuse parameters that fill the box, as Simon Tatham's program does."""
    cells = kind.width * kind.height
    if kind.least >= cells:
        example = f"w{kind.width}h{kind.height}m{cells - 1}M{kind.most}"
        raise OptionError("blackbox.atoms-full", part=clipped(part), example=example, cells=cells)


def must_have_labels(width: int, height: int, part: str, example: str) -> None:
    """Refuse a board on which not every port and detour can have a label.

    Raises:
        OptionError: it is too small or too large.
    """
    if not has_labels(width, height):
        values = {"least": SMALLEST, "most": 2 * LARGEST}
        raise OptionError("blackbox.size-labels", part=part, example=example, **values)


def read_seed(text: str) -> str:
    """The text of a seed, as it is.

    Raises:
        OptionError: it is empty, too long, or has characters that no mail can carry.
    """
    if not text:
        _refuse("id-seed-none", "#", EXAMPLE_SEED)
    if len(text) > SEED_LIMIT:
        shown = text[:40] + "…"
        raise OptionError(
            "blackbox.id-seed-long", part=shown, example=EXAMPLE_SEED, most=SEED_LIMIT
        )
    for character in text:
        if unicodedata.category(character) in _UNFIT and character != "\t":
            raise OptionError(
                "blackbox.id-seed-character", example=EXAMPLE_SEED, named=f"U+{ord(character):04X}"
            )
    return text


def is_plain(seed: str) -> bool:
    """Whether Simon Tatham's program saves a seed as it is, not in hexadecimal digits."""
    return seed.isascii() and seed.isprintable()


def seed_digits(seed: str) -> str:
    """The octets of a seed in hexadecimal digits."""
    return seed.encode("utf-8", "surrogateescape").hex()


def seed_of_digits(digits: str) -> str | None:
    """The seed whose octets these digits are; ``None`` if they are no such digits."""
    if len(digits) % 2 or not _HEX.fullmatch(digits):
        return None
    return bytes.fromhex(digits).decode("utf-8", "surrogateescape")


def _described_cells(kind: Parameters, digits: str) -> tuple[int, ...]:
    digits = digits.rstrip(".")  # copied together with the end of our sentence
    if not _HEX.fullmatch(digits):
        wrong = next(digit for digit in digits if not _HEX.fullmatch(digit))
        _refuse("id-digit", wrong, EXAMPLE_ID)
    count, odd = divmod(len(digits) - 4, 4)
    if odd or not kind.least <= count <= kind.most:
        wanted = [4 * (atoms + 1) for atoms in (kind.least, kind.most)]
        raise OptionError(
            "blackbox.id-length",
            part=kind.parameters,
            example=EXAMPLE_ID,
            have=len(digits),
            least=wanted[0],
            most=wanted[1],
        )
    plain = _plain(bytes.fromhex(digits))
    pairs = list(zip(plain[2::2], plain[3::2], strict=True))
    if tuple(plain[:2]) != (kind.width, kind.height) or not all(
        column < kind.width and row < kind.height for column, row in pairs
    ):
        _refuse("id-spoilt", kind.parameters, EXAMPLE_ID)
    cells = tuple(row * kind.width + column for column, row in pairs)
    if len(set(cells)) < len(cells):
        _refuse("id-spoilt", kind.parameters, EXAMPLE_ID)
    return cells


def _are_cells(kind: Parameters, cells: list[int]) -> bool:
    every = range(kind.width * kind.height)
    return len(set(cells)) == len(cells) and all(cell in every for cell in cells)


def _obscured(plain: bytes) -> bytes:
    """Each half masked by the other: first the front by the back, then the back by the front."""
    half = len(plain) // 2
    front = _masked(plain[:half], plain[half:])
    return front + _masked(plain[half:], front)


def _plain(obscured: bytes) -> bytes:
    half = len(obscured) // 2
    back = _masked(obscured[half:], obscured[:half])
    return _masked(obscured[:half], back) + back


def _masked(data: bytes, key: bytes) -> bytes:
    mask = b""
    counter = 0
    while len(mask) < len(data):
        mask += sha1(key + str(counter).encode(), usedforsecurity=False).digest()
        counter += 1
    return bytes(a ^ b for a, b in zip(data, mask, strict=False))


def _refuse(code: str, part: str, example: str) -> NoReturn:
    raise OptionError(f"blackbox.{code}", part=clipped(part), example=example)


def clipped(part: str) -> str:
    """A part of a text as a refusal quotes it: long ones cut off."""
    return part if len(part) <= 60 else part[:40] + "…"


_BLOCK = 20
"""Length of a SHA-1 hash in bytes."""


class SeededNumbers:
    """Whole numbers from a text: the same text gives the same numbers for ever."""

    def __init__(self, seed: bytes) -> None:
        first = _sha1(seed)
        self._counter = int.from_bytes(first, "little")
        self._tail = _sha1(first)
        self._left = iter(_sha1(first + self._tail))

    def below(self, limit: int) -> int:
        """A number from 0 to *limit* - 1, each as likely; *limit* is at least 1."""
        bits = limit.bit_length() + 3
        width = (1 << bits) // limit
        while (drawn := self._bits(bits)) >= limit * width:
            pass
        return drawn // width

    def _bits(self, count: int) -> int:
        drawn = 0
        for _ in range(0, count, 8):
            drawn = drawn << 8 | self._byte()
        return drawn & ((1 << count) - 1)

    def _byte(self) -> int:
        byte = next(self._left, None)
        if byte is None:
            self._counter = (self._counter + 1) % (1 << 8 * _BLOCK)
            self._left = iter(_sha1(self._counter.to_bytes(_BLOCK, "little") + self._tail))
            byte = next(self._left)
        return byte


def cells_from_seed(width: int, height: int, least: int, most: int, seed: bytes) -> tuple[int, ...]:
    """The atoms of a seed in the order in which they were drawn.

    Args:
        width, height: of the board.
        least, most: how many atoms there may be; *most* is at most the number of cells.
        seed: any bytes.

    Returns:
        Cells as `geometry.Geometry` counts them, all different.
    """
    numbers = SeededNumbers(seed)
    count = least + (numbers.below(most - least + 1) if least < most else 0)
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        column = numbers.below(width)
        drawn[numbers.below(height) * width + column] = None
    return tuple(drawn)


def _sha1(data: bytes) -> bytes:
    return sha1(data, usedforsecurity=False).digest()
