"""The command line as a whole: settings, database, kept mail, and how it fails."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from pbmserv import __version__, file_locks
from pbmserv.cli import boards, inbox, outbox, users
from pbmserv.cli.exit_codes import exit_code_of
from pbmserv.cli.main import run
from pbmserv.cli.open_databases import failing_politely
from pbmserv.cli.output import complain, say, table
from pbmserv.service.operators.kept_mails import KeptMail
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.store.tables.mail import LetterState


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch, tmp_path):
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "76")


def test_the_version_is_told(capsys) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"pbmserv {__version__}\n"


def test_words_of_others_do_not_control_the_terminal(capsys) -> None:
    for tell in (say, complain):
        tell("red \x1b[31m\u202e\tline\r\nend")
    assert set(capsys.readouterr()) == {"red ?[31m?\tline\nend\n"}


def test_lists_can_be_limited_to_every_state() -> None:
    assert tuple(PlayerState) == get_args(users.State)
    assert tuple(BoardStatus) == get_args(boards.Status)
    assert (*LetterState, "all") == get_args(outbox.State)


@pytest.mark.parametrize("command", [["serve"], ["inbox", "list"]])
def test_wrong_settings_end_every_command_before_it_begins(monkeypatch, capsys, command) -> None:
    monkeypatch.setenv("PBMSERV_SIGNUP", "maybe")
    assert run(command) == 2
    assert capsys.readouterr().err == (
        'pbmserv: a setting is wrong: PBMSERV_SIGNUP = "maybe" (environment PBMSERV_SIGNUP): '
        "write confirm, open or closed, such as confirm\n"
    )
    monkeypatch.setenv("PBMSERV_SMTP", "x")
    assert run(command) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "pbmserv: 2 settings are wrong:"
    assert [line[:9] for line in lines[1:]] == ["  PBMSERV"] * 2


def test_config_shows_every_value_and_its_source(monkeypatch, capsys, tmp_path) -> None:
    file = tmp_path / "p.toml"
    file.write_text('relay = "smtps://games:hush@mx.example.org"\n')
    monkeypatch.setenv("PBMSERV_WEB", "")
    monkeypatch.setenv("PBMSERV_SMPT", "127.0.0.1:25")
    assert run(["config", "--config", str(file), "--json"]) == 0
    printed = capsys.readouterr()
    facts = json.loads(printed.out)
    assert facts["relay"]["value"] == "smtps://games:***@mx.example.org"
    assert facts["relay"]["source"] == f"file {file}"
    assert facts["web"] == {
        "env": "PBMSERV_WEB",
        "value": "",
        "source": "environment PBMSERV_WEB",
    }
    assert printed.err == "PBMSERV_SMPT is not a setting; did you mean PBMSERV_SMTP?\n"

    assert run(["config", "--config", str(file)]) == 0
    table = capsys.readouterr().out
    assert ["PBMSERV_SIGNUP", "confirm", "default"] in [line.split() for line in table.splitlines()]
    assert "(confirm, open or closed; default confirm)" in table
    assert "hush" not in table


def test_a_database_is_made_and_found_good(monkeypatch, capsys, tmp_path) -> None:
    """The settings file is named once for all commands."""
    (tmp_path / "p.toml").write_text(f'database = "sqlite:///{tmp_path}/players.sqlite3"\n')
    monkeypatch.setenv("PBMSERV_CONFIG", str(tmp_path / "p.toml"))
    (tmp_path / "players.sqlite3").touch()
    assert run(["db", "check"]) == 1
    assert "or: pbmserv db upgrade" in capsys.readouterr().err
    assert run(["db", "upgrade"]) == 0
    assert "players.sqlite3 is at revision" in capsys.readouterr().out
    assert run(["db", "check"]) == 0
    assert capsys.readouterr().out.endswith("has the right schema.\n")


@pytest.mark.parametrize("command", ["db check", "user list", "outbox retry 1 --why x"])
def test_a_check_makes_no_database_and_reports_that_there_is_none(
    capsys, tmp_path, command
) -> None:
    """The server's settings are in a file that was not named: nothing is known of its database."""
    assert run(command.split()) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f"pbmserv: there is no database at {tmp_path}/pbmserv.sqlite3 (settings: database: "
        "default, data_dir: environment PBMSERV_DATA_DIR); name the server's settings with "
        "--config FILE or PBMSERV_CONFIG\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_none_is_told_in_one_line(capsys, tmp_path) -> None:
    (tmp_path / "pbmserv.sqlite3").write_bytes(b"this is no database, but a letter" * 50)
    assert run(["db", "upgrade"]) == 1
    assert capsys.readouterr().err == (
        f"sqlite:///{tmp_path}/pbmserv.sqlite3 cannot be used: file is not a database\n"
    )


