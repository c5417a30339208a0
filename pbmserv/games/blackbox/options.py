"""The options of a Blackbox board, and the words of a challenge that set them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from pbmserv.engine.rng import Rng
from pbmserv.errors import OptionError
from pbmserv.games.blackbox import game_ids
from pbmserv.games.blackbox.geometry import LARGEST, SMALLEST, Geometry, geometry

T = TypeVar("T")

SEATS = 2
RACERS = 8
"""The most players of a race. The fewest is one."""

OPENING = 4
"""Turns of each player after which resigning counts: hiding and three rays or guesses."""

MOST_GUESSES = 99
ENDLESS = 1_000_000
"""The number of guesses in practice, more than fit into any record."""
SCORINGS = ("classic", "timed", "first")
"""Kinds of scoring of a race."""


class Scoring(StrEnum):
    """Kinds of scoring of a game without a server (`practice`)."""

    PRACTICE = "practice"
    CLASSIC = "classic"
    TIMED = "timed"


class Grade(StrEnum):
    """Grades of difficulty of a box; see `bots.difficulty`."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    FIENDISH = "fiendish"


GRADED = ("5x5/3", "6x6/3", "6x6/4", "7x7/3", "7x7/4", "8x8/3", "8x8/4")
"""The boards whose boxes have grades, since they have a tree in `bots.trees`."""

MEANINGS = (
    ("-size=WxH", "the board, 2x2 to 26x26 (default 7x7)"),
    ("-atoms=N", "number of hidden atoms (default 4); N-M: the hider chooses"),
    ("-guesses=N", "how many guesses each player has (default 3; in practice no limit)"),
    ("-fair", "a guess that explains every port counts as right"),
    ("-clue", "a wrong guess shows one contradiction"),
    ("-hints", "players may ask for hints, which solo games always allow"),
    ("-race", "1 to 8 players solve the same box, hidden by the server, each on their own"),
    ("-scoring=HOW", "of a race: classic (default), timed, or first"),
    ("-grade=HOW", "of a race: a box that is easy, medium, hard or fiendish, 5x5 to 8x8"),
    ("-seed=TEXT", "of a race: the box that comes from this text"),
    ("-id=GAMEID", "of a race: the box of a game ID, as Simon Tatham's program has them"),
    ("-practice", "a race of one without a score: guess and undo as often as you like"),
    ("-unrated", "the result changes no ratings"),
)

_FORMS = {
    "size": "-size=SIZE",
    "atoms": "-atoms=NUMBER",
    "guesses": "-guesses=NUMBER",
    "scoring": "-scoring=NAME",
    "grade": "-grade=NAME",
    "seed": "-seed=TEXT",
    "id": "-id=GAMEID",
}
"""The forms of options in examples."""

_FLAGS = frozenset({"fair", "clue", "hints", "unrated", "race", "practice"})
_ALIASES = {"difficulty": "grade", "hint": "hints"}
_OF_RACES = ("scoring", "grade", "seed", "id", "practice")
_SIZE = re.compile(r"([0-9]{1,4})[xX*\u00d7]([0-9]{1,4})")
_ATOMS = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")
_NUMBER = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True)
class Options:
    """The rules of one board.

    Attributes:
        width, height: cells across and down.
        least, most: the range of the number of atoms.
        guesses: the number of guesses of each player.
        fair: a guess with the same result at every port is right.
        clue: a wrong guess shows one contradiction.
        hints: all players may ask for hints. A player alone may do so without this option.
        unrated: the challenge asks for an unrated board; see also `rated`.
        race: all seats solve the same box, which the server hides. Then `fair` is on.
        scoring: the scoring of a race: ``classic``, ``timed`` or ``first``.
        practice: a race of one without a score, in which everything can be undone.
        grade: the public grade of the box, ``""`` for none.
        seed: the text from which the box is drawn, ``""`` for none. Files of saved games need it
            beside the `id`.
        id: the game ID of the box, ``""`` while the box is not chosen.
    """

    width: int = 7
    height: int = 7
    least: int = 4
    most: int = 4
    guesses: int = 3
    fair: bool = False
    clue: bool = False
    hints: bool = False
    unrated: bool = False
    race: bool = False
    scoring: str = "classic"
    practice: bool = False
    grade: str = ""
    seed: str = field(default="", repr=False)
    id: str = field(default="", repr=False)

    @classmethod
    def of(cls, kind: game_ids.Parameters) -> Options:
        """Return the classic rules on boards of a kind."""
        return cls(kind.width, kind.height, kind.least, kind.most)

    @property
    def kind(self) -> game_ids.Parameters:
        """Size and number of atoms of the boxes."""
        return game_ids.Parameters(self.width, self.height, self.least, self.most)

    def missing_atoms(self, count: int) -> int:
        """Return how many atoms a number lacks to be allowed, negative if it is too high."""
        return max(self.least - count, 0) or min(self.most - count, 0)

    @cached_property
    def board(self) -> Geometry:
        return geometry(self.width, self.height)

    @cached_property
    def atoms(self) -> str:
        """The number of atoms as players read it: ``4`` or ``3-5``."""
        return str(self.least) if self.least == self.most else f"{self.least}-{self.most}"

    @property
    def gradable(self) -> bool:
        """Whether boxes like this have grades."""
        return f"{self.width}x{self.height}/{self.atoms}" in GRADED


