"""250 means committed: when the database cannot write the answer is 451, and nothing happened."""

from __future__ import annotations

import gc
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from running import Running, start
from seating import HIDINGS, seat_pairs
from smtp_client import Wire, mail
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from pbmserv.log import TextFormatter
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.smtpd import dialog
from pbmserv.smtpd.replies import TRY_LATER
from pbmserv.stages.door import Door
from pbmserv.store.accounts import players
from pbmserv.store.boards import moves
from pbmserv.store.core import database as session
from pbmserv.store.tables.mail import inbox, outbox

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"
Trouble = Callable[[Running], AbstractContextManager[None]]


@contextmanager
def held_by_somebody(server: Running) -> Iterator[None]:
    """Another program is in the middle of a long write."""
    database = server.server.database
    if database.is_sqlite:
        store = server.server.base.mail.url.removeprefix("sqlite:///")
        other = sqlite3.connect(store, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
        other.close()
        return
    engine = create_engine(database.url)
    with engine.begin() as other_connection:
        other_connection.execute(text("LOCK TABLE arrivals IN EXCLUSIVE MODE"))
        yield
    engine.dispose()


@contextmanager
def read_only(server: Running) -> Iterator[None]:
    """The disk has become read-only, or a standby has not been promoted yet."""
    database = server.server.database
    if database.is_sqlite:
        # Asked for by a job: only so is it surely the connection that the writer uses.
        driver = server.server.door_stage.writer.submit(
            lambda connection: connection.connection.driver_connection
        ).result()
        assert isinstance(driver, sqlite3.Connection)
        driver.execute("PRAGMA query_only = ON")
        yield
        driver.execute("PRAGMA query_only = OFF")
        return
    able = {"options": "-c default_transaction_read_only=off"}
    engine = create_engine(database.url, isolation_level="AUTOCOMMIT", connect_args=able)
    with engine.connect() as connection:
        name = connection.exec_driver_sql("SELECT current_database()").scalar()
        alter = f"ALTER DATABASE {name}"
        connection.exec_driver_sql(f"{alter} SET default_transaction_read_only = on")
        database.writing.dispose()  # new connections cannot write
        yield
        connection.exec_driver_sql(f"{alter} RESET default_transaction_read_only")
        database.writing.dispose()
    engine.dispose()


def counts(server: Running, board: int) -> tuple[int, int, int]:
    server.carry_out()
    return (
        server.server.count(inbox),
        server.server.count(outbox),
        len(server.server.read(moves.record, board)),
    )


# A thread may have one of the connections that `read_only` takes out of the pool.
@pytest.mark.filterwarnings("ignore:.*deleted while still open:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("trouble", [held_by_somebody, read_only])
def test_a_mail_that_cannot_be_stored_is_put_off_and_counts_once_when_it_comes_again(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: Trouble
) -> None:
    monkeypatch.setattr(session, "BUSY_TIMEOUT_MS", 100)
    with start(tmp_path, database_url) as server:
        table = seat_pairs(server.server, 1)[0]
        player = table.players[0]
        move = mail(player.address, "Re: board", HIDINGS[0], Message_ID="<1@players.example>")
        words = f"blackbox show {table.board}"
        other = mail(player.address, words, Message_ID="<2@players.example>")
        robot = mail(player.address, "x", Message_ID="<3@players.example>", Precedence="bulk")
        mails = [(table.addresses[0], move), (OURS, other), (OURS, robot), ("postmaster", other)]
        with Wire(server.port) as wire:
            with trouble(server):
                for recipient, raw in mails:
                    assert wire.mail(player.address, recipient, raw) == TRY_LATER
                assert counts(server, table.board) == (0, 0, 0)
            for _ in range(2):
                for recipient, raw in mails:
                    assert wire.mail(player.address, recipient, raw).startswith("250")
        assert counts(server, table.board)[::2] == (4, 1)
        assert len(server.letters(player.address)) == 2
    gc.collect()  # now, and not in somebody else's test


@pytest.mark.sqlite_alone
def test_the_log_says_why_mails_are_put_off(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(session, "BUSY_TIMEOUT_MS", 100)
    with start(tmp_path, database_url) as server, Wire(server.port) as wire:
        with held_by_somebody(server):
            words = "blackbox show 1 alice wonderland"
            assert wire.mail(ALICE, OURS, mail(ALICE, words)) == TRY_LATER
        lines = [TextFormatter().format(record) for record in caplog.records]
    assert [line for line in lines if "database is locked" in line or "lock timeout" in line]
    assert not [line for line in lines if "wonderland" in line]


def test_recipients_do_not_wait_in_turn_for_a_database_that_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "BUSY_TIMEOUT_MS", 500)  # more than a slow disk takes
    monkeypatch.setattr(dialog, "PATIENCE_S", 0.0)
    recipients_asked = []
    take = Door.receive

    async def counted(door: Door, envelope: Envelope) -> str:
        recipients_asked.append(envelope.recipient)
        return await take(door, envelope)

    monkeypatch.setattr(Door, "receive", counted)
    with (
        start(tmp_path, lmtp="127.0.0.1:0") as server,
        Wire(server.lmtp_port, hello="LHLO mta.games.example") as wire,
    ):
        numbers = (1, 2, 3)
        replying = [
            server.server.mail_domain.address_of(ReplyAddress(Purpose.PLAYER, n)) for n in numbers
        ]
        recipients = [OURS, *replying]
        with held_by_somebody(server):
            wire.begin(ALICE, *recipients)
            replies = [wire.ask(mail(ALICE, "help") + b"\r\n.\r\n")]
            replies += [wire.answer() for _ in replying]
        assert replies == [TRY_LATER] * 4
        assert recipients_asked == recipients[:1]
        wire.begin(ALICE, *recipients)
        replies = [wire.ask(mail(ALICE, "help") + b"\r\n.\r\n")]
        replies += [wire.answer() for _ in replying]
        assert {reply[:3] for reply in replies} == {"250"}


# The driver complains of connections that were cut and so never closed; that is the story here.
@pytest.mark.filterwarnings("ignore:.*deleted while still open:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_when_every_connection_to_postgresql_is_cut_the_mails_go_on(
    postgres_url: str, tmp_path: Path
) -> None:
    """A restart of PostgreSQL between two mails costs nobody anything."""
    with start(tmp_path, postgres_url) as server:
        table = seat_pairs(server.server, 1)[0]
        cut = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
        for seat in (0, 1):
            with cut.connect() as connection:
                connection.exec_driver_sql(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            player = table.players[seat]
            reply = server.send(
                player.address, "Re: board", HIDINGS[seat], to=table.addresses[seat]
            )
            assert reply.startswith("250")
        cut.dispose()
        assert counts(server, table.board)[2] == 2
        assert server.letters(player.address)
    gc.collect()  # now, and not in somebody else's test


def test_a_password_that_cannot_be_looked_up_puts_the_mail_off(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no fault of ours to be kept for a person: it waits until it can be done."""
    table = seat_pairs(server.server, 1)[0]
    player = table.players[0]
    subject = f"blackbox move {table.board} {player.userid} secret {HIDINGS[0]}"
    raw = mail(player.address, subject, Message_ID="<1@players.example>")

    def gone(connection: object, userid: str) -> None:
        raise OperationalError("SELECT", None, ConnectionError("gone"))

    with monkeypatch.context() as broken:
        broken.setattr(players, "account_of", gone)
        monkeypatch.setattr(server, "carry_out", lambda: None)
        assert server.send_raw(player.address, OURS, raw).startswith("250")
        monkeypatch.undo()
    assert counts(server, table.board)[2] == 1  # tried again until it could be done, once


def test_the_answer_waits_for_the_commit(postgres_url: str, tmp_path: Path) -> None:
    """While the transaction is open there is no 250; somebody else's lock shows that."""
    with start(tmp_path, postgres_url) as server:
        player = seat_pairs(server.server, 1)[0].players[0]
        engine = create_engine(postgres_url)
        answers: list[str] = []
        with engine.begin() as holder:
            holder.execute(text("LOCK TABLE outbox"))  # the last thing that a mail writes to
            sending = threading.Thread(
                target=lambda: answers.append(server.send(player.address, "help"))
            )
            sending.start()
            look = text(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'outbox'::regclass"
            )
            with engine.connect() as watcher:
                while watcher.execute(look).scalar() == 0:
                    watcher.rollback()
            assert answers == []
        sending.join(60)
        engine.dispose()
        assert answers[0].startswith("250")
