"""The removal of settled arrivals from the door's store on SQLite."""

from __future__ import annotations

from functools import partial

from pbmserv.file_locks import exclusive_work
from pbmserv.files import sqlite_file
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer
from pbmserv.store.delivery import arrivals, mail_stores, settled_arrivals


class Removal:
    """Removes settled arrivals from the door's store on SQLite."""

    def __init__(self, mail: Database, game: Database, writer: Writer) -> None:
        self._mail = mail
        self._game = game
        self._writer = writer

    def run_once(self) -> None:
        """Remove settled arrivals, unless a backup is being made: its game store may be older than
        their settlement, so its mail store must still have them."""
        path = sqlite_file(self._mail.url)
        assert path is not None
        with exclusive_work(path, arrivals.REMOVAL) as is_free:
            if not is_free:
                return
            with self._mail.reading.connect() as mail:
                stored = arrivals.numbers(mail)
                store = mail_stores.uuid_of(mail)
            if not stored:
                return
            with self._game.reading.connect() as game:
                settled = settled_arrivals.numbers_since(game, store, stored[0])
            removable = [number for number in stored if number in settled]
            if removable:
                self._writer.submit(partial(arrivals.remove, ids=removable)).result()
