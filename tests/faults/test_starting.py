"""A start that cannot work ends with one sentence on standard error, and exit code 2."""

from __future__ import annotations

import errno
import os
import re
import socket
import sqlite3
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fork_server import run
from processes import Process, refused_to_start, wait_until
from programs import free_port
from running import MovableClock
from smtp_client import Wire, mail

from pbmserv import log
from pbmserv.config.listen import Listen
from pbmserv.config.settings import load
from pbmserv.errors import ConfigError, ServerFault
from pbmserv.files import make_private
from pbmserv.net.listening import bind
from pbmserv.serve import serve
from pbmserv.stages.preflight import held_folders, refuse_wrong_clock
from pbmserv.stages.run_folders import first_run_folder, held_run_folder

pytestmark = pytest.mark.slow

OURS = "pbmserv@games.example"
ALICE = "alice@players.example"


def refusal(folder: Path, **settings: str) -> str:
    """Return why a server with its files in *folder* refuses to start, in this process."""
    values = {"data_dir": str(folder), "smtp": "127.0.0.1:0", "web": "", "mailbox": "", **settings}
    environment = {f"PBMSERV_{name.upper()}": value for name, value in values.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "configure", lambda *_, **__: None)
        with pytest.raises(ConfigError) as refused:
            serve(load(environment, None))
    return str(refused.value)


def sentence_of(served: subprocess.CompletedProcess[str]) -> str:
    """The one sentence."""
    assert served.returncode == 2, served
    assert served.stderr.count("\n") == 1, served.stderr
    assert served.stderr.startswith("pbmserv: a setting is wrong: PBMSERV_")
    return served.stderr


def test_no_way_in_for_mail(tmp_path: Path) -> None:
    for web in ("", "127.0.0.1:0"):
        sentence = sentence_of(refused_to_start(data_dir=str(tmp_path), smtp="", web=web))
        assert "PBMSERV_SMTP, PBMSERV_SMTPS and PBMSERV_LMTP are all empty" in sentence
        assert "--without-mail" in sentence
    assert list(tmp_path.iterdir()) == []


def test_pages_alone_where_that_is_asked_for(tmp_path: Path) -> None:
    port = free_port()
    pages = Process(tmp_path, arguments=["--without-mail"], smtp="", web=f"127.0.0.1:{port}")
    with socket.create_connection(("127.0.0.1", port), 20) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1")
    assert pages.stop() == 0


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "not-mounted" / "data"
    sentence = sentence_of(refused_to_start(data_dir=str(missing), smtp="127.0.0.1:0"))
    assert f'PBMSERV_DATA_DIR = "{missing}" (environment PBMSERV_DATA_DIR)' in sentence
    assert f"there is no folder {missing}" in sentence
    assert f"install -d -m 700 {missing}" in sentence
    folder = tmp_path / "there"
    folder.mkdir()
    url = f"sqlite:///{missing}/pbmserv.sqlite3"
    sentence = refusal(folder, database=url)
    assert f'PBMSERV_DATABASE = "{url}"' in sentence
    assert f"there is no folder {missing}" in sentence
    relay = f"maildir:{missing}"
    assert f'PBMSERV_RELAY = "{relay}"' in refusal(folder, relay=relay)
    assert list(tmp_path.iterdir()) == [folder]


def test_only_the_default_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    process = Process(tmp_path, data_dir=None, database=None)
    assert (tmp_path / "var").stat().st_mode & 0o777 == 0o700
    assert process.stop() == 0


# Nobody can write below /proc, not even root, for whom permissions mean nothing.
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data_dir", "/proc/self"),
        ("relay", "maildir:/proc/self"),
        ("database", "sqlite:////proc/self/pbmserv.sqlite3"),
    ],
)
def test_files_that_cannot_be_written_are_named(tmp_path: Path, key: str, value: str) -> None:
    sentence = refusal(tmp_path, **{key: value})
    assert f'PBMSERV_{key.upper()} = "{value}"' in sentence
    assert "the server cannot write to /proc/self: " in sentence
    assert "name another place" in sentence


@pytest.mark.parametrize("number", [errno.EROFS, errno.EPERM, errno.ENOSPC])
@pytest.mark.parametrize("at", ["data", "data/pbmserv.sqlite3", "data/pbmserv-mail.sqlite3"])
def test_the_advice_is_for_what_keeps_us_from_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, number: int
) -> None:
    (tmp_path / "data").mkdir()
    environment = {"PBMSERV_DATA_DIR": f"{tmp_path}/data", "PBMSERV_RELAY": f"maildir:{tmp_path}"}
    really = os.open

    def refuse(path: str | Path, flags: int, *mode: int, **besides: int) -> int:
        wanted = str(path) == str(tmp_path / at) or Path(path).parent == tmp_path / at
        if wanted and flags & (os.O_RDWR | os.O_WRONLY):
            raise OSError(number, os.strerror(number), str(path))
        return really(path, flags, *mode, **besides)

    monkeypatch.setattr(os, "open", refuse)
    advice = {
        errno.EROFS: "mount its disk for writing; under systemd name it in ReadWritePaths=",
        errno.EPERM: "run this as the server's user, who has to own it (chown)",
        errno.ENOSPC: "make room on its disk",
    }[number]
    sentence = f"the server cannot write to {tmp_path / at}: {os.strerror(number)}; {advice}"
    with (
        pytest.raises(ConfigError, match=re.escape(sentence)),
        held_folders(load(environment, None), ["door"]),
    ):
        pass


