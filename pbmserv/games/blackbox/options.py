"""What a challenge may choose about a Blackbox board, and how it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pbmserv.errors import OptionError
from pbmserv.games.blackbox.geometry import LARGEST, SMALLEST, Geometry, geometry

SEATS = 2
MOST_GUESSES = 99

MEANINGS = (
    ("-size=WxH", "the board, 2x2 to 26x26 (default 7x7)"),
    ("-atoms=N", "number of hidden atoms (default 4); N-M: the hider chooses"),
    ("-guesses=N", "how many guesses each player has (default 3)"),
    ("-fair", "a guess that explains every port counts as right"),
    ("-clue", "a wrong guess shows one contradiction"),
    ("-unrated", "the result changes no ratings"),
)

_LATER = frozenset({"race", "scoring", "seed", "id", "practice"})
_EXAMPLES = {"size": "-size=8x8", "atoms": "-atoms=5", "guesses": "-guesses=3"}
_FLAGS = frozenset({"fair", "clue", "unrated"})
_SIZE = re.compile(r"([0-9]{1,4})[xX*\u00d7]([0-9]{1,4})")
_ATOMS = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")
_NUMBER = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class Options:
    """The rules of one board.

    Attributes:
        width, height: cells across and down.
        least, most: how many atoms may be hidden; equal unless it is a range.
        guesses: how many guesses a player has.
        fair: a guess that gives the same result at every port is right.
        clue: a wrong guess shows one contradiction.
        unrated: asked for by name; see `rated` for what follows from the rules.
    """

    width: int = 7
    height: int = 7
    least: int = 4
    most: int = 4
    guesses: int = 3
    fair: bool = False
    clue: bool = False
    unrated: bool = False

    @property
    def board(self) -> Geometry:
        """The geometry of this size."""
        return geometry(self.width, self.height)

    @property
    def atoms(self) -> str:
        """The count of atoms as players read it: ``4`` or ``3-5``."""
        return str(self.least) if self.least == self.most else f"{self.least}-{self.most}"


CLASSIC = Options()


def rated(options: Options) -> bool:
    """Whether a board with these options changes ratings: only the classic rules do."""
    return options == CLASSIC


def describe(options: Options) -> tuple[str, ...]:
    """The options as canonical words, defaults left out."""
    words = []
    if (options.width, options.height) != (CLASSIC.width, CLASSIC.height):
        words.append(f"-size={options.width}x{options.height}")
    if (options.least, options.most) != (CLASSIC.least, CLASSIC.most):
        words.append(f"-atoms={options.atoms}")
    if options.guesses != CLASSIC.guesses:
        words.append(f"-guesses={options.guesses}")
    words.extend(f"-{flag}" for flag in ("fair", "clue", "unrated") if getattr(options, flag))
    return tuple(words)


def read_options(words: Sequence[str], seats: int) -> Options:
    """Read the option words of a challenge.

    Args:
        words: ``-name=value`` or ``-name``, in any case and order.
        seats: how many players were named.

    Raises:
        OptionError: naming the first word that is wrong, and one that works.
    """
    if seats != SEATS:
        raise OptionError("blackbox.seats", seats=seats, wanted=SEATS)
    options = CLASSIC
    seen: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        name = name[1:].lower() if name.startswith("-") else ""
        _check_name(word, name, bool(equals), value)
        if name in seen:
            raise OptionError("blackbox.option-repeated", part=word, first=seen[name])
        seen[name] = word
        options = _with_value(options, word, name, value)
    _check_fit(options, seen.get("atoms", ""))
    return options


def _check_name(word: str, name: str, has_equals: bool, value: str) -> None:
    if name in _LATER:
        raise OptionError("blackbox.option-later", part=word, name=name)
    if name in _FLAGS:
        if has_equals:
            raise OptionError("blackbox.option-value", part=word, name=name, example=f"-{name}")
    elif name not in _EXAMPLES:
        raise OptionError("blackbox.option-unknown", part=word, example="-size=8x8")
    elif not value:
        raise OptionError("blackbox.option-no-value", part=word, name=name, example=_EXAMPLES[name])


def _with_value(options: Options, word: str, name: str, value: str) -> Options:
    if name == "size":
        return _with_size(options, word, value)
    if name == "atoms":
        return _with_atoms(options, word, value)
    if name == "guesses":
        return _with_guesses(options, word, value)
    return replace(
        options,
        fair=options.fair or name == "fair",
        clue=options.clue or name == "clue",
        unrated=options.unrated or name == "unrated",
    )


def _with_size(options: Options, word: str, value: str) -> Options:
    example = _EXAMPLES["size"]
    found = _SIZE.fullmatch(value)
    if not found:
        raise OptionError("blackbox.size-form", part=word, example=example)
    width, height = int(found[1]), int(found[2])
    if not (SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST):
        raise OptionError(
            "blackbox.size-range", part=word, example=example, least=SMALLEST, most=LARGEST
        )
    return replace(options, width=width, height=height)


def _with_atoms(options: Options, word: str, value: str) -> Options:
    found = _ATOMS.fullmatch(value)
    if not found:
        raise OptionError("blackbox.atoms-form", part=word, example=_EXAMPLES["atoms"])
    least = int(found[1])
    most = int(found[2]) if found[2] else least
    if least < 1:
        raise OptionError("blackbox.atoms-none", part=word, example=_EXAMPLES["atoms"])
    if most < least:
        raise OptionError("blackbox.atoms-order", part=word, example=f"-atoms={most or 1}-{least}")
    return replace(options, least=least, most=most)


def _with_guesses(options: Options, word: str, value: str) -> Options:
    example = _EXAMPLES["guesses"]
    if not _NUMBER.fullmatch(value):
        raise OptionError("blackbox.guesses-form", part=word, example=example)
    if not 1 <= int(value) <= MOST_GUESSES:
        raise OptionError("blackbox.guesses-range", part=word, example=example, most=MOST_GUESSES)
    return replace(options, guesses=int(value))


def _check_fit(options: Options, atoms: str) -> None:
    cells = options.width * options.height
    if options.most > cells:
        # The default of four fits the smallest board, so here `atoms` was written.
        raise OptionError(
            "blackbox.atoms-many",
            part=atoms,
            example=f"-atoms={min(4, cells)}",
            cells=cells,
            width=options.width,
            height=options.height,
        )
