"""List-Unsubscribe (RFC 2369, RFC 8058): ends the letters of the kind that a player got.

A mail program shows a button for it, and some providers press it for their users. So it must be
harmless: it ends no game, and changes only preferences that can be set again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from pbmserv.commands.table.accounts import Prefs
from pbmserv.commands.table.looking import Follow
from pbmserv.commands.table.starting import Daily
from pbmserv.errors import Refused
from pbmserv.mail.letter_kinds import NAMED_IN_WORDS, kind_of
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.accounts.preferences import prefs
from pbmserv.service.boards import followers
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.solo import daily_box
from pbmserv.store import teams
from pbmserv.store.accounts import notices, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.events import event_entries
from pbmserv.store.ladders import ladder_places, ladders

NOTED_EVERY = timedelta(days=1)
"""Time after which one click brings another letter about the same subscription."""

_SETTINGS: Mapping[str, tuple[str, str]] = {
    "single": ("digest", "daily"),
    "digest": ("digest", "off"),
    "broadcasts": ("broadcast", "off"),
    "announcements": ("announce", "off"),
    "challenges": ("accept", "none"),
    "reminders": ("remind", "off"),
}
"""The preferences that end subscriptions."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """The reason why a player got a letter.

    Attributes:
        what: see `LetterKind.subscription`.
        userid: the player.
        board: the followed board, 0 for none.
        game: key of the game whose daily box or ladder it was, ``""`` for none.
        event: the event that it was about, 0 for none.
        team: the team that it was about, 0 for none.
    """

    what: str
    userid: str
    board: int = 0
    game: str = ""
    event: int = 0
    team: int = 0


def subscription_of(context: CommandContext, reply_address: ReplyAddress) -> Subscription:
    """Return the subscription that sent the letter with this address.

    Raises:
        Refused: the address is no longer valid, or letters of its kind cannot be ended.
    """
    player = context.speaker(None)
    letter = outbox.letter(context.connection, reply_address.about)
    if letter is None or letter.player_id != player.id or not kind_of(letter.letter).subscription:
        raise Refused("revoked-address", example=f"forgot {player.userid}")
    return _subscription(context, player, letter)


def unsubscribe_by_page(context: CommandContext, reply_address: ReplyAddress) -> list[Notification]:
    """End a subscription by one click. A letter, at most one a day, says how to undo that.

    The click may have been meant for a single letter, or come from a program.

    Raises:
        Refused: see `subscription_of`.
    """
    player = context.speaker(None)
    subscription, changed = _end_subscription(context, reply_address)
    if not changed or not notices.note(
        context.connection, player.id, f"-{subscription.what}", context.now, NOTED_EVERY
    ):
        return []
    return [Notification(player.address, player.id, Part("unsubscribed", asdict(subscription)))]


def unsubscribe_by_mail(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """End a subscription by a mail to the address in List-Unsubscribe, whatever its text."""
    subscription, _ = _end_subscription(context, reply_address)
    return Answer((Part("unsubscribed", asdict(subscription)),))


def _end_subscription(
    context: CommandContext, reply_address: ReplyAddress
) -> tuple[Subscription, bool]:
    """End a subscription; return it, and whether that changed anything."""
    subscription, player = subscription_of(context, reply_address), context.speaker(None)
    if subscription.what == "follow":
        return subscription, _has_effect(
            followers.follow, context, Follow(subscription.board, None, "off")
        )
    if subscription.what == "daily":
        return subscription, _has_effect(
            daily_box.daily, context, Daily(subscription.game, None, "off")
        )
    if subscription.what == "ladder":
        return subscription, _end_ladder_news(context, player, subscription.game)
    if subscription.what == "team":
        return subscription, teams.mute(context.connection, subscription.team, player.id)
    if subscription.what == "event":
        return subscription, event_entries.mute(context.connection, subscription.event, player.id)
    if subscription.what == "single" and player.digest_minute is not None:
        return subscription, False
    prefs(context, Prefs(None, (_SETTINGS[subscription.what],)))
    return subscription, players.by_id(context.connection, player.id) != player


def _subscription(context: CommandContext, player: Player, letter: QueuedLetter) -> Subscription:
    kind = kind_of(letter.letter).subscription
    if kind in NAMED_IN_WORDS:
        word = NAMED_IN_WORDS[kind]
        return Subscription(kind, player.userid, **{word: letter.words[word]})
    if kind not in {"follow", "daily"}:
        return Subscription(kind, player.userid)
    board = None if letter.board_id is None else boards.load(context.connection, letter.board_id)
    if board is None:
        raise Refused("revoked-address", example=f"forgot {player.userid}")
    return Subscription(kind, player.userid, board.id, board.game)


def _end_ladder_news(context: CommandContext, player: Player, game: str) -> bool:
    """End the letters about a ladder; return whether that changed anything."""
    ladder = ladders.of_game(context.connection, game)
    return ladder is not None and ladder_places.set_news(
        context.connection, ladder.id, player.id, wanted=False
    )


def _has_effect(
    handler: Callable[[CommandContext, Any], Answer], context: CommandContext, command: object
) -> bool:
    """Carry out a command; return whether it changed anything."""
    try:
        handler(context, command)
    except Refused as refused:
        if refused.refusal.code not in {"not-followed", "daily-off"}:
            raise
        return False
    return True
