"""Refuses options of a challenge without "-": "challenge bob race", "challenge bob size 8x8"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from pbmserv.commands.table.starting import Challenge
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import OptionError, Refused
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import is_player
from pbmserv.store.accounts import players


def refuse_undashed_options(context: CommandContext, game: AnyGame, command: Challenge) -> None:
    """Refuse names that look like options without "-": "challenge bob race", "… size 8x8".

    Raises:
        Refused: its example is the line with these options, if enough players are left.
    """
    split = _names_and_options(context, game, command.userids)
    if split is None:  # perhaps a password is among them
        return
    names, options = split
    if not options:
        return
    sender = context.actor.address
    if command.alone:
        names = names or [player.userid for player in context.known_writers()]
    elif len(names) == 1:  # the answer goes to this player only
        owners = players.by_address(context.connection, sender)
        names = [*[player.userid for player in owners if player.active][:1], *names]
    if not (command.alone or len(set(names)) > 1):
        return
    line = " ".join((game.info.key, "solo" if command.alone else "challenge", *names))
    words = (*command.options, *options)
    read_options(game, words, len(names) or 1, line, line, command.times)
    words = tuple(word for word in words if word != "-race" or not command.alone)
    example = " ".join((line, *words, *command.times))
    raise Refused("option-sign", part=options[0].strip("-="), example=example)


def _names_and_options(
    context: CommandContext, game: AnyGame, words: Sequence[str]
) -> tuple[list[str], list[str]] | None:
    """Split the names of a challenge into players and options without "-", which are completed.

    Return `None` if a word is neither.
    """
    forms = dict(form.removeprefix("-").partition("=")[::2] for form, _ in game.info.options)
    names: list[str] = []
    options: list[str] = []
    for word in words:
        if is_player(context, word):
            names.append(word)
        elif options and options[-1].endswith("=") and _is_option(game, options[-1] + word):
            options[-1] += word
        elif word in forms:
            options.append(f"-{word}=" if forms[word] else f"-{word}")
        elif fitting := _of_one_option(game, forms, word):
            options.append(fitting)
        else:
            return None
    return names, options


def _of_one_option(game: AnyGame, forms: Mapping[str, str], word: str) -> str:
    """Return the only option that takes this value ("8x8" is a size), ``""`` if there is none."""
    if not word[:1].isdigit():
        return ""
    strict_names = [
        name for name in forms if forms[name] and not _is_option(game, f"-{name}=anything")
    ]
    options = [f"-{name}={word}" for name in strict_names]
    fitting = [option for option in options if _is_option(game, option)]
    return fitting[0] if len(fitting) == 1 else ""


def _is_option(game: AnyGame, word: str) -> bool:
    with suppress(OptionError):
        game.options(("-race", word), 1)
        return True
    return False
