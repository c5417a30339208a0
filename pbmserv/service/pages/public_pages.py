"""Answers for the pages that everybody may read: players, ratings, seeks and boards.

They show what a stranger learns by mail, with public names (`views.names`). Looking changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from pbmserv.clock import Clock
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.budget import Budget
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.services import Services
from pbmserv.service.pages import event_pages, public_boards, public_players
from pbmserv.service.solo import daily_archive
from pbmserv.service.solo.daily_archive import Dailies, DailyTable
from pbmserv.service.solo.guest_box import GuestBoxes, GuestLook, GuestPage
from pbmserv.store.core.database import Database
from pbmserv.views.public_facts import (
    EventLine,
    EventPage,
    FinishedBoard,
    LadderPage,
    PublicBoardPage,
    PublicPlayer,
    Seek,
    StandingsTable,
    TeamPage,
)

T = TypeVar("T")


class PublicPages:
    """Answers for the public pages."""

    def __init__(self, services: Services, database: Database, clock: Clock) -> None:
        self._services = services
        self._database = database
        self._clock = clock
        self._guests = GuestBoxes(services, clock)

    async def guest(self, look: GuestLook) -> GuestPage | None:
        """Return the guest box: see `GuestBoxes.page`."""
        return await self._guests.page(look)

    async def board(self, number: int, turn: int | None) -> PublicBoardPage | None:
        """Return a board after *turn* turns or now; ``None`` if there is no such board or turn."""
        return await asyncio.to_thread(
            self._read, partial(public_boards.board_page, number=number, turn=turn)
        )

    async def stamp(self, number: int) -> tuple[Any, ...] | None:
        """Return a value that changes with a board's page; ``None`` if there is no such board."""
        return await asyncio.to_thread(self._read, partial(public_boards.stamp, number=number))

    async def standings(self) -> list[StandingsTable]:
        """Return the best players of each game."""
        return await asyncio.to_thread(self._read, public_players.standings)

    async def ladders(self) -> list[LadderPage]:
        """Return the ladders of all games for two, those with most players first."""
        return await asyncio.to_thread(self._read, public_players.ladders)

    async def ladder(self, game: str) -> LadderPage | None:
        """Return the ladder of a game; ``None`` if it has none."""
        return await asyncio.to_thread(self._read, partial(public_players.ladder, key=game))

    async def player(self, userid: str) -> PublicPlayer | None:
        """Return a player's page; ``None`` if nobody of this name may be named."""
        return await asyncio.to_thread(
            self._read, partial(public_players.player_page, userid=userid.lower())
        )

    async def events(self) -> list[EventLine]:
        """Return the newest events: those that take entries first."""
        return await asyncio.to_thread(self._read, event_pages.lines)

    async def event(self, number: int, first: int) -> EventPage | None:
        """Return an event with its groups from *first* on; ``None`` if there is no such event."""
        read = partial(event_pages.page, number=number, first=first)
        return await asyncio.to_thread(self._read, read)

    async def teams(self) -> list[TeamPage]:
        """Return the teams by name."""
        return await asyncio.to_thread(self._read, event_pages.teams_listed)

    async def team(self, key: str) -> TeamPage | None:
        """Return a team; ``None`` if there is none of this name."""
        return await asyncio.to_thread(self._read, partial(event_pages.team_page, key=key))

    async def seeks(self) -> list[Seek]:
        """Return the open seeks."""
        return await asyncio.to_thread(self._read, public_players.open_seeks)

    async def finished_boards(
        self, userid: str, most: int, before: int = 0
    ) -> list[FinishedBoard] | None:
        """Return finished boards that may be seen, newest first.

        Return ``None`` if nobody of this name may be named, or if *before* is not such a board.

        Args:
            userid: a player; "" for all.
            most: the most boards to return.
            before: the board after which the list continues; 0 for the newest.
        """
        read = partial(public_players.finished_of, userid=userid.lower(), most=most, before=before)
        return await asyncio.to_thread(self._read, read)

    async def tables(self, most: int) -> list[DailyTable]:
        """Return the newest boxes of the day that are open, newest first."""
        return await asyncio.to_thread(self._read, partial(_tables, most=most))

    async def dailies(self) -> list[Dailies]:
        """Return the newest boxes of the day, by game."""
        return await asyncio.to_thread(self._read, daily_archive.dailies)

    async def daily(self, number: int) -> DailyTable | None:
        """Return a box of the day; ``None`` if no player has got it."""
        return await asyncio.to_thread(
            self._read, partial(daily_archive.daily_table, number=number)
        )

    def _read(self, read: Callable[[CommandContext], T]) -> T:
        """Return the result of *read* in a transaction that only reads.

        Raises:
            TooMuch: it takes more work than a mail may ask for.
        """
        with self._database.reading.connect() as connection:
            context = CommandContext(
                self._services, connection, NOBODY, self._clock.now(), budget=Budget()
            )
            try:
                return read(context)
            finally:  # the next reader need not replay these boards, even if this page failed
                self._services.positions.remember(context.effects.positions)


def _tables(context: CommandContext, most: int) -> list[DailyTable]:
    numbers = [
        box.number for game in daily_archive.dailies(context) for box in game.days[: most + 1]
    ]
    tables = (daily_archive.daily_table(context, number) for number in dict.fromkeys(numbers))
    return [table for table in tables if table is not None and table.scene is not None][:most]
