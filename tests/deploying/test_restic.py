"""The recipe of docs/operating/backup.md for copies on another machine, with a folder as that
machine: a copy goes there and comes back."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from indoors import indoors
from migrated import migrated
from programs import program

from pbmserv.cli.main import run

RECIPE = Path(__file__).resolve().parents[2] / "docs" / "operating" / "backup.md"


def test_a_copy_comes_back_from_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    restic = program("restic")
    with indoors(tmp_path, migrated(tmp_path / "pbmserv.sqlite3")) as server:
        server.sign_up("alice")
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    copies = tmp_path / "pbmserv-backup"
    copies.mkdir()
    assert run(["db", "backup", str(copies / "copy")]) == 0

    (tmp_path / "password").write_text("word\n")
    (tmp_path / "settings").touch()
    monkeypatch.setenv("RESTIC_REPOSITORY", str(tmp_path / "repository"))
    monkeypatch.setenv("RESTIC_PASSWORD_FILE", str(tmp_path / "password"))
    monkeypatch.setenv("RESTIC_CACHE_DIR", str(tmp_path / "cache"))
    places = {
        "/var/lib/pbmserv-backup": str(copies),
        "/etc/pbmserv.toml": str(tmp_path / "settings"),
        "/tmp/restored": str(tmp_path / "restored"),
    }
    lines = re.findall(r"^restic (.*)$", RECIPE.read_text(), re.MULTILINE)
    steps = [shlex.split(line) for line in lines]
    assert [words[0] for words in steps] == ["init", "backup", "forget", "check", "restore"]
    for words in steps:
        command = [restic, *(places.get(word, word) for word in words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done

    (copy,) = (tmp_path / "restored").rglob("copy")
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path / "other"))
    for command in (["db", "restore", str(copy)], ["db", "check"], ["user", "list"]):
        assert run(command) == 0
    assert "\nalice " in capsys.readouterr().out
