"""Files that somebody names are read only if they are files; a pipe would be waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pbmserv.cli.blackbox import app
from pbmserv.cli.main import app as pbmserv
from pbmserv.cli.output import harmless
from pbmserv.config.settings import load
from pbmserv.errors import ConfigError
from pbmserv.files import read_octets
from pbmserv.outbound.dkim_keys import KeyFile, load_key
from pbmserv.smtpd.tls import Certificate

STEERING = "w7h7m4M4#\u202egreen\u2066\u200b\u00ad"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    path.chmod(0o600)
    return path


def test_a_file_is_read_and_all_else_is_refused(pipe: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_octets(file) == b"12345"
    assert read_octets(file, 3) == b"123"
    for other in (pipe, tmp_path, Path("/dev/zero"), tmp_path / "none"):
        with pytest.raises(OSError):
            read_octets(other)


@pytest.mark.parametrize("command", ["load", "play"])
def test_the_box_commands_wait_for_no_pipe(pipe: Path, command: str) -> None:
    result = CliRunner().invoke(app, [command, str(pipe)])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_replay_waits_for_no_pipe(pipe: Path) -> None:
    result = CliRunner().invoke(pbmserv, ["replay", str(pipe)])
    assert result.exit_code != 0
    assert "it is no regular file" in result.output + result.stderr


def test_settings_keys_and_certificates_wait_for_no_pipe(pipe: Path) -> None:
    with pytest.raises(ConfigError, match="it is no regular file"):
        load({}, pipe)
    with pytest.raises(ConfigError, match="it is no regular file"):
        Certificate(pipe, pipe)
    with pytest.raises(ConfigError, match="it is no regular file"):
        load_key(KeyFile("k", pipe))


def test_decode_prints_nothing_that_steers_a_terminal() -> None:
    shown = CliRunner().invoke(app, ["decode", STEERING])
    assert shown.stdout == harmless(shown.stdout)
    described, *cells = shown.stdout.split()
    again = CliRunner().invoke(app, ["decode", described]).stdout.split()
    assert again[1:] == cells  # an ID of the very same box
    refused = CliRunner().invoke(app, ["decode", "--form", "seed", STEERING])
    assert refused.exit_code == 2
    assert refused.stderr == harmless(refused.stderr)
