"""Stopping and starting: mails under way are finished, and what was queued goes out later."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from bad_plugin import announce
from processes import Process, Sink, refused_to_start, wait_until
from programs import free_port
from smtp_client import Wire, mail
from sqlalchemy import select, update

from pbmserv import serve
from pbmserv.config.settings import load
from pbmserv.errors import ConfigError
from pbmserv.store.core.database import Database
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

OURS = "pbmserv@games.example"
ALICE = "alice@players.example"


def test_a_clean_stop_finishes_what_is_under_way(tmp_path: Path) -> None:
    lmtp, web = tmp_path / "lmtp.sock", free_port()
    process = Process(tmp_path, lmtp=str(lmtp), web=f"127.0.0.1:{web}")
    # "ready" means that every door is open: nothing has to be tried twice.
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(str(lmtp))
        assert client.recv(100).startswith(b"220")
    with socket.create_connection(("127.0.0.1", web), 20) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1")

    idle, fresh, busy = Wire(process.port), Wire(process.port, hello=""), Wire(process.port)
    late = Wire(process.port)
    assert late.mail(ALICE, OURS, mail(ALICE, "signup alice wonder-land")).startswith("250")
    busy.begin(ALICE, OURS)
    busy.say(mail(ALICE, "help", "half of it is said") + b"\r\n")
    process.ask_to_stop(signal.SIGTERM)
    for wire in (idle, fresh, late):
        assert wire.answer().startswith("421 4.3.2")
        assert wire.answer() == ""
    with pytest.raises(OSError):
        Wire(process.port)  # nobody new is let in
    assert busy.ask(b"and now all of it.\r\n.\r\n").startswith("250")
    assert busy.answer().startswith("421 4.3.2")
    assert process.stopped() == 0
    for wire in (idle, fresh, late, busy):
        wire.close()
    assert "Traceback" not in process.errors
    assert "fault=" not in process.errors

    # The next start finds all of it: the player, the mails, the letters.
    process = Process(tmp_path)
    with Wire(process.port) as wire:
        shown = mail(ALICE, "blackbox games alice")
        assert wire.mail(ALICE, OURS, shown).startswith("250")
    box = tmp_path / "mail" / ALICE / "new"
    wait_until(lambda: box.is_dir() and len(list(box.iterdir())) == 3, "three letters to alice")
    assert process.stop(signal.SIGINT) == 0


@pytest.mark.sqlite_alone  # on PostgreSQL those of `test_kills` wait over many restarts
def test_letters_wait_for_a_relay_that_is_down(database: Database, tmp_path: Path) -> None:
    """Queued while nobody took them, kept over a restart, and then sent once."""
    port = free_port()
    settings = {"relay": f"smtp://127.0.0.1:{port}"}
    process = Process(tmp_path, database.url, **settings)
    with Wire(process.port) as wire:
        for n in range(7):  # enough to make the breaker stop knocking
            raw = mail(ALICE, "help", Message_ID=f"<{n}@players.example>")
            assert wire.mail(ALICE, OURS, raw).startswith("250")

    def errors() -> list[str]:
        with database.reading.connect() as connection:
            query = select(outbox.c.error).where(outbox.c.attempts > 0)
            return list(connection.execute(query).scalars())

    wait_until(lambda: len(errors()) >= 5, "five attempts")
    assert all(errors())
    assert process.stop() == 0
    with database.writing.begin() as connection:
        rows = connection.execute(select(outbox.c.message_id, outbox.c.state)).all()
        assert [row.state for row in rows] == ["queued"] * 7
        # A minute passes.
        connection.execute(update(outbox).values(due_at=outbox.c.created_at))

    sink = Sink(port)
    process = Process(tmp_path, database.url, **settings)
    wait_until(lambda: len(sink.taken) == 7, "seven letters at the relay")
    assert process.stop() == 0
    sink.close()
    assert {row.message_id: 1 for row in rows} == {
        message_id: len(copies) for message_id, copies in sink.taken.items()
    }
    with database.reading.connect() as connection:
        assert set(connection.execute(select(outbox.c.state)).scalars()) == {"sent"}


class _SlowSink(Sink):
    """A relay that answers for a letter when the test lets it."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        super().__init__()

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        answer = await super().handle_DATA(server, session, envelope)
        await asyncio.to_thread(self.may_answer.wait, 60)
        return answer


