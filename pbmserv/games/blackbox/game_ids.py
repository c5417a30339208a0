"""Game IDs: texts that name a box, which Simon Tatham's Black Box and this game both read.

An ID has one of two forms. Both begin with the parameters, such as ``w8h8m3M6``:

- ``w8h8m3M6:5b7e…`` describes the box. The digits hide it from people, not from programs.
- ``w8h8m3M6#any text`` names the seed from which the box is drawn as in his program (``random.c``
  and ``blackbox.c``), by SHA-1 in counter mode. Players can agree on a box by its seed, but a seed
  keeps no secrets. Blanks and tabs are part of the seed, also at its end.

His program refuses parameters that fill the whole box (``w2h2m4M4``), and so does `read_id`. If a
game with ``-atoms=4`` has a full box, its ID has the parameters ``w2h2m3M4``.
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
from pbmserv.games.blackbox.geometry import LARGEST, SMALLEST, Geometry, geometry, has_labels
from pbmserv.games.blackbox.seeded_numbers import cells_from_seed

SEED_LIMIT = 100
"""The longest seed, in characters."""

TEXT_LIMIT = 4 * (LARGEST * LARGEST + 1) + 50
"""The longest game ID, in characters: the ID of a full board of the largest size, and blanks."""

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
    """Size and number of atoms of a box.

    Attributes:
        width, height: cells across and down; see `geometry.has_labels`. Simon Tatham's program
            allows 255 each.
        least, most: the range of the number of atoms, from 0 to all cells.
    """

    width: int
    height: int
    least: int
    most: int

    @property
    def parameters(self) -> str:
        """The parameters as in Simon Tatham's program: ``w8h8m3M6``."""
        return f"w{self.width}h{self.height}m{self.least}M{self.most}"

    @property
    def board(self) -> Geometry:
        """The ports and cells of such a box."""
        return geometry(self.width, self.height)


@dataclass(frozen=True, slots=True)
class GameId(Parameters):
    """A game ID. It has `cells`, a `seed` or both; then the cells count.

    Attributes:
        cells: the cells of the atoms, in the order of the ID.
        seed: the text from which they are drawn.
    """

    cells: tuple[int, ...] | None = field(default=None, repr=False)
    seed: str | None = field(default=None, repr=False)

    @classmethod
    def of_cells(cls, kind: Parameters, cells: tuple[int, ...]) -> GameId:
        """Return the ID of a box with atoms on these cells."""
        return cls(kind.width, kind.height, kind.least, kind.most, cells=cells)

    @classmethod
    def of_seed(cls, kind: Parameters, seed: str) -> GameId:
        """Return the ID of the box that is drawn from a seed."""
        return cls(kind.width, kind.height, kind.least, kind.most, seed=seed)

    @property
    def text(self) -> str:
        """The ID in its canonical spelling: the descriptive form if it has cells."""
        if self.cells is None:
            return self.seeded
        return f"{self.parameters}:{described(self).partition(':')[2]}"

    @property
    def seeded(self) -> str:
        """The ID in the form with the seed, ``""`` if it has no seed."""
        return "" if self.seed is None else f"{self.parameters}#{self.seed}"


def read_parameters(text: str) -> Parameters:
    """Read parameters: ``w8h8m3M6``, ``8x8``, ``8x8/5`` or ``8x8/3-6``.

    A size alone means four atoms, or three on 2x2. In the first form the default of missing parts
    is 8 by 8 with 5 atoms, as in Simon Tatham's program.

    Raises:
        OptionError: the text is not of these forms, or no such box is possible.
    """
    kind = any_parameters(text)
    _refuse_full_box(kind, text.strip())
    return kind


def any_parameters(text: str) -> Parameters:
    """Read parameters as `read_parameters` does, also if they fill the box.

    Raises:
        OptionError: see `read_parameters`.
    """
    plain = text.strip()
    if match := _OURS.fullmatch(plain):
        width, height = int(match[1]), int(match[2])
        least = int(match[3] or max(0, min(_USUAL_COUNT, width * height - 1)))
        parameters = Parameters(width, height, least, int(match[4] or least))
    elif _TATHAM.fullmatch(plain):
        parameters = _from_letters(plain)
    else:
        _refuse("parameters-form", plain, EXAMPLE_PARAMETERS)
    _check(parameters, plain)
    return parameters


def read_id(text: str) -> GameId:
    """Read a game ID of either form. Blanks around it are ignored, except those of a seed.

    The box of a seed is not drawn yet, so that reading is cheap for any text.

    Raises:
        OptionError: the text is not a game ID, or no such box is possible.
    """
    game = stored_id(text)
    _refuse_full_box(game, re.split("[:#]", text)[0].strip())
    return game


