"""The options of a proposed board, as its sender wrote them, and their refusals."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from pbmserv.commands.grammar.word_forms import option_meant, time_meant
from pbmserv.engine.protocol import races
from pbmserv.engine.record import DUPLICATE
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import OptionError, Refusal, Refused, is_form


def read_options(
    game: AnyGame,
    words: tuple[str, ...],
    seats: int,
    part: str,
    line: str,
    times: tuple[str, ...] | None = None,
) -> tuple[tuple[str, ...], bool]:
    """Return canonical option words, and whether a board with them is rated.

    Args:
        part: the words to repeat if the number of players is wrong.
        line: the command without options, for the example of a refusal.
        times: the times in the command; `None` if it takes none.

    Raises:
        Refused: the game is not for so many players.
        OptionError: an option is unknown or has a wrong value.
    """
    if DUPLICATE in words:
        raise Refused("option-duplicate", part=DUPLICATE, example="events")
    if not game.info.is_for(seats) and not races(game):  # a race may have any number
        raise Refused(
            "wrong-seats",
            part=part,
            game=game.info.title,
            fewest=game.info.min_seats,
            most=game.info.max_seats,
        )
    try:
        options = game.options(words, seats)
        described = game.describe(options)
    except OptionError as error:
        refusal = error.refusal
        if not refusal.example:
            time = "" if times is None else time_meant(refusal.part)
            meant = _meant(game, words, seats, refusal.part) or time
            refusal = replace(refusal, example=meant)
        kept = (*(times or ()), *_kept(game, words, seats, refusal))
        raise _whole_line(refusal, line, kept) from error
    return described, game.rated(options)


def _kept(game: AnyGame, words: tuple[str, ...], seats: int, refusal: Refusal) -> tuple[str, ...]:
    """Return the option words that go with the option in a refusal's example."""
    changed = {word.partition("=")[0] for word in (refusal.part, *refusal.example.split())}
    kept = tuple(word for word in words if word.partition("=")[0] not in changed)
    if is_form(refusal.example):
        return kept
    try:
        game.options((*kept, *(w for w in refusal.example.split() if w[:2] != "--")), seats)
    except OptionError:
        return ()
    return kept


def _meant(game: AnyGame, words: tuple[str, ...], seats: int, wrong: str) -> str:
    """Return the option that a misspelt word means, with its value ("-sise=5x5", "-fari"); ``""``
    if none is near and fits the others."""
    name, _, value = wrong.lstrip("-").replace(":", "=", 1).partition("=")
    forms = dict(form.removeprefix("-").partition("=")[::2] for form, _ in game.info.options)
    if name.lower() not in forms and (near := option_meant(name.lower(), forms)):
        meant = f"-{near}={value}" if forms[near] else f"-{near}"
        with suppress(OptionError):
            game.options((*(word for word in words if word != wrong), meant), seats)
            return meant
    return ""


def _whole_line(refusal: Refusal, line: str, kept: tuple[str, ...]) -> OptionError:
    """Return a refusal whose example is the whole command."""
    words = " ".join((line, *kept, refusal.example)).split()
    example = " ".join(word for word in words if word != "-race" or words[1] != "solo")
    return OptionError(refusal.code, part=refusal.part, example=example, **refusal.values)
