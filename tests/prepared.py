"""Servers that go on where one has stopped: what many tests begin with happens once."""

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
    """A server at rest.

    Attributes:
        settings: what its `indoors` was given.
        mails: how many were written to it.
        moment: when it was stopped.
    """

    folder: Path
    settings: dict[str, Any]
    mails: int
    moment: datetime


@contextmanager
def prepare(folder: Path, into: list[Prepared], **settings: Any) -> Iterator[Indoors]:
    """A server to prepare; when it has stopped *into* has what is left of it."""
    with indoors(folder, **settings) as server:
        yield server
        server.letters()
        clock = server.server.clock
        into.append(Prepared(folder, settings, server.mails, clock.now()))


@contextmanager
def going_on(prepared: Prepared, folder: Path) -> Iterator[Indoors]:
    """A copy of it that goes on in *folder*, and knows the same passwords.

    Players are there whose password is `PASSWORD`; what else a server has in memory, such as who
    wrote how often, begins anew.
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
