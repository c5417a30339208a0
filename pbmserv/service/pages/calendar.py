"""The calendar of a player's deadlines, which calendar programs read (iCalendar, RFC 5545).

Its token reads this calendar and nothing else, so it may stay in a calendar program for years. It
ends when the player resets a forgotten password, like all other links of that player. The events
have no links.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.page_contexts import PageContexts
from pbmserv.service.schedule.deadlines import deadline_of
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, player_boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import RUNNING

if TYPE_CHECKING:
    from icalendar import Event

MOST_BOARDS = 60
"""Most running boards whose deadlines are in a calendar, the newest ones."""
REFRESHED = timedelta(hours=1)
"""Time after which a calendar program should ask again."""


class Calendars:
    """Answers for players' calendars."""

    def __init__(self, contexts: PageContexts) -> None:
        self._contexts = contexts

    async def read(self, token: str) -> bytes | None:
        """Return the calendar of a token; ``None`` if the token is not, or no longer, valid.

        Raises:
            TooMany: the player looks too often.
        """
        link = self._contexts.services.mail_domain.ring.read(token)
        if link is None or link.purpose is not Purpose.CALENDAR:
            return None
        self._contexts.services.traffic.count("look", str(link.player))
        return await asyncio.to_thread(self._read, link)

    def _read(self, link: ReplyAddress) -> bytes | None:
        with self._contexts.open() as context:
            player = players.active_of(context.connection, link)
            return None if player is None else _calendar(context, player)


def calendar_token(context: CommandContext, player: Player) -> str:
    """Return the token of a player's calendar."""
    link = ReplyAddress(Purpose.CALENDAR, player.id, epoch=player.reply_epoch)
    return context.services.mail_domain.ring.token(link)


def _calendar(context: CommandContext, player: Player) -> bytes:
    from icalendar import Calendar  # eighty modules, which few servers need

    calendar = Calendar()
    calendar.add("prodid", "-//pbmserv//deadlines//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", f"Your moves, {player.userid}")
    calendar.add("refresh-interval", REFRESHED, parameters={"VALUE": "DURATION"})
    numbers = player_boards.of_player(context.connection, player.id, RUNNING, most=MOST_BOARDS)
    for number in numbers:
        board = boards.load(context.connection, number)
        event = None if board is None else _event(context, board, player)
        if event is not None:
            calendar.add_component(event)
    octets: bytes = calendar.to_ical()
    return octets


def _event(context: CommandContext, board: BoardRow, player: Player) -> Event | None:
    """Return the event at which a player's time is over; ``None`` if there is none."""
    from icalendar import Event

    at = deadline_of(context, board, player.id)
    if at is None:
        return None
    is_asked = player.userid in board.undecided
    others = ", ".join(name for name in board.names if name != player.userid)
    title = next(
        (game.info.title for game in context.services.registry if game.info.key == board.game),
        board.game,
    )
    wait = "your answer is due" if is_asked else "your move is due"
    event = Event()
    event.add("uid", f"board-{board.id}-{player.id}@{context.services.mail_domain.domain}")
    event.add("dtstamp", context.now)
    event.add("dtstart", at)
    event.add("summary", f"{title} {board.id}{f' against {others}' if others else ''}: {wait}")
    return event
