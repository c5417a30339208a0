"""The players of a challenge: the names in it, and its writer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.commands.table.starting import Challenge
from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Refused
from pbmserv.service.boards import bot_turns
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import is_player, unknown_player
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player

_COMPUTER = frozenset({"computer", "bot", "robot", "machine", "ai", "cpu"})
_LEVELS = {userid.removeprefix("house-"): userid for userid in BOT_USERIDS}
"""Userids of bots by the names of their levels."""


def with_bot(context: CommandContext, game: AnyGame, command: Challenge) -> Challenge:
    """Put the easiest bot of the game in the place of "computer", if nobody has that name."""
    easiest = next(iter(game.bots), "")
    userids = [
        easiest if easiest and name in _COMPUTER and not is_player(context, name) else name
        for name in command.userids
    ]
    return replace(command, userids=tuple(userids))


def with_writer(context: CommandContext, game: AnyGame, command: Challenge) -> Challenge:
    """Add the writer to a challenge that does not name the writer: "challenge bob", "solo".

    The mail must show who writes, if only by an unverified From address. With such an address two
    names may be both players, as in the original's commands, unless the game has room for three.

    Raises:
        Refused: several players have that address.
    """
    if command.credentials is not None or (command.alone and command.userids):
        return command
    if writers := context.known_writers():
        named = {player.userid for player in writers} & set(command.userids)
        writer = None if named else context.speaker(None)
    else:
        owners = players.by_address(context.connection, context.actor.address)
        names_owner = any(owner.userid in command.userids for owner in owners)
        is_all = bool(command.userids[1:]) and not _has_room(game, command)
        writer = None if is_all or names_owner else context.claimed_writer()
    if writer is None or writer.userid in command.userids:
        return command
    return replace(command, userids=(writer.userid, *command.userids))


def _has_room(game: AnyGame, command: Challenge) -> bool:
    """Return whether one player more than a challenge names can sit at the board."""
    if "-race" in command.options:  # `read_options` refuses too many
        return True
    return not races(game) and len(command.userids) < game.info.max_seats


def refuse_company(context: CommandContext, game: AnyGame, command: Challenge) -> None:
    """Refuse other names behind "solo"; people write a password there, as in other commands."""
    if not command.alone or len(command.userids) == 1:
        return
    context.current.echo_hidden = True
    player = players.active_by_userid(context.connection, command.userids[0])
    example = f"{game.info.key} solo {player.userid if player is not None else 'USERID'}"
    raise Refused("only-one-player", example=example)


def refuse_unknown_names(context: CommandContext, userids: Sequence[str]) -> None:
    """Refuse a challenge to an unknown name. The refusal repeats it only if it resembles a userid,
    since it may be a needless password.
    """
    for place, userid in enumerate(userids, 1):
        if is_player(context, userid):
            continue
        unknown = unknown_player(context, userid)
        if userid in _LEVELS:
            raise Refused("no-such-player", part=userid, suggestion=_LEVELS[userid])
        if unknown.refusal.values["suggestion"]:
            raise unknown
        context.current.echo_hidden = True
        raise Refused("no-such-player", place=place, invites=True)


def invited_players(
    context: CommandContext, game: AnyGame, userids: Sequence[str], options: tuple[str, ...]
) -> tuple[Player, ...]:
    """Return the players of a board with these options, by seat.

    Raises:
        Refused: one is unknown, or a bot that does not play this game.
        OptionError: a bot does not play with these options.
    """
    sitting = []
    for userid in userids:
        if userid in BOT_USERIDS:
            sitting.append(bot_turns.invited_bot(context, game, userid, options, userids))
        elif player := players.active_by_userid(context.connection, userid):
            sitting.append(player)
        else:
            raise unknown_player(context, userid)
    return tuple(sitting)
