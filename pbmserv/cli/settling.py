"""Waits until a server has carried out earlier mails and delivered their letters."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pbmserv.config.settings import Settings
    from pbmserv.store.core.database import Database

PATIENCE_S = 60.0
"""Seconds to wait at most; even a slow machine carries out a mail within some seconds."""
LOOK_S = 0.1
"""Seconds between two queries."""


def wait_for_letters(settings: Settings, address: str) -> None:
    """Wait until earlier mails are carried out and their letters to *address* are delivered.

    A reply of 250 to a mail only means that it is stored. Does not wait if no server runs, or if
    its database cannot be read.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from pbmserv.files import sqlite_file
    from pbmserv.store.core.database import Database, mail_url

    urls = (settings.database, mail_url(settings.database))
    paths = [path for path in map(sqlite_file, urls) if path is not None]
    if not all(path.exists() for path in paths):
        return
    with ExitStack() as stack:
        try:
            game, mail = (stack.enter_context(closing(Database(url))) for url in urls)
            wait_until_settled(mail, game, address, lambda: time.sleep(LOOK_S))
        except (SQLAlchemyError, OSError):
            return


def wait_until_settled(
    mail: Database, game: Database, address: str, pause: Callable[[], None]
) -> None:
    """Wait until the mails in the mail store are carried out, and letters to *address* delivered.

    Mails that arrive meanwhile are not waited for: those of others would never end.

    Args:
        mail: the mail store.
        game: the game store.
        address: whose letters to wait for.
        pause: is called before each further look.
    """
    from pbmserv.store.delivery import arrivals

    end = time.monotonic() + PATIENCE_S
    with mail.reading.connect() as connection:
        last = max(arrivals.numbers(connection), default=0)
    while time.monotonic() < end and _is_at_work(mail, game, address, last):
        pause()


def _is_at_work(mail: Database, game: Database, address: str, last: int) -> bool:
    """Return whether a server works on mails up to a number, or on letters to *address*."""
    from pbmserv.service.operators.server_status import is_running
    from pbmserv.store.heartbeats import heartbeat
    from pbmserv.store.operators import correspondence

    with mail.reading.connect() as arrived, game.reading.connect() as connection:
        now, beat = datetime.now(UTC), heartbeat(connection)
        if beat is None or not is_running((now - beat.beat_at).total_seconds()):
            return False
        return correspondence.is_under_way(arrived, connection, address, now, last)
