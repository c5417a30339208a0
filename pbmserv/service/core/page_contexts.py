"""Contexts in which pages look at the database; they change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pbmserv.clock import Clock
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.mail.visits import read_link
from pbmserv.service.core.actor import NOBODY, Actor
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.services import Services
from pbmserv.store.core.database import Database


@dataclass(frozen=True, slots=True)
class PageContexts:
    """Opens a context for each look of a page at the database. Thread-safe.

    Attributes:
        database: the game store, for reading.
    """

    services: Services
    database: Database
    clock: Clock

    @contextmanager
    def open(self, actor: Actor = NOBODY) -> Iterator[CommandContext]:
        """Open a context for one look."""
        with self.database.reading.connect() as connection:
            yield CommandContext(self.services, connection, actor, self.clock.now())

    def link(self, token: str, purpose: Purpose) -> ReplyAddress | None:
        """Return the link of a page; `None` if the token opens no page of this purpose."""
        link = read_link(self.services.mail_domain.ring, token, self.clock.now())
        return link if link is not None and link.purpose is purpose else None