CLASSIC = Options()
RACE = Options(guesses=1, fair=True, race=True)
"""Default options of a race. A race of one player also has clues."""
PRACTICE = Options(guesses=ENDLESS, fair=True, race=True)
"""Default options of practice, in which a wrong guess ends nothing."""


def rated(options: Options) -> bool:
    """Return whether a board changes ratings, which it does only with the classic rules."""
    return options == CLASSIC


def describe(options: Options) -> tuple[str, ...]:
    """Return the options of a new board as canonical words, without defaults.

    The words may tell the box; `shown` does not.

    Raises:
        OptionError: the game ID requires a full box, which new boards may not have.
    """
    seed = [f"-seed={options.seed}"] if options.seed else []
    if not options.id:
        return _words(options, seed)
    game = _read(game_ids.read_id, f"-id={options.id}", "id", options.id)
    # An ID cannot express a full box, so add the number of atoms.
    is_full = (options.least, options.most) != (game.least, game.most)
    atoms = [f"-atoms={options.atoms}"] if is_full else []
    bare = replace(options, width=CLASSIC.width, height=CLASSIC.height)
    bare = replace(bare, least=CLASSIC.least, most=CLASSIC.most)
    return _words(bare, [f"-id={options.id}", *atoms, *seed])


def shown(options: Options) -> tuple[str, ...]:
    """Return the options as canonical words without seed and game ID, which tell the box."""
    return _words(options, ())


def without_box(options: Options) -> Options:
    """Return the same rules without the box."""
    return replace(options, id="", seed="")


def _words(options: Options, box: Sequence[str]) -> tuple[str, ...]:
    usual = PRACTICE if options.practice else RACE if options.race else CLASSIC
    words = ["-race"] if options.race else []
    if (options.width, options.height) != (CLASSIC.width, CLASSIC.height):
        words.append(f"-size={options.width}x{options.height}")
    if (options.least, options.most) != (CLASSIC.least, CLASSIC.most):
        words.append(f"-atoms={options.atoms}")
    words.extend((*([f"-grade={options.grade}"] if options.grade else ()), *box))
    if options.guesses != usual.guesses:
        words.append(f"-guesses={options.guesses}")
    if options.scoring != usual.scoring:
        words.append(f"-scoring={options.scoring}")
    flags = ("fair", "clue", "hints", "practice", "unrated")
    words.extend(f"-{f}" for f in flags if getattr(options, f) and not getattr(usual, f))
    return tuple(words)


def with_box(options: Options, rng: Rng) -> Options:
    """Return the options of a race with the game ID of its box, other options unchanged."""
    if not options.race:
        return options
    if options.id:
        game = game_ids.stored_id(options.id)
    elif options.seed:
        game = game_ids.GameId.of_seed(options.kind, options.seed)
    else:
        game = game_ids.GameId.of_cells(options.kind, tuple(draw_cells(options, rng)))
    seed = options.seed or game.seed or ""
    return replace(options, id=game_ids.described(game), seed=seed)


