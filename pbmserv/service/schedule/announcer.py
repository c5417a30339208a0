"""Sends operators' announcements to all players: slowly, and once to each.

Each batch of letters is queued in the transaction that notes the last player of the batch. So a
server that is killed continues where it stopped, and two servers never queue the same letter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.services import Services
from pbmserv.store import announcements
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.announcements import Announcement
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer

PAUSE_S = 5.0
"""Seconds between two batches."""
BATCH = 15
"""Players of a batch: three a second, so that large providers do not take it for spam."""


class Announcer:
    """Queues the letters of announcements, batch by batch.

    Args:
        database: game store, for reading.
        writer: writer of the game store.
        wake: called after a commit that queued letters.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        writer: Writer,
        clock: Clock,
        wake: Callable[[], None],
    ) -> None:
        self._services = services
        self._database = database
        self._writer = writer
        self._clock = clock
        self._wake = wake

    def run_once(self) -> None:
        """Queue the next batch, if an announcement is unfinished."""
        with self._database.reading.connect() as connection:
            number = announcements.first_unfinished(connection)
        if number is not None and self._writer.submit(partial(self._queue_batch, number)).result():
            self._wake()

    def _queue_batch(self, number: int, connection: Connection) -> int:
        """Queue one batch, and return the number of its letters."""
        announcement = announcements.lock(connection, number)
        if announcement is None or announcement.finished_at is not None:
            return 0
        now = self._clock.now()
        batch = announcements.next_players(connection, announcement, BATCH)
        kind = "service-notice" if announcement.is_service else "announcement"
        part = Part(kind, {"title": announcement.title, "text": announcement.text})
        letters = queue_letters(
            CommandContext(self._services, connection, NOBODY, now),
            [
                Notification(player.address, player.id, part)
                for player in batch
                if _is_reader(connection, announcement, player)
            ],
        )
        is_last = len(batch) < BATCH
        reached = announcement.last_player if is_last else batch[-1].id
        announcements.note_progress(connection, number, reached, letters, now if is_last else None)
        return letters


def _is_reader(connection: Connection, announcement: Announcement, player: Player) -> bool:
    """Return whether a player gets a letter: only the first one of several with one address."""
    if not _wants(announcement, player):
        return False
    return not any(
        other.id < player.id and other.address == player.address and _wants(announcement, other)
        for other in players.by_address(connection, player.address)
    )


def _wants(announcement: Announcement, player: Player) -> bool:
    return player.active and (announcement.is_service or player.announcements)
