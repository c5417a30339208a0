"""Leaving: ``signoff`` and ``delete``, each after a letter that asks, and ``export``."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pbmserv.commands.table.model import Credentials, Delete, Export, Resign, SignOff
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Capability
from pbmserv.service.boards import moves
from pbmserv.service.core.answers import Answer, Part, Told
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import Desk
from pbmserv.store.accounts import leaving, notices, players
from pbmserv.store.accounts.players import Player

ASKED_DAYS = 7
"""Days for which the letter that asks can be answered."""

_STAYS = "stays"
"""Kind of the notice that somebody has said no to such a letter, until it is asked for again."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def sign_off(desk: Desk, command: SignOff) -> Answer:
    """``signoff userid password``: a letter asks whether it is meant."""
    player = desk.speaker(command.who)
    notices.forget(desk.connection, player.id, _STAYS)
    return Answer((), (_question(desk, player, player.address, "signoff-asked"),))


def delete(desk: Desk, command: Delete) -> Answer:
    """``delete userid password``: a letter asks; also for those who have signed off."""
    player, home = _anybody(desk, command.who)
    notices.forget(desk.connection, player.id, _STAYS)
    return Answer((), (_question(desk, player, home, "delete-asked"),))


def export(desk: Desk, command: Export) -> Answer:
    """``export userid password``: all that is kept, to the player's own address only."""
    player, home = _anybody(desk, command.who)
    desk.budget.spend(Work.EXPORT)
    return Answer((), (Told(home, player.id, Part("export", {"userid": player.userid})),))


def signed_off(desk: Desk, capability: Capability) -> Answer:
    """``yes`` to the letter that asked: running games are resigned, and no more mail comes."""
    player = _meant(desk, capability, "signoff")
    if not player.active:
        raise Refused("leaving-settled", part="signoff", example="help signoff")
    home = player.address
    told, count = _resign_all(desk, player)
    leaving.leave(desk.connection, player)
    farewell = Told(home, player.id, Part("signed-off", {"userid": player.userid, "games": count}))
    return Answer((), (*told, farewell))


def deleted(desk: Desk, capability: Capability) -> Answer:
    """``yes`` to the letter that asked: as `signed_off`, and all personal data goes."""
    player = _meant(desk, capability, "delete")
    home = _home(desk, player)
    told, count = _resign_all(desk, player)
    leaving.leave(desk.connection, player)
    gone = players.by_id(desk.connection, player.id)
    assert gone is not None
    neutral = leaving.erase(desk.connection, gone)
    farewell = Part("deleted", {"neutral": neutral, "games": count})
    return Answer((), (*_renamed(told, player.userid, neutral), Told(home, None, farewell)))


def stay(desk: Desk, capability: Capability) -> Answer:
    """``no`` to the letter that asked: no reply to it can mean yes any more."""
    player = players.by_id(desk.connection, capability.player)
    if player is None or player.reply_epoch != capability.epoch or player.state == "deleted":
        raise Refused("leaving-settled", part="no", example="help signoff")
    notices.may_tell(desk.connection, player.id, _STAYS, desk.now, timedelta(0))
    part = Part("stayed", {"userid": player.userid})
    return Answer((), (Told(_home(desk, player), player.id, part),))


def _question(desk: Desk, player: Player, home: str, letter: str) -> Told:
    words = {
        "userid": player.userid,
        "day": (desk.now - _EPOCH).days,
        "days": ASKED_DAYS,
        "games": len(leaving.running(desk.connection, player.id)),
    }
    return Told(home, player.id, Part(letter, words))


def _anybody(desk: Desk, who: Credentials | None) -> tuple[Player, str]:
    """Who speaks, signed off or not, and where that player's letters can go."""
    if who is None:
        player = desk.speaker(None)
    else:
        player = desk.identify(who)
        desk.player = player if player.active else None
    return player, _home(desk, player)


def _home(desk: Desk, player: Player) -> str:
    return player.address or players.addresses_of(desk.connection, player.id)[0]


def _meant(desk: Desk, capability: Capability, word: str) -> Player:
    """The player, if the reply comes in time."""
    player = players.by_id(desk.connection, capability.player)
    if player is not None and notices.last_told(desk.connection, player.id, _STAYS):
        raise Refused("leaving-settled", part=word, example=f"help {word}")
    late = (desk.now - _EPOCH).days > capability.number + ASKED_DAYS
    if player is None or player.reply_epoch != capability.epoch or player.state == "deleted":
        raise Refused("leaving-settled", part=word, example=f"help {word}")
    if late:
        example = f"{word} {player.userid} PASSWORD"
        raise Refused("leaving-late", part=word, days=ASKED_DAYS, example=example)
    return player


def _resign_all(desk: Desk, player: Player) -> tuple[tuple[Told, ...], int]:
    """Give up all boards (decline those without an own move), without words to anybody.

    Letters to the player himself are left out; how many boards it were comes back, too.
    """
    numbers = leaving.running(desk.connection, player.id)
    post = desk.post
    desk.post = replace(post, reading=replace(post.reading, words=""))
    told: list[Told] = []
    for number in numbers:
        told += moves.resign(desk, Resign(None, number, None)).told
    desk.post = post
    desk.sitter = desk.focus = desk.player = None
    return tuple(one for one in told if one.player_id != player.id), len(numbers)


def _renamed(told: tuple[Told, ...], userid: str, neutral: str) -> tuple[Told, ...]:
    """Letters to others that are written after the name has gone."""

    def part(old: Part) -> Part:
        return replace(old, words=leaving.without_name(old.words, userid, neutral))

    return tuple(replace(one, part=part(one.part)) for one in told)