def draw_cells(options: Options, rng: Rng) -> list[int]:
    """Draw the cells of the atoms. Each number of atoms and each cell are equally likely."""
    count = options.least + rng.below(options.most - options.least + 1)
    return rng.sample(range(options.width * options.height), count)


def read_options(words: Sequence[str], seats: int) -> Options:
    """Read the option words of a challenge.

    Args:
        words: ``-name=value`` or ``-name``, in any letter case and order.
        seats: the number of players.

    Raises:
        OptionError: a word is wrong; the refusal names it and has an example.
    """
    seen: dict[str, str] = {}
    race = any(word.lower() == "-race" for word in words)
    if race and not 1 <= seats <= RACERS:
        raise OptionError("blackbox.racers", seats=seats, most=RACERS)
    if not race and seats != SEATS:
        raise OptionError("blackbox.seats", seats=seats, wanted=SEATS)
    options = replace(RACE, clue=seats == 1) if race else CLASSIC
    for word in words:
        name, equals, value = word.partition("=")
        name = name[1:].lower() if name.startswith("-") else ""
        name = _ALIASES.get(name, name)
        _check_name(word, name, bool(equals), value)
        if name in seen:
            first = seen[name]
            raise OptionError("blackbox.option-repeated", part=word, first=first, example=first)
        if name in _OF_RACES and not race:
            raise OptionError(
                "blackbox.option-race", part=word, example=_in_a_race(word, name, seats)
            )
        seen[name] = word
        options = _with_value(options, word, name, value)
    if options.practice and seats != 1:
        raise OptionError("blackbox.practice-alone", part=seen["practice"], example="-race")
    if options.practice and "guesses" not in seen:
        options = replace(options, guesses=ENDLESS)
    if options.id:
        options = _with_id(options, seen)
    _check_size(options, seen)
    _check_fit(options, seen.get("atoms", ""))
    if options.grade and not options.gradable:
        raise OptionError(
            "blackbox.grade-board", part=seen["grade"], example="-race", boards=", ".join(GRADED)
        )
    return options


def _in_a_race(word: str, name: str, seats: int) -> str:
    """Return an example of an option of races with ``-race``, ``""`` if no race allows it."""
    if name not in _FORMS:
        return "-race -practice" if seats == 1 else ""
    try:
        read_options(("-race", word), seats)
    except OptionError:
        return f"-race {_FORMS[name]}"
    return f"-race {word}"


def _with_id(options: Options, seen: dict[str, str]) -> Options:
    """Return the options with the box of a game ID.

    Raises:
        OptionError: size, number of atoms or seed do not agree with the ID.
    """
    game = game_ids.stored_id(options.id)
    atoms, written = (game.least, game.most), (options.least, options.most)
    if "atoms" in seen and _fills(game, written):
        atoms = written
    kind = game_ids.Parameters(game.width, game.height, *atoms)
    agree = {"size": (options.width, options.height) == (kind.width, kind.height)}
    agree["atoms"] = written == atoms
    if options.seed:
        agree["seed"] = game_ids.drawn_cells(kind, options.seed) == game.cells
    for name in [name for name, agrees in agree.items() if name in seen and not agrees]:
        raise OptionError(
            "blackbox.option-id",
            part=seen[name],
            example=f"-race {seen['id']}",
            size=f"{game.width}x{game.height}",
            atoms=str(game.least) if game.least == game.most else f"{game.least}-{game.most}",
        )
    return replace(
        options,
        width=kind.width,
        height=kind.height,
        least=kind.least,
        most=kind.most,
        id=game.text,
    )


def _fills(game: game_ids.GameId, atoms: tuple[int, int]) -> bool:
    """Return whether the box is full, and so is a box with this range of atoms."""
    cells = game.width * game.height
    return atoms == (cells, cells) and len(game_ids.cells_of(game)) == cells


