"""Out-of-office notes: a player who seems to be away is asked, kindly and seldom."""

from __future__ import annotations

from datetime import timedelta

from pbmserv.commands.model import Away, Reject, ReplyMove, Yes
from pbmserv.errors import Refused
from pbmserv.receive.mail import Mail
from pbmserv.service import accounts, localtime
from pbmserv.service.answers import Answer, Part, Told
from pbmserv.service.desk import Desk
from pbmserv.store import notices, players

ASKED_EVERY = timedelta(days=7)
"""A player is asked at most once in so long."""

MOST_PLAYERS = 3
"""Of those who share one address."""


def ask(desk: Desk, mail: Mail) -> list[Told]:
    """The question for whoever the note's sender is; nobody else, and nobody who is away already.

    The note proves nothing, so the question goes to the player's own address and changes nothing.
    """
    if not mail.away:
        return []
    asked = []
    for player in players.by_address(desk.connection, mail.sender.lower())[:MOST_PLAYERS]:
        is_away = player.away_until is not None and player.away_until > desk.now
        if is_away or not notices.may_tell(
            desk.connection, player.id, "away", desk.now, ASKED_EVERY
        ):
            continue
        today = localtime.local_date(desk.now, localtime.zone(player.tz))
        words = {"userid": player.userid, "example": (today + timedelta(days=7)).isoformat()}
        asked.append(Told(player.address, player.id, Part("away-asked", words)))
    return asked


def answer(desk: Desk, asked: object) -> Answer | None:
    """A reply to the question: a date says it all; ``None`` = a command of its own.

    Raises:
        Refused: it is no date.
    """
    if not isinstance(asked, ReplyMove | Yes | Reject):
        return None
    player = desk.speaker(None)
    today = localtime.local_date(desk.now, localtime.zone(player.tz))
    said = asked.lines[0].strip().rstrip(".!") if isinstance(asked, ReplyMove) else ""
    words = said.split()
    while words and words[0].lower() in {"yes", "yes,", "i", "am", "i'm", "away"}:
        words = words[1:]
    until = " ".join(words)
    if until and localtime.read_date(until, today) is not None:
        return accounts.away(desk, Away(None, until))
    raise Refused(
        "away-how", part=said[:40], example=f"away until {today + timedelta(days=7):%Y-%m-%d}"
    )
