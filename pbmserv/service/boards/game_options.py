"""Options of a game as somebody asks for them, and what is said of those that do not fit."""

from __future__ import annotations

from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import OptionError, Refusal, Refused


def read_options(
    game: AnyGame, words: tuple[str, ...], seats: int, part: str, line: str
) -> tuple[tuple[str, ...], bool]:
    """Canonical option words, and whether a board with them is rated.

    *line* is the command without its options, for the example of a refusal.

    Raises:
        Refused: the game is not for so many; *part* is what is wrong then.
        OptionError: an option is unknown or has a wrong value.
    """
    fits = game.info.min_seats <= seats <= game.info.max_seats
    if not fits and not races(game):  # a race may have others
        raise Refused(
            "wrong-seats",
            part=part,
            game=game.info.key,
            fewest=game.info.min_seats,
            most=game.info.max_seats,
        )
    try:
        options = game.options(words, seats)
    except OptionError as error:
        raise _whole_line(error, line, _kept(game, words, seats, error.refusal)) from error
    return game.describe(options), game.rated(options)


def _kept(game: AnyGame, words: tuple[str, ...], seats: int, refusal: Refusal) -> tuple[str, ...]:
    """Option words that can stay beside the one that a refusal gives as its example."""
    changed = {word.partition("=")[0] for word in (refusal.part, *refusal.example.split())}
    kept = tuple(word for word in words if word.partition("=")[0] not in changed)
    try:
        game.options((*kept, *refusal.example.split()), seats)
    except OptionError:
        return ()
    return kept


def _whole_line(error: OptionError, line: str, kept: tuple[str, ...]) -> OptionError:
    """The same refusal, with the whole command as the example instead of one option."""
    refusal = error.refusal
    example = " ".join((line, *kept, refusal.example)).strip()
    return OptionError(refusal.code, part=refusal.part, example=example, **refusal.values)
