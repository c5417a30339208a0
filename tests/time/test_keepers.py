"""Keepers at their work: several at once, failures, and what they find in the database."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from one_process import Server
from running import Running, start
from seating import seat_pairs
from sqlalchemy import select, update

from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.schedule import deadlines, scheduler
from pbmserv.store import clocks, heartbeats
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.delivery import digests
from pbmserv.store.tables.boards import boards as boards_table
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.downtime import heartbeats as heartbeat_rows
from pbmserv.store.tables.downtime import outages
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

MANY = 6


def letters(server: Server, kind: str) -> Counter[tuple[int, int]]:
    with server.database.reading.connect() as connection:
        rows = connection.execute(
            select(outbox.c.board_id, outbox.c.player_id).where(outbox.c.letter == kind)
        )
        return Counter((row.board_id, row.player_id) for row in rows)


def reminded_in_digests(server: Server) -> Counter[tuple[int, int]]:
    """Return how often digests have reminded of a board, by board and player."""
    with server.database.reading.connect() as connection:
        rows = connection.execute(
            select(outbox.c.player_id, outbox.c.words).where(outbox.c.letter == "tray")
        )
        return Counter(
            (item["board"], row.player_id)
            for row in rows
            for item in row.words["waiting"]
            if item["words"]["due"]
        )


def all_at_once(servers: list[Server]) -> None:
    """Let the keepers of all servers look at nearly the same moment."""
    ready = threading.Barrier(len(servers))

    def look(server: Server) -> None:
        ready.wait()
        server.scheduler.run_once()

    threads = [threading.Thread(target=look, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A server that is started looks by itself, too, and may be at the last of them.
    while _is_due(servers[0]):
        servers[0].scheduler.run_once()


def _is_due(server: Server) -> bool:
    now = server.clock.now()
    with server.database.reading.connect() as connection:
        return bool(clocks.due(connection, now, 1) or digests.due(connection, now, 1))


def test_two_keepers_over_one_postgresql_double_nothing(postgres_url: str, tmp_path: Path) -> None:
    with start(tmp_path, postgres_url) as running:
        other = Server(running.server.settings, running.server.clock, running.relay, host="two")
        try:
            both = [running.server, other]
            tables = seat_pairs(running.server, MANY)
            running.server.scheduler.run_once()  # starts the clocks: a digest has no other boards
            running.server.writer.submit(
                lambda c: [
                    players.change(
                        c,
                        table.players[0].id,
                        {"digest_minute": 450, "digest_due": running.server.clock.now()},
                    )
                    for table in tables
                ]
            ).result()
            all_at_once(both)
            assert set(letters(running.server, "tray").values()) == {1}
            seats = {(t.board, p.id) for t in tables for p in t.players}

            def later(days: float) -> None:
                moment = running.server.clock.now() + timedelta(days=days)
                running.server.writer.submit(
                    lambda c: c.execute(update(heartbeat_rows).values(beat_at=moment))
                ).result()
                running.server.clock.moment = moment
                all_at_once(both)

            later(7)
            reading = {(t.board, t.players[0].id) for t in tables}
            assert letters(running.server, "reminder") == Counter(seats - reading)
            assert max(reminded_in_digests(running.server).values()) == 1
            later(14)
            assert letters(running.server, "unanswered") == Counter(seats)
            trays = letters(running.server, "tray")
            assert Counter(trays.values()) == {3: MANY}
        finally:
            other.close()


def test_a_board_whose_clocks_nobody_has_started_gets_them(server: Running) -> None:
    (table,) = seat_pairs(server.server, 1)
    with server.server.database.reading.connect() as connection:
        assert boards.load(connection, table.board).clocks == ()
    server.server.scheduler.run_once()
    with server.server.database.reading.connect() as connection:
        board = boards.load(connection, table.board)
    assert [clock.since for clock in board.clocks] == [server.server.clock.now()] * 2
    assert board.due_at == server.server.clock.now() + timedelta(days=7)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_board_that_cannot_be_looked_at_does_not_stop_the_others(
    server: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = seat_pairs(server.server, 2)
    server.server.scheduler.run_once()
    handle_due_board = deadlines.handle_due_board

    def breaks(context, number):
        if number == bad.board:
            raise RuntimeError("this board is cursed")
        return handle_due_board(context, number)

    monkeypatch.setattr(deadlines, "handle_due_board", breaks)
    with caplog.at_level(logging.CRITICAL, "pbmserv.service"):
        server.live(days=7)
    reminded = {board for board, _ in letters(server.server, "reminder")}
    assert reminded == {good.board}
    with server.server.database.reading.connect() as connection:
        assert (
            boards.load(connection, bad.board).due_at
            == server.server.clock.now() + scheduler.PUT_OFF
        )
    monkeypatch.undo()
    server.live(hours=1)
    assert {board for board, _ in letters(server.server, "reminder")} == {good.board, bad.board}


def test_a_keeper_that_was_held_up_writes_the_outage_before_it_decides(server: Running) -> None:
    (table,) = seat_pairs(server.server, 1)
    server.server.scheduler.run_once()
    server.server.clock.move(days=40)  # no heartbeat, and somebody looks without one

    def look(connection):
        now = server.server.clock.now()
        context = CommandContext(server.server.services, connection, NOBODY, now)
        return deadlines.handle_due_board(context, table.board)

    assert server.server.writer.submit(look).result() is None
    assert not letters(server.server, "reminder")
    server.server.scheduler.run_once()
    assert not letters(server.server, "reminder")


def test_clocks_that_differ_a_little_are_no_outage(server: Running) -> None:
    now = server.server.clock.now()
    beat = partial(heartbeats.beat, now=now - timedelta(seconds=20))
    assert server.server.writer.submit(beat).result() is None
    with server.server.database.reading.connect() as connection:
        assert heartbeats.heartbeat(connection).beat_at == now
        assert connection.execute(select(outages.c.id)).all() == []


def test_time_measured_by_a_slow_clock_counts_against_no_player(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """A machine's clock is put back by months, as by a dead battery, and later put right."""
    clock, is_sqlite = server.server.clock, server.server.database.is_sqlite
    right = clock.moment
    server.server.scheduler.run_once()
    clock.move(days=-300)
    server.server.scheduler.run_once()
    (table,) = seat_pairs(server.server, 1)
    server.live(minutes=1) if is_sqlite else None
    clock.moment = right + timedelta(hours=1)
    for _ in range(2):
        server.server.scheduler.run_once()
        server.live(hours=2)
    with server.server.database.reading.connect() as connection:
        assert boards.load(connection, table.board).status == "active"
        beat = heartbeats.heartbeat(connection)
        assert beat.beat_at == clock.now()
        gone = connection.execute(select(outages.c.begins, outages.c.ends)).all()
    assert ("the clock was put back" in caplog.text) is is_sqlite
    if is_sqlite:  # on PostgreSQL another host's clock may be the one that is wrong
        assert beat.up_since == right + timedelta(hours=1)
        assert gone == [(right - timedelta(days=300) + timedelta(minutes=1), beat.up_since)]
        assert not letters(server.server, "reminder")


