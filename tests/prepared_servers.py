"""Copies of a prepared server, so that the common beginning of many tests is played once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from indoors import PASSWORD, Indoors, indoors
from running import MovableClock
from sqlalchemy import select

from pbmserv.store.tables.accounts import players


@dataclass(frozen=True)
class Prepared:
    """A stopped server.

    Attributes:
        folder: its files.
        settings: its arguments for `indoors`.
        mails: number of mails that were written to it.
        moment: time of its clock when it stopped.
    """

    folder: Path
    settings: dict[str, Any]
    mails: int
    moment: datetime


@contextmanager
def prepare(folder: Path, into: list[Prepared], **settings: Any) -> Iterator[Indoors]:
    """Start a server to prepare; when it stops, add it to *into*."""
    with indoors(folder, **settings) as server:
        yield server
        server.letters()
        server.server.door_stage.run_once()  # no mail waits, for which clocks would wait
        clock = server.server.clock
        into.append(Prepared(folder, settings, server.mails, clock.now()))


@contextmanager
def start_copy(prepared: Prepared, folder: Path) -> Iterator[Indoors]:
    """Start a copy of a prepared server in *folder*.

    Its players have the password `PASSWORD`, which is remembered as right. Everything else in
    memory, such as counts of mails, starts empty.
    """
    shutil.copytree(prepared.folder, folder, dirs_exist_ok=True)
    with indoors(folder, **prepared.settings) as server:
        clock = server.server.clock
        assert isinstance(clock, MovableClock)
        clock.moment = prepared.moment
        server.mails = prepared.mails  # Message-IDs that no mail here has
        with server.server.database.reading.connect() as connection:
            for row in connection.execute(select(players.c.userid, players.c.password_hash)):
                server.server.services.memo.note(row[0], row[1], PASSWORD, right=True)
        yield server
