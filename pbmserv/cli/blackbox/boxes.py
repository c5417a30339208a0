"""``pbmserv blackbox generate``, ``decode`` and ``encode``: game IDs of boxes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from secrets import randbelow
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.blackbox.arguments import (
    Ids,
    cells_named,
    every_box,
    is_game_id,
    lines,
    presets,
    words_in,
)
from pbmserv.cli.blackbox.refusals import Unusable, at_line, politely
from pbmserv.cli.output import harmless, say
from pbmserv.games.blackbox.game_ids import (
    Parameters,
    atoms_of,
    described,
    descriptive_id,
    read_id,
    read_parameters,
    seeded_id,
)
from pbmserv.games.blackbox.options import GRADED, Grade, Options

MOST = 1_000_000


class Form(StrEnum):
    """The two forms of a game ID."""

    ID = "id"
    SEED = "seed"


FormOption: TypeAlias = Annotated[
    Form, typer.Option("--form", help="id describes the box; seed names the text it comes from.")
]


def generate(
    count: Annotated[int, typer.Argument(metavar="N", min=1, max=MOST, help="How many.")],
    params: Annotated[
        str,
        typer.Argument(
            metavar="PARAMS|ID",
            help="8x8, 8x8/5, 8x8/3-6 or w8h8m3M6; with a seed behind it, such as 8x8/5#tea.",
            autocompletion=presets,
        ),
    ] = "7x7/4",
    seed: Annotated[
        str | None,
        typer.Option(
            "--seed", metavar="TEXT", help="Make them from this text (then TEXT-1, TEXT-2 …)."
        ),
    ] = None,
    form: FormOption = Form.ID,
    difficulty: Annotated[
        Grade | None,
        typer.Option("--difficulty", help="Only boxes of this grade, on boards of 5x5/3 to 8x8/4."),
    ] = None,
    unique: Annotated[
        bool,
        typer.Option("--unique", help="Only boxes that can be told from all others by rays."),
    ] = False,
) -> None:
    """Make N new boxes and print their game IDs, one a line.

    A seed gives the boxes that Simon Tatham's program generates of it, in the same
    order: the text itself, then TEXT-1, TEXT-2 … An ID that describes its box is
    printed N times, as there.

    Grades go by the probes that a very good player needs: a quarter of all boxes
    are easy, half medium, a fifth hard and a twentieth fiendish.

    Example: pbmserv blackbox generate 5 7x7/4 --difficulty fiendish --unique
    """
    with politely("generate"):
        kind, texts = _series(params, seed, form)
        if difficulty or unique:
            texts = _filtered(kind, texts, difficulty, unique=unique)
        for text in itertools.islice(texts, count):
            say(text if form is Form.SEED else described(read_id(text)))


def _series(params: str, seed: str | None, form: Form) -> tuple[Parameters, Iterator[str]]:
    """Return the kind of the boxes to generate, and an endless series of their game IDs.

    Raises:
        PlayerError: the parameters or the ID are wrong.
        Unusable: the seed is named twice, or a descriptive ID has no seed.
    """
    kind: Parameters
    if is_game_id(params):
        game = read_id(params)
        kind = game
        if seed is not None:
            raise Unusable(f"{game.text} names its box already, so leave --seed out.")
        if game.seed is None:
            if form is Form.SEED:
                raise Unusable(f"{game.text} describes its box, so nobody knows a seed.")
            return game, itertools.repeat(game.text)
        seed = game.seed
    else:
        kind = read_parameters(params)
    seeds = (_numbered_seed(seed, number) for number in itertools.count())
    return kind, (seeded_id(kind, text) for text in seeds)


def _filtered(
    kind: Parameters, texts: Iterable[str], difficulty: Grade | None, *, unique: bool
) -> Iterator[str]:
    """Yield the game IDs whose boxes are of a grade or unique.

    Raises:
        Unusable: such boxes cannot be graded, or there seem to be none.
    """
    from pbmserv.games.blackbox.bots.difficulty import TRIES, grade, is_unique

    options = Options.of(kind)
    if difficulty and not options.gradable:
        raise Unusable(f"boxes have grades only on {', '.join(GRADED)}.")
    rejected = 0
    for text in texts:
        atoms = atoms_of(read_id(text))
        if difficulty and grade(options, atoms) != difficulty:
            rejected += 1
        elif unique and (uniqueness := is_unique(options, atoms)) is not True:
            if uniqueness is None:
                raise Unusable("a box like this is too large to tell whether it is unique.")
            rejected += 1
        else:
            rejected = 0
            yield text
        if rejected == TRIES:
            raise Unusable(f"{TRIES} boxes, and none of them will do.")


def _numbered_seed(seed: str | None, number: int) -> str:
    """Return the seed of a box in a series, numbered from 0 as in Simon Tatham's program."""
    if seed is None:
        return fresh_seed()
    return f"{seed}-{number}" if number else seed


def fresh_seed() -> str:
    """Return a random seed of fifteen digits, as in Simon Tatham's program."""
    return str(10**14 + randbelow(9 * 10**14))


def decode(
    ids: Ids = None,
    form: Annotated[
        Form | None,
        typer.Option("--form", help="id: always print the descriptive ID; seed: only seeds."),
    ] = None,
) -> None:
    """Print each game ID and the cells of its atoms: column letter, row number.

    Example: pbmserv blackbox decode w8h8m5M5:9fef256fb015513fe87e0c4c
    """
    with politely("decode"):
        for box in every_box(ids):
            if form is Form.SEED and box.game.seed is None:
                raise Unusable(f"{box.game.text} describes its box, so nobody knows a seed.")
            text = box.game.text
            # A program that reads the printed ID must get the same box.
            if text != harmless(text) or text != text.rstrip():
                if form is Form.SEED:
                    raise Unusable(f"{text} has a seed that no terminal can show.")
                text = described(box.game)
            elif form is Form.ID:
                text = described(box.game)
            say(" ".join((text, *box.names)))


def encode(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PARAMS CELLS...", help="Without any, such lines from standard input."
        ),
    ] = None,
) -> None:
    """Print the descriptive game ID of a box with atoms on these cells.

    PARAMS may be just a size; then the box has as many atoms as you name. The
    ID keeps the order of the cells. It also reads what `decode` prints.

    Example: pbmserv blackbox encode 8x8 D1 G1 B3 F5 D7
    """
    with politely("encode"):
        if words and words != ["-"]:
            say(_encode(words))
            return
        for number, line in lines():
            with at_line(number):
                say(_encode(line.split()))


def _encode(words: Sequence[str]) -> str:
    kind = _parameters(words[0])
    cells = cells_named(kind.board, words_in(" ".join(words[1:])))
    if not cells:
        raise Unusable("name the cells behind the size. Example: 8x8 D1 G1 B3")
    least, most = kind.least, kind.most
    if words[0].isalnum() and "x" in words[0].lower():  # just a size
        kind = replace(kind, least=len(cells), most=len(cells))
    elif not least <= len(cells) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise Unusable(f"{words[0]} needs {wanted} atoms, but you named {len(cells)}.")
    return descriptive_id(kind, cells)


def _parameters(word: str) -> Parameters:
    """Return the parameters in front of a game ID, or those of a word without a seed."""
    return read_parameters(word.partition(":")[0].partition("#")[0])