def test_a_forfeit_is_a_ply_like_any_other(server: Running) -> None:
    (table,) = seat_pairs(server.server, 1)
    server.server.scheduler.run_once()
    for player, address in zip(table.players, table.addresses, strict=True):
        server.send(player.address, "Re: board", "a1,c4,e5,g2", to=address)
    server.live(days=7)
    server.live(days=14)
    with server.server.database.reading.connect() as connection:
        query = select(plies.c.seat, plies.c.text, plies.c.mail_id).order_by(plies.c.number)
        log = connection.execute(query).all()
        board = boards.load(connection, table.board)
        position = server.server.positions.newest(connection, board)
    assert log[-1] == (0, "forfeit", None)
    assert board.outcome["places"] == [2, 1]
    assert (board.outcome["reason"], board.outcome["seat"]) == ("forfeit", 0)
    assert position.outcome.reason == "forfeit"
    assert board.due_at is None
    server.letters()


def test_nothing_is_left_due_on_boards_that_are_over(server: Running) -> None:
    (table,) = seat_pairs(server.server, 1)
    now = server.server.clock.now()
    server.server.writer.submit(
        lambda c: c.execute(update(boards_table).values(status="finished", due_at=now))
    ).result()
    server.server.scheduler.run_once()
    with server.server.database.reading.connect() as connection:
        assert boards.load(connection, table.board).due_at is None