def _check_name(word: str, name: str, has_equals: bool, value: str) -> None:
    if name in _FLAGS:
        if has_equals:
            example = f"-{name}" if value.lower() in {"yes", "on", "true", "1"} else ""
            raise OptionError("blackbox.option-value", part=word, name=name, example=example)
    elif name not in _FORMS:
        forms = ", ".join(f"-{option}" for option in (*_FORMS, *sorted(_FLAGS)))
        raise OptionError("blackbox.option-unknown", part=word, known=forms)
    elif not value:
        raise OptionError("blackbox.option-no-value", part=word, name=name, example=_FORMS[name])


def _with_value(options: Options, word: str, name: str, value: str) -> Options:
    if name == "size":
        return _with_size(options, word, value)
    if name == "atoms":
        return _with_atoms(options, word, value)
    if name == "guesses":
        return _with_guesses(options, word, value)
    if name == "scoring" and value.lower() not in SCORINGS:
        raise OptionError("blackbox.scoring", part=word, example=_FORMS["scoring"])
    if name == "grade" and value.lower() not in set(Grade):
        raise OptionError("blackbox.grade", part=word, example=_FORMS["grade"])
    if name == "seed":
        return replace(options, seed=_read(game_ids.read_seed, word, name, value))
    if name == "id":
        return replace(options, id=_read(game_ids.stored_id, word, name, value).text)
    new_value: Any = True if name in _FLAGS else value.lower()
    return replace(options, **{name: new_value})


def _read(reader: Callable[[str], T], word: str, name: str, value: str) -> T:
    """Read the value of an option. A refusal gets the whole option as its example."""
    try:
        return reader(value)
    except OptionError as error:
        refusal = error.refusal
        raise OptionError(
            refusal.code, part=refusal.part or word, example=_FORMS[name], **refusal.values
        ) from error


def _with_size(options: Options, word: str, value: str) -> Options:
    size = _SIZE.fullmatch(value)
    if not size:
        raise OptionError("blackbox.size-form", part=word, example=_FORMS["size"])
    width, height = int(size[1]), int(size[2])
    return replace(options, width=width, height=height)


def _with_atoms(options: Options, word: str, value: str) -> Options:
    numbers = _ATOMS.fullmatch(value)
    if not numbers:
        raise OptionError("blackbox.atoms-form", part=word, example=_FORMS["atoms"])
    least = int(numbers[1])
    most = int(numbers[2]) if numbers[2] else least
    if least < 1 and not options.race:
        example = f"-atoms=1-{most}" if most > 1 else "-atoms=1"
        raise OptionError("blackbox.atoms-none", part=word, example=example)
    if most < least:
        raise OptionError("blackbox.atoms-order", part=word, example=f"-atoms={most or 1}-{least}")
    return replace(options, least=least, most=most)


def _with_guesses(options: Options, word: str, value: str) -> Options:
    if not _NUMBER.fullmatch(value):
        raise OptionError("blackbox.guesses-form", part=word, example=_FORMS["guesses"])
    example = f"-guesses={min(max(int(value), 1), MOST_GUESSES)}"
    if not 1 <= int(value) <= MOST_GUESSES:
        raise OptionError("blackbox.guesses-range", part=word, example=example, most=MOST_GUESSES)
    return replace(options, guesses=int(value))


def _check_size(options: Options, seen: dict[str, str]) -> None:
    part = seen.get("size") or seen.get("id", "")
    width, height = options.width, options.height
    if options.practice:
        game_ids.check_has_labels(width, height, part, _FORMS["size"])
    elif not (min(width, height) >= SMALLEST and max(width, height) <= LARGEST):
        sides = (min(max(side, SMALLEST), LARGEST) for side in (width, height))
        raise OptionError(
            "blackbox.size-range",
            part=part,
            example="-size=" + "x".join(map(str, sides)),
            least=SMALLEST,
            most=LARGEST,
        )


def _check_fit(options: Options, atoms: str) -> None:
    cells = options.width * options.height
    if options.most > cells:
        # The default of four fits the smallest board, so the sender wrote `atoms`.
        least = min(options.least, cells)
        raise OptionError(
            "blackbox.atoms-many",
            part=atoms,
            example=f"-atoms={cells}" if least == cells else f"-atoms={least}-{cells}",
            cells=cells,
            width=options.width,
            height=options.height,
        )
