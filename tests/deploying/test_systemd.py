"""The units of deploy/systemd: what systemd says of them, and what the server says to systemd."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from migrated import migrated
from processes import Process

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
MOST_EXPOSED = 2.0
"""Most points of a unit at `systemd-analyze security`, of 10; below 2 it says OK."""


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("NOT RUN: systemd-analyze is not installed here (.ci/run installs it)")
    command = ["systemd-analyze", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units as they are installed, but with programs that are there."""
    for unit in UNITS.iterdir():
        text = re.sub(r"/\S+/s?bin/pbmserv(-backup)?\b", "/bin/true", unit.read_text())
        (tmp_path / unit.name).write_text(text)
    (tmp_path / "pbmserv.service.d").mkdir()
    return tmp_path


@pytest.mark.parametrize("port25", [False, True], ids=["behind a mail server", "port 25"])
def test_systemd_has_nothing_to_say_against_the_units(units: Path, *, port25: bool) -> None:
    if port25:
        shutil.copy(units / "port25.conf", units / "pbmserv.service.d")
    names = ("pbmserv.service", "pbmserv-backup.service", "pbmserv-backup.timer")
    result = analyze("verify", "--man=no", *(str(units / name) for name in names))
    ours = [line for line in result.stderr.splitlines() if "pbmserv" in line]
    assert (result.returncode, ours) == (0, [])


@pytest.mark.parametrize("name", ["pbmserv.service", "pbmserv-backup.service"])
def test_the_units_leave_little_to_attack(units: Path, name: str) -> None:
    result = analyze("security", "--offline=true", "--no-pager", str(units / name))
    match = re.search(r"exposure level for \S+: ([0-9.]+)", result.stdout)
    assert match is not None, result
    assert float(match[1]) < MOST_EXPOSED


def test_the_two_units_are_hardened_alike() -> None:
    """Settings that differ between the units are the purpose of each."""
    server, backup = (
        {
            line.partition("=")[0]
            for line in (UNITS / name).read_text().partition("[Service]")[2].splitlines()
            if re.match(r"[A-Z]\w+=", line)
        }
        for name in ("pbmserv.service", "pbmserv-backup.service")
    )
    hardening = {
        line for line in server | backup if line.startswith(("Private", "Protect", "Restrict"))
    }
    hardening |= {"NoNewPrivileges", "SystemCallFilter", "CapabilityBoundingSet", "UMask"}
    assert hardening - {"RestartPreventExitStatus"} <= server & backup


NEEDED = {"clone", "flock", "kill", "mmap", "prctl", "socket", "wait4"}
"""System calls of the parent of the stages."""
GIVING_WAY = {"nice", "setpriority"}
"""System calls of a stage that gives way to another."""


def expanded(names: str) -> set[str]:
    """The system calls of a value of SystemCallFilter, ``@sets`` resolved."""
    words = set()
    for name in names.split():
        if name.startswith("@"):
            lines = analyze("syscall-filter", name).stdout.splitlines()[1:]
            words |= expanded(" ".join(line.strip() for line in lines if "#" not in line))
        else:
            words.add(name)
    return words


def test_the_unit_lets_the_stages_be_started_and_give_way_to_each_other() -> None:
    allowed: set[str] = set()
    for line in (UNITS / "pbmserv.service").read_text().splitlines():
        name, _, value = line.partition("=")
        if name != "SystemCallFilter":
            continue
        allowed = allowed - expanded(value[1:]) if value[0] == "~" else allowed | expanded(value)
    assert allowed >= NEEDED | GIVING_WAY


def test_the_parent_of_the_stages_ends_them_in_order() -> None:
    """Else systemd tells all of them at once, and kills what the parent still waits for."""
    assert "\nKillMode=mixed\n" in (UNITS / "pbmserv.service").read_text()


def test_systemd_is_told_when_every_listener_is_bound_and_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(path))
        manager.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        with Process(tmp_path, migrated(tmp_path / "pbmserv.sqlite3")) as server:
            assert manager.recv(100) == b"READY=1"
            socket.create_connection(("127.0.0.1", server.port), 20).close()
        assert manager.recv(100) == b"STOPPING=1"


def test_a_service_manager_that_is_gone_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    server = Process(tmp_path, migrated(tmp_path / "pbmserv.sqlite3"))
    assert server.stop() == 0
    assert "the service manager cannot be told READY=1" in server.errors


PROGRAM = """#!/bin/sh
# Stands for pbmserv: it makes the copy that it is asked for, unless it is told to fail.
[ "$1 $2 $#" = "db backup 3" ] && [ ! -e "$3" ] || exit 9
echo "a database" > "$3"
[ ! -e "$(dirname "$0")/full-disk" ] || exit 1
"""


class Backups:
    """The script that keeps copies, a program to call, and the folder with the copies."""

    def __init__(self, folder: Path) -> None:
        self.program, self.copies = folder / "pbmserv", folder / "copies"
        self.disk_is_full = folder / "full-disk"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.copies.mkdir()

    def run(self, keep: str) -> int:
        script = [UNITS / "pbmserv-backup", self.program, self.copies]
        return subprocess.run(script, env={**os.environ, "KEEP": keep}, check=False).returncode

    def names(self) -> list[str]:
        return sorted(path.name for path in self.copies.iterdir())


@pytest.fixture
def backups(tmp_path: Path) -> Backups:
    return Backups(tmp_path)


OLD = [f"pbmserv-202603{day:02}T033000Z" for day in range(1, 6)]


def test_the_newest_copies_are_kept_and_nothing_of_others_is_touched(backups: Backups) -> None:
    for name in (*OLD, "pbmserv-notes.txt", "other"):
        (backups.copies / name).touch()
    assert backups.run("3") == 0
    kept = [name for name in backups.names() if name.endswith("Z")]
    assert kept[:2] == OLD[-2:]
    assert len(kept) == 3
    assert {"pbmserv-notes.txt", "other"} <= set(backups.names())
    assert (backups.copies / kept[2]).stat().st_mode & 0o777 == 0o600


def test_a_copy_that_fails_costs_no_older_one_and_is_not_taken_for_one(backups: Backups) -> None:
    for name in OLD:
        (backups.copies / name).touch()
    backups.disk_is_full.touch()
    assert backups.run("1") != 0
    assert [name for name in backups.names() if not name.endswith(".part")] == OLD
    backups.disk_is_full.unlink()
    assert backups.run("2") == 0
    assert [name for name in backups.names() if name.endswith(".part")] == []
    assert len(backups.names()) == 2


def test_a_number_that_is_none_loses_nothing(backups: Backups) -> None:
    for name in OLD:
        (backups.copies / name).touch()
    for keep in ("0", "-1", "many", "3 4"):
        assert backups.run(keep) == 2
        assert backups.names() == OLD