def test_a_letter_that_a_relay_takes_during_a_stop_is_not_sent_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/pbmserv.sqlite3"
    sink = _SlowSink()
    process = Process(tmp_path, url, relay=f"smtp://127.0.0.1:{sink.port}")
    with Wire(process.port) as wire:
        assert wire.mail(ALICE, OURS, mail(ALICE, "help")).startswith("250")
    wait_until(lambda: len(sink.taken) == 1, "a letter at the relay")
    process.ask_to_stop(signal.SIGTERM)
    wait_until(lambda: "door" not in process.stages(), "the end of the door")
    sink.may_answer.set()
    assert process.stopped() == 0
    sink.close()
    database = Database(url)
    with database.reading.connect() as connection:
        assert connection.execute(select(outbox.c.state)).scalars().all() == ["sent"]
    database.close()


def test_a_port_that_is_taken_is_told_before_anything_else(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        served = refused_to_start(data_dir=str(tmp_path), smtp=f"127.0.0.1:{port}")
    assert served.returncode == 2
    assert re.search(rf'PBMSERV_SMTP = "127\.0\.0\.1:{port}".*in use', served.stderr)
    assert not (tmp_path / "data").exists()


def test_a_database_that_is_not_there_is_told_in_one_sentence(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://pbmserv:hunter2@127.0.0.1:{free_port()}/games"
    served = refused_to_start(data_dir=str(tmp_path), smtp="127.0.0.1:0", database=url)
    assert served.returncode == 1
    assert "cannot be used: connection failed" in served.stderr
    assert "hunter2" not in served.stderr
    (tmp_path / "junk.sqlite3").write_bytes(b"no database at all " * 100)
    url = f"sqlite:///{tmp_path}/junk.sqlite3"
    served = refused_to_start(data_dir=str(tmp_path), smtp="127.0.0.1:0", database=url)
    assert served.returncode == 1
    assert "junk.sqlite3 cannot be used: file is not a database" in served.stderr


def test_a_server_that_cannot_be_built_gives_its_addresses_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pbmserv.serve.log.configure", lambda *_, **__: None)
    (tmp_path / "s1.pem").write_text("no key")
    address = f"127.0.0.1:{free_port()}"
    settings = {
        "DATA_DIR": tmp_path,
        "SMTP": address,
        "WEB": "",
        "DKIM_KEYS": f"s1={tmp_path}/s1.pem",
    }
    loaded = load({f"PBMSERV_{name}": str(value) for name, value in settings.items()}, None)
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"s1\.pem"):
            serve.serve(loaded)


def refused_with(
    folder: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> subprocess.CompletedProcess[str]:
    """A start that must fail by a game's module, which does what *source* says."""
    path = announce(folder / "plug-in", "spoilt:HEAPS")
    (folder / "plug-in" / "spoilt.py").write_text(f"from heaps import HEAPS\n{source}")
    monkeypatch.setenv("PYTHONPATH", path)
    return refused_to_start(data_dir=str(folder), smtp="127.0.0.1:0")


def test_a_stop_reaches_processes_that_have_only_just_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = refused_with(
        tmp_path,
        monkeypatch,
        "import os, signal\n"
        "os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))\n",
    )
    # It waits for all of them before it is ready, so it says which has gone, and how.
    assert "a process has died before all were ready" in served.stderr
    assert f"code={-signal.SIGTERM}" in served.stderr
    assert served.returncode == 1
