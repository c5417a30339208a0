"""Leaving: ``signoff`` and ``delete``, each after a letter that asks, and ``export``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pbmserv.commands.table.accounts import Delete, Export, SignOff
from pbmserv.commands.table.model import Credentials
from pbmserv.commands.table.playing import Resign
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.boards import moves
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.results import Answer, Notification, Part
from pbmserv.store.accounts import leaving, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.accounts import PlayerState

ASKED_DAYS = 7
"""Days for which the letter that asks can be answered."""

_STAYS = "stays"
"""Kind of the notice that somebody has said no to such a letter, until it is asked for again."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def sign_off(context: CommandContext, command: SignOff) -> Answer:
    """``signoff userid password``: a letter asks whether it is meant."""
    player = context.speaker(command.who)
    preferences.forget_notice(context.connection, player.id, _STAYS)
    return Answer((), (_question(context, player, player.address, "signoff-asked"),))


def delete(context: CommandContext, command: Delete) -> Answer:
    """``delete userid password``: a letter asks; also for those who have signed off."""
    player, home = _anybody(context, command.who)
    preferences.forget_notice(context.connection, player.id, _STAYS)
    return Answer((), (_question(context, player, home, "delete-asked"),))


def export(context: CommandContext, command: Export) -> Answer:
    """``export userid password``: all that is kept, to the player's own address only."""
    player, home = _anybody(context, command.who)
    context.budget.spend(Work.EXPORT)
    return Answer((), (Notification(home, player.id, Part("export", {"userid": player.userid})),))


def signed_off(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to the letter that asked: running games are resigned, and no more mail comes."""
    player = _meant(context, reply_address, "signoff")
    if not player.active:
        raise Refused("leaving-settled", part="signoff", example="help signoff")
    home = player.address
    told, count = _resign_all(context, player)
    leaving.leave(context.connection, player)
    farewell = Notification(
        home, player.id, Part("signed-off", {"userid": player.userid, "games": count})
    )
    return Answer((), (*told, farewell))


def deleted(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to the letter that asked: as `signed_off`, and all personal data goes."""
    player = _meant(context, reply_address, "delete")
    home = _home(context, player)
    told, count = _resign_all(context, player)
    leaving.leave(context.connection, player)
    gone = players.by_id(context.connection, player.id)
    assert gone is not None
    neutral = leaving.erase(context.connection, gone)
    farewell = Part("deleted", {"neutral": neutral, "games": count})
    return Answer((), (*_renamed(told, player.userid, neutral), Notification(home, None, farewell)))


def stay(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no`` to the letter that asked: no reply to it can mean yes any more."""
    player = players.by_id(context.connection, reply_address.player)
    if (
        player is None
        or player.reply_epoch != reply_address.epoch
        or player.state == PlayerState.DELETED
    ):
        raise Refused("leaving-settled", part="no", example="help signoff")
    preferences.may_tell(context.connection, player.id, _STAYS, context.now, timedelta(0))
    part = Part("stayed", {"userid": player.userid})
    return Answer((), (Notification(_home(context, player), player.id, part),))


def _question(context: CommandContext, player: Player, home: str, letter: str) -> Notification:
    words = {
        "userid": player.userid,
        "day": (context.now - _EPOCH).days,
        "days": ASKED_DAYS,
        "games": len(leaving.running(context.connection, player.id)),
    }
    return Notification(home, player.id, Part(letter, words))


def _anybody(context: CommandContext, who: Credentials | None) -> tuple[Player, str]:
    """Who speaks, signed off or not, and where that player's letters can go."""
    if who is None:
        player = context.speaker(None)
    else:
        player = context.identify(who)
        context.player = player if player.active else None
    return player, _home(context, player)


def _home(context: CommandContext, player: Player) -> str:
    return player.address or players.addresses_of(context.connection, player.id)[0]


def _meant(context: CommandContext, reply_address: ReplyAddress, word: str) -> Player:
    """The player, if the reply comes in time."""
    player = players.by_id(context.connection, reply_address.player)
    if player is not None and preferences.last_told(context.connection, player.id, _STAYS):
        raise Refused("leaving-settled", part=word, example=f"help {word}")
    late = (context.now - _EPOCH).days > reply_address.number + ASKED_DAYS
    if (
        player is None
        or player.reply_epoch != reply_address.epoch
        or player.state == PlayerState.DELETED
    ):
        raise Refused("leaving-settled", part=word, example=f"help {word}")
    if late:
        example = f"{word} {player.userid} PASSWORD"
        raise Refused("leaving-late", part=word, days=ASKED_DAYS, example=example)
    return player


def _resign_all(context: CommandContext, player: Player) -> tuple[tuple[Notification, ...], int]:
    """Give up all boards (decline those without an own move), without words to anybody.

    Letters to the player himself are left out; how many boards it were comes back, too.
    """
    numbers = leaving.running(context.connection, player.id)
    incoming = context.incoming
    context.incoming = replace(incoming, reading=replace(incoming.reading, words=""))
    told: list[Notification] = []
    for number in numbers:
        told += moves.resign(context, Resign(None, number, None)).told
    context.incoming = incoming
    context.sitter = context.focus = context.player = None
    return tuple(one for one in told if one.player_id != player.id), len(numbers)


def _renamed(told: tuple[Notification, ...], userid: str, neutral: str) -> tuple[Notification, ...]:
    """Letters to others that are written after the name has gone."""

    def part(old: Part) -> Part:
        return replace(old, words=leaving.without_name(old.words, userid, neutral))

    return tuple(replace(one, part=part(one.part)) for one in told)
