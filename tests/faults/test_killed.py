"""The plug is pulled in the middle of a burst of mails; not one move is lost or counted twice."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from processes import Process, Sink, wait_until
from running import start
from seating import HIDINGS, Table, seat_pairs
from smtp_client import Wire, mail
from sqlalchemy import select, update

from pbmserv.store.core.database import Database
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import arrivals, inbox, outbox

pytestmark = pytest.mark.slow

TABLES = 30
SESSIONS = 8
ENOUGH = 20
"""So many 250s, then the process is killed; the rest is under way or has not begun."""
MOST = 48
"""Behind so many nobody begins another where the server dies: some are left for the next one."""


class Burst:
    """Mails that are sent over several sessions at once until one of them breaks."""

    def __init__(self, mails: dict[str, tuple[str, str, bytes]]) -> None:
        self.mails = mails
        self.taken: set[str] = set()
        self._changed = threading.Lock()
        self._kill: Callable[[], None] | None = None
        self._most = len(mails)

    def kill_when_enough(self, kill: Callable[[], None]) -> None:
        """Have *kill* called at a 250, while other clients are in the middle of their sessions."""
        self._kill, self._most = kill, MOST

    def send(self, port: int) -> None:
        """Send all that has had no 250 so far; once, if the server is killed meanwhile, not all."""
        left = [message_id for message_id in self.mails if message_id not in self.taken]
        shares = [left[n::SESSIONS] for n in range(SESSIONS)]
        with ThreadPoolExecutor(SESSIONS) as pool:
            list(pool.map(lambda share: self._session(port, share), shares))
        self._most = len(self.mails)

    def _session(self, port: int, share: list[str]) -> None:
        try:
            with Wire(port) as wire:
                for message_id in share:
                    if len(self.taken) >= self._most:
                        return
                    answer = wire.mail(*self.mails[message_id])
                    assert answer.startswith(("250", "451")) or not answer, answer
                    if answer.startswith("250"):
                        self._note(message_id)
        except (OSError, AssertionError):
            return  # the server is gone; whoever sends mail tries again later

    def _note(self, message_id: str) -> None:
        with self._changed:
            self.taken.add(message_id)
            if len(self.taken) >= ENOUGH and self._kill is not None:
                self._kill()
                self._kill = None


def played(database: Database) -> list[tuple[int, int]]:
    """(board, seat) of every move."""
    with database.reading.connect() as connection:
        rows = connection.execute(select(plies.c.board_id, plies.c.seat))
        return [(row.board_id, row.seat) for row in rows]


def board_and_seat(message_id: str) -> tuple[int, int]:
    board, seat = message_id[1:].partition("@")[0].split(".")
    return int(board), int(seat)


def burst_for(tables: list[Table]) -> Burst:
    """Both players of every board hide their atoms, each by a reply to the first letter."""
    mails = {}
    for seat in (0, 1):
        for table in tables:
            message_id = f"<{table.board}.{seat}@players.example>"
            sender = table.players[seat].address
            raw = mail(sender, "Re: board", HIDINGS[seat], Message_ID=message_id)
            mails[message_id] = (sender, table.addresses[seat], raw)
    return Burst(mails)


@pytest.mark.sqlite_alone  # on PostgreSQL `test_kills` kills whole servers, too
def test_nothing_is_lost_and_nothing_counts_twice(
    database: Database, tmp_path: Path, sink: Sink
) -> None:
    with start(database.url, tmp_path) as preparing:
        tables = seat_pairs(preparing.server, TABLES)
    burst = burst_for(tables)
    settings = {"relay": f"smtp://127.0.0.1:{sink.port}"}

    process = Process(tmp_path, database.url, **settings)
    burst.kill_when_enough(process.process.kill)
    burst.send(process.port)
    process.gone()
    before = set(burst.taken)
    assert ENOUGH <= len(before) < len(burst.mails)

    with database.writing.begin() as connection:
        # The leases of the processes that died come to their end.
        if not database.is_sqlite:
            connection.execute(update(arrivals).values(claimed_until=None))
        connection.execute(
            update(outbox).where(outbox.c.state == "queued").values(due_at=outbox.c.created_at)
        )
    early = {message_id: list(copies) for message_id, copies in sink.taken.items()}
    process = Process(tmp_path, database.url, **settings)
    # What had its 250 is carried out without anybody sending it again.
    promised = {board_and_seat(message_id) for message_id in before}
    wait_until(lambda: promised <= set(played(database)), "what was promised is carried out")
    burst.send(process.port)
    assert burst.taken == set(burst.mails)

    def all_sent() -> bool:
        with database.reading.connect() as connection:
            mails = connection.execute(select(inbox.c.state)).scalars().all()
            states = set(connection.execute(select(outbox.c.state)).scalars())
        return len(mails) == len(burst.mails) and states == {"sent"}

    wait_until(all_sent, "every letter has been sent")
    assert process.stop() == 0

    with database.reading.connect() as connection:
        mails = connection.execute(select(inbox.c.state)).scalars().all()
        letters = connection.execute(select(outbox.c.message_id, outbox.c.in_reply_to)).all()
    # Every move is there, once; every mail was taken once; each has one answer.
    assert Counter(played(database)) == {
        (table.board, seat): 1 for table in tables for seat in (0, 1)
    }
    assert mails == ["done"] * len(burst.mails)
    answers = Counter(in_reply_to for _, in_reply_to in letters if in_reply_to in burst.mails)
    assert answers == dict.fromkeys(burst.mails, 1)
    # Everything that was queued has arrived, and nothing else. A letter that was under way
    # when the plug was pulled may have come twice, but then as the same mail.
    assert set(sink.taken) == {message_id for message_id, _ in letters}
    assert len(letters) == len({message_id for message_id, _ in letters})
    twice = {message_id: copies for message_id, copies in sink.taken.items() if len(copies) > 1}
    assert set(twice) <= set(early)
    for copies in twice.values():
        assert len(set(copies)) == 1
        assert len(copies) == 2
