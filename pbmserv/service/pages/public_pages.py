"""Looks up the facts of the pages that everybody may read: players, ratings, seeks and boards.

They say what a stranger learns by mail, with public names (`views.names`). Looking changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from pbmserv.clock import Clock
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.budget import Budget
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.services import Services
from pbmserv.store.core.database import Database

P = ParamSpec("P")
T = TypeVar("T")


class PublicPages:
    """Looks up the facts of public pages."""

    def __init__(self, services: Services, database: Database, clock: Clock) -> None:
        self._services = services
        self._database = database
        self._clock = clock

    async def read(
        self, look: Callable[Concatenate[CommandContext, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return the result of a function such as `public_boards.board_page`.

        It is called in a thread, with a context that only reads and with these arguments.

        Raises:
            TooMuch: it takes more work than a mail may ask for.
        """

        def look_up() -> T:
            with self._database.reading.connect() as connection:
                now = self._clock.now()
                context = CommandContext(self._services, connection, NOBODY, now, budget=Budget())
                try:
                    return look(context, *args, **kwargs)
                finally:  # the next reader need not replay these boards, even if this page failed
                    self._services.positions.remember(context.effects.positions)

        return await asyncio.to_thread(look_up)
