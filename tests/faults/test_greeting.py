"""The lines that the server prints at its start can be typed as they are, and lead to a game."""

from __future__ import annotations

import os
import re
import shlex
import signal
import threading
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from processes import DOMAIN, Process
from running import Running, start

from pbmserv.cli.main import run
from pbmserv.config.listen import Listen
from pbmserv.config.settings import Settings
from pbmserv.stages.greeting import greeting, program
from pbmserv.stages.stage_names import STAGES


def as_it_runs(server: Running) -> Settings:
    """The settings with the port that was found for port 0, as `serve` has them."""
    return server.server.settings.model_copy(update={"smtp": Listen("127.0.0.1", server.port)})


def commands(text: str) -> list[list[str]]:
    """The lines of a greeting that are to be typed, without the program's own name."""
    typed = [line.strip() for line in text.splitlines()]
    start_of_each = f"{program()} "
    return [
        shlex.split(t.removeprefix(start_of_each)) for t in typed if t.startswith(start_of_each)
    ]


def test_the_first_game_of_the_greeting_is_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with start(tmp_path, signup="open") as server:
        for name, value in {
            "DATA_DIR": str(tmp_path),
            "SMTP": f"127.0.0.1:{server.port}",
            "ADDRESS": server.address,
        }.items():
            monkeypatch.setenv(f"PBMSERV_{name}", value)
        for name in ("alice", "bob"):  # as the mailbox in the browser suggests
            server.send(f"{name}@{DOMAIN}", f"signup {name} wonder-land")
        typed = commands(greeting(as_it_runs(server)))
        assert len(typed) == 8
        for arguments in typed:
            assert run(arguments) == 0, arguments
            server.settle()
        seen = capsys.readouterr()
        assert seen.out.rstrip().count("Your move") >= 1, seen.out
        assert not seen.err


def test_a_first_game_is_offered_only_where_it_can_be_played(tmp_path: Path) -> None:
    with start(tmp_path, lmtp=str(tmp_path / "lmtp.sock")) as server:
        settings = as_it_runs(server)
    assert "A first game" in greeting(settings)
    assert f"LMTP {tmp_path}/lmtp.sock" in greeting(settings)
    for other in (
        settings.model_copy(update={"signup": "closed"}),
        settings.model_copy(update={"relay": "smtp://relay.example"}),
        settings.model_copy(update={"smtp": None}),
    ):
        assert "A first game" not in greeting(other)
        assert "Ctrl-C stops the server" in greeting(other)
    secret = "postgresql+psycopg://games:hunter2@db.example/games"
    assert "hunter2" not in greeting(settings.model_copy(update={"database": secret}))
    assert "pages      off" in greeting(settings.model_copy(update={"web": None}))
    parts = {"door": "mail in", "post": "mail out", "web": "pages"}
    for stage in STAGES:
        lines = greeting(settings, stages=[stage])
        assert f"  stages     {stage}\n" in lines
        assert [part for part in parts if f"  {parts[part]} " in lines] == [stage] * (
            stage in parts
        )
        assert "A first game" not in lines


def test_stages_apart_greet_with_what_each_opens(tmp_path: Path) -> None:
    settings = {"web": "127.0.0.1:0", "mailbox": "127.0.0.1:0", "lmtp": f"{tmp_path}/lmtp.sock"}
    settings["tls_cert"] = f"{tmp_path}/the-doors-alone.pem"  # nor is it read
    with Process(tmp_path, arguments=["--only", "play,post"], **settings) as server:
        assert "stages     play, post" in server.greeting
        assert "mail out   maildir:" in server.greeting
        assert not re.search(r"SMTP|LMTP|http|pages|browser|send --from", server.greeting)


def test_the_one_address_of_the_greeting_is_the_mailbox(tmp_path: Path) -> None:
    with Process(tmp_path, web="127.0.0.1:0", mailbox="127.0.0.1:0") as server:
        match = re.search(
            r"^  (http://127\.0\.0\.1:\d+/([a-z2-7]{32})/)$", server.greeting, re.MULTILINE
        )
        assert match is not None
        assert server.errors == "", "nothing is in the way of the greeting"
        assert "A first game" not in server.greeting
        with urlopen(match[1], timeout=60) as page:
            assert "Sign both up" in page.read().decode()
        with pytest.raises(HTTPError, match="404") as missing:
            urlopen(match[1].replace(match[2], "a" * 32), timeout=60)
        missing.value.close()
        assert match[2] not in server.errors


def commands_of(text: str) -> list[list[str]]:
    """The same of a greeting that another program has printed."""
    return [
        shlex.split(line) for line in re.findall(r"^  \S.* ((?:send|read) .*)$", text, re.MULTILINE)
    ]


def test_the_block_can_be_pasted_whole_on_a_slow_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command finds play stopped for a while, as if it had no time for the mail before."""
    with Process(tmp_path, signup="confirm") as server:
        for name, value in {
            "DATA_DIR": str(tmp_path),
            "SMTP": f"127.0.0.1:{server.port}",
            "ADDRESS": f"pbmserv@{DOMAIN}",
        }.items():
            monkeypatch.setenv(f"PBMSERV_{name}", value)
        play = server.stages()["play"]
        typed = commands_of(server.greeting)
        assert len(typed) == 10
        for arguments in typed:
            os.kill(play, signal.SIGSTOP)
            later = threading.Timer(0.2, os.kill, (play, signal.SIGCONT))
            later.start()
            assert run(arguments) == 0, arguments
            later.join()
        seen = capsys.readouterr()
        assert "Subject: Confirm your signup as ada" in seen.out
        assert "Your atoms are hidden at A1, G2, C4 and E5." in " ".join(seen.out.split())
        assert not seen.err
