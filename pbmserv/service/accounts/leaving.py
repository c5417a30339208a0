"""Leaving: ``signoff`` and ``delete``, each with a question by letter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pbmserv.commands.table.accounts import Delete, SignOff
from pbmserv.errors import GameAway, Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.accounts.own_data import home_of, player_and_home
from pbmserv.service.boards import resigning
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.store.accounts import erasing, leaving, notices, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.events import events
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus

ASKED_DAYS = 7
"""Days for which the question can be answered."""

_STAYS = "stays"
"""Kind of the note that a player has answered no, until the next question."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def sign_off(context: CommandContext, command: SignOff) -> Answer:
    """``signoff userid password``: ask by letter whether it is meant."""
    player = context.speaker(command.credentials)
    notices.forget(context.connection, player.id, _STAYS)
    return Answer((), (_question(context, player, player.address, "signoff-asked"),))


def delete(context: CommandContext, command: Delete) -> Answer:
    """``delete userid password``: ask by letter; players who have signed off may use it, too."""
    player, home = player_and_home(context, command.credentials)
    notices.forget(context.connection, player.id, _STAYS)
    return Answer((), (_question(context, player, home, "delete-asked"),))


def confirm_sign_off(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to the question: resign running games, and send no more mail."""
    player = _asked_player(context, reply_address, "signoff")
    if not player.active:
        raise Refused("leaving-settled", part="signoff", example="help signoff")
    home = player.address
    notifications, count = _resign_all(context, player)
    leaving.leave(context.connection, player, leaving.HAS_LEFT, context.now)
    farewell = Notification(
        home, player.id, Part("signed-off", {"userid": player.userid, "games": count})
    )
    return Answer((), (*notifications, farewell))


def confirm_delete(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to the question: do the same, and delete all personal data."""
    player = _asked_player(context, reply_address, "delete")
    home = home_of(context, player)
    notifications, _ = _resign_all(context, player)
    neutral, others = erase_data(context, player, notifications)
    farewell = Part("deleted", {"neutral": neutral})
    return Answer((), (*others, Notification(home, None, farewell)))


def erase_data(
    context: CommandContext, player: Player, letters: Iterable[Notification]
) -> tuple[str, list[Notification]]:
    """Let a player without running boards leave, and delete all personal data.

    Args:
        letters: letters to others that may name the player.

    Returns:
        The neutral name of the player, and the letters with that name.
    """
    contact.keep_blocks_on_deleted(context, player.id)
    if player.active:
        leaving.leave(context.connection, player, leaving.HAS_LEFT, context.now)
    gone = players.by_id(context.connection, player.id)
    assert gone is not None
    neutral = erasing.erase(context.connection, gone)

    def renamed(part: Part) -> Part:
        return replace(part, words=erasing.without_name(part.words, player.userid, neutral))

    return neutral, [replace(letter, part=renamed(letter.part)) for letter in letters]


def stay(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no`` to the question: no later reply to it can mean yes."""
    player = _player_of(context, reply_address, "no", "help signoff")
    notices.note(context.connection, player.id, _STAYS, context.now, timedelta(0))
    part = Part("stayed", {"userid": player.userid})
    return Answer((), (Notification(home_of(context, player), player.id, part),))


def _question(context: CommandContext, player: Player, home: str, letter: str) -> Notification:
    words = {
        "userid": player.userid,
        "day": (context.now - _EPOCH).days,
        "days": ASKED_DAYS,
        "games": len(boards.running_of(context.connection, player.id)),
    }
    return Notification(home, player.id, Part(letter, words))


def _asked_player(context: CommandContext, reply_address: ReplyAddress, word: str) -> Player:
    """Return the player of a question that can still be answered with yes."""
    player = _player_of(context, reply_address, word, f"help {word}")
    if notices.last(context.connection, player.id, _STAYS):
        raise Refused("leaving-settled", part=word, example=f"help {word}")
    if (context.now - _EPOCH).days > reply_address.number + ASKED_DAYS:
        example = f"{word} {player.userid} PASSWORD"
        raise Refused("leaving-late", part=word, days=ASKED_DAYS, example=example)
    return player


def _player_of(
    context: CommandContext, reply_address: ReplyAddress, word: str, example: str
) -> Player:
    """Return the player of a question that a newer password or an erasure has not settled."""
    player = players.by_id(context.connection, reply_address.player)
    if (
        player is None
        or player.reply_epoch != reply_address.epoch
        or player.state == PlayerState.DELETED
    ):
        raise Refused("leaving-settled", part=word, example=example)
    return player


def _resign_all(context: CommandContext, player: Player) -> tuple[tuple[Notification, ...], int]:
    """Resign all boards, or decline those without an own move, without words to anybody.

    A board whose game cannot be played now ends without a result.

    Returns:
        The letters to others, and the number of boards.
    """
    numbers = boards.running_of(context.connection, player.id)
    context.current.line_words = ""
    notifications: list[Notification] = []
    for number in numbers:
        try:
            letters = resigning.give_up(context, *context.seat_at(number)).notifications
            event = events.id_of_board(context.connection, number)
            notifications += map(_of_event, letters) if event is not None else letters
        except GameAway:  # nobody can wait for the game to come back before leaving
            boards.set_status(context.connection, number, BoardStatus.DECLINED)
    current = context.current
    current.speaker = current.focus = None
    return tuple(
        notification for notification in notifications if notification.player_id != player.id
    ), len(numbers)


def _of_event(letter: Notification) -> Notification:
    """Return a letter that says that the result may not count in the event of the board."""
    part = replace(letter.part, words={**letter.part.words, "left_event": True})
    return replace(letter, part=part)