class Mails:
    """An operator's view on two kept mails."""

    def list(self):
        moment = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
        return [
            KeptMail(3, moment, "bob@example.org", "[red]blackbox[/red] \x1b[2J", "KeyError"),
            KeptMail(4, moment, "", "move " * 30, "RecursionError"),
        ]

    def count(self):
        return len(self.list())


class NoMails(Mails):
    def list(self):
        return []


def test_kept_mails_are_listed_in_the_terminal_s_columns_and_nothing_in_them_is_obeyed(
    monkeypatch, capsys
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")  # 80 columns and no colours
    inbox.print_list(Mails())
    out = capsys.readouterr().out
    assert "2026-05-01 12:30" in out
    assert "[red]" in out
    assert "\x1b" not in out
    assert max(len(line) for line in out.splitlines()) <= 80

    inbox.print_list(NoMails())
    assert capsys.readouterr().out == "There are no kept mails: nothing has gone wrong.\n"


@pytest.mark.parametrize("seen", [False, True])
def test_a_table_in_a_pipe_has_a_line_for_each_row(monkeypatch, capsys, seen) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: seen, raising=False)
    monkeypatch.setenv("COLUMNS", "90")
    address = "a-long-address@players.example"
    words = "550 5.1.1 nobody of that name lives here, " * 9
    table(
        ("id", "to", "next (UTC)", "fault"), [("1", address, "2026-03-21 14:00", words)], 1, ("to",)
    )
    _heading, _line, *rows = capsys.readouterr().out.splitlines()
    assert address in rows[0]
    assert "2026-03-21 14:00" in rows[0]
    assert (len(rows) == 1) != seen
    assert not seen or max(map(len, rows)) <= 90


def test_files_of_another_user_and_full_disks_are_no_faults_of_ours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(number: int, name: str | None) -> Callable[[], int]:
        def work() -> int:
            raise OSError(number, os.strerror(number), name)

        return work

    assert exit_code_of(fails(errno.EACCES, "/var/lib/pbmserv/run/1")) == 1
    errors = capsys.readouterr().err
    assert errors.startswith("pbmserv: /var/lib/pbmserv/run/1: Permission denied; run this as the ")
    assert exit_code_of(fails(errno.ENOSPC, "/var/lib/copy")) == 1
    errors = capsys.readouterr().err
    assert errors == "pbmserv: /var/lib/copy: No space left on device; make room on its disk\n"
    assert exit_code_of(fails(errno.EROFS, "/var/lib/copy")) == 1
    assert "Read-only file system; mount its disk for writing" in capsys.readouterr().err
    for number, name in ((errno.EBADF, "/x"), (errno.EACCES, None)):
        with pytest.raises(OSError, match=r"Errno"):
            exit_code_of(fails(number, name))


def test_a_copy_that_cannot_be_made_is_not_blamed_on_the_database(capsys) -> None:
    assert run(["db", "upgrade"]) == 0
    capsys.readouterr()
    assert run(["db", "backup", "/proc/copy"]) == 1
    errors = capsys.readouterr().err
    assert errors.startswith(
        "pbmserv: no file can be made in /proc: No such file or directory; name"
    )
    assert "sqlite" not in errors
    with pytest.raises(PermissionError), failing_politely("sqlite:///pbmserv.sqlite3"):
        raise PermissionError(errno.EACCES, "Permission denied", "/copies/today")


class _OnAFullDisk(io.StringIO):
    """A file of locks on a disk without room."""

    name = "pbmserv.sqlite3.play.lock"

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_start_on_a_full_disk_is_refused_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(file_locks, "_lock_file", lambda *_: _OnAFullDisk())
    monkeypatch.setattr(file_locks, "_try_lock", lambda _: True)

    def start() -> int:
        file_locks.claim_stage(Path("pbmserv.sqlite3"), "play")
        return 0

    assert exit_code_of(start) == 1, "a service manager tries again"
    complaint = capsys.readouterr().err
    assert complaint.startswith("pbmserv: pbmserv.sqlite3.play.lock: No space left on device; ")
    assert complaint.count("\n") == 1
