"""List-Unsubscribe (RFC 2369, RFC 8058): undoes what brought a letter, and nothing else.

A mail program shows a button for it, and some providers press it for their users. So it must be
harmless: nobody leaves a game, and all of it are preferences that can be set again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from pbmserv.commands.table.model import Daily, Follow, Prefs
from pbmserv.errors import Refused
from pbmserv.letters.kinds import brought_by
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.accounts import preferences
from pbmserv.service.boards import followers
from pbmserv.service.core.answers import Answer, Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.solo import daily_box
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.preferences import may_tell
from pbmserv.store.boards import boards
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import QueuedLetter

TOLD_EVERY = timedelta(days=1)

_SETTINGS: Mapping[str, tuple[str, str]] = {
    "single": ("digest", "daily"),
    "digest": ("digest", "off"),
    "broadcasts": ("broadcast", "off"),
    "challenges": ("accept", "none"),
    "reminders": ("remind", "off"),
}


@dataclass(frozen=True, slots=True)
class Subscription:
    """What brought a letter.

    Attributes:
        what: see `render.kinds.brought_by`.
        userid: whose letter it was.
        board: the board that was followed, else 0.
        game: key of the game whose daily box it was, else ``""``.
    """

    what: str
    userid: str
    board: int = 0
    game: str = ""


def of(context: CommandContext, reply_address: ReplyAddress) -> Subscription:
    """What brought the letter whose address this is.

    Raises:
        Refused: the address is no longer valid, or its letter is none that can be ended.
    """
    player = context.speaker(None)
    letter = outbox.letter(context.connection, reply_address.about)
    if letter is None or letter.player_id != player.id or not brought_by(letter.letter):
        raise Refused("revoked-address", example=f"forgot {player.userid}")
    return _subscription(context, player, letter)


def by_page(context: CommandContext, reply_address: ReplyAddress) -> list[Notification]:
    """One click: end it. A letter says what has changed and how to undo it, once a day at most.

    Whoever clicked may have meant a single letter, or have been a program.

    Raises:
        Refused: as `of` does.
    """
    player = context.speaker(None)
    found, changed = _ended(context, reply_address)
    if not changed or not may_tell(
        context.connection, player.id, f"-{found.what}", context.now, TOLD_EVERY
    ):
        return []
    return [Notification(player.address, player.id, Part("unsubscribed", asdict(found)))]


def by_mail(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """A mail to the address in a letter's List-Unsubscribe, whatever it says."""
    found, _ = _ended(context, reply_address)
    return Answer((Part("unsubscribed", asdict(found)),))


def _ended(context: CommandContext, reply_address: ReplyAddress) -> tuple[Subscription, bool]:
    """End it, and whether that changed anything; what is ended already stays so."""
    found, player = of(context, reply_address), context.speaker(None)
    if found.what == "follow":
        return found, _tried(followers.follow, context, Follow(found.board, None, "off"))
    if found.what == "daily":
        return found, _tried(daily_box.daily, context, Daily(found.game, None, "off"))
    if found.what == "single" and player.digest_minute is not None:
        return found, False
    preferences.prefs(context, Prefs(None, (_SETTINGS[found.what],)))
    return found, players.by_id(context.connection, player.id) != player


def _subscription(context: CommandContext, player: Player, letter: QueuedLetter) -> Subscription:
    what = brought_by(letter.letter)
    if what not in {"follow", "daily"}:
        return Subscription(what, player.userid)
    board = None if letter.board_id is None else boards.load(context.connection, letter.board_id)
    if board is None:
        raise Refused("revoked-address", example=f"forgot {player.userid}")
    return Subscription(what, player.userid, board.id, board.game)


def _tried(
    command: Callable[[CommandContext, Any], Answer], context: CommandContext, asked: object
) -> bool:
    """Carry a command out; that there is nothing left to do is no fault here, but told."""
    try:
        command(context, asked)
    except Refused as refused:
        if refused.refusal.code not in {"not-followed", "daily-off"}:
            raise
        return False
    return True
