"""Out-of-office notes: a player who seems to be away is asked, kindly and seldom."""

from __future__ import annotations

from datetime import timedelta

from pbmserv.commands.table.model import Away, Reject, ReplyMove, Yes
from pbmserv.errors import Refused
from pbmserv.mail.envelope import Mail
from pbmserv.service.accounts import preferences
from pbmserv.service.core.answers import Answer, Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.time import localtime
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.preferences import may_tell

ASKED_EVERY = timedelta(days=7)
"""A player is asked at most once in so long."""

MOST_PLAYERS = 3
"""Of those who share one address."""


def ask(context: CommandContext, mail: Mail, letter_to: int | None = None) -> list[Notification]:
    """The question for whom the note seems to be about; nobody who is away already.

    At a reply address that is its player, whatever address the note is from: mail is forwarded,
    and it is the last mailbox that writes notes. Elsewhere it is whoever has the sender's address.
    The note proves nothing, so the question goes to the player's own address and changes nothing;
    who forges notes, and be it with somebody's reply address, has one letter a week sent there.

    Args:
        letter_to: whose letter the note answers, where the address it came to does not say so.
    """
    if not mail.away:
        return []
    asked = []
    for player in _about(context, mail, letter_to):
        is_away = player.away_until is not None and player.away_until > context.now
        if is_away or not may_tell(context.connection, player.id, "away", context.now, ASKED_EVERY):
            continue
        today = localtime.local_date(context.now, localtime.zone(player.tz))
        words = {"userid": player.userid, "example": (today + timedelta(days=7)).isoformat()}
        asked.append(Notification(player.address, player.id, Part("away-asked", words)))
    return asked


def _about(context: CommandContext, mail: Mail, letter_to: int | None) -> list[Player]:
    reply_address = context.reply_address
    number = letter_to or (reply_address.player if reply_address is not None else 0)
    player = players.by_id(context.connection, number) if number else None
    if player is None:
        return players.by_address(context.connection, mail.sender.lower())[:MOST_PLAYERS]
    is_revoked = letter_to is None and reply_address and reply_address.epoch != player.reply_epoch
    return [] if is_revoked or not player.active else [player]


def answer(context: CommandContext, asked: object) -> Answer | None:
    """A reply to the question: a date says it all; ``None`` = a command of its own.

    Raises:
        Refused: it is no date.
    """
    if not isinstance(asked, ReplyMove | Yes | Reject):
        return None
    player = context.speaker(None)
    today = localtime.local_date(context.now, localtime.zone(player.tz))
    said = asked.lines[0].strip().rstrip(".!") if isinstance(asked, ReplyMove) else ""
    words = said.split()
    while words and words[0].lower() in {"yes", "yes,", "i", "am", "i'm", "away"}:
        words = words[1:]
    until = " ".join(words)
    if until and localtime.read_date(until, today) is not None:
        return preferences.away(context, Away(None, until))
    raise Refused(
        "away-how", part=said[:40], example=f"away until {today + timedelta(days=7):%Y-%m-%d}"
    )
