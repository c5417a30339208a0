"""The service behind the pages: forms and moves go through the door, and results are read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic
from typing import Any, Protocol

from pbmserv.errors import StillWorking
from pbmserv.mail.envelope import Envelope
from pbmserv.service.auth.passwords import Memo
from pbmserv.service.core.context import Services
from pbmserv.service.mails.incoming import MailReader
from pbmserv.service.operators.pages import OperatorPages, Queue, Side
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.stages.base import Base
from pbmserv.stages.places import first_place
from pbmserv.stages.state import running, states, waiting
from pbmserv.store.boards.moves import Positions
from pbmserv.store.delivery import arrivals
from pbmserv.store.operators import health

FORM_S = 5.0
"""Seconds that a page waits until its form is carried out."""
LOOK_S = 0.02
"""Seconds between two looks for the result."""


class PagesDoor(Protocol):
    """The door, as the pages need it."""

    async def form(self, kind: str, values: Mapping[str, Any]) -> int:
        """See `Door.form`."""
        ...

    async def page_mail(self, envelope: Envelope) -> int:
        """See `Door.page_mail`."""
        ...


class WebStage:
    """The service behind the pages.

    Args:
        base: settings and databases.
        door: stores forms and mails of pages.
        side: carries out the changes of operators' pages.

    Attributes:
        web_requests: the pages of players and the public.
        operators: the pages of operators.
    """

    def __init__(self, base: Base, door: PagesDoor, side: Side) -> None:
        self._base = base
        self.door = door
        self._store: str | None = None
        services = base.services(Positions(base.registry), Memo(), base.traffic())
        self.web_requests = WebRequests(
            services, base.game, base.clock, self._ask, self._hand_in, door.form
        )
        self.operators = _operator_pages(base, services, side)

    async def _ask(self, kind: str, values: Mapping[str, Any]) -> Any:
        """Have a form carried out, and return its result.

        Raises:
            StillWorking: the form is stored, and is carried out later.
        """
        number = await self.door.form(kind, values)
        return await _result(partial(self._look, number))

    async def _hand_in(self, envelope: Envelope, taken: Callable[[], tuple[bool, Any]]) -> Any:
        """Have the mail of a page carried out, and return what *taken* returns then.

        Raises:
            StillWorking: the mail is stored, and is carried out later.
        """
        await self.door.page_mail(envelope)
        return await _result(taken)

    def _look(self, number: int) -> tuple[bool, Any]:
        """Return whether a form is carried out, and its result."""
        if self._store is None:
            self._store = ""
            if self._base.game.is_sqlite:
                with self._base.mail.reading.connect() as connection:
                    self._store = arrivals.store_of(connection)
        with self._base.game.reading.connect() as connection:
            return arrivals.result_of(connection, self._store, number)


async def _result(look: Callable[[], tuple[bool, Any]]) -> Any:
    """Call *look* until it says that the result is there, and return that."""
    end = monotonic() + FORM_S
    while monotonic() < end:
        done, result = await asyncio.to_thread(look)
        if done:
            return result
        await asyncio.sleep(LOOK_S)
    raise StillWorking("a form is still worked on")


def _operator_pages(base: Base, services: Services, side: Side) -> OperatorPages:
    """Return the service behind the operators' pages.

    Args:
        base: databases and games.
        services: shared by the pages of this process.
        side: carries out the changes.
    """
    games = frozenset(game.info.key for game in base.registry)
    reader = MailReader(base.mail_domain, games, base.settings.mail_servers)

    def queue() -> Queue:
        with base.mail.reading.connect() as mail, base.game.reading.connect() as game:
            queues = health.queues(mail, game, base.clock.now())
        stages = states(first_place(base.settings.data_dir))
        return Queue(
            running(queues),
            {name: state.doing for name, state in stages.items()},
            queues.newest_mail,
            queues.newest_letter,
            health.sizes(base.game),
            waiting(queues),
        )

    return OperatorPages(services, base.game, base.clock, reader.read, side, queue)