def stored_id(text: str) -> GameId:
    """Read a game ID as `read_id` does, also one that fills the box, as old records have.

    Raises:
        OptionError: see `read_id`.
    """
    if len(text) > TEXT_LIMIT:
        raise OptionError(
            "blackbox.id-long",
            part=text[:40] + "…",
            example=EXAMPLE_ID,
            length=len(text),
            most=TEXT_LIMIT,
        )
    mark = re.search("[:#]", text)
    if not mark:
        _refuse("id-form", text.strip(), EXAMPLE_SEED)
    kind = any_parameters(text[: mark.start()])
    rest = text[mark.end() :]
    if mark[0] == "#":
        return GameId.of_seed(kind, read_seed(rest.rstrip("\r\n")))
    return GameId.of_cells(kind, _described_cells(kind, rest.strip()))


def cells_of(game: GameId) -> tuple[int, ...]:
    """Return the cells of the atoms in the order of the ID. Those of a seed are drawn."""
    if game.cells is not None:
        return game.cells
    return drawn_cells(game, game.seed or "")


def drawn_cells(kind: Parameters, seed: str) -> tuple[int, ...]:
    """Return the cells of the atoms that are drawn from a seed."""
    octets = seed.encode("utf-8", "surrogateescape")
    return cells_from_seed(kind.width, kind.height, kind.least, kind.most, octets)


def atoms_of(game: GameId) -> frozenset[int]:
    """Return the cells of the atoms. Those of a seed are drawn."""
    return frozenset(cells_of(game))


def described(game: GameId) -> str:
    """Return the descriptive form of an ID, the same as in Simon Tatham's program."""
    return descriptive_id(game, cells_of(game))


def descriptive_id(box: Parameters, atoms: Iterable[int]) -> str:
    """Return the ID that describes a box.

    Args:
        box: its size and number of atoms. If these fill the box, the ID has one atom less as the
            least number.
        atoms: the cells of the atoms in the order of the ID. A set is sorted, so that the same box
            has the same ID.

    Raises:
        OptionError: no such box is possible.
    """
    cells = sorted(atoms) if isinstance(atoms, AbstractSet) else list(atoms)
    least = min(box.least, box.width * box.height - 1)
    kind = Parameters(box.width, box.height, least, box.most)
    _check(kind, kind.parameters)
    if not kind.least <= len(cells) <= kind.most or not _are_cells(kind, cells):
        _refuse("id-cells", kind.parameters, EXAMPLE_ID)
    plain = bytearray((kind.width, kind.height))
    for cell in cells:
        row, column = divmod(cell, kind.width)
        plain += bytes((column, row))
    return f"{kind.parameters}:{_obscure(bytes(plain)).hex()}"


def seeded_id(kind: Parameters, seed: str) -> str:
    """Return the ID that names a seed.

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
    check_has_labels(kind.width, kind.height, part, EXAMPLE_PARAMETERS)
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


def _refuse_full_box(kind: Parameters, part: str) -> None:
    """Refuse parameters that fill the box, as Simon Tatham's program does."""
    cells = kind.width * kind.height
    if kind.least >= cells:
        example = f"w{kind.width}h{kind.height}m{cells - 1}M{kind.most}"
        raise OptionError("blackbox.atoms-full", part=clipped(part), example=example, cells=cells)


def check_has_labels(width: int, height: int, part: str, example: str) -> None:
    """Check that a board can be labelled.

    Raises:
        OptionError: the board is too small or too large.
    """
    if not has_labels(width, height):
        values = {"least": SMALLEST, "most": 2 * LARGEST}
        raise OptionError("blackbox.size-labels", part=part, example=example, **values)


def read_seed(text: str) -> str:
    """Return the text of a seed unchanged.

    Raises:
        OptionError: the seed is empty, too long, or has characters that mails cannot carry.
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
    """Return whether Simon Tatham's program saves a seed as text and not in hexadecimal digits."""
    return seed.isascii() and seed.isprintable()


def seed_digits(seed: str) -> str:
    """Return the octets of a seed in hexadecimal digits."""
    return seed.encode("utf-8", "surrogateescape").hex()


def seed_of_digits(digits: str) -> str | None:
    """Return the seed with these octets in hexadecimal digits, `None` if they are not digits."""
    if len(digits) % 2 or not _HEX.fullmatch(digits):
        return None
    return bytes.fromhex(digits).decode("utf-8", "surrogateescape")


def _described_cells(kind: Parameters, digits: str) -> tuple[int, ...]:
    digits = digits.rstrip(".")  # copied from the end of a sentence of ours
    if not _HEX.fullmatch(digits):
        wrong_digit = next(digit for digit in digits if not _HEX.fullmatch(digit))
        _refuse("id-digit", wrong_digit, EXAMPLE_ID)
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
    plain = _reveal(bytes.fromhex(digits))
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


def _obscure(plain: bytes) -> bytes:
    """Mask the front half of the octets by the back half, then the back by the masked front."""
    half = len(plain) // 2
    front = _masked(plain[:half], plain[half:])
    return front + _masked(plain[half:], front)


def _reveal(obscured: bytes) -> bytes:
    """Undo `_obscure`."""
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
    """Return a part of a text as a refusal quotes it, shortened if it is long."""
    return part if len(part) <= 60 else part[:40] + "…"
