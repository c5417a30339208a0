"""Many mails at one moment: each has its effect once, and no move is lost or counted twice."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from running import MovableClock, Running, start
from seating import HIDINGS, Table, seat_pairs
from smtp_client import Wire, mail
from sqlalchemy import Connection, select, text

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.boards import boards
from pbmserv.store.boards.moves import record
from pbmserv.store.tables.boards import boards as boards_table
from pbmserv.store.tables.boards import seats
from pbmserv.store.tables.mail import inbox

OURS = "pbmserv@games.example"


def moves(server: Running, board: int) -> list[tuple[int, str]]:
    return [(ply.seat, ply.text) for ply in server.server.read(record, board)]


def rows(server: Running) -> int:
    return server.server.count(inbox)


def hide(server: Running, table: Table) -> None:
    for seat in (0, 1):
        sender, to = table.players[seat].address, table.addresses[seat]
        assert server.send(sender, "Re: board", HIDINGS[seat], to=to).startswith("250")
    server.letters()


def at_once(server: Running, mails: list[tuple[str, str, bytes]]) -> list[str]:
    """Send all of them in the same moment, each over a connection of its own."""
    begin = threading.Barrier(len(mails))

    def send(sent: tuple[str, str, bytes]) -> str:
        sender, recipient, raw = sent
        with Wire(server.port) as wire:
            wire.begin(sender, recipient)
            begin.wait(60)
            return wire.ask(raw + b"\r\n.\r\n")

    with ThreadPoolExecutor(len(mails)) as pool:
        return list(pool.map(send, mails))


def test_ten_moves_for_one_turn(server: Running) -> None:
    table = seat_pairs(server.server, 1)[0]
    hide(server, table)
    player, house = table.players[0], server.server.mail_domain
    reply_to = house.address_of(ReplyAddress(Purpose.BOARD, player.id, table.board, 3, 0))
    ports = [*"aceg", *"123", "9", "10", "11"]
    replies = at_once(
        server,
        [
            (
                player.address,
                reply_to,
                mail(player.address, "Re: board", port, Message_ID=f"<{port}@p>"),
            )
            for port in ports
        ],
    )
    assert [reply[:3] for reply in replies] == ["250"] * 10
    recorded = moves(server, table.board)
    assert len(recorded) == 3
    assert recorded[2][0] == 0
    # One answer tells of the move; nine say kindly that it came too late.
    assert len(server.letters(player.address)) == 10
    assert len(server.letters(table.players[1].address)) == 1
    # Nothing is in custody: none of this was a fault.
    with server.server.database.reading.connect() as connection:
        states = Counter(connection.execute(select(inbox.c.state)).scalars())
    assert states["done"] > 0
    assert states["answered"] == 9
    assert set(states) == {"done", "answered"}


@pytest.mark.parametrize(
    ("database_url", "message_id"),
    [("sqlite", ""), ("postgresql", "<once@players.example>")],
    indirect=["database_url"],
)
def test_one_mail_over_ten_connections_has_one_effect(server: Running, message_id: str) -> None:
    table = seat_pairs(server.server, 1)[0]
    hide(server, table)
    player, before = table.players[0], rows(server)
    headers = (
        {"Message_ID": message_id} if message_id else {"Date": "Sun, 1 Mar 2026 12:00:00 +0000"}
    )
    raw = mail(player.address, f"blackbox move {table.board} {player.userid} secret c", **headers)
    recipients = [OURS, OURS.upper(), "PbmServ@Games.Example"]
    replies = at_once(server, [(player.address, recipients[n % 3], raw) for n in range(10)])
    assert [reply[:3] for reply in replies] == ["250"] * 10
    assert rows(server) == before + 1
    assert moves(server, table.board)[2:] == [(0, "C")]
    assert len(server.letters(player.address)) == 1
    assert len(server.letters(table.players[1].address)) == 1

    # Much later, over yet another road, it still is the same mail.
    assert isinstance(server.server.clock, MovableClock)
    server.server.clock.move(days=30)
    received = b"Received: from elsewhere\r\n" + raw
    assert server.send_raw(player.address, OURS, received).startswith("250")
    assert rows(server) == before + 1
    assert not server.letters()


@pytest.mark.sqlite_alone
def test_a_client_that_hangs_up_before_the_answer_may_send_it_again(server: Running) -> None:
    """The connection breaks between the dot and the 250; in the end the move is made once."""
    tables = seat_pairs(server.server, 4)
    for n, table in enumerate(tables):
        player, to = table.players[0], table.addresses[0]
        raw = mail(player.address, "Re: board", HIDINGS[0], Message_ID=f"<{n}@players.example>")
        wire = Wire(server.port)
        wire.begin(player.address, to)
        wire.say(raw + b"\r\n.\r\n")
        if n % 2:
            wire.half_close()
            wire.answer()
        wire.close()
        with Wire(server.port) as again:
            assert again.mail(player.address, to, raw).startswith("250")
    assert [len(moves(server, table.board)) for table in tables] == [1] * 4
    assert rows(server) == 4
    assert len(server.letters()) == 8  # to the player and to the other one, each once


@pytest.mark.sqlite_alone
def test_another_sender_text_or_date_makes_another_mail(server: Running) -> None:
    alice, bob = "alice@players.example", "bob@players.example"
    original = mail(alice, "help", Message_ID="<1@players.example>")
    others = [
        mail(alice, "help", Message_ID="<2@players.example>"),
        mail(bob, "help", Message_ID="<1@players.example>"),  # nobody can block another's mail
        mail(alice, "help"),
        mail(alice, "help me"),
        mail(alice, "help", "more words"),
        mail(alice, "help", Date="Sun, 1 Mar 2026 12:00:00 +0000"),
    ]
    for count, raw in enumerate([original, *others], 1):
        for _ in range(2):
            assert server.send_raw(alice, OURS, raw).startswith("250")
        assert rows(server) == count


def test_a_job_that_waits_for_a_board_sees_the_other_jobs_move(
    postgres_url: str, tmp_path: Path
) -> None:
    """PostgreSQL reads the board anew once the lock is free; SQLite has one writer."""
    with start(tmp_path, postgres_url) as server:
        table = seat_pairs(server.server, 1)[0]
        first, second = table.players
        database, now = server.server.database, server.server.clock.now()

        def reopen(connection: Connection) -> None:
            connection.execute(boards_table.update().values(status="proposed"))
            connection.execute(seats.update().values(accepted_at=None))

        server.server.writer.submit(reopen).result()

        def wait_for_it(connection: Connection) -> tuple[str, ...]:
            row = boards.lock(connection, table.board)
            assert row is not None
            return row.undecided

        with database.writing.begin() as connection:
            assert boards.lock(connection, table.board) is not None
            waiting = server.server.writer.submit(wait_for_it)
            look = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            with database.reading.connect() as watcher:
                while watcher.execute(look).scalar() == 0:
                    watcher.rollback()
            boards.accept(connection, table.board, first.id, now)
        assert waiting.result(60) == (second.userid,)
