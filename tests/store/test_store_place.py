"""Only the server's own user can read its files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, address_of, indoors
from sqlalchemy import select

from pbmserv.files import open_to_others, sqlite_file
from pbmserv.outbound.maildir import MaildirRelay
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.store.core.database import mail_url
from pbmserv.store.tables.mail import inbox

ENDS = "", "-shm", "-wal"


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("usual_umask")
def test_nobody_else_on_the_machine_reads_the_database(tmp_path: Path) -> None:
    folder = tmp_path / "var"
    url = f"sqlite:///{folder}/pbmserv.sqlite3"
    with indoors(folder, database=url) as server:
        server.send(address_of("alice"), f"signup alice {PASSWORD}")
        server.server.door_stage.run_once()
        assert mode(folder) == 0o700
        files = {path.name: mode(path) for path in folder.iterdir() if path.is_file()}
        names = [f"pbmserv{which}.sqlite3{end}" for which in ("", "-mail") for end in ENDS]
        lock = "pbmserv-mail.sqlite3.removal.lock"
        assert files == dict.fromkeys([*names, lock], 0o600)
        assert list(open_to_others(folder, url, mail_url(url))) == []
        folder.chmod(0o755)
        (folder / "pbmserv.sqlite3").chmod(0o644)
        (folder / "pbmserv-mail.sqlite3").chmod(0o644)
        warned = list(open_to_others(folder, url, mail_url(url)))
        assert [warning.rpartition("do ")[2] for warning in warned] == [
            f"`chmod 700 {folder}`",
            f"`chmod 600 {folder}/pbmserv.sqlite3`",
            f"`chmod 600 {folder}/pbmserv-mail.sqlite3`",
        ]


@pytest.mark.usefixtures("usual_umask")
def test_nobody_else_on_the_machine_reads_the_letters(tmp_path: Path) -> None:
    relay = MaildirRelay(tmp_path / "mail")
    relay.deliver(OutgoingLetter(1, "<1@x>", "b@x", "ada@x", b"Subject: x\r\n\r\n"))
    files = list(tmp_path.rglob("*"))
    assert {mode(path) for path in files if path.is_dir()} == {0o700}
    assert {mode(path) for path in files if path.is_file()} == {0o600}


@pytest.mark.parametrize(
    "url",
    ["postgresql+psycopg://p@db/p", "sqlite://", "sqlite:///:memory:", "sqlite:///file:x?uri=true"],
)
def test_a_database_in_memory_has_no_file(url: str, tmp_path: Path) -> None:
    assert sqlite_file(url) is None
    assert list(open_to_others(tmp_path / "missing", url)) == []


@pytest.mark.sqlite_alone
def test_the_text_of_a_mail_is_deleted_after_some_days(database_url: str, tmp_path: Path) -> None:
    """Passwords are stored as hashes, so they must not stay in mails."""
    with indoors(tmp_path, database=database_url, mail_days="3") as server:
        alice = address_of("alice")
        server.send(alice, f"signup alice {PASSWORD}")
        server.send(alice, f"prefs alice {PASSWORD}")

        def texts() -> list[bytes]:
            with server.server.database.reading.connect() as connection:
                return list(connection.scalars(select(inbox.c.raw).order_by(inbox.c.id)))

        signup, mail = texts()
        assert signup == b""  # that could be anybody's
        assert PASSWORD.encode() in mail
        server.live(days=2)
        assert texts()[-1] == mail
        server.send(alice, f"prefs alice {PASSWORD} tz=UTC")
        server.live(days=2)
        *old, new = texts()
        assert set(old) == {b""}
        assert PASSWORD.encode() in new
        assert server.send_raw(alice, mail) == []  # a copy of it is known all the same
        server.live(hours=1)  # too early to look again
        assert texts()[-1] == new