def test_a_file_where_a_folder_should_be_and_the_other_way_round(tmp_path: Path) -> None:
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.touch()
    folder.mkdir()
    for key, value, wrong in (
        ("data_dir", str(file), "there is a file of that name; name a directory"),
        ("relay", f"maildir:{file}", "is a file; name a folder"),
        ("database", f"sqlite:///{file}/x.sqlite3", "is a file; name a folder"),
        ("database", f"sqlite:///{folder}", "this is a folder; name the file in it"),
        ("lmtp", f"{folder}", f'"{folder}": this is a folder; name the socket in it, such as'),
        ("lmtp", f"{tmp_path}/missing/lmtp.sock", "name a path in a folder that this user"),
    ):
        assert wrong in refusal(tmp_path, **{key: value})


def test_a_file_where_the_socket_should_be_is_not_removed(tmp_path: Path) -> None:
    file = tmp_path / "pbmserv.sqlite3"
    file.write_text("all that there is")
    wrong = f'PBMSERV_LMTP = "{file}": there is a file that is no socket; name another path'
    assert wrong in refusal(tmp_path, smtp="", lmtp=str(file))
    assert file.read_text() == "all that there is"


def test_a_port_that_only_root_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(ConfigError, match=r"Permission denied; ports below 1024 .*CAP_NET_BIND"):
        bind(Listen("127.0.0.1", 25), "PBMSERV_SMTP")


def test_a_clock_that_nobody_has_set() -> None:
    clock = MovableClock()
    refuse_wrong_clock(clock)
    clock.moment = datetime(1970, 1, 1, 0, 10, tzinfo=UTC)
    with pytest.raises(ServerFault, match="this machine says 1970-01-01 00:10 UTC, which cannot"):
        refuse_wrong_clock(clock)


def test_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(tmp_path / "one" / "two")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")] == [0o700, 0o700]


def test_a_folder_of_sockets_in_which_others_may_put_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, far = tmp_path / "tmp", tmp_path / ("far" * 40)
    shared.mkdir()
    far.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    with held_run_folder(far, ["door"]) as folder:
        assert folder.parent.parent == shared
        assert folder.parent.stat().st_mode & 0o777 == 0o700
    for spoil in (
        lambda: folder.parent.chmod(0o777),
        lambda: folder.parent.rename(shared / "theirs"),
    ):
        spoil()
        if not folder.parent.exists():
            folder.parent.symlink_to(shared / "theirs")
        with pytest.raises(ServerFault, match=f"others may write to {folder.parent}; remove it"):
            first_run_folder(far)
        with (
            pytest.raises(ServerFault, match="others may write to"),
            held_run_folder(far, ["door"]),
        ):
            pass


def test_too_few_files_may_be_open(tmp_path: Path) -> None:
    limited = """
import resource
from pbmserv.__main__ import main
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
main()
"""
    settings = {"DATA_DIR": str(tmp_path), "SMTP": "127.0.0.1:0", "WEB": "", "MAILBOX": ""}
    environment = {**os.environ, **{f"PBMSERV_{name}": value for name, value in settings.items()}}
    served = run(["-c", limited, "serve"], environment)
    assert 'PBMSERV_SESSIONS = "100": this process may open 64 files' in sentence_of(served)
    assert list(tmp_path.iterdir()) == []


def test_two_servers_on_one_sqlite_and_commands_beside_one(tmp_path: Path) -> None:
    first = Process(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for path in (tmp_path, link):
        sentence = refusal(tmp_path, database=f"sqlite:///{path}/pbmserv.sqlite3")
        assert f"the server with process number {first.process.pid} works on it already" in sentence
    with Wire(first.port) as wire:
        raw = mail(ALICE, "signup alice wonder-land")
        assert wire.mail(ALICE, OURS, raw).startswith("250")
    box = tmp_path / "mail" / ALICE / "new"
    wait_until(lambda: box.is_dir() and any(box.iterdir()), "her mail is carried out")
    assert "alice" in first.command("user", "list")
    assert "pbmserv.sqlite3 has the right schema" in first.command("db", "check")
    first.kill()  # the mark dies with its process
    second = Process(tmp_path)
    assert second.stop() == 0
    with sqlite3.connect(tmp_path / "pbmserv.sqlite3") as connection:
        assert connection.execute("SELECT count(*) FROM players").fetchone() == (1,)
    connection.close()


def test_two_servers_on_one_postgresql_are_welcome(postgres_url: str, tmp_path: Path) -> None:
    both = [Process(tmp_path, postgres_url) for _ in range(2)]
    assert [process.stop() for process in both] == [0, 0]
