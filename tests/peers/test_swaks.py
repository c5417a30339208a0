"""Odd conversations, as swaks holds them straight at our own door."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import PATIENCE_S, program
from rows import rows
from running import Running, start

OURS = "pbmserv@games.example"
NO_RECIPIENT, NOT_TAKEN = 24, 26


def swaks(port: int, *words: str, data: str = "") -> subprocess.CompletedProcess[str]:
    """Hold one conversation; what was said is its output."""
    command = [program("swaks"), "--server", "127.0.0.1", "--port", str(port), *words]
    if data:
        command += ["--data", data.replace("\n", "\\n")]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


ALICE = ("--from", "alice@players.example", "--to", OURS)
HELP = "From: alice@players.example\nTo: x\nSubject: help\n\nhello\n"

TAKEN = (
    ("pipelined", ("--pipeline",), HELP),
    ("by HELO", ("--protocol", "SMTP"), HELP.replace("hello", "good day")),
    ("with a size", ("--ehlo", "[127.0.0.1]"), HELP.replace("hello", "good evening")),
    ("8-bit text", (), HELP.replace("hello", "Grüße")),
    ("no Message-ID, no Date", (), "From: alice@players.example\nSubject: help\n\n"),
    ("a line of dots", (), HELP + ".\n..\n...\nend\n"),
)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Running]:
    program("swaks")
    with start(tmp_path, web="") as server:
        yield server


@rows(("words", "data"), [case[1:] for case in TAKEN], ids=[case[0] for case in TAKEN])
def test_accepted_mails_are_answered(door: Running, words: tuple[str, ...], data: str) -> None:
    transcript = swaks(door.port, *ALICE, *words, data=data)
    assert transcript.returncode == 0, transcript.stdout
    assert len(door.letters("alice@players.example")) == 1


def test_a_session_that_breaks_off_leaves_nothing(door: Running) -> None:
    for when in ("MAIL", "DATA"):
        swaks(door.port, *ALICE, "--drop-after", when, data=HELP)
        swaks(door.port, *ALICE, "--drop-after-send", when, data=HELP)
    assert not door.letters()
    assert swaks(door.port, *ALICE, data=HELP).returncode == 0
    assert len(door.letters("alice@players.example")) == 1
